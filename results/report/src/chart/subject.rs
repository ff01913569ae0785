//! The runs that a mark of a chart stands for: a page shows their figures and their command.

use super::style::escape;

/// The runs that a mark or a line stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Subject {
    /// No runs that a reader could look at.
    #[default]
    None,
    /// All runs of some configurations, by their ids.
    Configurations(Vec<String>),
    /// The run at a place of the order of runs.
    Run(u32),
}

impl Subject {
    /// The subject as an attribute of an SVG element, with a blank before it.
    pub(super) fn attribute(&self) -> String {
        match self {
            Subject::None => String::new(),
            Subject::Configurations(cells) => format!(r#" data-cells="{}""#, escape(&cells.join(" "))),
            Subject::Run(position) => format!(r#" data-run="{position}""#),
        }
    }
}
