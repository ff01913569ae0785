//! An event log over time, as one self-contained HTML page.
//!
//! The page has the folded log as JSON, and four plain scripts: `model.js` decodes it and computes
//! the figures of an interval, `draw.js` draws, `control.js` moves the view and the selection, and
//! `figures.js` fills the tables and starts the page.

mod data;
mod facts;

use super::html::Page;
pub use facts::TimelineFacts;
use gclab_eventlog::TimeSamples;

const OWN_STYLE: &str = include_str!("../assets/timeline/timeline.css");
const BODY: &str = include_str!("../assets/timeline/body.html");
const SCRIPTS: [&str; 4] = [
    include_str!("../assets/timeline/model.js"),
    include_str!("../assets/timeline/draw.js"),
    include_str!("../assets/timeline/control.js"),
    include_str!("../assets/timeline/figures.js"),
];

/// The timeline of a log, as one HTML page.
pub fn timeline_page(facts: &TimelineFacts<'_>) -> String {
    let mut page = Page::begin(&format!("{}: timeline", facts.file), OWN_STYLE);
    page.markup("<header>\n");
    page.element("<div class=\"name\">timeline: ", facts.file, "</div>\n");
    let args = facts.summary.args.join(" ");
    let title = if args.is_empty() { facts.file } else { &args };
    page.element("<h1>", title, "</h1>\n");
    page.element("<div class=\"facts\">", &line(facts), "</div>\n</header>\n");
    page.element("<p>", &facts.summary.sentences().join(" "), "</p>\n");
    page.cautions(&cautions(facts));
    page.markup(BODY);
    if let Some(samples) = &facts.summary.time_samples {
        time_profile(&mut page, samples);
    }
    page.element("<footer>Written by gclab ", env!("CARGO_PKG_VERSION"), "</footer>\n");
    page.markup("<script type=\"application/json\" id=\"timeline\">")
        .svg(&data::json(facts));
    page.markup("</script>\n<script>\n");
    for script in SCRIPTS {
        page.markup(script);
    }
    page.markup("</script>\n</body>\n</html>\n");
    page.0
}

/// The runtime, and the numbers of capabilities, collections and events.
fn line(facts: &TimelineFacts<'_>) -> String {
    let summary = facts.summary;
    let capabilities = facts.timeline.lanes.len();
    let plural = if capabilities == 1 { "y" } else { "ies" };
    let mut parts: Vec<String> = summary.rts.iter().cloned().collect();
    parts.push(format!("{capabilities} capabilit{plural}"));
    if let Some(collections) = summary.collections {
        parts.push(format!("{collections} collections"));
    }
    parts.push(format!("{} events", summary.events));
    parts.join(" · ")
}

/// Maximum number of cost centres in the table of a time profile.
const CENTRES: usize = 20;

/// The samples of a time profile in the whole run, by the innermost cost centre.
fn time_profile(page: &mut Page, samples: &TimeSamples) {
    let every = samples
        .tick_ns
        .map_or(String::new(), |ns| format!(", a tick every {}", length(ns)));
    let title = format!("Time profile of the whole run: {} samples{every}", samples.count);
    page.element("<details open id=\"time-profile\"><summary>", &title, "</summary>");
    page.markup(
        "<div class=\"wide\"><table><thead><tr><th scope=\"col\">innermost cost centre</th>\
         <th scope=\"col\" class=\"n\">samples</th><th scope=\"col\" class=\"n\">share</th></tr></thead><tbody>",
    );
    let mut row = |name: &str, count: u64| {
        let share = 100.0 * count as f64 / samples.count as f64;
        page.element("<tr><th scope=\"row\" class=\"full\">", name, "</th>");
        page.element("<td class=\"n\">", &count.to_string(), "</td>");
        page.element("<td class=\"n\">", &format!("{share:.1} %"), "</td></tr>");
    };
    let named = samples.centres.iter().take(CENTRES);
    named.clone().for_each(|(name, count)| row(name, *count));
    let rest = samples.count - named.map(|(_, count)| count).sum::<u64>();
    if rest > 0 {
        row("all others", rest);
    }
    page.markup("</tbody></table></div></details>\n");
}

/// What readers of the page should know about the log before the picture.
fn cautions(facts: &TimelineFacts<'_>) -> Vec<String> {
    let timeline = facts.timeline;
    let mut cautions = Vec::new();
    if let Some(damage) = &facts.damage {
        cautions.push(format!(
            "The log is damaged: {damage}. Lanes and figures lack what is damaged: behind its end a lane is empty, and \
             what the capability did there is unknown. Among the figures, > is at least, and ~ is near."
        ));
    }
    if timeline.step > 1 {
        cautions.push(format!(
            "The log is too large for a page with every event. Activity within {} is drawn as shares, and a selection \
             has whole steps of this length.",
            length(timeline.step)
        ));
    }
    if !timeline.has_threads {
        cautions.push(
            "The log has no events of threads, so mutator time and idle time are shown as one (class s of +RTS -l has them)."
                .to_owned(),
        );
    }
    if facts.summary.collections.is_none() {
        cautions.push("The log has no statistics of collections (class g of +RTS -l has them).".to_owned());
    }
    if let Some(profile) = timeline.profile.as_ref().filter(|profile| profile.one_in > 1) {
        cautions.push(format!("Of the censuses, one in {} is drawn.", profile.one_in));
    }
    cautions
}

/// A length of time as `1.05 ms`.
fn length(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs")];
    let unit = units.into_iter().find(|(unit, _)| ns >= *unit);
    unit.map_or_else(
        || format!("{ns} ns"),
        |(unit, name)| format!("{:.2} {name}", ns as f64 / unit as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn lengths_have_the_largest_unit_that_fits() {
        assert_eq!(length(2), "2 ns");
        assert_eq!(length(1024), "1.02 µs");
        assert_eq!(length(1 << 20), "1.05 ms");
        assert_eq!(length(1 << 31), "2.15 s");
    }
}
