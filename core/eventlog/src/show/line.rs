//! An event as one line.

use super::push;
use crate::event::Event;
use crate::kind::Kind;
use crate::kinds;

/// A part of the sentence of a type.
#[derive(Debug)]
enum Part {
    Words(&'static str),
    /// The field at this place.
    Field(usize),
}

/// The sentences of all types by their numbers, taken apart once.
#[derive(Debug)]
pub(super) struct Sentences(Vec<Option<(&'static Kind, Vec<Part>)>>);

impl Sentences {
    pub(super) fn new() -> Self {
        let most = kinds::ALL.last().map_or(0, |kind| usize::from(kind.number));
        let sentence = |number| kinds::numbered(number as u16).map(|kind| (kind, parts(kind)));
        Sentences((0..=most).map(sentence).collect())
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
        match self.0.get(usize::from(kind.number)) {
            Some(Some((known, parts))) if std::ptr::eq(*known, kind) => sentence(line, parts, event),
            // Another version of a type in the table.
            _ => sentence(line, &parts(kind), event),
        }
        line.push(b'\n');
    }
}

fn sentence(line: &mut Vec<u8>, parts: &[Part], event: &Event<'_>) {
    // Nearly all sentences have the fields in their order, so each is decoded once.
    let (mut fields, mut taken) = (event.fields(), 0);
    for part in parts {
        match *part {
            Part::Words(words) => line.extend_from_slice(words.as_bytes()),
            Part::Field(place) => {
                if place < taken {
                    (fields, taken) = (event.fields(), 0);
                }
                match fields.nth(place - taken) {
                    Some((field, value)) => push::value(line, field, &value),
                    None => line.push(b'?'),
                }
                taken = place + 1;
            }
        }
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

/// Appends the event as one JSON object: `time`, `cap` unless it is global, `event`, and its
/// fields by their names.
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
