//! A world as its users call it: make one, enter it, look at it, end it.

use super::collection::allocated_by_capability;
use super::errors::{EnterError, Leave, StartError};
use super::gate::Locked;
use super::memprof::Memprof;
use super::owned::{Functions, Values};
use super::registry::Registry;
use super::state::{World, WorldState};
use crate::alloc::Alloc;
use crate::barrier::Barrier;
use crate::capability::CapabilityData;
use crate::capability_events::CapabilityEventKind;
use crate::cause::Cause;
use crate::clock::Clock;
use crate::collector::{Chosen, Collector, Description, Observed};
use crate::config::Config;
use crate::events::{Event, EventKind, Listener, Occasion};
use crate::inspect::Stopped;
use crate::kind::{Direct, MutatorKind};
use crate::mutator::Mutator;
use crate::recorder::Recorder;
use crate::session::{Participant, ThreadInside, ThreadState};
use crate::stats::render::Printer;
use crate::stats::{Look, Statistics};
use crate::sync::{Arc, Condvar, Mutex, this_thread};
use crate::words::{Addr, Bytes};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

impl<M: MutatorKind> std::fmt::Debug for World<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "World<{}>({} inside)", self.description.name, self.threads().len())
    }
}

impl<A: Alloc + Default, B: Barrier<A>> World<Direct<A, B>> {
    /// A world with an empty heap under collector `C`: see [`World::with`].
    ///
    /// # Errors
    /// If there is not enough memory for it.
    pub fn new<C: Collector<Alloc = A, Barrier = B>>(config: &Config) -> Result<Self, StartError> {
        World::with(Chosen::plain::<C>(), config)
    }
}

impl World<Observed> {
    /// A world with an empty heap under collector `C`, whose mutators note where closures are
    /// allocated and when they are used, for profiles: see [`World::with`].
    ///
    /// # Errors
    /// If there is not enough memory for it.
    pub fn observed<C: Collector>(config: &Config) -> Result<Self, StartError> {
        World::with(Chosen::observed::<C>(), config)
    }
}

impl<M: MutatorKind> World<M> {
    /// A world with an empty heap under a collector that was chosen. If the collector cannot have
    /// as many generations as `config` says, the heap has the nearest number that it can have.
    ///
    /// # Errors
    /// If there is not enough memory for it.
    pub fn with(collector: Chosen<M>, config: &Config) -> Result<Self, StartError> {
        let config = &Config {
            generations: collector.description.fitting_generations(config.generations),
            ..config.clone()
        };
        let stacks = Arc::default();
        let state = WorldState::new(&collector, config, &stacks)?;
        Ok(World {
            description: collector.description,
            functions: Functions::new(state.heap.charges()),
            state: Mutex::new(state),
            all_stopped: Condvar::new(),
            resumed: Condvar::new(),
            left: Condvar::new(),
            given_back: Condvar::new(),
            participants: Registry::new(),
            handles: Arc::default(),
            values: Values::default(),
            memprof: Memprof::default(),
            stacks,
        })
    }

    /// The description of its collector.
    pub fn collector(&self) -> &'static Description {
        self.description
    }

    /// Adds a listener, which receives all events from now on.
    pub fn listen(&mut self, listener: Box<dyn Listener>) {
        let state = self.state.get_mut();
        let clock = state.recorder.clock();
        // No thread is inside, so all capabilities are free.
        for capability in &state.idle {
            let events = &capability.common.events;
            events.record_with(clock, listener.follows());
            if listener.look(Occasion::Marker).is_some() {
                events.look_at_markers();
            }
        }
        if listener.follows().gc_threads {
            state.gc_threads.note_spans(clock);
        }
        state.events.listen(listener);
        state.events.announce_to_last(&Event {
            time_ns: clock.elapsed_ns(),
            capability: None,
            kind: EventKind::RunStart(&state.run),
        });
    }

    /// The initial size of each capability's allocation area: less than `-A` if memory does not
    /// allow more.
    pub fn allocation_area(&mut self) -> Bytes {
        self.state.get_mut().run.allocation_area
    }

    /// The clock of the run's recorder, which stamps all events.
    pub fn clock(&mut self) -> Clock {
        self.state.get_mut().recorder.clock()
    }

    /// Prints statistics as the run proceeds from now on: a row of `-S` for each collection.
    pub fn print_with(&mut self, printer: Printer) {
        self.state.get_mut().recorder.print_with(printer);
    }

    /// Runs `session` in the heap. `'h` brands it: pointers cannot leave this session.
    ///
    /// At most as many threads may be inside as there are capabilities (`-N`); further ones wait
    /// here until a thread leaves. So a thread that waits (in [`Mutator::blocking`]) for one that
    /// has yet to enter needs a free capability for it. A thread inside several worlds at once
    /// holds up collections in all of them while it waits in one.
    ///
    /// # Errors
    /// [`EnterError::Exhausted`] if the heap was exhausted, [`EnterError::Entered`] if this thread
    /// is already inside (also to [look](World::inspect), or as a listener of its own collection),
    /// [`EnterError::Interrupted`] if the run was [interrupted](World::interrupt).
    pub fn enter<R>(&self, session: impl for<'h> FnOnce(&mut Mutator<'h, M>) -> R) -> Result<R, EnterError> {
        let mut session = Some(session);
        let mut result = None;
        self.run_inside(&mut |mutator| result = session.take().map(|session| session(mutator)))?;
        Ok(result.expect("the session ran"))
    }

    /// [`World::enter`], compiled once for all sessions. If it returns no error, it has called
    /// `session` once.
    fn run_inside(&self, session: &mut dyn for<'h> FnMut(&mut Mutator<'h, M>)) -> Result<(), EnterError> {
        self.check_outside()?;
        let mut state = self.state.lock();
        let capability = self.wait_for_capability(&mut state)?;
        let number = capability.view().number();
        // SAFETY: the world is borrowed, so it outlives the mutator, which is gone before this
        // returns.
        let mut mutator = unsafe { Mutator::new(capability, self, state.heap.side_words(), state.charged) };
        // All accesses go through this pointer until the session is over.
        let this = &raw mut mutator;
        // SAFETY: it points to the mutator.
        let capability = unsafe { Mutator::capability_of(this) };
        let participant = Arc::new(Participant::new(
            this_thread(),
            (this.cast(), capability),
            Some(number),
            ThreadState::Running,
        ));
        // SAFETY: the mutator is valid, and the participant is until this returns.
        unsafe { Mutator::begin(this, Arc::as_ptr(&participant)) };
        self.participants.change(|all| all.push(Arc::clone(&participant)));
        // SAFETY: it lies in the mutator, and its changes are to cells.
        state.enter(unsafe { &*capability });
        drop(state);
        // SAFETY: the mutator is where it was; other threads use it while this one waits, and then
        // only its cells.
        let result = catch_unwind(AssertUnwindSafe(|| session(unsafe { &mut *this })));
        let mut state = self.state.lock();
        self.no_longer_runs(&mut state, &participant, ThreadState::Stopped);
        self.no_longer_inside(&participant);
        let capability = mutator.into_capability();
        capability.common.has_thread.set(false);
        capability.common.events.record(|| CapabilityEventKind::Leave);
        // A program with many short sessions may otherwise never collect.
        if capability.common.events.are_many() {
            state.pass_on_events(&capability);
        }
        state.idle.push(capability);
        drop(state);
        self.left.notify_one();
        result.or_else(|payload| match payload.downcast::<Leave>() {
            Ok(leave) if leave.world == std::ptr::from_ref(self).addr() => Err(leave.why),
            Ok(another) => resume_unwind(another),
            Err(payload) => resume_unwind(payload),
        })
    }

    fn wait_for_capability(&self, state: &mut Locked<'_, M>) -> Result<CapabilityData<M::Alloc>, EnterError> {
        loop {
            self.wait_while_stopping(state);
            if state.interrupted {
                return Err(EnterError::Interrupted);
            }
            if let Some(capability) = state.take_capability() {
                return Ok(capability);
            }
            self.left.wait(state);
        }
    }

    pub(super) fn check_outside(&self) -> Result<(), EnterError> {
        let thread = this_thread();
        // Does not take the lock: this thread may hold it, as the collecting thread.
        let inside = self
            .participants
            .read(|all| all.iter().any(|participant| participant.thread == thread));
        if inside { Err(EnterError::Entered) } else { Ok(()) }
    }

    fn no_longer_inside(&self, participant: &Arc<Participant<M::Alloc>>) {
        self.participants
            .change(|all| all.retain(|other| !Arc::ptr_eq(other, participant)));
    }

    /// The threads that are inside, and their states, as of a moment ago. It waits for no lock, so
    /// it works while the world is stopped, too.
    pub fn threads(&self) -> Vec<ThreadInside> {
        self.participants
            .read(|all| all.iter().map(|participant| (&**participant).into()).collect())
    }

    /// The statistics so far (`-T`). While other threads are inside, the bytes that they allocated
    /// since their allocators last ran out are not known yet.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside.
    pub fn statistics(&self) -> Result<Statistics, EnterError> {
        self.check_outside()?;
        let state = self.state.lock();
        let running = self
            .participants
            .read(|all| all.iter().map(|participant| participant.since()).sum());
        let mut statistics = state.recorder.so_far(&state.final_counts(running));
        statistics.figures = state.figures(self.values.counts());
        Ok(statistics)
    }

    /// The lowest address of the heap.
    pub fn base(&self) -> Addr {
        self.state.lock().heap.blocks().base()
    }

    /// Runs `program` as the measured phase of the run: everything before is set-up, everything
    /// after is exit. Statistics list the three separately
    /// ([`Statistics::phases`](crate::stats::Statistics::phases)). A thread that is inside calls
    /// [`Mutator::measure`] instead.
    ///
    /// A run has one measured phase. It begins with the first call and ends with the last of the
    /// calls that overlap; a later call has no effect. If the program unwinds, the phase lasts
    /// until the end of the run. Without any call the whole program is measured.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside.
    pub fn measure<R>(&self, program: impl FnOnce() -> R) -> Result<R, EnterError> {
        let mark = |mark: fn(&mut Recorder, u64)| {
            let mut state = self.state.lock();
            self.wait_while_stopping(&mut state);
            self.mark_measured(&mut state, None, mark);
        };
        self.check_outside()?;
        mark(Recorder::measure_start);
        let result = program();
        mark(Recorder::measure_end);
        Ok(result)
    }

    /// Calls `look` with the stopped heap; threads that are inside wait.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside.
    pub fn inspect<R>(&self, look: impl FnOnce(&Stopped<'_>) -> R) -> Result<R, EnterError> {
        self.inspect_for(Look::Inspect, look)
    }

    /// Like [`World::inspect`]; statistics count the time of `look` as `purpose`.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside.
    pub fn inspect_for<R>(&self, purpose: Look, look: impl FnOnce(&Stopped<'_>) -> R) -> Result<R, EnterError> {
        let mut look = Some(look);
        let mut result = None;
        self.inspect_stopped(purpose, &mut |stopped| result = look.take().map(|look| look(stopped)))?;
        Ok(result.expect("the closure was called"))
    }

    /// [`World::inspect_for`], compiled once for all closures. If it returns no error, it has
    /// called `look` once.
    fn inspect_stopped(&self, purpose: Look, look: &mut dyn FnMut(&Stopped<'_>)) -> Result<(), EnterError> {
        /// Leaves at the end, even when unwinding.
        struct Observer<'a, M: MutatorKind>(&'a World<M>, Arc<Participant<M::Alloc>>);
        impl<M: MutatorKind> Drop for Observer<'_, M> {
            fn drop(&mut self) {
                self.0.no_longer_inside(&self.1);
            }
        }
        self.check_outside()?;
        let mut state = self.state.lock();
        self.wait_while_stopping(&mut state);
        let observer = Arc::new(Participant::new(
            this_thread(),
            (std::ptr::null_mut(), std::ptr::null()),
            None,
            ThreadState::Stopping,
        ));
        let mut stop = self.stop(&mut state, None, None);
        self.participants.change(|all| all.push(Arc::clone(&observer)));
        let _observer = Observer(self, observer);
        stop.world().inspect(purpose, look);
        Ok(())
    }

    /// Ends the run: one last major collection, as GHC does, and the statistics.
    pub fn finish(self) -> Statistics {
        let mut state = self.state.lock();
        // Its time belongs to the program's phase.
        if let Some(stretch) = state.background.park() {
            state.worked_concurrently(stretch);
        }
        let allocated = state.final_counts(0).allocated_total;
        state.recorder.exit_start(allocated);
        // Neither the live data nor room to continue matters any longer.
        let _ = self.stop_and_collect(&mut state, None, Cause::Final);
        drop(state);
        self.drop_foreign();
        let figures = self.state.lock().figures(self.values.counts());
        let state = self.state.into_inner();
        let counts = state.final_counts(0);
        let WorldState {
            recorder,
            mut events,
            idle,
            ..
        } = state;
        let started_ns = recorder.started_ns();
        let mut statistics = recorder.finish(&counts);
        statistics.figures = figures;
        if !events.is_empty() {
            events.announce(&Event {
                time_ns: started_ns + statistics.total.elapsed_ns,
                capability: None,
                kind: EventKind::RunEnd {
                    statistics: &statistics,
                    allocated: &allocated_by_capability(&[], &idle),
                },
            });
            events.resume_panic();
        }
        statistics
    }
}
