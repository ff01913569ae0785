//! Errors in an experiment file, in the user's terms: the file, the line with the place underlined,
//! the fault, and the remedy.
//!
//! One error at a time: the first in the order of the checks. A second message often only follows
//! from the first.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use thiserror::Error;

/// The most columns of a rendered line.
const WIDTH: usize = 100;

/// The text of an experiment file, with the file's name.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the user wrote it.
    pub name: String,
    /// The whole file.
    pub text: String,
}

/// A place in an experiment file.
#[derive(Debug)]
struct Place {
    source: Source,
    span: Range<usize>,
    label: String,
}

/// One fault of an experiment file.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct SpecError {
    message: String,
    place: Option<Place>,
    help: Option<String>,
}

impl SpecError {
    /// An error at `span` (bytes) of `source`. `message` names key and value; `label` stands under
    /// the place.
    pub(super) fn at(
        source: &Source,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Box<SpecError> {
        Box::new(SpecError {
            message: message.into(),
            place: Some(Place {
                source: source.clone(),
                span,
                label: label.into(),
            }),
            help: None,
        })
    }

    /// An error without a line: the file is missing, or a folder.
    pub(super) fn file(path: &Path, problem: impl AsRef<str>) -> Box<SpecError> {
        Box::new(SpecError {
            message: format!("experiment file {}: {}", path.display(), problem.as_ref()),
            place: None,
            help: None,
        })
    }

    /// Adds the remedy.
    pub(super) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<SpecError> {
        self.help = Some(help.into());
        self
    }

    /// The message, with the lines of the file that it is about.
    pub fn render(&self, colours: bool) -> String {
        let snippet = self.place.as_ref().map(|place| {
            let annotation = AnnotationKind::Primary.span(place.span.clone()).label(&place.label);
            Snippet::source(&place.source.text)
                .path(&place.source.name)
                .annotation(annotation)
        });
        let mut group = Level::ERROR.primary_title(&self.message).elements(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        renderer
            .decor_style(DecorStyle::Unicode)
            .term_width(WIDTH)
            .render(&[group])
    }
}
