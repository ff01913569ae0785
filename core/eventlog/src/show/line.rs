//! An event as one line.

use crate::event::Event;
use crate::header::Header;
use crate::kind::{Form, Kind, status_text, status_text_of_7_8_2};
use crate::kinds;
use crate::push;
use crate::value::Value;

/// A part of the sentence of a type.
#[derive(Debug)]
enum Part {
    Words(&'static str),
    /// The field at this place.
    Field(usize),
}

/// The sentences of all types by number, parsed once.
#[derive(Debug)]
pub(super) struct Sentences {
    all: Vec<Option<(&'static Kind, Vec<Part>)>>,
    /// Whether stop statuses are numbered as in GHC 7.8.2.
    old_statuses: bool,
}

impl Sentences {
    /// The sentences for a log with this header.
    pub(super) fn new(header: &Header) -> Self {
        let most = kinds::ALL.last().map_or(0, |kind| usize::from(kind.number));
        let sentence = |number| kinds::numbered(number as u16).map(|kind| (kind, parts(kind)));
        Sentences {
            all: (0..=most).map(sentence).collect(),
            old_statuses: header.has_statuses_of_7_8_2(),
        }
    }

    /// Appends the event as `ghc-events show` prints it.
    pub(super) fn text(&self, line: &mut Vec<u8>, event: &Event<'_>) {
        push::padded(line, event.time(), 9);
        line.extend_from_slice(b": ");
        if let Some(cap) = event.cap() {
            line.extend_from_slice(b"cap ");
            push::number(line, u64::from(cap));
            line.extend_from_slice(b": ");
        }
        let Some(kind) = event.kind() else {
            line.extend_from_slice(b"unknown event type ");
            push::number(line, u64::from(event.declared().number));
            line.extend_from_slice(b" (");
            push::plain(line, event.declared().description.as_bytes());
            line.extend_from_slice(b"), ");
            push::number(line, event.payload().len() as u64);
            line.extend_from_slice(b" bytes\n");
            return;
        };
        match self.all.get(usize::from(kind.number)) {
            Some(Some((known, parts))) if std::ptr::eq(*known, kind) => self.sentence(line, parts, event),
            // Another version of a type in the table.
            _ => self.sentence(line, &parts(kind), event),
        }
        if kind.number == kinds::number::HEAP_PROF_BEGIN {
            restrictions(line, event);
        }
        line.push(b'\n');
    }

    fn sentence(&self, line: &mut Vec<u8>, parts: &[Part], event: &Event<'_>) {
        // Nearly all sentences use the fields in order, so each is decoded once.
        let (mut fields, mut taken) = (event.fields(), 0);
        let required = event.kind().map_or(0, Kind::required);
        let mut before_words = line.len();
        for part in parts {
            match *part {
                Part::Words(words) => {
                    before_words = line.len();
                    line.extend_from_slice(words.as_bytes());
                }
                Part::Field(place) => {
                    if place < taken {
                        (fields, taken) = (event.fields(), 0);
                    }
                    match fields.nth(place - taken) {
                        Some((field, Value::Number(status))) if field.form == Form::Status => {
                            self.status(line, status, event);
                        }
                        Some((field, value)) => push::value(line, field, &value),
                        // An older version of GHC without this field.
                        None if place >= required && fields.rest().is_empty() => {
                            let words = &line[before_words..];
                            let clause = words.windows(2).rposition(|two| two == b", ");
                            line.truncate(before_words + clause.unwrap_or(0));
                            return;
                        }
                        None => line.push(b'?'),
                    }
                    taken = place + 1;
                }
            }
        }
    }

    /// Appends the reason of a stop, with the owner of a black hole.
    fn status(&self, line: &mut Vec<u8>, status: u64, event: &Event<'_>) {
        let (text, black_hole) = match self.old_statuses {
            true => (status_text_of_7_8_2(status), 9),
            false => (status_text(status), 8),
        };
        match text {
            Some(text) => line.extend_from_slice(text.as_bytes()),
            None => push::number(line, status),
        }
        let [_, _, owner] = event.numbers();
        if let Some(owner) = owner.filter(|owner| status == black_hole && *owner > 0) {
            line.extend_from_slice(b" owned by thread ");
            push::number(line, owner);
        }
    }
}

/// Appends what a heap profile is restricted to.
fn restrictions(line: &mut Vec<u8>, event: &Event<'_>) {
    let texts = event.fields().filter_map(|(_, value)| match value {
        Value::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    });
    for (place, text) in texts.enumerate() {
        line.extend_from_slice(if place == 0 { b" filtered by " } else { b", " });
        push::plain(line, text);
    }
}

/// The parts of the sentence of `kind`.
fn parts(kind: &'static Kind) -> Vec<Part> {
    let mut parts = Vec::new();
    for (place, piece) in kind.text.split(['{', '}']).enumerate() {
        let field = kind.fields.iter().position(|field| field.name == piece);
        match field {
            Some(field) if place % 2 == 1 => parts.push(Part::Field(field)),
            _ => parts.push(Part::Words(piece)),
        }
    }
    parts
}

/// Appends the event as one JSON object: `time`, `cap` unless it is global, `event`, and its fields
/// by name.
pub(super) fn json(line: &mut Vec<u8>, event: &Event<'_>) {
    line.extend_from_slice(b"{\"time\":");
    push::number(line, event.time());
    if let Some(cap) = event.cap() {
        line.extend_from_slice(b",\"cap\":");
        push::number(line, u64::from(cap));
    }
    match event.kind() {
        Some(kind) => {
            line.extend_from_slice(b",\"event\":\"");
            line.extend_from_slice(kind.name.as_bytes());
            line.push(b'"');
        }
        None => {
            line.extend_from_slice(b",\"event\":null,\"number\":");
            push::number(line, u64::from(event.declared().number));
            line.extend_from_slice(b",\"description\":");
            push::quoted(line, event.declared().description.as_bytes());
            line.extend_from_slice(b",\"bytes\":");
            push::number(line, event.payload().len() as u64);
        }
    }
    for (field, value) in event.fields() {
        line.extend_from_slice(b",\"");
        line.extend_from_slice(field.name.as_bytes());
        line.extend_from_slice(b"\":");
        push::json(line, &value);
    }
    line.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_taken_apart_at_its_fields() {
        let fields = parts(&kinds::GC_STATS_GHC);
        let fields = fields.iter().filter_map(|part| match part {
            Part::Field(place) => Some(*place),
            Part::Words(_) => None,
        });
        assert_eq!(fields.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
