//! Large objects that stay where they are: the marked ones live.
//!
//! For collectors that mark. New objects have no mark, and are in step 1 or in the nursery, until
//! the next collection.
//! (Copying collectors keep their large objects in the nursery and in steps.)

use super::MarkBits;
use crate::block::{BlockState, OutOfMemory, Region};
use crate::heap::{Heap, LargeObject, LargeRequest};
use crate::words::{Addr, Bytes, Words};

/// Large objects that are not moved, and freed when they have no mark.
#[derive(Debug)]
pub struct LargeObjects {
    /// Marked ones, then `young` others.
    objects: Vec<LargeObject>,
    /// The number of objects without marks.
    young: usize,
    /// The state of the blocks of marked objects.
    old: BlockState,
    /// The state of the blocks of the others.
    fresh: BlockState,
    /// Bytes that they take.
    held: usize,
    /// Bytes allocated since the last collection.
    taken: usize,
}

impl LargeObjects {
    /// A space without objects. Marked ones will belong to `step`, and unmarked ones to step 1.
    pub fn new(step: u8) -> Self {
        LargeObjects {
            objects: Vec::new(),
            young: 0,
            old: BlockState::of_step(step).large(),
            fresh: BlockState::AGED.large(),
            held: 0,
            taken: 0,
        }
    }

    /// As [`LargeObjects::new`], for a collector with a nursery: unmarked objects belong to it
    /// (step 0). So a barrier does not show them to a marker, and they may be freed while it marks
    /// old closures.
    pub fn beside_nursery(step: u8) -> Self {
        LargeObjects {
            fresh: BlockState::NURSERY.condemned(true).large(),
            ..LargeObjects::new(step)
        }
    }

    /// The same, for a collector that [logs](crate::collector::FieldLog) the stores to marked objects.
    #[must_use]
    pub fn logged(self) -> Self {
        LargeObjects {
            old: self.old.in_snapshot(true),
            ..self
        }
    }

    /// Allocates space for an object.
    ///
    /// # Errors
    /// If the heap has no memory for it.
    pub fn allocate(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Addr, OutOfMemory> {
        let object = heap.allocate_large(request, self.fresh)?;
        self.held += object.bytes().0;
        self.taken += mutant!("mark/large-not-counted", object.bytes().0 => 0);
        self.objects.push(object);
        self.young += 1;
        Ok(object.start)
    }

    /// Turns on or off the recording of values that stores to marked objects overwrite.
    pub fn set_in_snapshot(&self, heap: &mut Heap, yes: bool) {
        let state = if yes { self.old.in_snapshot(true) } else { self.old };
        let marked = &self.objects[..self.objects.len() - self.young];
        marked.iter().for_each(|object| heap.set_state(object.run, state));
    }

    /// Prepares for marking of everything: clears the marks.
    pub fn condemn(&mut self, marks: &mut MarkBits) {
        for object in &self.objects {
            if !mutant!("mark/large-mark-not-cleared") {
                marks.clear(object.start, object.start + Words(1));
            }
        }
    }

    /// Sweeps after marking of everything: frees the unmarked objects.
    pub fn sweep(&mut self, heap: &mut Heap, marks: &MarkBits) {
        self.sweep_from(0, heap, marks);
    }

    /// Sweeps after marking of young closures: frees the unmarked objects of those that were
    /// allocated since the last collection.
    pub fn sweep_young(&mut self, heap: &mut Heap, marks: &MarkBits) {
        let young = mutant!("lines/large-never-dies-young", self.young => 0);
        self.sweep_from(self.objects.len() - young, heap, marks);
    }

    /// Sweeps after marking of old closures: frees the unmarked objects, but none of those that
    /// were allocated since the last collection.
    pub fn sweep_old(&mut self, heap: &mut Heap, marks: &MarkBits) {
        let mut fresh = self.objects.split_off(self.objects.len() - self.young);
        let taken = self.taken;
        self.sweep_from(0, heap, marks);
        (self.young, self.taken) = (fresh.len(), taken);
        self.objects.append(&mut fresh);
    }

    /// Sweeps the objects from number `first` on.
    fn sweep_from(&mut self, first: usize, heap: &mut Heap, marks: &MarkBits) {
        let old = self.old;
        let mut swept = self.objects.split_off(first);
        swept.retain(|object| {
            let lives = marks.get(object.start);
            if !lives {
                self.held -= object.bytes().0;
                heap.free_large(*object);
            } else if heap.blocks().state_of(object.start) != old {
                heap.set_state(object.run, old);
            }
            lives
        });
        self.objects.append(&mut swept);
        (self.young, self.taken) = (0, 0);
    }

    /// The objects, marked ones first.
    pub(crate) fn objects(&self) -> &[LargeObject] {
        &self.objects
    }

    /// Bytes allocated since the last collection.
    pub fn taken(&self) -> Bytes {
        Bytes(self.taken)
    }

    /// Bytes that all objects take.
    pub fn held(&self) -> Bytes {
        Bytes(self.held)
    }

    /// Visits the regions that hold closures: one for each object.
    pub fn for_each_region(&self, visit: &mut dyn FnMut(Region)) {
        let (old, young) = self.objects.split_at(self.objects.len() - self.young);
        old.iter().for_each(|object| visit(object.region(self.old.step())));
        young.iter().for_each(|object| visit(object.region(self.fresh.step())));
    }
}
