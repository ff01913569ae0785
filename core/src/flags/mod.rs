//! Flags of a run: GHC's names and meanings, from `+RTS ... -RTS`, from `GCLABRTS`, from a table of names and values.
//!
//! Everything that is known of a flag stands once, in the table [`FLAGS`]: parsing, help, the list of flags, the names in experiment
//! files and the documentation follow from it.
//!
//! Terms: a *flag word* is one argument as typed (`-A4m`); a flag's *name* is what stands between the dash and the value (`A`); its *TOML name* is the key in
//! an experiment file. A flag is *given* if somebody named it, whatever its value.
//!
//! Invariant: `Flags::parse_words(&flags.to_words())` gives equal settings (a unit test goes through the whole table).

mod error;
mod ghc_only;
mod help;
mod nearest;
mod parse;
mod profile;
mod spec;
mod table;
mod value;

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::words::Bytes;

pub use error::FlagError;
pub use help::{help, markdown};
pub use nearest::nearest;
pub use parse::{CommandLine, ENVIRONMENT, split};
pub use profile::{Breakdown, HeapProfile, Restrictions};
pub use spec::{FlagSpec, Scope};
pub use table::{FLAGS, MAX_GENERATIONS};
pub use value::{Kind, Value, read_size, size_text};

/// When the heap's estimate for `-H` comes from where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeapHint {
    /// No `-H`: the allocation area keeps its size.
    #[default]
    None,
    /// Bare `-H`: use as much memory as the old generation's limit asks for anyway.
    Auto,
    /// `-H<size>`: use about this much memory; the allocation area grows into what is left.
    Size(Bytes),
}

/// Whether the oldest generation is compacted in place (`-c`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Compact {
    /// Copied.
    #[default]
    Never,
    /// `-c`: compacted at every major collection.
    Always,
    /// `-c<n>`: compacted when live data exceed this percentage (0 to 100) of `-M`.
    Above(f64),
}

/// Who says how far a heap should grow before it is collected in full (`--sizing`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizingPolicy {
    /// `-F` times what is live: GHC's.
    #[default]
    Factor,
    /// To a fixed size.
    Fixed,
    /// By MemBalancer's rule.
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

/// From which generation on something is done (`-qg`, `-qb`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromGeneration {
    /// Not at all (the bare flag).
    Off,
    /// In collections of this generation (from 0) and older ones.
    From(u32),
}

/// What statistics are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatsLevel {
    /// None printed. (The run record has them all the same.)
    #[default]
    None,
    /// `-T`: as a value, nothing printed.
    Collect,
    /// `-t`: one line, or the machine-readable list.
    OneLine,
    /// `-s`: the summary.
    Summary,
    /// `-S`: a row for each collection, then the summary.
    Each,
}

/// What statistics are printed, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatsOption {
    /// What is printed.
    pub level: StatsLevel,
    /// The file of `-s<file>`; standard error if there is none.
    pub file: Option<PathBuf>,
}

/// The flags of one run, typed. [`Flags::default`] holds today's GHC's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Flags {
    /// `-A`: size of each capability's allocation area; at least two blocks. Default 4 MiB.
    pub allocation_area: Bytes,
    /// `-n` as given: size of the chunks the allocation area is cut into, 0 for none. [`Flags::chunk_size`] says what holds.
    pub chunk: Option<Bytes>,
    /// `-AL` as given: bytes of large objects allocated before a collection. [`Flags::large_limit`] says what holds.
    pub large_area: Option<Bytes>,
    /// `-F`: an old generation may grow to this factor of its live data; at least 1. Default 2.
    pub old_factor: f64,
    /// `-Fd`: what is kept of free memory halves with so many major collections that were asked for, 0 to 1000; 0 for never. Default 4.
    pub decay: f64,
    /// `-O`: an old generation's limit is never less than this. Default 1 MiB.
    pub old_min: Bytes,
    /// `-G`: generations, 1 to 12. Default 2.
    pub generations: u32,
    /// `-H`. Default none.
    pub heap_hint: HeapHint,
    /// `-M`: most memory the heap may take. Default unlimited.
    pub max_heap: Option<Bytes>,
    /// `-m`: percentage (0 to 100) of `-M` that stays free for allocation. Default 3.
    pub min_free: f64,
    /// `-c` as given. [`Flags::compaction`] says what holds under `-M`.
    pub compact: Compact,
    /// `--sizing`: who says how far the heap should grow. Default [`SizingPolicy::Factor`].
    pub sizing: SizingPolicy,
    /// `--membalancer-c`: percent of the running time that one more MiB of heap has to save. Default 0.05.
    pub membalancer_c: f64,
    /// `-N`: capabilities, at least 1. Default 1; bare `-N` is the number of processors.
    pub capabilities: u32,
    /// `-qg`: parallel collection from this generation on. Default from 0.
    pub parallel_gc: FromGeneration,
    /// `-qb` as given: load balancing in parallel collections. [`Flags::balance_from`] says what holds.
    pub load_balance: Option<FromGeneration>,
    /// `-qn`: GC threads; 0, the default, is as many as capabilities.
    pub gc_threads: u32,
    /// `-T`, `-t`, `-s`, `-S`, the last of them.
    pub stats: StatsOption,
    /// `--machine-readable`: `-t` prints a list of keys and values.
    pub machine_readable: bool,
    /// `-DS`: check the whole heap after each collection.
    pub sanity: bool,
    /// `-DZ<n>`: collect at every n-th allocation, n at least 1.
    pub stress: Option<u64>,
    /// `-DF<n>`: refuse the n-th request for memory, n at least 1.
    pub refuse_request: Option<u64>,
    /// `-xr`: address space to reserve. Default 1 TiB.
    pub reserve: Bytes,
    /// Advise the system to use huge pages. Default on; `--no-huge-pages`.
    pub huge_pages: bool,
    /// `-h..`, `-i`, `-R`, `-L`.
    pub profile: HeapProfile,
    /// `--info`: print what this program is, and stop.
    pub info: bool,
    /// `-?`: print the flags, and stop.
    pub help: bool,
    /// Names (as in [`FLAGS`]) of the flags that somebody gave.
    pub given: BTreeSet<&'static str>,
}

impl Default for Flags {
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
            sizing: SizingPolicy::Factor,
            membalancer_c: 0.05,
            capabilities: 1,
            parallel_gc: FromGeneration::From(0),
            load_balance: None,
            gc_threads: 0,
            stats: StatsOption::default(),
            machine_readable: false,
            sanity: false,
            stress: None,
            refuse_request: None,
            reserve: Bytes(MIB * MIB),
            huge_pages: true,
            profile: HeapProfile::default(),
            info: false,
            help: false,
            given: BTreeSet::new(),
        }
    }
}

/// The least `-M`: two megablocks, one of which the allocation area is in.
pub const LEAST_MAX_HEAP: Bytes = Bytes::mib(2);

/// From this `-A` on the allocation area is cut into chunks (GHC's rule).
const CHUNKED_FROM: Bytes = Bytes(16 << 20);
/// The chunks it is cut into then.
const IMPLIED_CHUNK: Bytes = Bytes(4 << 20);
/// From this `-A` on minor collections balance their load too (GHC #9221).
const BALANCED_FROM: Bytes = Bytes(32 << 20);
/// `-M` without `-c` is `-c30` (GHC's rule).
const IMPLIED_COMPACT: f64 = 30.0;

impl Flags {
    /// Size of an allocation area's chunks: `-n`, or 4 MiB if `-A` is at least 16 MiB; `None` if it is in one piece. (GHC
    /// takes 4 MiB at such a `-A` even if `-n` says otherwise.)
    pub fn chunk_size(&self) -> Option<Bytes> {
        match self.chunk {
            Some(Bytes(0)) => None,
            Some(size) => Some(size),
            None => (self.allocation_area >= CHUNKED_FROM).then_some(IMPLIED_CHUNK),
        }
    }

    /// Bytes of large objects, over all capabilities, that are allocated before a collection: `-AL`, or else `-A`.
    pub fn large_limit(&self) -> Bytes {
        self.large_area.unwrap_or(self.allocation_area)
    }

    /// Compaction of the oldest generation: `-c` as given, or 30 % under `-M`.
    pub fn compaction(&self) -> Compact {
        match self.compact {
            Compact::Never if self.max_heap.is_some() => Compact::Above(IMPLIED_COMPACT),
            given => given,
        }
    }

    /// The size of a heap of fixed size (`--sizing=fixed`): `-H`, or else `-M`; `None` if there is neither.
    pub fn fixed_size(&self) -> Option<Bytes> {
        match self.heap_hint {
            HeapHint::Size(size) => Some(size),
            _ => self.max_heap,
        }
    }

    /// Threads of a parallel collection: `-qn`, or else as many as capabilities, but no more than processors.
    pub fn gc_thread_count(&self) -> u32 {
        match self.gc_threads {
            0 => self.capabilities.min(num_cpus::get() as u32),
            threads => threads,
        }
    }

    /// From which generation on parallel collections balance their load: `-qb` as given, or else 1, or 0 if `-A` is at least 32 MiB.
    pub fn balance_from(&self) -> FromGeneration {
        self.load_balance
            .unwrap_or(FromGeneration::From(u32::from(self.allocation_area < BALANCED_FROM)))
    }

    /// Which collector the flags ask for, if none is named: its name, whether or not it exists in this program. `-G1` asks for
    /// two-space (`-M` with it too), `-c` (with `-G1` too, where GHC ignores it) and `-M` for compacting, `-N2` and more for parallel unless bare
    /// `-qg` turns that off, everything else for copying.
    pub fn wanted_collector(&self) -> &'static str {
        if self.compact != Compact::Never {
            "compacting"
        } else if self.generations == 1 {
            "two-space"
        } else if self.max_heap.is_some() {
            "compacting"
        } else if self.capabilities > 1 && self.parallel_gc != FromGeneration::Off {
            "parallel"
        } else {
            "copying"
        }
    }
}
