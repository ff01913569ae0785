//! The classes of a snapshot's nodes. A *class* is a pair of a node's type and its name.
//!
//! A file may contain equal strings twice, so classes are compared by the text of their names, once
//! for each string, not for each node.
//!
//! **Memory**: four bytes a node and 24 a class. While the classes are found, also up to 20 bytes a
//! string.

use crate::graph::NONE;
use crate::memory::{OutOfMemory, filled, push, with_capacity, zeroed};
use gclab_snapshot::{Snapshot, Strings};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::borrow::Cow;
use std::hash::BuildHasher;

/// The longest name that is decoded for comparison, in bytes.
const LONGEST_NAME: usize = 1 << 16;

/// The classes of a snapshot, by number.
#[derive(Debug)]
pub struct Classes {
    /// By node: the number of its class.
    of: Vec<u32>,
    /// By class: its first node.
    first: Vec<u32>,
    count: Vec<u32>,
    shallow: Vec<u64>,
}

/// The figures of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassFigures {
    /// The class's first node in the file, which has the type and the name.
    pub first: u32,
    /// The number of nodes in the file.
    pub count: u32,
    /// Bytes of these nodes themselves.
    pub shallow: u64,
}

/// What a class retains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassHolding {
    /// The class.
    pub figures: ClassFigures,
    /// The bytes that would be free without all of its nodes, themselves included.
    pub retained: u64,
    /// The node of the class that retains most; of equals, the lower ordinal. `None` if none is
    /// reachable.
    pub largest: Option<u32>,
}

impl Classes {
    /// Finds the classes of `snapshot`.
    pub(super) fn of(snapshot: &Snapshot) -> Result<Self, OutOfMemory> {
        let (of, first) = numbered(snapshot)?;
        let mut count = filled(0, first.len())?;
        let mut shallow = zeroed(first.len())?;
        for (node, &class) in snapshot.nodes().zip(&of) {
            count[class as usize] += 1;
            shallow[class as usize] += node.self_size();
        }
        Ok(Classes {
            of,
            first,
            count,
            shallow,
        })
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// By node: the number of its class.
    pub fn of_nodes(&self) -> &[u32] {
        &self.of
    }

    /// The figures of a class.
    ///
    /// # Panics
    /// If there is no class of this number.
    pub fn figures(&self, class: u32) -> ClassFigures {
        let class = class as usize;
        ClassFigures {
            first: self.first[class],
            count: self.count[class],
            shallow: self.shallow[class],
        }
    }
}

/// The number of each node's class, and the first node of each class. Numbers follow the order of
/// first nodes.
fn numbered(snapshot: &Snapshot) -> Result<(Vec<u32>, Vec<u32>), OutOfMemory> {
    let strings = snapshot.strings();
    let (mut of, mut first) = (with_capacity(snapshot.node_count() as usize)?, Vec::new());
    // By string: the last class of this name; by class: the one of the same name before it.
    let (mut last, mut before) = (filled(NONE, strings.len())?, Vec::<u32>::new());
    // Of strings with the same text, the first.
    let (hasher, mut texts) = (DefaultHashBuilder::default(), HashTable::new());
    let hash_of = |&string: &u32| hasher.hash_one(text(strings, string));
    for node in snapshot.nodes() {
        let string = node.name_index().unwrap_or(0);
        let known = |mut class: u32, first: &[u32], before: &[u32]| {
            while class != NONE && snapshot.node(first[class as usize]).type_index() != node.type_index() {
                class = before[class as usize];
            }
            class
        };
        let mut class = known(last[string as usize], &first, &before);
        if class == NONE {
            texts.try_reserve(1, hash_of).map_err(|_| OutOfMemory)?;
            let own = text(strings, string);
            let entry = texts.entry(hasher.hash_one(&own), |&other| text(strings, other) == own, hash_of);
            let same = *entry.or_insert(string).get() as usize;
            class = known(last[same], &first, &before);
            if class == NONE {
                class = first.len() as u32;
                push(&mut before, std::mem::replace(&mut last[same], class))?;
                push(&mut first, node.ordinal())?;
            }
            last[string as usize] = last[same];
        }
        of.push(class);
    }
    Ok((of, first))
}

/// The text of a name that identifies its class. A long one is not decoded: V8 and JVMs do not
/// write such names.
fn text(strings: &Strings, string: u32) -> Cow<'_, [u8]> {
    let raw = strings.raw(string);
    if raw.len() > LONGEST_NAME || !raw.contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(strings.get(string).into_owned().into_bytes())
}
