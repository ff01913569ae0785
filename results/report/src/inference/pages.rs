//! Tables of `docs/statistics.md` that tests measure.

use std::sync::{Mutex, PoisonError};

/// Tests run at the same time, and one of them may write the page.
static PAGE: Mutex<()> = Mutex::new(());

/// Checks that the table stands in the page after the mark `<!-- name -->`, as it is measured;
/// `UPDATE_DOCS=1` writes it there.
pub(crate) fn assert_in_docs(name: &str, table: &str) {
    let _alone = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/statistics.md");
    let page = std::fs::read_to_string(path).expect("docs/statistics.md");
    let (begin, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
    let from = page.find(&begin).expect("the mark before the table") + begin.len();
    let to = from + page[from..].find(end).expect("the mark after the table");
    let wanted = format!("{}{table}\n{}", &page[..from], &page[to..]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &wanted).expect("the page can be written");
    } else {
        assert!(
            page == wanted,
            "docs/statistics.md is out of date; UPDATE_DOCS=1 renews it:\n{table}"
        );
    }
}
