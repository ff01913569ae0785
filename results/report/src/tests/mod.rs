//! Tests of analyses and formats on the synthetic records of the results crate.

mod alone;
mod answers;
mod compare;
mod conditions;
mod docs;
mod history;
mod leads;
mod logs;
mod markup;
mod memory;
mod overhead;
mod own;
mod parallel;
mod pauses;
mod profiles;
mod report;
mod rivals;
mod several;
mod steadiness;
mod summary;
pub(crate) mod synthetic;
mod table;

/// A page without the charts of the other scale, which a reader has to ask for.
fn at_first(page: &str) -> String {
    let parts = page.split("<template>");
    let shown = parts.map(|part| part.split_once("</template>").map_or(part, |(_, rest)| rest));
    shown.collect()
}
