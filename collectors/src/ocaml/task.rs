//! The work of each pause: when a minor collection is due, and when a slice.
//!
//! As in OCaml's `caml_gc_dispatch`, the minor heap has a *trigger*, at its middle or at its end.
//! When allocation reaches it in the middle, a slice is due, and the trigger moves to the end. At
//! the end, a minor collection is due, and the trigger moves to the middle. If there is no current
//! cycle both are due, since a cycle starts with an empty minor heap. When a cycle ends, the next
//! one starts at the next allocation, before it gets room; if the allocation itself caused the
//! slice that ended the cycle, at that allocation.

use super::pace::Slice;
use gclab_core::block::LARGE_OBJECT;
use gclab_core::collector::{Cycle, Request};
use gclab_core::words::Words;

/// The part of a pause that concerns the major heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Major {
    Nothing,
    /// A slice of the current cycle, or the start of one.
    Slice(Slice),
    /// The rest of the current cycle, or a whole one.
    Cycle,
    /// The rest of the current cycle, and a whole one.
    Everything,
}

/// A pause for a module function that ends a cycle. The next one starts in the pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of `major`.
    Major,
    /// The halves of `full_major` and `compact`, between which finalisers run.
    FirstHalf,
    SecondHalf,
    /// `set`, if it changes the allocation policy.
    Policy,
}

/// The work of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// A minor collection comes first.
    pub minor: bool,
    pub major: Major,
}

impl Default for Task {
    fn default() -> Self {
        Task::everything()
    }
}

impl Task {
    /// A full collection.
    pub(super) fn everything() -> Task {
        Task::after_minor(Major::Everything)
    }

    /// A minor collection, and no slice unless much is promoted.
    pub(super) fn minor() -> Task {
        Task::after_minor(Major::Nothing)
    }

    /// A minor collection, and the rest of the current cycle or a whole one.
    pub(super) fn cycle() -> Task {
        Task::after_minor(Major::Cycle)
    }

    /// Whether a cycle ends in the pause, however little is left of it.
    pub(super) fn ends_cycle(self) -> bool {
        matches!(self.major, Major::Cycle | Major::Everything)
    }

    /// A slice that the program asks for.
    fn slice(words: Words) -> Task {
        let slice = if words == Words::ZERO {
            Slice::Next
        } else {
            Slice::Words(words)
        };
        Task {
            minor: false,
            major: Major::Slice(slice),
        }
    }

    fn after_minor(major: Major) -> Task {
        Task { minor: true, major }
    }
}

/// The place of the trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trigger {
    Middle,
    #[default]
    End,
}

/// The occasion of the next pause.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occasion {
    trigger: Trigger,
    /// The minor heap is used up, even if the trigger was in the middle: a very small minor heap
    /// may have no room between the two.
    is_full: bool,
    /// Much was allocated in the major heap.
    slice_is_asked: bool,
    /// A cycle has ended: the next one starts at the next allocation, after a minor collection.
    cycle_has_ended: bool,
}

impl Occasion {
    /// The words that a mutator gets if it wants `words` and has used `used` of the `all` words of
    /// its part of the minor heap; `None` if a pause is due first. If memory `is_short`, only
    /// reaching the end of the minor heap causes one.
    pub(super) fn room(&mut self, words: Words, used: Words, all: Words, is_short: bool) -> Option<Words> {
        self.is_full |= used + words > all;
        let trigger = match self.trigger {
            // A small closure has room in an empty minor heap, however small that is.
            Trigger::Middle if !is_short => Words(all.0 / 2).max(LARGE_OBJECT).min(all),
            _ => all,
        };
        let is_due = used + words > trigger || self.cycle_has_ended && !is_short;
        (!is_due).then(|| trigger - used)
    }

    /// A slice is due at the next pause.
    pub(super) fn slice_is_asked(&mut self) {
        self.slice_is_asked = true;
    }

    /// A minor collection is due at the next pause.
    pub(super) fn minor_is_asked(&mut self) {
        self.is_full = true;
    }

    /// The minor heap has been resized: its trigger is at its end, as in a new heap.
    pub(super) fn minor_heap_is_new(&mut self) {
        self.trigger = Trigger::End;
    }

    /// The task of a pause with this request; `is_idle`: no cycle is in progress.
    pub(super) fn task(&self, request: Option<Request>, is_idle: bool) -> Task {
        match request {
            Some(Request::Slice(words)) if !is_idle => return Task::slice(words),
            Some(Request::Cycle) => return Task::cycle(),
            Some(Request::Full | Request::Compact) => return Task::everything(),
            None | Some(Request::Minor | Request::Slice(_)) => {}
        }
        let slice = self.slice_is_asked
            || is_idle
            || self.trigger == Trigger::Middle
            || matches!(request, Some(Request::Slice(_)));
        Task {
            minor: is_idle || self.is_full || self.trigger == Trigger::End || request == Some(Request::Minor),
            major: if slice {
                Major::Slice(Slice::Automatic)
            } else {
                Major::Nothing
            },
        }
    }

    /// After a pause that did this task and this part of a cycle, and left the collector idle or
    /// not; the program may have asked for it. An automatic slice moves the trigger.
    pub(super) fn has_passed(&mut self, task: Task, cycle: Cycle, (is_asked, is_idle): (bool, bool)) {
        if task.minor {
            self.trigger = Trigger::Middle;
            self.is_full = false;
        }
        if cycle.is_slice() && !matches!(task.major, Major::Slice(Slice::Next | Slice::Words(_))) {
            self.trigger = Trigger::End;
        }
        self.cycle_has_ended = cycle.is_over() && is_idle && (is_asked || !task.ends_cycle());
        self.slice_is_asked = false;
    }
}
