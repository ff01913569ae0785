//! Rows of CSV (RFC 4180, with line feeds).

/// Text that grows by rows.
pub(super) struct CsvText(csv::Writer<Vec<u8>>);

impl CsvText {
    /// Text without rows.
    pub(super) fn new() -> CsvText {
        CsvText(csv::Writer::from_writer(Vec::new()))
    }

    /// Appends a row. A cell with a comma, a quote or a line end is quoted.
    pub(super) fn row(&mut self, cells: &[String]) {
        self.0
            .write_record(cells)
            .expect("all rows have as many cells, and memory does not fail");
    }

    /// The rows.
    pub(super) fn finish(self) -> String {
        let bytes = self.0.into_inner().expect("memory does not fail");
        String::from_utf8(bytes).expect("cells are UTF-8")
    }
}
