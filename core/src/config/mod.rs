//! The configuration of one heap, as plain data.
//!
//! A program fills in a [`Config`] and makes a [`crate::world::World`] with it. The names are
//! GHC's. The heap does not know where the values come from: the crate `gclab-flags` reads them
//! from `+RTS` and from experiment files, and checks their ranges.
//!
//! Some fields are *as given*: `None` stands for GHC's rule, which may depend on other fields. A
//! method of [`Config`] applies the rule, and the heap asks that method.
//!
//! A [`Parameter`] is a part of the configuration that only some collectors honour. A collector
//! lists them in its description.

mod intervals;
mod ocaml;
mod own;
mod parameter;
mod profile;
mod timer;

pub use ocaml::{OcamlLetter, OcamlLetters};
pub use own::OwnFlag;
pub use parameter::{AREA, COMPACTION, GENERATIONS, OCAML, Parameter, SHARING, SIZING, SLICES};
pub use profile::{Breakdown, HeapProfile, Restrictions, TimeProfile};
pub use timer::TimerConfig;

use crate::profile::Followed;
use crate::words::{Addr, Bytes, Words};

/// How much memory the heap should use (`-H`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeapHint {
    /// No `-H`: the allocation area keeps its size.
    #[default]
    None,
    /// Bare `-H`: use as much memory as the old generation's limit requires anyway.
    Auto,
    /// `-H<size>`: use about this much memory; the allocation area grows into the rest of it.
    Size(Bytes),
}

/// Whether the oldest generation is compacted in place (`-c`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Compact {
    /// The oldest generation is copied.
    #[default]
    Never,
    /// `-c`: compacted at every major collection.
    Always,
    /// `-c<n>`: compacted when live data exceed this percentage (0 to 100) of `-M`.
    Above(f64),
}

/// The rule for how far a heap grows before a major collection (`--sizing`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizingPolicy {
    /// The heap grows to `-F` times its live data: GHC's rule.
    #[default]
    Factor,
    /// The heap grows to a fixed size.
    Fixed,
    /// The heap grows as MemBalancer's rule says.
    MemBalancer,
}

impl SizingPolicy {
    /// Its name: one of those that `--sizing` takes.
    pub const fn name(self) -> &'static str {
        match self {
            SizingPolicy::Factor => "factor",
            SizingPolicy::Fixed => "fixed",
            SizingPolicy::MemBalancer => "membalancer",
        }
    }
}

/// The youngest generation whose collections have a property (`-qg`, `-qb`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromGeneration {
    /// No collection has it (the bare flag).
    Off,
    /// Collections of this generation (from 0) and older ones have it.
    From(u32),
}

/// The configuration of one heap. [`Config::default`] has the defaults of today's GHC.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `-A`: size of each capability's allocation area; at least two blocks. Default 4 MiB.
    pub allocation_area: Bytes,
    /// `-n` as given: size of the chunks the allocation area is cut into, 0 for none.
    /// [`Config::chunk_size`] applies GHC's rule.
    pub chunk: Option<Bytes>,
    /// `-AL` as given: bytes of large objects allocated before a collection.
    /// [`Config::large_limit`] applies GHC's rule.
    pub large_area: Option<Bytes>,
    /// `-F`: an old generation may grow to this factor of its live data; at least 1. Default 2.
    pub old_factor: f64,
    /// `-Fd`: the free memory that the heap keeps halves with this number of major collections that
    /// the program asked for, 0 to 1000; 0 for never. Default 4.
    pub decay: f64,
    /// `-O`: an old generation's limit is never less than this. Default 1 MiB.
    pub old_min: Bytes,
    /// `-G`: generations, 1 to [`MAX_GENERATIONS`]. Default 2. A collector that cannot have this
    /// many uses the nearest number that it can.
    pub generations: u32,
    /// `-H`. Default none.
    pub heap_hint: HeapHint,
    /// `-M`: limit on the memory that the heap takes. Default unlimited.
    pub max_heap: Option<Bytes>,
    /// `-m`: percentage (0 to 100) of `-M` that stays free for allocation. Default 3.
    pub min_free: f64,
    /// `-c` as given. [`Config::compaction`] applies GHC's rule for `-M`.
    pub compact: Compact,
    /// `-xn`: GHC's non-moving collector was asked for. Default off.
    pub nonmoving: bool,
    /// `--sizing`: the rule for how far the heap grows. Default [`SizingPolicy::Factor`].
    pub sizing: SizingPolicy,
    /// `--membalancer-c`: percent of the running time that one more MiB of heap has to save.
    /// Default 0.05.
    pub membalancer_c: f64,
    /// `--gc-overhead-limit`: the percentage (0 to 100) of time in collections that free almost
    /// nothing at which a run under `-M` ends as one whose heap is exhausted; 0 for never. Default
    /// 98.
    pub gc_overhead_limit: f64,
    /// `-N`: capabilities, at least 1. Default 1.
    pub capabilities: u32,
    /// `-qg`: parallel collection from this generation on. Default from 0.
    pub parallel_gc: FromGeneration,
    /// `-qb` as given: load balancing in parallel collections. `None` is `-qb=auto`, the default:
    /// see [`Config::balance_from`].
    pub load_balance: Option<FromGeneration>,
    /// `-qn`: GC threads; 0, the default, is as many as capabilities. `Config::gc_thread_count`
    /// applies this rule.
    pub gc_threads: u32,
    /// `--own`: the collector's own flags, each as `NAME=VALUE` ([`OwnFlag::of`]).
    pub own: Vec<String>,
    /// `--ocaml`: the letters of `OCAMLRUNPARAM` that are given.
    pub ocaml: OcamlLetters,
    /// `-DZ<n>`: collect at every n-th allocation, n at least 1.
    pub stress: Option<u64>,
    /// `-DI<n>`: limit on the words of work in a slice, at least 1, for tests. `None`: the
    /// collector decides.
    pub slice_limit: Option<Words>,
    /// `-DF<n>`: refuse the n-th request for memory, n at least 1.
    pub refuse_request: Option<u64>,
    /// `-DP`: memory that a collection frees is made inaccessible and not reused soon, so that a
    /// stale access faults with a message. Default off.
    pub protect_freed: bool,
    /// `-xr`: address space to reserve. Default 1 TiB.
    pub reserve: Bytes,
    /// `-xm`: the address at which the heap is to begin, if that is free. Default: the system
    /// chooses it.
    pub map_near: Option<Addr>,
    /// Advise the system to use huge pages. Default on; `--no-huge-pages`.
    pub huge_pages: bool,
    /// `-h..`, `-i`, `-R`, `-L`: the heap profile. The heap itself only reads which facts about
    /// each closure a profile needs.
    pub profile: HeapProfile,
    /// `-p`, `-P`: the time profile. Default none. The heap itself only reads whether there is one.
    pub time_profile: Option<TimeProfile>,
    /// Note the moves of closures, for a map of the heap
    /// ([`crate::profile::SideWords::take_moves`]). Default off; no flag sets it.
    pub follow_moves: bool,
    /// `-DT`: note the life of this closure ([`crate::profile::SideWords::take_life`]). Default
    /// none.
    pub follow_closure: Option<Followed>,
    /// `-V`, `-I`, `-Iw`: the timer and idle collections. The heap itself has no timer:
    /// [`crate::timer::Timer`] is one.
    pub timer: TimerConfig,
}

impl Default for Config {
    fn default() -> Self {
        const MIB: usize = 1 << 20;
        Self {
            allocation_area: Bytes(4 * MIB),
            chunk: None,
            large_area: None,
            old_factor: 2.0,
            decay: 4.0,
            old_min: Bytes(MIB),
            generations: 2,
            heap_hint: HeapHint::None,
            max_heap: None,
            min_free: 3.0,
            compact: Compact::Never,
            nonmoving: false,
            sizing: SizingPolicy::Factor,
            membalancer_c: 0.05,
            gc_overhead_limit: 98.0,
            capabilities: 1,
            parallel_gc: FromGeneration::From(0),
            load_balance: None,
            gc_threads: 0,
            own: Vec::new(),
            ocaml: OcamlLetters::default(),
            stress: None,
            slice_limit: None,
            refuse_request: None,
            protect_freed: false,
            reserve: Bytes(MIB * MIB),
            map_near: None,
            huge_pages: true,
            profile: HeapProfile::default(),
            time_profile: None,
            follow_moves: false,
            follow_closure: None,
            timer: TimerConfig::default(),
        }
    }
}

/// The largest number of generations of any heap.
pub const MAX_GENERATIONS: u32 = 12;
/// The smallest `-M`: two megablocks, one of which holds the allocation area.
pub const LEAST_MAX_HEAP: Bytes = Bytes::mib(2);

/// From this `-A` the allocation area is cut into chunks (GHC's rule).
const CHUNKED_FROM: Bytes = Bytes(16 << 20);
/// The size of these chunks.
const IMPLIED_CHUNK: Bytes = Bytes(4 << 20);
/// `-M` without `-c` is `-c30` (GHC's rule).
const IMPLIED_COMPACT: f64 = 30.0;

impl Config {
    /// Size of an allocation area's chunks: `-n` below `-A`, or 4 MiB if `-A` is at least 16 MiB;
    /// `None` if it is in one piece. As in GHC, each capability has at least one whole area, so
    /// larger chunks change nothing. (GHC takes 4 MiB at such a `-A` even if `-n` says otherwise.)
    pub fn chunk_size(&self) -> Option<Bytes> {
        match self.chunk {
            Some(Bytes(0)) => None,
            Some(size) => (size < self.allocation_area).then_some(size),
            None => (self.allocation_area >= CHUNKED_FROM).then_some(IMPLIED_CHUNK),
        }
    }

    /// Bytes of large objects, over all capabilities, that are allocated before a collection:
    /// `-AL`, or else `-A`.
    pub fn large_limit(&self) -> Bytes {
        self.large_area.unwrap_or(self.allocation_area)
    }

    /// The allocation area of each capability that the flags ask for at the start: `-A`, or a share
    /// of the heap that `-H` suggests.
    pub fn asked_area(&self) -> Bytes {
        let hinted = match self.heap_hint {
            HeapHint::Size(hint) if self.sizing != SizingPolicy::Fixed => {
                hinted_area(hint, Bytes::ZERO, INITIAL_KEPT_PERCENT)
            }
            _ => Bytes::ZERO,
        };
        self.allocation_area
            .max(Bytes(hinted.0 / self.capabilities.max(1) as usize))
    }

    /// Compaction of the oldest generation: `-c` as given, or 30 % under `-M`.
    pub fn compaction(&self) -> Compact {
        match self.compact {
            Compact::Never if self.max_heap.is_some() => Compact::Above(IMPLIED_COMPACT),
            given => given,
        }
    }

    /// The size of a fixed-size heap (`--sizing=fixed`): `-H`, or else `-M`; `None` if neither is
    /// given.
    pub fn fixed_size(&self) -> Option<Bytes> {
        match self.heap_hint {
            HeapHint::Size(size) => Some(size),
            _ => self.max_heap,
        }
    }

    /// Whether closures need side words ([`crate::profile::SideWords`]), for a profile, a map, or
    /// the life of one.
    pub fn needs_side_words(&self) -> bool {
        self.profile.needs_side_words()
            || self.time_profile.is_some()
            || self.follow_moves
            || self.follow_closure.is_some()
    }

    /// Threads of a parallel collection: `-qn`, or else as many as capabilities, but no more than
    /// processors.
    pub(crate) fn gc_thread_count(&self) -> u32 {
        match self.gc_threads {
            // Counting processors means reading files.
            0 if self.capabilities == 1 => 1,
            0 => self.capabilities.min(num_cpus::get() as u32),
            threads => threads,
        }
    }

    /// The youngest generation whose parallel collections balance their load: `-qb` as given, or
    /// else 0. A balanced collection starts with one thread, which wakes others for the work that
    /// it finds, so the generation need not decide. (GHC wakes all threads of a parallel
    /// collection, and therefore has 1 for allocation areas below 32 MiB.)
    pub fn balance_from(&self) -> FromGeneration {
        self.load_balance.unwrap_or(FromGeneration::From(0))
    }
}

/// GHC's first guess at the part of a nursery that survives, in percent.
pub(crate) const INITIAL_KEPT_PERCENT: usize = 30;

/// GHC's allocation area under `-H`: (H − needed) × 100 / (100 + kept %).
pub(crate) fn hinted_area(hint: Bytes, needed: Bytes, kept_percent: usize) -> Bytes {
    Bytes((hint.0.saturating_sub(needed.0) as u128 * 100 / (100 + kept_percent as u128)) as usize)
}
