//! The classes of a snapshot's nodes. A *class* is a pair of a node's type and its name.
//!
//! A file may contain equal strings twice, so classes are compared by the text of their names, once
//! for each pair of a type and a string, not for each node.
//!
//! **Memory**: four bytes a node and 24 a class. While the classes are found, also up to 16 bytes
//! for each pair of a type and a string.

use crate::memory::{OutOfMemory, filled, push, with_capacity, zeroed};
use gclab_snapshot::{Node, Snapshot};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};

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
    let (mut of, pairs) = pairs(snapshot)?;
    // The first node of each class.
    let mut first: Vec<u32> = Vec::new();
    let mut table = HashTable::new();
    let mut class_of_pair = with_capacity(pairs.len())?;
    let hash_of = |node: u32| text_hash(snapshot, snapshot.node(node));
    for &node in &pairs {
        let is_same = |other| same_class(snapshot, other, node);
        class_of_pair.push(find_or_enter(&mut table, &mut first, node, hash_of, is_same)?);
    }
    for pair in &mut of {
        *pair = class_of_pair[*pair as usize];
    }
    Ok((of, first))
}

/// The number of each node's pair of a type and a string's index, and the first node of each pair.
fn pairs(snapshot: &Snapshot) -> Result<(Vec<u32>, Vec<u32>), OutOfMemory> {
    let mut of = with_capacity(snapshot.node_count() as usize)?;
    let mut first: Vec<u32> = Vec::new();
    let mut table = HashTable::new();
    let key = |node: Node<'_>| (u64::from(node.type_index()) << 32) | u64::from(node.name_index().unwrap_or(0));
    let key_of = |node: u32| key(snapshot.node(node));
    // Fibonacci hashing (Knuth 6.4). The table looks at both ends of the hash.
    let hash_of = |node: u32| key_of(node).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    for node in snapshot.nodes() {
        let own = key(node);
        let is_same = |other| key_of(other) == own;
        of.push(find_or_enter(&mut table, &mut first, node.ordinal(), hash_of, is_same)?);
    }
    Ok((of, first))
}

/// The group number of `node`. `first` holds the first node of each group; a node that `is_same` as
/// none of these starts a new group. `table` holds the numbers of all groups.
fn find_or_enter(
    table: &mut HashTable<u32>,
    first: &mut Vec<u32>,
    node: u32,
    hash_of: impl Fn(u32) -> u64,
    is_same: impl Fn(u32) -> bool,
) -> Result<u32, OutOfMemory> {
    let hash_of_group = |&group: &u32| hash_of(first[group as usize]);
    table.try_reserve(1, hash_of_group).map_err(|_| OutOfMemory)?;
    let entry = table.entry(hash_of(node), |&group| is_same(first[group as usize]), hash_of_group);
    let next = first.len() as u32;
    match entry {
        Entry::Occupied(group) => Ok(*group.get()),
        Entry::Vacant(free) => {
            free.insert(next);
            push(first, node)?;
            Ok(next)
        }
    }
}

/// The text of a node's name that identifies its class. A long one is not decoded: V8 and JVMs do
/// not write such names.
fn text<'s>(snapshot: &'s Snapshot, node: Node<'s>) -> Cow<'s, [u8]> {
    let raw = node.name_index().map_or(&[][..], |name| snapshot.strings().raw(name));
    if raw.len() > LONGEST_NAME || !raw.contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(node.name().into_owned().into_bytes())
}

fn text_hash(snapshot: &Snapshot, node: Node<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&text(snapshot, node));
    hasher.write_u8(node.type_index());
    hasher.finish()
}

fn same_class(snapshot: &Snapshot, one: u32, other: u32) -> bool {
    let (one, other) = (snapshot.node(one), snapshot.node(other));
    one.type_index() == other.type_index() && text(snapshot, one) == text(snapshot, other)
}
