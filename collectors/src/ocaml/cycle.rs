//! A cycle of marking and sweeping, one part at a time.

use super::major::{Compactions, MajorHeap};
use super::pace::{words_to_mark, words_to_sweep};
use super::stage::{CycleWords, Stage};
use gclab_core::block::FIRST_OLD_STEP;
use gclab_core::collector::{Bump, Counted, Pause};
use gclab_core::events::Phase;
use gclab_core::heap::Heap;
use gclab_core::space::SnapshotMarks;
use gclab_core::trace::{Amount, SlicedTrace};
use gclab_core::words::{Addr, Bytes, Words};

/// Limit on the words that a part of a cycle marks or sweeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) mark: Words,
    pub(super) sweep: Words,
}

impl Budget {
    /// As much as is left.
    pub(super) const ALL: Budget = Budget {
        mark: Words(usize::MAX),
        sweep: Words(usize::MAX),
    };

    /// The work of a slice that must do `share` of a cycle, in a heap of `heap` words.
    pub(super) fn of_share(share: f64, heap: Words, space_overhead: u64) -> Budget {
        Budget {
            mark: words_to_mark(share, heap, space_overhead),
            sweep: words_to_sweep(share, heap),
        }
    }

    /// This budget, but at most `words` words.
    pub(super) fn at_most(self, words: Words) -> Budget {
        Budget {
            mark: self.mark.min(words),
            sweep: self.sweep.min(words),
        }
    }
}

/// The work done in a pause.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    pub marked: Bytes,
    pub swept: Bytes,
    /// Peak memory of the mark stack.
    pub stack: Bytes,
    pub counted: Counted,
    pub compactions: Compactions,
}

impl std::ops::AddAssign for Done {
    fn add_assign(&mut self, other: Done) {
        self.marked += other.marked;
        self.swept += other.swept;
        self.stack = self.stack.max(other.stack);
        self.counted += other.counted;
        self.compactions += other.compactions;
    }
}

impl MajorHeap {
    /// Whether no cycle is in progress.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle)
    }

    /// Starts a cycle, when the minor heap is empty: marks the referents of roots.
    pub(super) fn begin_cycle(&mut self, pause: &mut Pause<'_, Bump>) -> Done {
        self.large.condemn(&mut self.marks);
        self.space.begin_marking();
        self.set_in_snapshot(pause.heap, true);
        let (trace, marked) = SlicedTrace::begin(pause, &SnapshotMarks::new(pause.heap, &self.marks, ()));
        self.marked = Amount::from(&marked);
        self.cycle = CycleWords {
            heap: self.words(),
            marked: marked.words,
        };
        self.stage = Stage::Marking(trace);
        Done {
            marked: marked.words.to_bytes(),
            stack: marked.stack,
            counted: marked.counted,
            ..Done::default()
        }
    }

    /// Continues the current cycle, up to the end of its stage.
    pub(super) fn advance(&mut self, pause: &mut Pause<'_, Bump>, budget: Budget) -> Done {
        let mut done = Done::default();
        self.stage = match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => Stage::Idle,
            Stage::Marking(trace) => {
                let marks = SnapshotMarks::new(pause.heap, &self.marks, ());
                let (left, marked) = trace.advance(pause, &marks, budget.mark);
                self.marked += &marked;
                self.cycle.marked += marked.words;
                done.marked = marked.words.to_bytes();
                done.counted = marked.counted;
                done.stack = marked.stack;
                pause.events.phase(Phase::Marked);
                match left {
                    Some(left) => Stage::Marking(left),
                    None => self.end_marking(pause.heap),
                }
            }
            Stage::Sweeping => {
                let swept = self.space.sweep(&mut self.starts, &mut self.marks, budget.sweep);
                done.swept = swept.passed.to_bytes();
                pause.events.phase(Phase::Released);
                if swept.is_over { Stage::Idle } else { Stage::Sweeping }
            }
        };
        done
    }

    /// Makes barriers record what mutators overwrite, or stop doing so.
    fn set_in_snapshot(&self, heap: &mut Heap, yes: bool) {
        self.space.set_in_snapshot(heap, yes);
        self.large.set_in_snapshot(heap, yes);
    }

    /// Everything reachable when the cycle began is marked: old closures that are white are
    /// garbage. Large ones are freed at once.
    fn end_marking(&mut self, heap: &mut Heap) -> Stage {
        self.set_in_snapshot(heap, false);
        self.space.begin_sweep();
        self.large.for_each_region(&mut |region| {
            let at: Addr = region.start;
            if region.step >= FIRST_OLD_STEP && !self.marks.get(at) {
                self.starts.clear(at, at + Words(1));
            }
        });
        self.large.sweep_old(heap, &self.marks);
        self.live = self.marked;
        Stage::Sweeping
    }
}
