//! The reference heap: a vector of objects that are never freed.

use super::shapes::Shape;
use std::collections::HashMap;

/// An object of the reference heap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Id(pub usize);

/// An object's shape and content.
#[derive(Debug)]
pub(super) struct Object {
    pub shape: Shape,
    /// The seed of its immutable data.
    pub seed: u64,
    /// The targets of its slots. A box's only slot points to the box's content.
    pub slots: Vec<Option<Id>>,
    /// Its mutable data.
    pub bytes: Vec<u8>,
}

/// A reference heap.
#[derive(Debug, Default)]
pub(super) struct Model {
    objects: Vec<Object>,
    /// The keys and values of ephemerons.
    pub ephemerons: Vec<(Id, Id)>,
}

impl Model {
    /// Makes an object, and its content if it is a box.
    pub(super) fn alloc(&mut self, shape: Shape, seed: u64, args: [Option<Id>; 3]) -> Id {
        let slots = match shape.inner() {
            Some(inner) => vec![Some(self.alloc(inner, seed, args))],
            None => shape
                .initial_slots()
                .into_iter()
                .map(|arg| arg.and_then(|arg| args[arg]))
                .collect(),
        };
        self.objects.push(Object {
            shape,
            seed,
            slots,
            bytes: vec![0; shape.mutable_bytes()],
        });
        Id(self.objects.len() - 1)
    }

    /// The number of objects ever made.
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn get(&self, id: Id) -> &Object {
        &self.objects[id.0]
    }

    /// The object whose slots programs see: the box's content, or the object itself.
    pub(super) fn seen(&self, id: Id) -> Id {
        match self.get(id).shape.inner() {
            Some(_) => self.get(id).slots[0].expect("a box is never empty"),
            None => id,
        }
    }

    /// The number of slots that programs see.
    pub(super) fn slots(&self, id: Id) -> usize {
        self.get(self.seen(id)).slots.len()
    }

    pub(super) fn slot(&self, id: Id, index: usize) -> Option<Id> {
        self.get(self.seen(id)).slots[index]
    }

    pub(super) fn set_slot(&mut self, id: Id, index: usize, value: Option<Id>) {
        let seen = self.seen(id);
        self.objects[seen.0].slots[index] = value;
    }

    pub(super) fn set_byte(&mut self, id: Id, at: usize, byte: u8) {
        let object = &mut self.objects[id.0];
        match object.shape {
            Shape::Record { .. } | Shape::MutWords(_) => object.bytes[at / 8 * 8..][..8].fill(byte),
            _ => object.bytes[at] = byte,
        }
    }

    /// For each object, by number, whether it is reachable.
    pub(super) fn reachable(&self, roots: impl IntoIterator<Item = Id>) -> Vec<bool> {
        let mut reached = vec![false; self.objects.len()];
        let mut values = HashMap::<Id, Vec<Id>>::new();
        for (key, value) in &self.ephemerons {
            values.entry(*key).or_default().push(*value);
        }
        let mut open: Vec<Id> = roots.into_iter().collect();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut reached[id.0], true) {
                open.extend(self.get(id).slots.iter().flatten());
                open.extend(values.get(&id).into_iter().flatten());
            }
        }
        reached
    }

    /// The bytes of all reachable objects.
    pub(super) fn bytes(&self, roots: impl IntoIterator<Item = Id>) -> usize {
        let reached = self.reachable(roots);
        let live = self.objects.iter().zip(reached).filter(|(_, reached)| *reached);
        // The size of a box includes its content.
        live.filter(|(object, _)| !object.shape.is_content())
            .map(|(object, _)| object.shape.words() as usize * 8)
            .sum()
    }
}
