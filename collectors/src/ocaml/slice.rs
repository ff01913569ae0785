//! The `major` part of a pause: a slice of a cycle, the rest of it, or a whole one.

use super::Ocaml;
use super::cycle::{Budget, Done};
use super::pace::{MOST_SHARE, Owed, Slice, slice_is_due};
use super::stage::Stage;
use super::task::Major;
use gclab_core::collector::{Bump, Cause, Cycle, Pause, Request};
use gclab_core::words::Words;

impl Ocaml {
    /// A pause starts: prints what it is for.
    pub(super) fn announce(&mut self, pause: &Pause<'_, Bump>) {
        match pause.cause {
            Cause::Final => {
                let stat = self.stat(pause, false);
                self.messages.exit(&stat);
            }
            Cause::Asked(Request::Cycle) => self.messages.cycle_finishes("requested by user"),
            Cause::Asked(Request::Full) => self.messages.full_cycle("requested by user"),
            Cause::Asked(Request::Compact) if self.change.policy.is_none() => {
                self.messages.compaction_is_asked();
            }
            _ => {}
        }
    }

    /// The minor heap is empty: prints which cycle a compaction has come before it.
    pub(super) fn announce_cycle(&mut self, pause: &Pause<'_, Bump>) {
        if pause.cause == Cause::Asked(Request::Compact) {
            let reason = if self.change.policy.is_some() {
                "changing allocation policy"
            } else {
                "compaction"
            };
            self.messages.full_cycle(reason);
        }
    }

    /// Does the `major` part of a pause. Returns the part of a cycle that it did.
    pub(super) fn work(&mut self, pause: &mut Pause<'_, Bump>, major: Major) -> (Cycle, Done) {
        let was_idle = self.major.is_idle();
        let (cycle, done) = match major {
            Major::Nothing if !self.slice_is_due() => {
                return (Cycle::None, Done::default());
            }
            Major::Nothing => (Cycle::Continued, self.slice(pause, Slice::Automatic)),
            Major::Slice(slice) => (Cycle::Continued, self.slice(pause, slice)),
            Major::Cycle if !was_idle => (Cycle::Ended, self.finish_cycle(pause)),
            Major::Cycle => (Cycle::Whole, self.whole_or_rest(pause)),
            Major::Everything => (Cycle::Whole, self.everything(pause)),
        };
        let cycle = match cycle {
            Cycle::Continued if was_idle => Cycle::Began,
            Cycle::Continued if self.major.is_idle() => Cycle::Ended,
            cycle => cycle,
        };
        if cycle.is_over() {
            self.cycles += 1;
        }
        (cycle, done)
    }

    /// Whether a slice is due for what was allocated or promoted since the last one.
    fn slice_is_due(&self) -> bool {
        slice_is_due(self.allocated(), self.settings.minor_heap.to_words_up()) || self.outside.slice_is_due()
    }

    /// A slice, or the start of a cycle.
    fn slice(&mut self, pause: &mut Pause<'_, Bump>, slice: Slice) -> Done {
        let (heap, overhead) = (self.major.words().max(Words(1)), self.settings.space_overhead);
        let allocated = self.take_allocated();
        let owed = Owed {
            allocated,
            extra_resources: self.outside.take_owed(),
        };
        self.messages.slice_begins(slice, allocated, owed.extra_resources);
        let all = owed.share(heap, overhead) + self.window.backlog();
        let share = self.window.begin(owed.share(heap, overhead), slice, heap, overhead);
        let backlog = self.window.backlog();
        self.messages.shares(all.min(MOST_SHARE), backlog, share);
        if self.major.is_idle() {
            self.window.not_done(share);
            self.messages.does(0.0);
            return self.begin_cycle(pause);
        }
        self.messages.does(share);
        let budget = Budget::of_share(share, heap, overhead);
        let budget = match self.settings.slice_limit {
            Some(limit) => budget.at_most(allocated + limit),
            None => budget,
        };
        let is_marking = matches!(self.major.stage, Stage::Marking(_));
        self.messages
            .computed(if is_marking { budget.mark } else { budget.sweep });
        let done = self.advance(pause, budget);
        self.messages.slice_worked(is_marking);
        done
    }

    /// Begins a cycle.
    fn begin_cycle(&mut self, pause: &mut Pause<'_, Bump>) -> Done {
        self.messages.cycle_begins();
        let done = self.major.begin_cycle(pause);
        self.messages.mark_stack(done.stack);
        done
    }

    /// Continues the current cycle, up to the end of its stage.
    fn advance(&mut self, pause: &mut Pause<'_, Bump>, budget: Budget) -> Done {
        match self.major.stage {
            Stage::Idle => {}
            Stage::Marking(_) => self.messages.marks(budget.mark),
            Stage::Sweeping => self.messages.sweeps(budget.sweep),
        }
        let done = self.major.advance(pause, budget);
        self.messages.mark_stack(done.stack);
        if !matches!(self.major.stage, Stage::Marking(_)) {
            self.messages.marking_is_over();
        }
        self.messages.heap(self.major.words());
        done
    }

    /// Finishes the current cycle, or does a whole one.
    fn whole_or_rest(&mut self, pause: &mut Pause<'_, Bump>) -> Done {
        let mut done = Done::default();
        if self.major.is_idle() {
            self.window.forget_backlog();
            done += self.begin_cycle(pause);
        }
        done += self.finish_cycle(pause);
        done
    }

    /// After a cycle that the program asked for: an automatic slice starts the next one, so that
    /// the backlog is kept.
    pub(super) fn begin_next(&mut self, pause: &mut Pause<'_, Bump>) -> Done {
        let done = self.slice(pause, Slice::Automatic);
        self.messages.slice_is_over();
        done
    }

    /// Finishes the current cycle.
    fn finish_cycle(&mut self, pause: &mut Pause<'_, Bump>) -> Done {
        self.take_allocated();
        let mut done = Done::default();
        while !self.major.is_idle() {
            done += self.advance(pause, Budget::ALL);
        }
        done
    }

    /// Does a whole cycle, after finishing the current one if there is one. On a change of policy
    /// there are always two, as in OCaml.
    fn everything(&mut self, pause: &mut Pause<'_, Bump>) -> Done {
        let policy_changes = pause.cause == Cause::Asked(Request::Compact) && self.change.policy.is_some();
        let mut done = Done::default();
        if policy_changes {
            done += self.whole_or_rest(pause);
            self.cycles += 1;
        } else if !self.major.is_idle() {
            done += self.finish_cycle(pause);
            self.cycles += 1;
            done += self.begin_next(pause);
        }
        done += self.whole_or_rest(pause);
        done
    }
}
