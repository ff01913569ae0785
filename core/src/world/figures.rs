//! The figures of a run by name: those of its collector, and of memory outside the heap.

use super::foreign::ForeignCounts;
use super::state::WorldState;
use crate::kind::MutatorKind;
use crate::stats::Figure;

impl<M: MutatorKind> WorldState<M> {
    /// The figures by name up to now. `foreign` are those of memory outside the heap.
    pub(super) fn figures(&self, foreign: ForeignCounts) -> Vec<Figure> {
        let mut figures = Vec::new();
        if foreign.closures > 0 {
            for (name, value) in [
                ("foreign_closures", foreign.closures),
                ("foreign_bytes", foreign.allocated),
                ("foreign_held_bytes", foreign.held),
                ("peak_foreign_bytes", foreign.peak),
            ] {
                figures.push(Figure { name, value });
            }
        }
        self.collector
            .figures(&mut |name, value| figures.push(Figure { name, value }));
        figures
    }
}
