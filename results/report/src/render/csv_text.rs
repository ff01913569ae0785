//! Rows of CSV (RFC 4180, with line feeds).

use std::io::{self, Write};

/// CSV that is written row by row.
pub(super) struct CsvText<'w>(csv::Writer<&'w mut dyn Write>);

impl<'w> CsvText<'w> {
    /// Writes to `to`.
    pub(super) fn new(to: &'w mut dyn Write) -> CsvText<'w> {
        CsvText(csv::Writer::from_writer(to))
    }

    /// Writes a row. A cell with a comma, a quote or a line end is quoted.
    pub(super) fn row(&mut self, cells: &[String]) -> io::Result<()> {
        self.0.write_record(cells).map_err(Into::into)
    }

    /// Writes all that is left.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The CSV that a function writes, as text.
pub(super) fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("all rows have as many cells, and memory does not fail");
    String::from_utf8(bytes).expect("cells are UTF-8")
}
