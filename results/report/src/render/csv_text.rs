//! Rows of CSV (RFC 4180, with line feeds).

/// Text that grows by rows.
#[derive(Debug, Default)]
pub(super) struct CsvText(pub(super) String);

impl CsvText {
    /// Appends a row. A cell with a comma, a quote or a line end is quoted.
    pub(super) fn row(&mut self, cells: &[String]) {
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                self.0.push(',');
            }
            if cell.contains([',', '"', '\n', '\r']) {
                self.0.push('"');
                self.0.push_str(&cell.replace('"', "\"\""));
                self.0.push('"');
            } else {
                self.0.push_str(cell);
            }
        }
        self.0.push('\n');
    }
}
