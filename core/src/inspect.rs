//! A read-only view of the stopped heap, for the checker, profilers and tools.
//!
//! Everything here is safe to call: no mutator runs and nothing moves for `'a`. Addresses from
//! slots are passed as plain addresses, so that a checker can test them before trusting them;
//! [`ClosureView::children`] trusts them.

use crate::block::{BlockAllocator, BlockState};
use crate::block::{Region, Units};
use crate::closure::{ClosureRef, Kind, Slot, TypeInfo, VARIABLE};
use crate::heap::Heap;
use crate::overwritten::Overwritten;
use crate::profile::{CostCentre, Eras, ProofOfStop, SideWords, StackId};
use crate::remembered::RememberedSet;
use crate::roots::{FramePlace, Roots, Visited};
use crate::space::Ledger;
use crate::sync::Arc;
use crate::words::{Addr, WORD, Words};
use std::marker::PhantomData;

mod places;
mod sets;

/// Shows a visitor every region.
type RegionWalk<'a> = dyn Fn(&mut dyn FnMut(Region)) + 'a;

/// Shows a visitor all units.
type UnitsWalk<'a> = dyn Fn(&mut dyn FnMut(Units)) + 'a;

/// A view of a stopped heap.
#[derive(Clone, Copy)]
pub struct Stopped<'a> {
    heap: &'a Heap,
    roots: Roots<'a>,
    regions: &'a RegionWalk<'a>,
    units: &'a UnitsWalk<'a>,
    step_names: &'static [&'static str],
    /// One for each capability.
    remembered: &'a [&'a RememberedSet],
    overwritten: &'a [&'a Overwritten],
    ledger: Option<Ledger<'a>>,
    /// The stack of cost centres of each thread inside, by its capability.
    stacks: &'a [(usize, StackId)],
    mutator_cpu_ns: u64,
    time_ns: u64,
}

impl std::fmt::Debug for Stopped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stopped({:?})", self.heap.blocks().accounting())
    }
}

/// Where a root was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RootOrigin {
    /// A slot of a mutator's frame.
    Frame(FramePlace),
    /// A handle, or a named heap root.
    Handle,
    /// The value of an ephemeron. Its key has not been found dead.
    Ephemeron,
    /// A weak handle, or a part of an ephemeron: it does not keep its closure alive.
    Weak,
}

/// A closure of a stopped heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClosureView<'a> {
    closure: ClosureRef,
    _stopped: PhantomData<&'a ()>,
}

/// A region of a stopped heap. Only [`Stopped::for_each_region`] makes one: the memory behind it
/// holds closures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoppedRegion<'a> {
    region: Region,
    _stopped: PhantomData<&'a ()>,
}

impl std::ops::Deref for StoppedRegion<'_> {
    type Target = Region;
    fn deref(&self) -> &Region {
        &self.region
    }
}

impl ProofOfStop for Stopped<'_> {}

impl<'a> Stopped<'a> {
    pub(crate) fn new(
        heap: &'a Heap,
        roots: Roots<'a>,
        (regions, units, step_names): (&'a RegionWalk<'a>, &'a UnitsWalk<'a>, &'static [&'static str]),
        (remembered, overwritten): (&'a [&'a RememberedSet], &'a [&'a Overwritten]),
        ledger: Option<Ledger<'a>>,
        stacks: &'a [(usize, StackId)],
        (mutator_cpu_ns, time_ns): (u64, u64),
    ) -> Self {
        Stopped {
            heap,
            roots,
            regions,
            units,
            step_names,
            remembered,
            overwritten,
            ledger,
            stacks,
            mutator_cpu_ns,
            time_ns,
        }
    }

    /// CPU time that the program itself had used when it was stopped, in seconds, excluding
    /// collections and listeners.
    pub fn mutator_seconds(&self) -> f64 {
        self.mutator_cpu_ns as f64 / 1e9
    }

    /// When the look began, in nanoseconds by the run recorder's clock, like the times of events.
    pub fn time_ns(&self) -> u64 {
        self.time_ns
    }

    /// The blocks: accounting, their own checker, all allocated runs.
    pub fn blocks(&self) -> &'a BlockAllocator {
        self.heap.blocks()
    }

    /// The side words of closures, in the heap of observed mutators
    /// ([`crate::kind::MutatorKind::OBSERVED`]).
    pub fn side_words(&self) -> Option<&'a Arc<SideWords>> {
        self.heap.side_words()
    }

    /// The cost centre that the thread with this capability is in, in the heap of observed mutators.
    pub fn cost_centre(&self, capability: usize) -> Option<CostCentre> {
        let (_, stack) = self.stacks.iter().find(|(number, _)| *number == capability)?;
        self.side_words()?.cost_centres(*stack).first().copied()
    }

    /// The right to end the eras of this heap, for a biographical profile; `None` if another
    /// profile has it, or the heap has no side words.
    pub fn eras(&self) -> Option<Eras> {
        Eras::take(self.heap.side_words()?)
    }

    /// A census of this stopped heap ends the era of a biographical profile, and another begins,
    /// unless this era was the last ([`crate::profile::LAST_ERA`]).
    ///
    /// # Panics
    /// If `eras` belong to another heap.
    pub fn end_era(&self, eras: &mut Eras) {
        let own = self.heap.side_words();
        assert!(
            own.is_some_and(|own| eras.are_of(own)),
            "these are the eras of another heap"
        );
        eras.side_words().next_era(self);
    }

    /// What a collector that counts references has counted. Valid right after a collection.
    pub fn ledger(&self) -> Option<Ledger<'a>> {
        self.ledger
    }

    /// The state of the block that `address` lies in.
    pub fn state(&self, address: Addr) -> BlockState {
        self.heap.states().of(address)
    }

    /// Calls `visit` for every region that holds closures.
    pub fn for_each_region(&self, visit: &mut dyn FnMut(StoppedRegion<'a>)) {
        (self.regions)(&mut |region| {
            visit(StoppedRegion {
                region,
                _stopped: PhantomData,
            })
        });
    }

    /// The closures of a region, first to last. Stops early, with the address as the error, at a
    /// word that is not a header (or one whose layout is not that of its info table) or a closure that
    /// does not end inside.
    pub fn closures(&self, region: StoppedRegion<'a>) -> impl Iterator<Item = Result<ClosureView<'a>, Addr>> + use<'a> {
        let mut at = region.start.0;
        std::iter::from_fn(move || {
            if at >= region.end.0 {
                return None;
            }
            let closure = ClosureRef(at as *mut u64);
            let left = Words((region.end.0 - at) / WORD);
            // SAFETY: the collector vouches for its regions, of which this is one, of a heap that
            // is stopped for `'a`: they are memory, a whole number of words. A word that is not a
            // header is not trusted, nor is a size until it is known to end inside; where the
            // second word may have to say, there is one.
            let words = unsafe {
                let header = closure.header();
                let readable = header.is_sane() && (header.words() != VARIABLE || left >= Words(2));
                readable.then(|| closure.words())
            };
            let Some(words) = words.filter(|words| *words <= left) else {
                at = region.end.0;
                return Some(Err(closure.addr()));
            };
            at += words.to_bytes().0;
            Some(Ok(ClosureView {
                closure,
                _stopped: PhantomData,
            }))
        })
    }

    /// Calls `visit` for every root that is not null, weak ones included, with the address that it
    /// holds.
    pub fn for_each_root(&self, mut visit: impl FnMut(RootOrigin, Addr)) {
        // Copied first: `visit` may drop handles, which needs the table that is walked here.
        let mut roots = Vec::new();
        let mut each = |origin, slot: Slot| {
            // SAFETY: roots are readable while the world is stopped.
            let closure = unsafe { slot.load() };
            if !closure.is_null() {
                roots.push((origin, closure.addr()));
            }
        };
        self.roots
            .for_each_frame_place(|place, slot| each(RootOrigin::Frame(place), slot));
        self.roots
            .handles()
            .for_each_strong(Visited::All, |slot| each(RootOrigin::Handle, slot));
        self.roots
            .handles()
            .for_each_weak(Visited::All, |slot| each(RootOrigin::Weak, slot));
        self.roots
            .for_each_ephemeron(|_, value| each(RootOrigin::Ephemeron, value.slot()));
        roots.into_iter().for_each(|(origin, addr)| visit(origin, addr));
    }

    /// The closures that roots keep alive, one for each root: frames first.
    pub fn root_closures(&self) -> Vec<ClosureView<'a>> {
        self.closures_of(|origin| origin != RootOrigin::Weak)
    }

    /// The closures of the roots for whose origin `is_wanted` is true, one for each.
    pub fn closures_of(&self, is_wanted: impl Fn(RootOrigin) -> bool) -> Vec<ClosureView<'a>> {
        let mut all = Vec::new();
        self.for_each_root(|origin, address| {
            if is_wanted(origin) {
                all.push(ClosureView::at(address));
            }
        });
        all
    }

    /// The closures that weak handles lead to: a program may get them back until a collection finds
    /// them dead.
    pub fn weak_closures(&self) -> Vec<ClosureView<'a>> {
        self.closures_of(|origin| origin == RootOrigin::Weak)
    }

    /// The keys and values of ephemerons that are not empty.
    pub fn ephemerons(&self) -> Vec<(ClosureView<'a>, ClosureView<'a>)> {
        let mut all = Vec::new();
        self.roots.for_each_ephemeron(|key, value| {
            all.push((ClosureView::at(key.closure()), ClosureView::at(value.closure())))
        });
        all
    }

    /// The closures of finalisers that are not ready.
    pub fn finalisable_closures(&self) -> Vec<ClosureView<'a>> {
        let mut all = Vec::new();
        let finalisers = self.roots.handles().finalisers();
        finalisers.for_each_registered(Visited::All, |slot| {
            // SAFETY: roots are readable while the world is stopped.
            let closure = unsafe { slot.load() };
            if !closure.is_null() {
                all.push(ClosureView::at(closure.addr()));
            }
        });
        all
    }

    /// The named heap roots, in the order they were named, strong ones first. A weak one whose
    /// closure was found dead leads to none.
    pub fn named_roots(&self) -> Vec<NamedRoot<'a>> {
        let roots = self.roots.handles().named_roots().into_iter();
        let named = |(name, word, weak): (String, u64, bool)| NamedRoot {
            name,
            weak,
            closure: (word != 0).then(|| ClosureView::at(Addr(word as usize))),
        };
        roots.map(named).collect()
    }
}

/// A named heap root of a stopped heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRoot<'a> {
    /// The root's name.
    pub name: String,
    /// Whether it does not keep its closure alive.
    pub weak: bool,
    /// The closure that it leads to, unless that was found dead.
    pub closure: Option<ClosureView<'a>>,
}

impl<'a> ClosureView<'a> {
    /// The closure that a root or a slot of a stopped heap leads to.
    fn at(address: Addr) -> Self {
        ClosureView {
            closure: ClosureRef(address.0 as *mut u64),
            _stopped: PhantomData,
        }
    }

    /// Where it lies.
    #[inline(always)]
    pub fn addr(self) -> Addr {
        self.closure.addr()
    }

    /// Prefetches its first words.
    #[inline(always)]
    pub fn prefetch(self) {
        crate::prefetch::prefetch_closure(self.addr());
    }

    /// Its info table: kind, name, module.
    #[inline(always)]
    pub fn info(self) -> &'static TypeInfo {
        // SAFETY: a view is made only of closures of a heap whose collection is over, so of
        // headers.
        unsafe { self.closure.header().info() }
    }

    /// The kind of closure.
    pub fn kind(self) -> Kind {
        self.info().kind
    }

    /// Its size, header included.
    #[inline(always)]
    pub fn words(self) -> Words {
        // SAFETY: as for `info`.
        unsafe { self.closure.words() }
    }

    /// Its slots: the address of each, and the address that it holds (null for none).
    #[inline]
    pub fn slots(self) -> impl ExactSizeIterator<Item = (Addr, Addr)> + use<'a> {
        // SAFETY: as for `info`.
        let extent = unsafe { self.closure.extent() };
        extent.slots().map(|slot| {
            // SAFETY: a slot of a closure of a stopped heap.
            (slot.addr(), unsafe { slot.load() }.addr())
        })
    }

    /// The closures that it points to, in order; null pointers are left out. The slots are trusted,
    /// even those of a dead closure, for which the collector vouches
    /// ([`crate::collector::Collector`]).
    #[inline(always)]
    pub fn children(self) -> Children<'a> {
        // SAFETY: as for `info`.
        let extent = unsafe { self.closure.extent() };
        Children {
            next: Slot(extent.first),
            left: extent.slots,
            _stopped: PhantomData,
        }
    }

    /// The rest of [`ClosureView::children`] when all but the last `left` slots have been visited
    /// ([`Children::left`]).
    #[inline(always)]
    pub fn last_children(self, left: usize) -> Children<'a> {
        let all = self.children();
        let left = left.min(all.left);
        Children {
            next: Slot(all.next.0.wrapping_add(all.left - left)),
            left,
            _stopped: PhantomData,
        }
    }
}

/// The referents of a closure, slot by slot: a cursor of two words that traversals can keep.
#[derive(Debug, Clone)]
pub struct Children<'a> {
    next: Slot,
    left: usize,
    _stopped: PhantomData<&'a ()>,
}

impl Children<'_> {
    /// Whether all slots have been visited.
    #[inline(always)]
    pub fn is_finished(&self) -> bool {
        self.left == 0
    }

    /// Pass over null pointers, so that it is finished if no closure is left.
    #[inline(always)]
    pub fn skip_nulls(&mut self) {
        // SAFETY: a slot of a closure of a stopped heap: `left` of them begin at `next`.
        while self.left > 0 && unsafe { self.next.load() }.is_null() {
            self.next = Slot(self.next.0.wrapping_add(1));
            self.left -= 1;
        }
    }

    /// How many slots have not been visited.
    #[inline(always)]
    pub fn left(&self) -> usize {
        self.left
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = ClosureView<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<ClosureView<'a>> {
        while self.left > 0 {
            // SAFETY: a slot of a closure of a stopped heap: `left` of them begin at `next`.
            let closure = unsafe { self.next.load() };
            self.next = Slot(self.next.0.wrapping_add(1));
            self.left -= 1;
            if !closure.is_null() {
                return Some(ClosureView {
                    closure,
                    _stopped: PhantomData,
                });
            }
        }
        None
    }
}
