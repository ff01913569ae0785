//! The closures of a marking for which the mark stack had no room.

use crate::space::Marks;
use crate::words::{Addr, Words};

/// The first and last closures that must be scanned again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropped {
    pub first: Addr,
    pub last: Addr,
    /// From here to `pass_last` they are being scanned.
    pub pass: Addr,
    pub pass_last: Addr,
}

impl Dropped {
    pub(super) const NONE: Dropped = Dropped {
        first: Addr(usize::MAX),
        last: Addr::NULL,
        pass: Addr(usize::MAX),
        pass_last: Addr::NULL,
    };

    pub(super) fn is_none(&self) -> bool {
        self.first > self.last
    }

    /// Adds closures that another worker dropped.
    pub(super) fn join(&mut self, other: Dropped) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    pub(super) fn next_of_pass(&self, marks: &impl Marks) -> Option<Addr> {
        let last = Words(usize::from(!mutant!("mark/interval-short")));
        marks.next_marked(self.pass, self.pass_last + last)
    }

    /// Ends the pass. Any part that it has not reached remains.
    pub(super) fn end_pass(&mut self) {
        if self.pass <= self.pass_last {
            self.join(Dropped {
                first: self.pass,
                last: self.pass_last,
                ..Dropped::NONE
            });
        }
        (self.pass, self.pass_last) = (Dropped::NONE.pass, Dropped::NONE.pass_last);
    }

    pub(super) fn add(&mut self, at: Addr) {
        if at >= self.pass {
            let ahead = mutant!("mark/ahead-forgotten", at => Addr::NULL);
            self.pass_last = self.pass_last.max(ahead);
        } else {
            self.first = self.first.min(at);
            self.last = self.last.max(at);
        }
    }
}
