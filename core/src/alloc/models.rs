//! Models for loom (`.ci/loom`): a mutator goes from hole to hole while another thread has it stop,
//! in every order that the memory model allows.
//!
//! [`Hole`] is the real one. Only its limit is shared; the rest belongs to the mutator's thread, as
//! in a heap.

use super::hole::Hole;
use crate::sync::Arc;
use crate::words::{Addr, Bytes, Words};
use crate::workers::models::model;
use loom::thread;

/// A mutator's hole, of which another thread sees the limit.
struct Shared(Hole);

// SAFETY: another thread calls `interrupt` alone, which touches only an atomic.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

/// The size of the closures of these models, and of each hole.
const CLOSURE: Bytes = Words(2).to_bytes();

impl Shared {
    /// As a mutator allocates one closure without the lock. Returns where.
    fn allocate(&self) -> Option<Addr> {
        let elsewhere = || self.0.next(CLOSURE).map(|(_, at)| at);
        let at = self.0.reserve(CLOSURE).or_else(elsewhere)?;
        self.0.commit(at, CLOSURE);
        Some(at)
    }
}

/// However the interrupt meets the way from one hole to the next, the mutator finds no room after
/// it, until the collector restores the limit. No closure lies where another does.
#[test]
fn an_interrupt_is_not_lost_on_the_way_to_the_next_hole() {
    model(None, || {
        // Loom runs the model many times; each time has its own memory.
        let mut memory = vec![0_u64; 6];
        let start = Addr::of(memory.as_mut_ptr());
        let hole = |number: usize| (start + Words(2 * number), start + Words(2 * number + 2));
        let shared = Arc::new(Shared(Hole::default()));
        shared.0.set(hole(0), &[hole(1), hole(2)]);
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.0.interrupt())
        };
        let mut places: Vec<_> = (0..2).filter_map(|_| shared.allocate()).collect();
        other.join().unwrap();
        assert_eq!(shared.allocate(), None, "the interrupt was lost");
        shared.0.restrict(None);
        places.extend(std::iter::from_fn(|| shared.allocate()));
        assert_eq!(places, [0, 1, 2].map(|number| hole(number).0));
        drop(memory);
    });
}
