//! Errors in an experiment file, in the user's terms: the file, the line with the place underlined,
//! the fault, and the remedy.
//!
//! One error at a time, the first in the order of the checks: a second one often only follows from
//! the first.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use gclab_results::printable;
use thiserror::Error;

use crate::suggest::suggest;
use crate::text::cut;

/// The most columns of a rendered line.
const WIDTH: usize = 100;

/// The most characters of a message and of a remedy: they may quote any part of the file.
const MOST: usize = 1000;

/// Longer lines are cut to this many bytes before and after the place.
const LINE: usize = 200;

/// A result whose error points into the file.
pub(super) type Parsed<T> = Result<T, Box<SpecError>>;

/// The text of an experiment file, with the file's name.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// The path as the user wrote it.
    pub name: String,
    /// The whole file.
    pub text: String,
}

/// A place in an experiment file.
#[derive(Debug)]
struct Place {
    /// The name of the file.
    name: String,
    /// The lines of the place, or a part of them.
    text: String,
    /// The number of the first of these lines, from 1.
    line: usize,
    /// The place within the text.
    span: Range<usize>,
    label: String,
}

impl Place {
    fn new(source: &Source, span: Range<usize>, label: String) -> Place {
        let all = &source.text;
        let start = span.start.min(all.len());
        let end = span.end.clamp(start, all.len());
        let begin = all[..start]
            .rfind('\n')
            .map_or(0, |at| at + 1)
            .max(start.saturating_sub(LINE));
        let finish = all[end..]
            .find('\n')
            .map_or(all.len(), |at| end + at)
            .min(end.saturating_add(LINE));
        // A place of several lines, or a very long one, is shown from its beginning.
        let finish = finish.min(start.saturating_add(2 * LINE));
        // Whole characters.
        let begin = (0..=begin).rfind(|at| all.is_char_boundary(*at)).unwrap_or(0);
        let finish = (finish..all.len())
            .find(|at| all.is_char_boundary(*at))
            .unwrap_or(all.len());
        Place {
            name: source.name.clone(),
            text: all[begin..finish].to_owned(),
            line: all[..begin].matches('\n').count() + 1,
            span: start - begin..end.min(finish) - begin,
            label,
        }
    }
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
            message: cut(&printable(&message.into()), MOST),
            place: Some(Place::new(source, span, cut(&printable(&label.into()), LINE))),
            help: None,
        })
    }

    /// An error without a line: the file is missing, or a folder.
    pub(super) fn file(path: &Path, problem: impl AsRef<str>) -> Box<SpecError> {
        Box::new(SpecError {
            message: printable(&format!("experiment file {}: {}", path.display(), problem.as_ref())).into_owned(),
            place: None,
            help: None,
        })
    }

    /// Adds the remedy.
    pub(super) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<SpecError> {
        self.help = Some(cut(&printable(&help.into()), MOST));
        self
    }

    /// The message, with the lines of the file that it is about.
    pub fn render(&self, colours: bool) -> String {
        let snippet = self.place.as_ref().map(|place| {
            let annotation = AnnotationKind::Primary.span(place.span.clone()).label(&place.label);
            Snippet::source(&place.text)
                .path(&place.name)
                .line_start(place.line)
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

/// An error of TOML or serde.
pub(super) fn of_toml(source: &Source, error: &toml::de::Error) -> Box<SpecError> {
    in_words(source, error.span().unwrap_or(0..0), error.message())
}

/// A fault at a place, in the words of TOML. A second line of `message` is the remedy.
pub(super) fn in_words(source: &Source, span: Range<usize>, message: &str) -> Box<SpecError> {
    if let Some((key, known)) = unknown_key(message) {
        let message = format!("unknown key `{key}`");
        return SpecError::at(source, span, message, "no such key").help(suggest(key, "known keys", &known));
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return SpecError::at(source, span, format!("the key {key} is missing"), "not in this table");
    }
    // serde's words for types, in TOML's.
    let words = |text: &str| {
        let text = text
            .replace("a boolean", "true or false")
            .replace("u64", "a whole number");
        let text = text
            .replace("u8", "a number from 0 to 255")
            .replace("a sequence", "an array");
        let text = text.replace("sequence", "array").replace("floating point", "number");
        text.replace("a map", "a table").replace("map", "table")
    };
    for (start, kind) in [("invalid type: ", "not"), ("invalid value: ", "not the")] {
        if let Some((found, expected)) = message
            .strip_prefix(start)
            .and_then(|rest| rest.split_once(", expected "))
        {
            let found = words(found);
            let article = match kind {
                "not" if found.starts_with(['a', 'e', 'i', 'o', 'u']) => " an",
                "not" => " a",
                _ => "",
            };
            let message = format!("expected {}, {kind}{article} {found}", words(expected));
            let error = SpecError::at(source, span, message, "here");
            let text = found.strip_prefix("string ").filter(|_| expected == "a sequence");
            return match text {
                Some(text) => error.help(format!("as an array: [{}]", text.replace(' ', "\", \""))),
                None => error,
            };
        }
    }
    let (message, help) = message.split_once('\n').unwrap_or((message, ""));
    let error = SpecError::at(source, span, message, "here");
    match help.trim() {
        "" => error,
        help => error.help(help.replace('\n', "; ")),
    }
}

/// The key and the known keys of serde's message "unknown field `x`, expected one of `y`, `z`".
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let mut names = message.strip_prefix("unknown field `")?.split('`').step_by(2);
    Some((names.next()?, names.filter(|name| !name.is_empty()).collect()))
}
