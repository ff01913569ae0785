//! What can be wrong with an experiment file, told in the user's terms: the file, the line with the place underlined, what is wrong with
//! it and what would be right.
//!
//! One error at a time: the first in the order of the checks. A second message is often only the echo of the first.

use std::ops::Range;
use std::path::Path;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, NamedSource, SourceSpan};
use thiserror::Error;

/// The text of an experiment file and its name, to point into.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the user wrote it.
    pub name: String,
    /// The whole file.
    pub text: String,
}

/// One thing that is wrong with an experiment file.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct SpecError {
    message: String,
    #[source_code]
    source_code: Option<NamedSource<String>>,
    #[label("{label}")]
    span: Option<SourceSpan>,
    label: String,
    #[help]
    help: Option<String>,
}

impl SpecError {
    /// Points at `span` (bytes) of `source`. `message` names key and value, `label` stands under the place.
    pub fn at(
        source: &Source,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Box<SpecError> {
        Box::new(SpecError {
            message: message.into(),
            source_code: Some(NamedSource::new(&source.name, source.text.clone())),
            span: Some(span.into()),
            label: label.into(),
            help: None,
        })
    }

    /// There is no line to show: the file is missing, or a folder.
    pub fn file(path: &Path, problem: impl AsRef<str>) -> Box<SpecError> {
        Box::new(SpecError {
            message: format!("experiment file {}: {}", path.display(), problem.as_ref()),
            source_code: None,
            span: None,
            label: String::new(),
            help: None,
        })
    }

    /// The message with the lines of the file that it is about.
    pub fn render(&self, colours: bool) -> String {
        let theme = if colours {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let mut text = String::new();
        match GraphicalReportHandler::new_themed(theme)
            .with_width(100)
            .render_report(&mut text, self)
        {
            Ok(()) => text,
            Err(_) => format!("gclab: {self}\n"),
        }
    }

    /// Adds what would be right.
    pub fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<SpecError> {
        self.help = Some(help.into());
        self
    }
}
