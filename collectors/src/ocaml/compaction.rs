//! The end of a cycle: when the major heap is compacted.
//!
//! When a slice ends a cycle, the overhead that the cycle showed is an estimate, since garbage
//! floats. If it reaches `max_overhead`, another cycle follows in the same pause and measures the
//! true overhead. When the program asks for the end of a cycle, the overhead decides at once.

use super::Ocaml;
use super::course::Course;
use super::cycle::Done;
use super::policy::Policy;
use super::task::Major;
use gclab_core::collector::{Bump, Cause, Pause, Request};
use gclab_core::mutant;

impl Ocaml {
    /// Compacts the heap if the rule says so, after a pause in which a cycle may have ended.
    pub(super) fn end_cycle(&mut self, pause: &mut Pause<'_, Bump>, course: &mut Course) {
        if !course.cycle.is_over() {
            return;
        }
        match pause.cause {
            Cause::Asked(Request::Compact) => {
                let policy = self.change.policy.take();
                self.settings.policy = policy.unwrap_or(self.settings.policy);
                self.compact(pause, &mut course.done);
                if let Some(policy) = policy {
                    if course.done.compactions.count == 0 {
                        // There was no memory for it, so the list is unchanged.
                        self.major.set_policy(Policy::of_number(policy));
                    }
                    self.settings.policy = self.major.space.list().number();
                    self.messages.new_policy(policy);
                }
            }
            Cause::Asked(Request::Cycle | Request::Full) => {
                self.messages.estimated_overhead(self.major.overhead());
                if self.compaction_is_due() {
                    self.messages.triggered();
                    self.compact(pause, &mut course.done);
                }
            }
            _ if !course.task.ends_cycle() => self.end_cycle_of_slices(pause, course),
            _ => {}
        }
    }

    /// A slice has ended a cycle: compacts the heap if the cycle suggests it, and another cycle
    /// confirms it.
    fn end_cycle_of_slices(&mut self, pause: &mut Pause<'_, Bump>, course: &mut Course) {
        let cycle = self.major.cycle;
        self.messages
            .cycle_shows(cycle.heap, cycle.marked, self.major.estimated_overhead());
        if !self.estimate_is_due() {
            return;
        }
        self.messages.triggered();
        if !course.task.minor && self.prepare(pause).is_err() {
            // There is no memory for the minor collection that must come first.
            return self.messages.aborted();
        }
        self.whole_cycle(pause, course);
        self.messages.current_overhead(self.major.overhead());
        if self.compaction_is_due() {
            self.compact(pause, &mut course.done);
        } else {
            self.messages.aborted();
        }
    }

    /// Whether the overhead that a cycle showed calls for a compaction.
    fn estimate_is_due(&self) -> bool {
        let rule = self.settings.compaction;
        rule.is_possible(self.cycles, self.major.words(), self.settings.increment)
            && rule.is_due(self.major.estimated_overhead())
    }

    /// A whole cycle after the one that ended, with an empty minor heap, as part of the slice.
    /// There is room for the minor collection.
    fn whole_cycle(&mut self, pause: &mut Pause<'_, Bump>, course: &mut Course) {
        if !course.task.minor {
            course.promoted = self.minor(pause);
            course.task.minor = true;
        }
        self.messages.cycle_finishes("triggered by compaction");
        course.done += self.work(pause, Major::Everything).1;
        self.counts.forced += 1;
    }

    /// Whether the free blocks call for a compaction.
    fn compaction_is_due(&self) -> bool {
        self.settings.compaction.is_due(self.major.overhead()) || mutant!("ocaml/always-compacted")
    }

    /// Compacts the major heap unconditionally. The minor heap is empty, and no cycle is in
    /// progress.
    pub(super) fn compact(&mut self, pause: &mut Pause<'_, Bump>, done: &mut Done) {
        let compactions = self.major.compact(pause, &self.settings, &mut self.messages);
        self.counts.compactions += compactions.count;
        done.compactions += compactions;
    }
}
