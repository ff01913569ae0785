//! Finalisers and alarms: functions of the program that collections trigger (OCaml's `Gc.finalise`,
//! `Gc.finalise_last` and `Gc.create_alarm`).
//!
//! A collection only notes which of them are ready ([`crate::roots::finalisers`]). A mutator runs
//! them where it may collect: when it needs memory, at the end of [`Mutator::collect`], and at a
//! safepoint where it stops. An idle collection runs them at once, while the mutators are in
//! [`Mutator::blocking`]. So a finaliser may allocate, collect, store its closure where the program
//! finds it, and register others. It never runs during a collection or in a closure's initialiser.
//! If it panics, so does the allocation or blocking call that ran it.

use super::{Any, Gc, Handle, Mutator, NoGc};
use crate::closure::Closure;
use crate::kind::MutatorKind;
use crate::roots::finalisers::{FinaliserTable, Occasion};
use crate::roots::handles::HandleTable;
use crate::sync::Arc;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The function of a finaliser.
enum Finaliser<M: MutatorKind> {
    First(Box<FirstFinaliser<M>>),
    Last(Box<LastFinaliser<M>>),
    Alarm(Box<AlarmFunction<M>>),
}

type FirstFinaliser<M> = dyn for<'h> FnOnce(&mut Mutator<'h, M>, Handle<Any>) + Send;
type LastFinaliser<M> = dyn for<'h> FnOnce(&mut Mutator<'h, M>) + Send;
type AlarmFunction<M> = dyn for<'h> FnMut(&mut Mutator<'h, M>) + Send;

/// An alarm of a heap ([`NoGc::create_alarm`]).
#[derive(Clone)]
pub struct Alarm {
    table: Arc<HandleTable>,
    number: u64,
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Alarm({})", self.number)
    }
}

impl<'h, M: MutatorKind> NoGc<'h, M> {
    /// Registers `finaliser` for `closure`: it runs once, with the closure, after a collection that
    /// finds the closure unreachable. That collection keeps the closure and everything reachable
    /// from it, so the finaliser may make it reachable again. A later collection frees it.
    ///
    /// A closure may have several finalisers. Finalisers of closures that die together run in the
    /// reverse order of registration. Handles that `finaliser` owns keep their closures alive, so
    /// it should own none that leads to the closure. A finaliser that has not run when the world
    /// ends never does.
    pub fn finalise<T: Closure>(
        &self,
        closure: Gc<'_, 'h, T>,
        finaliser: impl for<'a> FnOnce(&mut Mutator<'a, M>, Handle<T>) + Send + 'static,
    ) {
        let function = Box::new(|m: &mut Mutator<'_, M>, closure: Handle<Any>| {
            // SAFETY: the address that was registered is a `T`'s, and collections follow it.
            finaliser(m, unsafe { closure.assume() });
        });
        self.register_finaliser(Occasion::First, closure.to_word(), Finaliser::First(function));
    }

    /// Registers `finaliser` for `closure`: it runs once, after a collection that finds the closure
    /// unreachable for good. Weak handles to the closure are empty by then, and its finalisers of
    /// [`NoGc::finalise`] have run or run first.
    pub fn finalise_last<T: Closure>(
        &self,
        closure: Gc<'_, 'h, T>,
        finaliser: impl for<'a> FnOnce(&mut Mutator<'a, M>) + Send + 'static,
    ) {
        let function = Finaliser::Last(Box::new(finaliser));
        self.register_finaliser(Occasion::Last, closure.to_word(), function);
    }

    /// Lets the next finaliser start before the calling one has ended, on another thread or inside
    /// this one. Otherwise one runs at a time. No effect outside finalisers.
    pub fn finalise_release(&self) {
        self.world().handles().finalisers().release();
    }

    /// Calls `function` after each major collection, until [`NoGc::delete_alarm`].
    pub fn create_alarm(&self, function: impl for<'a> FnMut(&mut Mutator<'a, M>) + Send + 'static) -> Alarm {
        let function = Finaliser::Alarm(Box::new(function));
        Alarm {
            table: Arc::clone(self.world().handles()),
            number: self.register_finaliser(Occasion::Alarm, 0, function),
        }
    }

    /// Deletes an alarm. No effect if it is already deleted.
    ///
    /// # Panics
    /// If the alarm belongs to another heap.
    pub fn delete_alarm(&self, alarm: Alarm) {
        let world = self.world();
        assert!(
            Arc::ptr_eq(&alarm.table, world.handles()),
            "an alarm was deleted in a heap that it does not belong to"
        );
        world.remove_alarm(alarm.number);
    }

    fn register_finaliser(&self, occasion: Occasion, closure: u64, function: Finaliser<M>) -> u64 {
        let world = self.world();
        world.register_finaliser(occasion, closure, Box::new(function))
    }
}

impl<M: MutatorKind> Mutator<'_, M> {
    /// Whether a finaliser is due.
    pub(super) fn finaliser_is_due(&self) -> bool {
        self.view.world().handles().finalisers().is_due()
    }

    /// Runs the finalisers that are ready now. (Those that become ready meanwhile run at the next
    /// slow path: a finaliser may register itself again.)
    pub(crate) fn run_finalisers(&mut self) {
        self.attend();
        if !self.finaliser_is_due() {
            return;
        }
        let ready = self.view.world().handles().finalisers().ready();
        self.view.world().note_finalisers(false);
        for _ in 0..ready {
            if !self.run_finaliser() {
                break;
            }
        }
        self.view.world().note_finalisers(true);
    }

    /// Runs the next finaliser. Returns whether there was one.
    fn run_finaliser(&mut self) -> bool {
        /// Lets the next one start, even if this one panics.
        struct Release<'a> {
            table: &'a FinaliserTable,
            number: u64,
        }
        impl Drop for Release<'_> {
            fn drop(&mut self) {
                self.table.end(self.number);
            }
        }
        let handles = Arc::clone(self.view.world().handles());
        let Some(entry) = handles.finalisers().begin() else {
            return false;
        };
        let _release = Release {
            table: handles.finalisers(),
            number: entry.number,
        };
        let Some(function) = self.view.world().take_finaliser(entry.number) else {
            return true;
        };
        let Ok(function) = function.downcast::<Finaliser<M>>() else {
            unreachable!("mutators of one kind registered it");
        };
        match *function {
            Finaliser::First(function) => {
                // SAFETY: a collection made the finaliser ready and has kept its closure since.
                // There has been no collection since `begin`, which removed the root.
                let closure = self.view.handle(unsafe { Gc::<Any>::from_word(entry.closure) });
                function(self, closure);
            }
            Finaliser::Last(function) => function(self),
            Finaliser::Alarm(mut function) => {
                let renewed = self.view.world().handles().finalisers().renew_alarm(entry.number);
                let rung = catch_unwind(AssertUnwindSafe(|| function(self)));
                if let Some(number) = renewed {
                    let world = self.view.world();
                    world.put_alarm_back(number, Box::new(Finaliser::Alarm(function)));
                }
                rung.unwrap_or_else(|panic| resume_unwind(panic));
            }
        }
        true
    }
}
