//! A timeline as plain data.

use crate::summary::Sparks;

/// The number of [`State`]s.
pub const STATES: usize = 9;

/// The generations told apart: 0, 1, and all older ones.
pub const GENERATIONS: usize = 3;

/// The state of a capability at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum State {
    /// It runs no thread.
    Idle = 0,
    /// It runs a thread of the program.
    Mutator = 1,
    /// It waits for the other capabilities, before a collection or after one.
    Waiting = 2,
    /// Its GC thread has no work, but another one does.
    GcIdle = 3,
    /// Its GC thread works on a collection of generation 0.
    Gen0 = 4,
    /// Its GC thread works on a collection of generation 1.
    Gen1 = 5,
    /// Its GC thread works on a collection of generation 2 or older.
    Older = 6,
    /// It is in a collection of unknown generation.
    Unknown = 7,
    /// The GC threads are done but the collection has not ended: here GHC takes the census of a
    /// heap profile.
    Finishing = 8,
}

impl State {
    /// The state of a GC thread working on a collection.
    pub(super) fn collecting(generation: usize) -> State {
        [State::Gen0, State::Gen1, State::Older][generation]
    }
}

/// A stretch of a lane: one state, or the times of several states within one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Its first moment.
    pub from: u64,
    /// The first moment after it.
    pub to: u64,
    /// The nanoseconds in each state.
    pub times: [u64; STATES],
}

/// A value from the log, or neighbouring ones in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The time of the last one.
    pub at: u64,
    /// The last one.
    pub last: u64,
    /// The largest one.
    pub max: u64,
    /// The number of them.
    pub count: u64,
}

impl Sample {
    pub(super) fn single(at: u64, value: u64) -> Self {
        Sample {
            at,
            last: value,
            max: value,
            count: 1,
        }
    }
}

/// The collections of one generation in a [`Pause`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collections {
    /// The number of them.
    pub count: u64,
    /// The sum of their lengths in nanoseconds.
    pub total_ns: u64,
    /// The longest one.
    pub max_ns: u64,
    /// The bytes that they copied.
    pub copied: u64,
}

/// A pause of the whole program, or neighbouring ones in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// The beginning of the first.
    pub from: u64,
    /// The end of the last.
    pub to: u64,
    /// The collections, by generation.
    pub generations: [Collections; GENERATIONS],
}

impl Pause {
    /// The number of collections in it.
    pub fn count(&self) -> u64 {
        let counts = self.generations.iter().map(|collections| collections.count);
        counts.fold(0, u64::saturating_add)
    }
}

/// A look at the stopped heap, or concurrent work of the collector; or neighbouring ones in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The beginning of the first.
    pub from: u64,
    /// The end of the last.
    pub to: u64,
    /// The sum of their lengths in nanoseconds.
    pub total_ns: u64,
}

impl Stretch {
    pub(super) fn single(from: u64, to: u64) -> Self {
        let to = to.max(from);
        let total_ns = to - from;
        Stretch { from, to, total_ns }
    }
}

/// A marker or message of the program, or neighbouring ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The time of the first.
    pub at: u64,
    /// Whether there is a marker among them.
    pub is_marker: bool,
    /// The text of the first marker, or of the first message.
    pub text: String,
    /// The number of them.
    pub count: u64,
}

/// The sparks of a capability at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SparkSample {
    /// The time of the counters. Of several in one cell, only the last are kept.
    pub at: u64,
    /// Its sparks since its start.
    pub all: Sparks,
    /// The sparks left in its pool.
    pub pool: u64,
}

/// A capability, its states, its allocation and its sparks.
#[derive(Debug, Default)]
pub struct Lane {
    /// The number of the capability.
    pub cap: u16,
    /// Its states, from the start of the runtime to the end of the log, without gaps. In a damaged
    /// log that lost the capability's later events, they end with its last one.
    pub pieces: Vec<Piece>,
    /// The bytes that it allocated since its start.
    pub allocated: Vec<Sample>,
    /// Its sparks.
    pub sparks: Vec<SparkSample>,
}

/// A census of a heap profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census {
    /// The time of the census.
    pub at: u64,
    /// The bytes of each band.
    pub bytes: Vec<u64>,
}

/// A heap profile: the largest bands, and the rest as one band.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeapProfile {
    /// The property by which closures are counted.
    pub breakdown: Option<&'static str>,
    /// The names of the bands, the largest total first. The last one may stand for all others.
    pub bands: Vec<String>,
    /// How many bands are not named.
    pub others: usize,
    /// The censuses, in order of time.
    pub censuses: Vec<Census>,
    /// One in this many censuses is kept.
    pub one_in: u64,
}

/// A log over time: the states of the capabilities, the pauses of the program, and its heap.
///
/// Times are nanoseconds since the start of the runtime. Heap sizes that a collection reports are
/// placed at its beginning, so that they fall in the same intervals as the collection.
#[derive(Debug, Default)]
pub struct Timeline {
    /// The first moment after the last event.
    pub length: u64,
    /// The length of the cells; 1 as long as everything is kept individually.
    pub step: u64,
    /// The capabilities with events, in numerical order.
    pub lanes: Vec<Lane>,
    /// The pauses of the program, as `-s` counts them.
    pub pauses: Vec<Pause>,
    /// The looks at the stopped heap, which only gclab's own logs record: censuses and checks.
    pub looks: Vec<Stretch>,
    /// Concurrent marking, each from its beginning to the pause that ends it, and concurrent sweeps.
    pub concurrent: [Vec<Stretch>; 2],
    /// The sizes of the heap after collections.
    pub heap_size: Vec<Sample>,
    /// The live data after major collections.
    pub live: Vec<Sample>,
    /// The heap profile, if the log has one.
    pub profile: Option<HeapProfile>,
    /// The markers and messages of the program.
    pub marks: Vec<Mark>,
    /// Whether the log has events of threads. Without them no capability is seen to run one.
    pub has_threads: bool,
    /// The number of generations, if the log records it.
    pub generations: Option<u64>,
}
