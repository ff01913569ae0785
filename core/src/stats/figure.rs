//! Figures by name: those of one collector or of one use of the heap, which other runs do not have.

/// A figure of a run that is known by its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The name, in words with `_` between them, with its unit: the key in records.
    pub name: &'static str,
    /// The value at the end of the run.
    pub value: u64,
}
