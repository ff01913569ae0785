//! The third pass: texts by which readers know objects, read where the graph says they are.
//!
//! Threads and class loaders get their names, and strings their beginnings. Equal strings get one
//! text, also where they are equal behind its end.

use hashbrown::{DefaultHashBuilder, HashMap};
use std::hash::{BuildHasher, Hash, Hasher};

use crate::error::{Error, Problem};
use crate::hprof::class::Class;
use crate::hprof::cursor::{Basic, Cursor};
use crate::hprof::gather::At;
use crate::hprof::kinds::{CLASS, INTERNAL};
use crate::hprof::record::{Body, Pass, ROOTS, THREADS, records};
use crate::memory::{insert, push};
use crate::snapshot::{EdgeName, Node, Snapshot};
use crate::strings::Strings;

/// The most bytes of a text that are kept.
const KEPT: usize = 120;

/// A text to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wanted {
    array: u32,
    /// The node that the text is for.
    node: u32,
    /// Whether the string says that its letters have two bytes.
    wide: bool,
}

/// The arrays with the texts of a dump, in the order of the file.
pub(crate) fn wanted(snapshot: &Snapshot) -> Result<Vec<Wanted>, Problem> {
    let mut wanted = Vec::new();
    let mut classes = snapshot.nodes().filter(|node| node.type_index() == CLASS);
    let string = classes.find(|class| class.name() == "java.lang.String");
    let string = string.and_then(|class| class.name_index());
    for node in snapshot.nodes() {
        let is_class = node.type_index() == CLASS;
        if node.ordinal() == THREADS as u32 + 1 {
            for thread in node.edges() {
                want(&mut wanted, field(thread.target(), b"name"), thread.target())?;
            }
        } else if is_class {
            let loaders = node
                .edges()
                .filter(|edge| edge.type_index() == INTERNAL && is_named(node, edge.name(), b"<loader>"));
            for loader in loaders {
                want(&mut wanted, field(loader.target(), b"name"), loader.target())?;
            }
        } else if string.is_some() && node.name_index() == string {
            want(&mut wanted, Some(node), node)?;
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

/// Wants the text of a `java.lang.String` for a node.
fn want(wanted: &mut Vec<Wanted>, string: Option<Node<'_>>, of: Node<'_>) -> Result<(), Problem> {
    let Some(string) = string else { return Ok(()) };
    match field(string, b"value") {
        Some(array) => push(
            wanted,
            Wanted {
                array: array.ordinal(),
                node: of.ordinal(),
                wide: string.is_wide(),
            },
        ),
        None => Ok(()),
    }
}

fn is_named(node: Node<'_>, name: Option<EdgeName>, wanted: &[u8]) -> bool {
    matches!(name, Some(EdgeName::String(string)) if node.string(string) == wanted)
}

/// The object in a field.
fn field<'s>(node: Node<'s>, name: &[u8]) -> Option<Node<'s>> {
    let mut edges = node.edges();
    edges
        .find(|edge| is_named(node, edge.name(), name))
        .map(|edge| edge.target())
}

/// Texts by which readers know nodes: the node, and the string.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) strings: Strings,
    pub(super) labels: Vec<(u32, u32)>,
}

/// Reads the texts.
pub(super) fn read(mut cursor: Cursor<'_>, at: &At, wanted: &[Wanted]) -> Result<Texts, Error> {
    let mut reader = Reader {
        texts: Texts::default(),
        dump: at.dump,
        wanted,
        known: HashMap::new(),
        hasher: DefaultHashBuilder::default(),
        bytes: Vec::new(),
        next: ROOTS.len() as u32 + 1,
    };
    records(&mut cursor, &mut reader, Some(&at.bounds))?;
    reader.texts.labels.sort_unstable();
    Ok(reader.texts)
}

struct Reader<'s> {
    texts: Texts,
    /// The number of the heap dump.
    dump: u32,
    /// The arrays that have not come yet.
    wanted: &'s [Wanted],
    /// By hash of an array, with its type and length: the string of its text.
    known: HashMap<u64, u32>,
    hasher: DefaultHashBuilder,
    /// The first bytes of the current array.
    bytes: Vec<u8>,
    /// The ordinal of the next node.
    next: u32,
}

impl Pass for Reader<'_> {
    fn begins(&mut self, dump: u32) -> bool {
        dump == self.dump
    }

    fn class(&mut self, _: &Cursor<'_>, _: u64, _: Class) -> Result<(), Error> {
        self.next += 1;
        Ok(())
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, _: u64, _: u64, body: Body) -> Result<(), Error> {
        let own = self.next;
        self.next += 1;
        let owners = self.wanted.iter().take_while(|wanted| wanted.array == own).count();
        let length = body.bytes(cursor.id_bytes);
        let (owners, rest) = self.wanted.split_at(owners);
        self.wanted = rest;
        let (Body::Values { of, .. }, [first, ..]) = (body, owners) else {
            return cursor.skip(length, "the rest of an object");
        };
        let (bytes, mut hasher) = (&mut self.bytes, self.hasher.build_hasher());
        bytes.clear();
        cursor.bytes(length, "the rest of an object", |piece| {
            bytes.extend_from_slice(&piece[..piece.len().min(KEPT - bytes.len())]);
            hasher.write(piece);
        })?;
        (of as u8, first.wide, length).hash(&mut hasher);
        let key = hasher.finish();
        let Texts { strings, labels } = &mut self.texts;
        let string = match self.known.get(&key) {
            Some(&string) => Ok(string),
            None => strings.push(&text(of, first.wide, bytes)).and_then(|string| {
                insert(&mut self.known, key, string)?;
                Ok(string)
            }),
        };
        let kept = string.and_then(|string| owners.iter().try_for_each(|wanted| push(labels, (wanted.node, string))));
        kept.map_err(|problem| cursor.problem(problem))
    }
}

/// The text in a string's array. Where strings do not say which of two codes the bytes have, letters
/// of two bytes are those with a zero among them.
fn text(of: Basic, wide: bool, bytes: &[u8]) -> String {
    let units = |unit: fn([u8; 2]) -> u16| -> String {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units)
            .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    match of {
        Basic::Char => units(u16::from_be_bytes),
        _ if wide || bytes.contains(&0) => units(u16::from_le_bytes),
        _ => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::hprof::cursor::Basic;

    #[test]
    fn texts_are_of_one_byte_or_two() {
        assert_eq!(text(Basic::Byte, false, b"worker-7"), "worker-7");
        assert_eq!(text(Basic::Byte, false, &[0xe9, b'a']), "éa");
        assert_eq!(text(Basic::Byte, false, &[b'a', 0, 0xac, 0x20]), "a€");
        assert_eq!(text(Basic::Byte, true, &[0x2d, 0x4e, 0x87, 0x65]), "中文");
        assert_eq!(text(Basic::Char, false, &[0, b'a', 0x20, 0xac]), "a€");
    }
}
