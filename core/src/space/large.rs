//! Large objects that stay where they are and in their step: the marked ones live.
//!
//! For collectors that mark. (Copying collectors keep their large objects in the nursery and in
//! steps, and change their step.)

use super::{LargeObject, MarkBits};
use crate::block::{BlockState, OutOfMemory, Region, poison};
use crate::heap::Heap;
use crate::words::{Addr, Bytes, Words};

/// Closures with block runs of their own.
#[derive(Debug)]
pub struct LargeObjects {
    objects: Vec<LargeObject>,
    step: u8,
    /// Bytes of their blocks.
    held: usize,
    /// Bytes allocated since the last collection.
    taken: usize,
}

impl LargeObjects {
    /// A space without objects; later ones belong to `step`.
    pub fn new(step: u8) -> Self {
        LargeObjects {
            objects: Vec::new(),
            step,
            held: 0,
            taken: 0,
        }
    }

    /// Allocates space for an object of `words` words.
    ///
    /// # Errors
    /// If the heap has no memory for it.
    pub fn allocate(&mut self, heap: &mut Heap, marks: &mut MarkBits, words: Words) -> Result<Addr, OutOfMemory> {
        let run = heap.allocate_words(words)?;
        heap.set_state(run, BlockState::of_step(self.step).large());
        let end = run.start() + words;
        // SAFETY: the run is new, and the memory behind the object stays unused.
        unsafe { poison::retire(end, run.end() - end) };
        marks.set(run.start());
        self.held += run.bytes().0;
        self.taken += run.bytes().0;
        self.objects.push(LargeObject { run, words });
        Ok(run.start())
    }

    /// Prepares for marking: clears the marks.
    pub fn condemn(&mut self, marks: &mut MarkBits) {
        for object in &self.objects {
            let start = object.run.start();
            if !mutant!("mark/large-mark-not-cleared") {
                marks.clear(start, Addr(start.0 + 8));
            }
        }
    }

    /// Sweeps after marking: frees the unmarked objects.
    pub fn sweep(&mut self, heap: &mut Heap, marks: &MarkBits) {
        self.objects.retain(|object| {
            let lives = marks.get(object.run.start());
            if !lives {
                self.held -= object.run.bytes().0;
                heap.free(object.run);
            }
            lives
        });
        self.taken = 0;
    }

    /// Bytes allocated since the last collection.
    pub fn taken(&self) -> Bytes {
        Bytes(self.taken)
    }

    /// Bytes of the blocks of all objects.
    pub fn held(&self) -> Bytes {
        Bytes(self.held)
    }

    /// Visits the regions that hold closures: one for each object.
    pub fn for_each_region(&self, visit: &mut dyn FnMut(Region)) {
        self.objects.iter().for_each(|object| visit(object.region(self.step)));
    }
}
