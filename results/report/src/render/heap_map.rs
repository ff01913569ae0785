//! Maps of a heap, one for each collection, as one HTML page that loads nothing from anywhere.
//!
//! The page has the maps as JSON, and three plain scripts: `model.js` decodes them, `draw.js`
//! draws, and `control.js` moves the view, goes from map to map, and fills the tables.

use super::html::Page;

const OWN_STYLE: &str = include_str!("assets/heap_map/heap_map.css");
const BODY: &str = include_str!("assets/heap_map/body.html");
const SCRIPTS: [&str; 3] = [
    include_str!("assets/heap_map/model.js"),
    include_str!("assets/heap_map/draw.js"),
    include_str!("assets/heap_map/control.js"),
];

/// The contents of a page of maps.
#[derive(Debug)]
pub struct HeapMapFacts<'a> {
    /// The title: the command of the run.
    pub title: &'a str,
    /// The line below the title.
    pub facts: &'a str,
    /// All that a reader should know before the picture.
    pub cautions: &'a [String],
    /// The maps as JSON that may stand within a `<script>`.
    pub data: &'a str,
}

/// The maps as one HTML page.
pub fn heap_map_page(facts: &HeapMapFacts<'_>) -> String {
    let mut page = Page::begin(&format!("{}: heap map", facts.title), OWN_STYLE);
    page.markup("<header>\n<div class=\"name\">map of the heap</div>\n");
    page.element("<h1>", facts.title, "</h1>\n");
    page.element("<div class=\"facts\">", facts.facts, "</div>\n</header>\n");
    page.cautions(facts.cautions);
    page.markup(BODY);
    page.element("<footer>Written by gclab ", env!("CARGO_PKG_VERSION"), "</footer>\n");
    page.markup("<script type=\"application/json\" id=\"maps\">")
        .svg(facts.data);
    page.markup("</script>\n<script>\n");
    for script in SCRIPTS {
        page.markup(script);
    }
    page.markup("</script>\n</body>\n</html>\n");
    page.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_nothing_is_loaded() {
        let page = heap_map_page(&HeapMapFacts {
            title: "gclab exec <b>",
            facts: "1 & 2",
            cautions: &["a < b".to_owned()],
            data: "{}",
        });
        assert!(page.contains("<h1>gclab exec &lt;b&gt;</h1>"), "{page}");
        assert!(page.contains("<li>a &lt; b</li>") && page.contains("1 &amp; 2"));
        assert!(
            !page.contains("http") && !page.contains(" src="),
            "the page loads something"
        );
    }
}
