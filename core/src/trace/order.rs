//! The order of a trace, for every collector: remembered slots, roots, everything reachable from
//! them, finalisers, weak handles.
//!
//! Remembered slots come first, so that their referents go to the steps of the closures that point
//! to them. After everything reachable is traced, all live closures are known. A finaliser that
//! gets its closure keeps it alive once more, with everything reachable from it. So these
//! finalisers come next, then weak handles, then the finalisers that run when their closure is
//! gone.

use crate::capability::Capabilities;
use crate::events::Phase;
use crate::roots::{RootSlot, Roots};

/// What the order needs from a tracer; [`super::Evacuator`] and [`super::Marker`] implement it.
pub trait Tracing {
    /// Traces the referent of a root, but not further.
    fn root(&mut self, slot: RootSlot<'_>);
    /// Traces the referents of all roots, but not further.
    fn roots(&mut self, roots: Roots<'_>) {
        roots.for_each(|slot| self.root(slot));
    }
    /// Traces everything that can be reached from there. It may be called once more, after more
    /// roots.
    fn trace(&mut self);
    /// After tracing: whether the slot's closure is live. Updates the slot if so.
    fn lives(&mut self, slot: RootSlot<'_>) -> bool;
    /// After tracing: updates weak slots whose referents are live, and clears the others.
    fn weak_handles(&mut self, roots: Roots<'_>);
}

/// A tracer that collects part of the heap, with remembered slots as roots.
pub trait RememberedTracing: Tracing {
    /// Whether only generation 0 is collected: no closure is freed or moved that was in a block of
    /// an old step ([`FIRST_OLD_STEP`](crate::block::FIRST_OLD_STEP)) when the last collection ended.
    /// Then handles, weak handles and finalisers of these closures are not visited.
    fn spares_old(&self) -> bool;

    /// Traces the referents of the remembered slots that do not lie in condemned memory themselves,
    /// and empties the sets.
    fn remembered<A>(&mut self, capabilities: Capabilities<'_, A>);
}

/// Traces everything live: roots, everything reachable from them, weak handles. Calls `phase` at
/// the end of each phase.
pub fn live(tracer: &mut impl Tracing, roots: Roots<'_>, mut phase: impl FnMut(Phase)) {
    tracer.roots(roots);
    phase(Phase::RootsTraced);
    tracer.trace();
    phase(Phase::HeapTraced);
    if let Some(finalised) = roots.finalise_first(|slot| tracer.lives(slot)) {
        finalised.for_each(|slot| tracer.root(slot));
        if !mutant!("finalisers/not-traced") {
            tracer.trace();
        }
        phase(Phase::FinalisersTraced);
    }
    if mutant!("finalisers/last-without-weak") {
        roots.finalise_last(|_| false);
    }
    tracer.weak_handles(roots);
    roots.finalise_last(|slot| tracer.lives(slot));
    phase(Phase::WeakProcessed);
}

/// Traces everything live in the collected generations: remembered slots, then as [`live`].
pub fn live_and_remembered<A>(
    tracer: &mut impl RememberedTracing,
    capabilities: Capabilities<'_, A>,
    roots: Roots<'_>,
    mut phase: impl FnMut(Phase),
) {
    tracer.remembered(capabilities);
    phase(Phase::RememberedTraced);
    let roots = if tracer.spares_old() { roots.of_young() } else { roots };
    live(tracer, roots, phase);
}
