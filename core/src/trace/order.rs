//! The order of a trace, for every collector: remembered slots, roots, everything that these lead
//! to, weak handles.
//!
//! Remembered slots come first, so that their referents go to the steps of the closures that point
//! to them. Weak handles come last, when all live closures are known. (Finalisers will stand
//! between the two.)

use crate::capability::Capabilities;
use crate::events::Phase;
use crate::roots::{RootSlot, Roots};

/// The part of a tracer that the order needs: [`super::Evacuator`] and [`super::Marker`] have it.
pub trait Tracing {
    /// Traces the referent of a root, but not further.
    fn root(&mut self, slot: RootSlot<'_>);
    /// Traces the referents of all roots, but not further.
    fn roots(&mut self, roots: Roots<'_>) {
        roots.for_each(|slot| self.root(slot));
    }
    /// Traces everything that can be reached from there.
    fn trace(&mut self);
    /// After tracing: updates the weak slots whose referents live, and clears the others.
    fn weak_handles(&mut self, roots: Roots<'_>);
}

/// A tracer that collects a part of the heap, and takes remembered slots for roots.
pub trait RememberedTracing: Tracing {
    /// Traces the referents of the remembered slots that do not lie in condemned memory themselves,
    /// and empties the sets.
    fn remembered<A>(&mut self, capabilities: Capabilities<'_, A>);
}

/// Traces everything that lives: roots, everything that they lead to, weak handles. Calls `phase`
/// at the end of each phase.
pub fn live(tracer: &mut impl Tracing, roots: Roots<'_>, mut phase: impl FnMut(Phase)) {
    tracer.roots(roots);
    phase(Phase::RootsTraced);
    tracer.trace();
    phase(Phase::HeapTraced);
    tracer.weak_handles(roots);
    phase(Phase::WeakProcessed);
}

/// Traces everything that lives in the generations that are collected: remembered slots, then as
/// [`live`].
pub fn live_and_remembered<A>(
    tracer: &mut impl RememberedTracing,
    capabilities: Capabilities<'_, A>,
    roots: Roots<'_>,
    mut phase: impl FnMut(Phase),
) {
    tracer.remembered(capabilities);
    phase(Phase::RememberedTraced);
    live(tracer, roots, phase);
}
