//! Pages that draw their data, given as JSON, each one HTML file that loads nothing else: the maps
//! of a heap, one for each collection; and what holds the memory of a heap.
//!
//! The scripts are plain: `model.js` decodes the data, others draw, and `control.js` moves the view
//! and fills the tables.

use super::html::Page;

/// A kind of page.
struct Kind {
    name: &'static str,
    style: &'static str,
    body: &'static str,
    scripts: [&'static str; 3],
}

const MAP: Kind = Kind {
    name: "map of the heap",
    style: concat!(
        include_str!("assets/pane.css"),
        include_str!("assets/heap_map/heap_map.css")
    ),
    body: include_str!("assets/heap_map/body.html"),
    scripts: [
        include_str!("assets/heap_map/model.js"),
        include_str!("assets/heap_map/draw.js"),
        include_str!("assets/heap_map/control.js"),
    ],
};

const HOLDERS: Kind = Kind {
    name: "what holds the memory",
    style: concat!(include_str!("assets/pane.css"), include_str!("assets/heap/heap.css")),
    body: include_str!("assets/heap/body.html"),
    scripts: [
        include_str!("assets/heap/model.js"),
        include_str!("assets/heap/flame.js"),
        include_str!("assets/heap/control.js"),
    ],
};

const GROWTH: Kind = Kind {
    name: "what grew",
    ..HOLDERS
};

/// The contents of a page.
#[derive(Debug)]
pub struct HeapFacts<'a> {
    /// The title: the command of the run, or the answer.
    pub title: &'a str,
    /// The line below the title.
    pub facts: &'a str,
    /// What readers should know before the picture.
    pub cautions: &'a [String],
    /// The data as JSON, safe inside a `<script>`.
    pub data: &'a str,
}

/// The maps of a heap as one HTML page.
pub fn heap_map_page(facts: &HeapFacts<'_>) -> String {
    page(&MAP, facts)
}

/// What holds the memory of a heap as one HTML page, or with `growth` what grew in it.
pub fn heap_page(facts: &HeapFacts<'_>, growth: bool) -> String {
    page(if growth { &GROWTH } else { &HOLDERS }, facts)
}

fn page(kind: &Kind, facts: &HeapFacts<'_>) -> String {
    let mut page = Page::begin(&format!("{}: {}", facts.title, kind.name), kind.style);
    page.markup("<header>\n");
    page.element("<div class=\"name\">", kind.name, "</div>\n");
    page.element("<h1>", facts.title, "</h1>\n");
    page.element("<div class=\"facts\">", facts.facts, "</div>\n</header>\n");
    page.cautions(facts.cautions);
    page.markup(kind.body);
    page.element("<footer>Written by gclab ", env!("CARGO_PKG_VERSION"), "</footer>\n");
    page.markup("<script type=\"application/json\" id=\"data\">")
        .svg(facts.data);
    page.markup("</script>\n<script>\n");
    for script in kind.scripts {
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
        let page = heap_map_page(&HeapFacts {
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
