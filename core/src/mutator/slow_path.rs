//! The calls of a mutator to its world: those that are too slow for generated code.

use crate::cause::Request;
use crate::collector::Description;
use crate::kind::MutatorKind;
use crate::roots::finalisers::Occasion;
use crate::roots::handles::HandleTable;
use crate::sampled::{MemprofError, Sampled, Track};
use crate::session::Session;
use crate::stats::{NotEnabled, RtsStats};
use crate::sync::Arc;
use crate::words::{Addr, Bytes, Words};
use std::any::Any;

/// The function of a finaliser, as its world keeps it: a box of the mutator's own type of
/// functions.
pub(crate) type FinaliserFunction = Box<dyn Any + Send>;

/// A value that a closure owns, as its world keeps it.
pub(crate) type ForeignValue = Arc<dyn Any + Send + Sync>;

/// The world as its mutators call it. Each call takes the world's lock, except `handles` and those
/// for finalisers, for values outside the heap and for sampled closures, which have locks of their
/// own.
///
/// A call that finds the heap exhausted unwinds to [`crate::world::World::enter`].
pub(crate) trait SlowPath<M: MutatorKind> {
    /// The mutator's allocator has no room for `words` words: makes room, and reserves them.
    fn refill(&self, session: Session<'_, M::Alloc>, words: Words) -> Addr;
    /// Returns space for a large object of `words` words.
    fn allocate_large(&self, session: Session<'_, M::Alloc>, words: Words) -> Addr;
    /// A closure that owns `bytes` outside the heap is about to be allocated: collects first if the
    /// collector wants to. Returns whether it has collected.
    fn foreign(&self, session: Session<'_, M::Alloc>, bytes: Bytes) -> bool;
    /// The closure at `closure` owns `value` from now on.
    fn own_foreign(&self, closure: u64, value: ForeignValue, bytes: Bytes);
    /// Drops the values of closures that have died.
    fn drop_foreign(&self);
    /// Samples allocated words at this rate from now on, for this tracker; or stops to do so.
    fn set_memprof(
        &self,
        session: Session<'_, M::Alloc>,
        start: Option<(f64, Box<dyn Track>)>,
    ) -> Result<(), MemprofError>;
    /// Follows a closure that has sampled words.
    fn follow_sampled(&self, sampled: Sampled);
    /// Whether there is news for the tracker of sampled closures.
    fn memprof_is_due(&self) -> bool;
    /// Calls the tracker with the news.
    fn call_memprof_tracker(&self);
    /// The description of the world's collector.
    fn collector(&self) -> &'static Description;
    /// Stops the world and shows `message` to the collector. Returns whether it understands it.
    fn ask_collector(&self, session: Session<'_, M::Alloc>, message: &mut dyn Any) -> bool;
    /// Collects, as `request` says.
    fn collect(&self, session: Session<'_, M::Alloc>, request: Request);
    /// Stops the world and announces that a part of the program called `name` begins.
    fn marker(&self, session: Session<'_, M::Alloc>, name: &str);
    /// Stops the world and pauses the record of events, or goes on with it.
    fn pause_events(&self, session: Session<'_, M::Alloc>, is_paused: bool);
    /// Passes the events of the capability on to listeners.
    fn pass_on_events(&self, session: Session<'_, M::Alloc>);
    /// Stops the world and notes that the measured phase begins.
    fn measure_start(&self, session: Session<'_, M::Alloc>);
    /// Stops the world and notes that the measured phase ends.
    fn measure_end(&self, session: Session<'_, M::Alloc>);
    /// Returns the statistics up to now.
    fn rts_stats(&self, session: Session<'_, M::Alloc>) -> Result<RtsStats, NotEnabled>;
    /// Waits while another thread has the world stopped.
    fn safepoint(&self, session: Session<'_, M::Alloc>);
    /// The thread does not touch the heap until [`SlowPath::leave_blocking`]: collections do not
    /// wait for it.
    fn enter_blocking(&self, session: Session<'_, M::Alloc>);
    /// The thread touches the heap again. Waits while the world is stopped.
    fn leave_blocking(&self, session: Session<'_, M::Alloc>);
    /// The handles of the heap.
    fn handles(&self) -> &Arc<HandleTable>;
    /// Registers a finaliser of the closure at `closure` (0 for an alarm). Returns its number.
    fn register_finaliser(&self, occasion: Occasion, closure: u64, function: FinaliserFunction) -> u64;
    /// Returns the function of this number, which is about to run. `None` if it is an alarm that
    /// was removed, or runs on another thread.
    fn take_finaliser(&self, number: u64) -> Option<FinaliserFunction>;
    /// Tells the collector that finalisers begin to run, or that they have run.
    fn note_finalisers(&self, are_over: bool);
    /// An alarm has run: it may ring again, unless it was removed.
    fn put_alarm_back(&self, number: u64, alarm: FinaliserFunction);
    /// Removes an alarm.
    fn remove_alarm(&self, number: u64);
}
