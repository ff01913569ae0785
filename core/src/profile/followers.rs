//! The parties that follow closures as they are allocated and move: a map of the heap, and the life
//! of one closure.

use super::cost_centre::StackId;
use super::life::{Followed, Life, LifeEvent, Reference};
use super::move_log::{MoveLog, Moves};
use crate::block::StateView;
use crate::closure::TypeInfo;
use crate::words::{Addr, Words};

/// The parties that follow closures of one heap.
#[derive(Debug)]
pub(crate) struct Followers {
    moves: Option<MoveLog>,
    life: Option<Life>,
    states: StateView,
}

impl Followers {
    /// The followers for the heap at `base` with these block `states`: a log of moves if `moves`,
    /// and the life of `closure`. `None` if there would be neither.
    pub(crate) fn new(base: Addr, states: StateView, moves: bool, closure: Option<Followed>) -> Option<Followers> {
        (moves || closure.is_some()).then(|| Followers {
            moves: moves.then(|| MoveLog::new(base)),
            life: closure.map(Life::new),
            states,
        })
    }

    /// Notes an allocation.
    #[cold]
    pub(super) fn born(&self, at: Addr, words: Words, info: &'static TypeInfo, stack: StackId) {
        if let Some(life) = &self.life {
            life.born((at, self.states.of(at).step()), words, info, stack);
        }
    }

    /// Notes that a closure moves. A compaction may leave it where it is.
    #[cold]
    pub(super) fn moves(&self, from: Addr, to: Addr, words: Words) {
        if from == to {
            return;
        }
        if let Some(log) = &self.moves {
            log.note(from, to, words);
        }
        if let Some(life) = &self.life {
            life.moves(from, to);
        }
    }

    /// Takes the moves since the last call.
    pub(super) fn take_moves(&self) -> Moves {
        self.moves.as_ref().map_or_else(Moves::default, MoveLog::take)
    }

    /// Takes the events of the life since the last call.
    pub(super) fn take_life(&self) -> Vec<LifeEvent> {
        self.life.as_ref().map_or_else(Vec::new, Life::take)
    }

    /// Whether the life of a closure is followed.
    pub(super) fn follow_life(&self) -> bool {
        self.life.is_some()
    }

    /// Notes how a reference was counted.
    #[cold]
    pub(super) fn counted(&self, to: Addr, reference: Reference, counts: [Option<u8>; 2]) {
        if let Some(life) = &self.life {
            life.counted(to, reference, counts);
        }
    }

    /// The followed closure was found dead.
    pub(super) fn end_life(&self) {
        if let Some(life) = &self.life {
            life.ends();
        }
    }
}
