//! How often each interval contains the true value: many experiments with known answers.

mod coverage;

/// Checks that a measured table is in `results/reference`; `UPDATE_DOCS=1` writes it there.
pub(crate) fn assert_in_reference(file: &str, table: &str) {
    let path = format!("{}/reference/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, table).expect("the table can be written");
    } else {
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            there == table,
            "{path} is out of date; UPDATE_DOCS=1 renews it:\n{table}"
        );
    }
}
