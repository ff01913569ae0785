//! Objects by name. The name is the class's where the file has one; other objects, such as
//! strings, whose names are their texts, count together under their type.

use super::classes::Classes;
use crate::memory::{OutOfMemory, push, with_capacity};
use gclab_snapshot::Snapshot;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Types whose names are class names. Names of other types are values, or empty.
const NAMED: [&str; 4] = ["object", "native", "object array", "primitive array"];

/// The number and the bytes of some objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// The number of objects.
    pub count: u64,
    /// The bytes of all of them.
    pub bytes: u64,
}

impl Sum {
    pub(super) fn add(&mut self, other: Sum) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

/// The objects of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// A node that has the name, or the type in place of a name.
    pub example: u32,
    /// The objects of this name.
    pub sum: Sum,
}

/// Whether the name of a node is a class name.
pub(super) fn has_class_name(snapshot: &Snapshot, node: u32) -> bool {
    NAMED.contains(&snapshot.node(node).type_name())
}

/// The `count` names whose objects have most bytes of their own, most bytes first; of equals the
/// one that sorts first. Names of several types are one name. Takes four bytes a class.
pub(super) fn census(snapshot: &Snapshot, classes: &Classes, count: usize) -> Result<Vec<Named>, OutOfMemory> {
    let key = |class: &u32| {
        let own = snapshot.node(classes.figures(*class).first);
        if has_class_name(snapshot, own.ordinal()) {
            (0, own.name_index().map_or(&[][..], |name| snapshot.strings().raw(name)))
        } else {
            (1, own.type_name().as_bytes())
        }
    };
    let mut by_name: Vec<u32> = with_capacity(classes.len())?;
    by_name.extend(0..classes.len() as u32);
    by_name.sort_unstable_by(|one, other| (key(one), one).cmp(&(key(other), other)));
    // The largest so far; the least of them on top.
    let mut largest = BinaryHeap::new();
    for (place, same) in (0_usize..).zip(by_name.chunk_by(|one, other| key(one) == key(other))) {
        let mut sum = Sum::default();
        for &class in same {
            let figures = classes.figures(class);
            sum.add(Sum {
                count: u64::from(figures.count),
                bytes: figures.shallow,
            });
        }
        let example = classes.figures(same[0]).first;
        largest.push((Reverse(sum.bytes), place, example, sum.count));
        if largest.len() > count {
            largest.pop();
        }
    }
    let named = |(Reverse(bytes), _, example, count)| Named {
        example,
        sum: Sum { count, bytes },
    };
    Ok(largest.into_sorted_vec().into_iter().map(named).collect())
}

/// The objects of `nodes` by class, or by type where names are not classes; most bytes first.
/// `bytes` returns the bytes that a node counts for.
pub(super) fn groups(
    snapshot: &Snapshot,
    classes: &Classes,
    nodes: &[u32],
    bytes: impl Fn(u32) -> u64,
) -> Result<Vec<Named>, OutOfMemory> {
    let key = |node: u32| {
        if has_class_name(snapshot, node) {
            u64::from(classes.of_nodes()[node as usize])
        } else {
            1 << 32 | u64::from(snapshot.node(node).type_index())
        }
    };
    let mut keyed: Vec<(u64, u32)> = with_capacity(nodes.len())?;
    keyed.extend(nodes.iter().map(|&node| (key(node), node)));
    keyed.sort_unstable();
    let mut groups: Vec<Named> = Vec::new();
    for same in keyed.chunk_by(|one, other| one.0 == other.0) {
        let bytes = same.iter().map(|&(_, node)| bytes(node)).sum();
        let count = same.len() as u64;
        let group = Named {
            example: same[0].1,
            sum: Sum { count, bytes },
        };
        push(&mut groups, group)?;
    }
    groups.sort_unstable_by_key(|group| (Reverse(group.sum.bytes), group.example));
    Ok(groups)
}
