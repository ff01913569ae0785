//! A thread's session in a heap, as its own slow paths and as other threads see it.

use crate::alloc::Alloc;
use crate::capability::CapabilityData;
use crate::profile::StackId;
use crate::sync::{AtomicBool, AtomicU8, AtomicU64, Mutex, Ordering, ThreadId};
use crate::words::Bytes;
use std::any::Any;

/// The state of a thread that is inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ThreadState {
    /// It runs the program.
    Running,
    /// It is stopped: a collection is in progress, or about to start.
    Stopped,
    /// It collects, or looks at the stopped heap.
    Stopping,
    /// It is in [`crate::mutator::Mutator::blocking`].
    Blocking,
}

/// A thread that is inside, as other threads see it.
#[derive(Debug)]
pub(crate) struct Participant<A> {
    pub(crate) thread: ThreadId,
    /// Its capability, or null for a thread that is inside only for `World::inspect`. A thread that
    /// follows the pointer has the world's lock, and found the participant in the registry.
    pub(crate) capability: *const CapabilityData<A>,
    /// Its mutator, which another thread may use while it is lent; null for a thread that only
    /// looks.
    pub(crate) mutator: *mut (),
    number: Option<usize>,
    state: AtomicU8,
    /// It is in a blocking call, and another thread runs finalisers with its mutator. Changes under
    /// the world's lock.
    lent: AtomicBool,
    /// The panic of such a finaliser.
    panic: Mutex<Option<Panic>>,
    /// Bytes that it allocated in this session up to the last collection.
    collected: AtomicU64,
    /// Bytes since then, as far as it has reported them, which it does on slow paths.
    since: AtomicU64,
    /// Its stack of cost centres, in the heap of observed mutators.
    stack: AtomicU64,
}

/// The payload of a panic.
pub(crate) type Panic = Box<dyn Any + Send>;

// SAFETY: other threads use the target of `capability` only under the world's lock, and that of
// `mutator` only while it is lent; each such use says why it is allowed. Allocators may go from
// thread to thread.
unsafe impl<A: Send> Send for Participant<A> {}
// SAFETY: as above; all other fields are atomic or never change.
unsafe impl<A: Send> Sync for Participant<A> {}

/// A thread's session in a heap, as its own slow paths see it (GHC's `InCall`).
pub(crate) struct Session<'a, A> {
    pub(crate) capability: &'a CapabilityData<A>,
    pub(crate) participant: &'a Participant<A>,
}

impl<A> Clone for Session<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Session<'_, A> {}

impl<A: Alloc> Session<'_, A> {
    /// Reports how much was allocated.
    pub(crate) fn report_allocated(self) {
        let since = self.capability.alloc.allocated().0 as u64;
        self.participant.since.store(since, Ordering::Relaxed);
    }
}

impl<A> Participant<A> {
    /// A thread with a mutator, its capability and the number of that, or one that only looks:
    /// nulls and `None`.
    pub(crate) fn new(
        thread: ThreadId,
        (mutator, capability): (*mut (), *const CapabilityData<A>),
        number: Option<usize>,
        state: ThreadState,
    ) -> Self {
        Participant {
            thread,
            capability,
            mutator,
            number,
            state: AtomicU8::new(state as u8),
            lent: AtomicBool::new(false),
            panic: Mutex::new(None),
            collected: AtomicU64::new(0),
            since: AtomicU64::new(0),
            stack: AtomicU64::new(u64::from(StackId::MAIN.0)),
        }
    }

    /// The number of its capability; none if it only looks at the stopped heap.
    pub(crate) fn number(&self) -> Option<usize> {
        self.number
    }

    /// Its stack of cost centres as of a moment ago.
    pub(crate) fn stack(&self) -> StackId {
        StackId(self.stack.load(Ordering::Relaxed) as u32)
    }

    /// It enters or leaves a cost centre. (Relaxed: whoever reads the stack reads nothing else that
    /// this thread wrote.)
    #[inline(always)]
    pub(crate) fn set_stack(&self, stack: StackId) {
        self.stack.store(u64::from(stack.0), Ordering::Relaxed);
    }

    /// Its state. It changes under the world's lock; read without the lock, it may be slightly out
    /// of date.
    pub(crate) fn state(&self) -> ThreadState {
        match self.state.load(Ordering::Relaxed) {
            0 => ThreadState::Running,
            1 => ThreadState::Stopped,
            2 => ThreadState::Stopping,
            _ => ThreadState::Blocking,
        }
    }

    pub(crate) fn set_state(&self, state: ThreadState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    /// Whether another thread uses its mutator.
    pub(crate) fn is_lent(&self) -> bool {
        self.lent.load(Ordering::Relaxed)
    }

    /// Another thread uses its mutator from now on.
    pub(crate) fn lend(&self) {
        self.lent.store(true, Ordering::Relaxed);
    }

    /// The other thread is done, or a finaliser panicked.
    pub(crate) fn give_back(&self, panic: Option<Panic>) {
        *self.panic.lock() = panic;
        self.lent.store(false, Ordering::Relaxed);
    }

    /// The panic of a finaliser that another thread ran with its mutator.
    pub(crate) fn take_panic(&self) -> Option<Panic> {
        self.panic.lock().take()
    }

    /// A collection counted `allocated` bytes.
    pub(crate) fn counted(&self, allocated: Bytes) {
        self.since.store(0, Ordering::Relaxed);
        self.collected.fetch_add(allocated.0 as u64, Ordering::Relaxed);
    }

    /// Bytes since the last collection, as far as they are known.
    pub(crate) fn since(&self) -> u64 {
        self.since.load(Ordering::Relaxed)
    }
}

/// A thread that is in the heap, for a caller of [`crate::world::World::threads`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadInside {
    /// The thread's id.
    pub thread: ThreadId,
    /// The number of its capability; none if it only looks at the stopped heap.
    pub capability: Option<usize>,
    /// Whether it runs, waits or collects.
    pub state: ThreadState,
    /// Bytes that it has allocated in this session, as far as it has reported them: when its
    /// allocator last ran out.
    pub allocated: Bytes,
}

impl<A> From<&Participant<A>> for ThreadInside {
    fn from(participant: &Participant<A>) -> Self {
        ThreadInside {
            thread: participant.thread,
            capability: participant.number,
            state: participant.state(),
            allocated: Bytes((participant.collected.load(Ordering::Relaxed) + participant.since()) as usize),
        }
    }
}
