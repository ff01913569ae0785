//! The end of a cycle: when the major heap is compacted.
//!
//! Where a slice ends a cycle, the overhead that the cycle has shown is an estimate, since garbage
//! floats. If it reaches `max_overhead`, another cycle follows in the same pause, and shows the
//! overhead as it is. Where the program asks for the end of a cycle, that overhead decides at once.

use super::Ocaml;
use super::course::Course;
use super::cycle::Done;
use super::task::Major;
use gclab_core::collector::{Bump, Cause, Pause, Request};
use gclab_core::mutant;

impl Ocaml {
    /// A cycle has ended in the pause, or it has not: compacts the heap where the rule says so.
    pub(super) fn end_cycle(&mut self, pause: &mut Pause<'_, Bump>, course: &mut Course) {
        if !course.cycle.is_over() {
            return;
        }
        match pause.cause {
            Cause::Asked(Request::Compact) => self.compact(pause, &mut course.done),
            Cause::Asked(Request::Cycle | Request::Full) => self.compact_if_due(pause, &mut course.done),
            _ if !course.task.ends_cycle() && self.estimate_is_due() => {
                self.whole_cycle(pause, course);
                self.compact_if_due(pause, &mut course.done);
            }
            _ => {}
        }
    }

    /// Whether the overhead that a cycle has shown calls for a compaction.
    fn estimate_is_due(&self) -> bool {
        let rule = self.settings.compaction;
        rule.is_possible(self.cycles, self.major.words(), self.settings.increment)
            && rule.is_due(self.major.estimated_overhead())
    }

    /// A whole cycle after the one that has ended, with an empty minor heap. It is a part of the
    /// slice.
    fn whole_cycle(&mut self, pause: &mut Pause<'_, Bump>, course: &mut Course) {
        if !course.task.minor {
            course.promoted = self.minor(pause);
            course.task.minor = true;
        }
        course.done += self.work(pause, Major::Everything).1;
        self.counts.forced += 1;
    }

    fn compact_if_due(&mut self, pause: &mut Pause<'_, Bump>, done: &mut Done) {
        if self.settings.compaction.is_due(self.major.overhead()) || mutant!("ocaml/always-compacted") {
            self.compact(pause, done);
        }
    }

    /// Compacts the major heap in any case. The minor heap is empty, and no cycle is under way.
    pub(super) fn compact(&mut self, pause: &mut Pause<'_, Bump>, done: &mut Done) {
        let compactions = self.major.compact(pause, &self.settings);
        self.counts.compactions += compactions.count;
        done.compactions += compactions;
    }
}
