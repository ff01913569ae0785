//! The table of flags: everything that is known of each, once.

use super::spec::{FlagSpec, Scope};
use super::value::{Kind, Value};
use super::{
    Breakdown, Compact, Flags, FromGeneration, HeapHint, LEAST_MAX_HEAP, SizingPolicy, StatsLevel, StatsOption,
};
use crate::block::MAX_RESERVATION;
use crate::words::Bytes;

/// A block: 4 KiB.
const BLOCK: Bytes = Bytes(4 << 10);
/// The least allocation area and the least chunk of one (GHC's).
const TWO_BLOCKS: Bytes = Bytes(8 << 10);
const MIB: Bytes = Bytes(1 << 20);
/// The largest size: a sixteenth of the 47 bits of a process's addresses, so that sums of a few do not pass 64 bits by far.
const MOST: Bytes = Bytes(8 << 40);
/// The most generations of any heap.
pub const MAX_GENERATIONS: u32 = 12;
/// The largest generation number.
const OLDEST: u64 = MAX_GENERATIONS as u64 - 1;
/// More capabilities than any machine has processors.
const MOST_THREADS: u64 = 4096;

const fn size(min: Bytes) -> Kind {
    Kind::Size {
        min,
        max: MOST,
        zero: false,
        bare: false,
    }
}

const PERCENT: Kind = Kind::Percent { bare: false };

const fn generation(value: &Value) -> FromGeneration {
    match value {
        Value::Count(generation) => FromGeneration::From(*generation as u32),
        _ => FromGeneration::Off,
    }
}

const fn generation_value(from: FromGeneration) -> Value {
    match from {
        FromGeneration::Off => Value::Off,
        FromGeneration::From(generation) => Value::Count(generation as u64),
    }
}

const fn optional_size(value: &Value) -> Option<Bytes> {
    match value {
        Value::Size(size) => Some(*size),
        _ => None,
    }
}

const fn bytes(value: &Value) -> Bytes {
    match value {
        Value::Size(size) => *size,
        _ => Bytes(0),
    }
}

const fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        _ => 0.0,
    }
}

const fn count(value: &Value) -> u64 {
    match value {
        Value::Count(count) => *count,
        _ => 0,
    }
}

fn switch(on: bool) -> Option<Value> {
    on.then_some(Value::On)
}

fn set_stats(flags: &mut Flags, level: StatsLevel, value: Value) {
    let file = if let Value::File(path) = value {
        Some(path)
    } else {
        None
    };
    flags.stats = StatsOption { level, file };
}

fn get_stats(flags: &Flags, level: StatsLevel) -> Option<Value> {
    (flags.stats.level == level).then(|| flags.stats.file.clone().map_or(Value::On, Value::File))
}

/// Every flag, in the order of help.
pub const FLAGS: &[FlagSpec] = &[
    FlagSpec {
        name: "A",
        toml: Some("A"),
        kind: size(TWO_BLOCKS),
        default: "4m",
        meaning: "size of each capability's allocation area; with -G1 the least one",
        ghc: None,
        scope: Scope::Collector,
        optional: false,
        set: |f, v| f.allocation_area = bytes(&v),
        get: |f| Some(Value::Size(f.allocation_area)),
    },
    FlagSpec {
        name: "n",
        toml: Some("n"),
        kind: Kind::Size {
            min: TWO_BLOCKS,
            max: MOST,
            zero: true,
            bare: false,
        },
        default: "0, but 4m if -A is 16m or more",
        meaning: "cut allocation areas into chunks of this size, handed to whoever runs out; 0: in one piece",
        ghc: Some("GHC takes 4m at -A16m and more even if -n is given"),
        scope: Scope::Collector,
        optional: true,
        set: |f, v| f.chunk = Some(bytes(&v)),
        get: |f| {
            f.chunk.map(|size| {
                if size == Bytes(0) {
                    Value::Off
                } else {
                    Value::Size(size)
                }
            })
        },
    },
    FlagSpec {
        name: "AL",
        toml: Some("AL"),
        kind: size(TWO_BLOCKS),
        default: "as -A",
        meaning: "bytes of large objects that are allocated before a collection",
        ghc: None,
        scope: Scope::Collector,
        optional: true,
        set: |f, v| f.large_area = optional_size(&v),
        get: |f| f.large_area.map(Value::Size),
    },
    FlagSpec {
        name: "F",
        toml: Some("F"),
        kind: Kind::Number { min: 1.0, max: 1000.0 },
        default: "2",
        meaning: "old generations may grow to this factor of their live data before they are collected",
        ghc: Some("GHC takes factors below 1, under which every collection is a major one"),
        scope: Scope::Collector,
        optional: false,
        set: |f, v| f.old_factor = number(&v),
        get: |f| Some(Value::Number(f.old_factor)),
    },
    FlagSpec {
        name: "Fd",
        toml: Some("Fd"),
        kind: Kind::Number { min: 0.0, max: 1000.0 },
        default: "4",
        meaning: "after so many major collections in a row that the program asked for, half as much free memory is kept; 0: always as much",
        ghc: None,
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.decay = number(&v),
        get: |f| Some(Value::Number(f.decay)),
    },
    FlagSpec {
        name: "O",
        toml: Some("O"),
        kind: size(BLOCK),
        default: "1m",
        meaning: "least size to which an old generation may grow before it is collected",
        ghc: None,
        scope: Scope::Collector,
        optional: false,
        set: |f, v| f.old_min = bytes(&v),
        get: |f| Some(Value::Size(f.old_min)),
    },
    FlagSpec {
        name: "G",
        toml: Some("G"),
        kind: Kind::Count {
            min: 1,
            max: OLDEST + 1,
            bare: false,
        },
        default: "2",
        meaning: "number of generations; 1 asks for the two-space collector",
        ghc: Some("GHC takes any number"),
        scope: Scope::Collector,
        optional: false,
        set: |f, v| f.generations = count(&v) as u32,
        get: |f| Some(Value::Count(u64::from(f.generations))),
    },
    FlagSpec {
        name: "H",
        toml: Some("H"),
        kind: Kind::Size {
            min: BLOCK,
            max: MOST,
            zero: false,
            bare: true,
        },
        default: "none",
        meaning: "use about this much memory: the allocation area grows into what is left; bare: as much as the old generation may take",
        ghc: None,
        scope: Scope::Collector,
        optional: true,
        set: |f, v| {
            f.heap_hint = match v {
                Value::Size(size) => HeapHint::Size(size),
                Value::On => HeapHint::Auto,
                _ => HeapHint::None,
            }
        },
        get: |f| match f.heap_hint {
            HeapHint::None => None,
            HeapHint::Auto => Some(Value::On),
            HeapHint::Size(size) => Some(Value::Size(size)),
        },
    },
    FlagSpec {
        name: "M",
        toml: Some("M"),
        kind: size(LEAST_MAX_HEAP),
        default: "unlimited",
        meaning: "most memory the heap may take; a heap that needs more ends the run with status 251",
        ghc: Some("the least is 2m, not 4k; -H above it is refused, where GHC raises -M"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.max_heap = optional_size(&v),
        get: |f| f.max_heap.map(Value::Size),
    },
    FlagSpec {
        name: "m",
        toml: Some("m"),
        kind: PERCENT,
        default: "3",
        meaning: "percentage of -M that stays free for allocation (of which half is kept, as in GHC)",
        ghc: None,
        scope: Scope::Collector,
        optional: false,
        set: |f, v| f.min_free = number(&v),
        get: |f| Some(Value::Number(f.min_free)),
    },
    FlagSpec {
        name: "c",
        toml: Some("c"),
        kind: Kind::Percent { bare: true },
        default: "off, but 30 under -M",
        meaning: "compact the oldest generation at each major collection, or only when live data exceed n % of -M",
        ghc: Some("works with -G1 too"),
        scope: Scope::Collector,
        optional: true,
        set: |f, v| {
            f.compact = match v {
                Value::Number(percent) => Compact::Above(percent),
                Value::On => Compact::Always,
                _ => Compact::Never,
            }
        },
        get: |f| match f.compact {
            Compact::Never => None,
            Compact::Always => Some(Value::On),
            Compact::Above(percent) => Some(Value::Number(percent)),
        },
    },
    FlagSpec {
        name: "-sizing",
        toml: Some("sizing"),
        kind: Kind::Choice {
            of: "a sizing policy",
            names: &[
                SizingPolicy::Factor.name(),
                SizingPolicy::Fixed.name(),
                SizingPolicy::MemBalancer.name(),
            ],
            list: "factor, fixed or membalancer",
        },
        default: "factor",
        meaning: "who says how far the heap grows before it is collected in full: factor (-F), fixed (to the size -H, or else -M) or membalancer (by the rates of allocation and collection)",
        ghc: Some("gclab's own"),
        scope: Scope::Collector,
        optional: false,
        set: |f, v| {
            f.sizing = match v {
                Value::Name("fixed") => SizingPolicy::Fixed,
                Value::Name("membalancer") => SizingPolicy::MemBalancer,
                _ => SizingPolicy::Factor,
            }
        },
        get: |f| Some(Value::Name(f.sizing.name())),
    },
    FlagSpec {
        name: "-membalancer-c",
        toml: Some("membalancer_c"),
        kind: Kind::Number {
            min: 0.0001,
            max: 1000.0,
        },
        default: "0.05",
        meaning: "with --sizing=membalancer: percent of the running time that one more MiB of heap has to save to be worth it",
        ghc: Some("gclab's own"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.membalancer_c = number(&v),
        get: |f| Some(Value::Number(f.membalancer_c)),
    },
    FlagSpec {
        name: "N",
        toml: Some("N"),
        kind: Kind::Count {
            min: 1,
            max: MOST_THREADS,
            bare: true,
        },
        default: "1",
        meaning: "capabilities: threads that may run the program at once; bare: one for each processor",
        ghc: None,
        scope: Scope::Heap,
        optional: false,
        set: |f, v| {
            f.capabilities = match v {
                Value::Count(count) => count as u32,
                _ => num_cpus::get() as u32,
            }
        },
        get: |f| Some(Value::Count(u64::from(f.capabilities))),
    },
    FlagSpec {
        name: "qg",
        toml: Some("qg"),
        kind: Kind::GenerationOrOff(OLDEST),
        default: "0",
        meaning: "collect this generation and older ones in parallel; bare: never in parallel",
        ghc: None,
        scope: Scope::Collector,
        optional: false,
        set: |f, v| f.parallel_gc = generation(&v),
        get: |f| Some(generation_value(f.parallel_gc)),
    },
    FlagSpec {
        name: "qb",
        toml: Some("qb"),
        kind: Kind::GenerationOrOff(OLDEST),
        default: "1, but 0 if -A is 32m or more",
        meaning: "balance the load of parallel collections of this generation and older ones; bare: never",
        ghc: None,
        scope: Scope::Collector,
        optional: false,
        set: |f, v| f.load_balance = Some(generation(&v)),
        get: |f| f.load_balance.map(generation_value),
    },
    FlagSpec {
        name: "qn",
        toml: Some("qn"),
        kind: Kind::Count {
            min: 0,
            max: MOST_THREADS,
            bare: false,
        },
        default: "0",
        meaning: "threads of a parallel collection; 0: as many as capabilities, but no more than processors",
        ghc: None,
        scope: Scope::Collector,
        optional: false,
        set: |f, v| f.gc_threads = count(&v) as u32,
        get: |f| (f.gc_threads != 0).then_some(Value::Count(u64::from(f.gc_threads))),
    },
    FlagSpec {
        name: "T",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "statistics as a value only; of -T, -t, -s and -S the last one counts",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_stats(f, StatsLevel::Collect, v),
        get: |f| get_stats(f, StatsLevel::Collect),
    },
    FlagSpec {
        name: "t",
        toml: None,
        kind: Kind::Output,
        default: "off",
        meaning: "one line of statistics at the end, to the file or standard error",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_stats(f, StatsLevel::OneLine, v),
        get: |f| get_stats(f, StatsLevel::OneLine),
    },
    FlagSpec {
        name: "s",
        toml: None,
        kind: Kind::Output,
        default: "off",
        meaning: "a summary of statistics at the end",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_stats(f, StatsLevel::Summary, v),
        get: |f| get_stats(f, StatsLevel::Summary),
    },
    FlagSpec {
        name: "S",
        toml: None,
        kind: Kind::Output,
        default: "off",
        meaning: "a row of statistics for each collection, and the summary",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_stats(f, StatsLevel::Each, v),
        get: |f| get_stats(f, StatsLevel::Each),
    },
    FlagSpec {
        name: "-machine-readable",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "-t prints its figures as a list of keys and values",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.machine_readable = v == Value::On,
        get: |f| switch(f.machine_readable),
    },
    FlagSpec {
        name: "h",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "heap profile: as -hT",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.profile.set(Breakdown::ClosureType, v),
        get: |_| None,
    },
    FlagSpec {
        name: "hT",
        toml: Some("hT"),
        kind: Kind::Switch,
        default: "off",
        meaning: "heap profile by closure type, into <workload>.hp",
        ghc: None,
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set(Breakdown::ClosureType, v),
        get: |f| f.profile.get(Breakdown::ClosureType),
    },
    FlagSpec {
        name: "hd",
        toml: Some("hd"),
        kind: Kind::Names,
        default: "off",
        meaning: "heap profile by closure description; with names: restricted to these",
        ghc: None,
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set(Breakdown::Description, v),
        get: |f| f.profile.get(Breakdown::Description),
    },
    FlagSpec {
        name: "hy",
        toml: Some("hy"),
        kind: Kind::Names,
        default: "off",
        meaning: "heap profile by type; with names: restricted to these",
        ghc: None,
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set(Breakdown::Type, v),
        get: |f| f.profile.get(Breakdown::Type),
    },
    FlagSpec {
        name: "hm",
        toml: Some("hm"),
        kind: Kind::Names,
        default: "off",
        meaning: "heap profile by module; with names: restricted to these",
        ghc: Some("of the type, where GHC has the cost centre's"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set(Breakdown::Module, v),
        get: |f| f.profile.get(Breakdown::Module),
    },
    FlagSpec {
        name: "hr",
        toml: Some("hr"),
        kind: Kind::Names,
        default: "off",
        meaning: "heap profile by retainers; with names: restricted to what one of these retains",
        ghc: Some("in every build; sets keep their numbers through a run"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set(Breakdown::Retainer, v),
        get: |f| f.profile.get(Breakdown::Retainer),
    },
    FlagSpec {
        name: "ho",
        toml: Some("ho"),
        kind: Kind::Switch,
        default: "off",
        meaning: "heap profile by named heap roots, any number of them",
        ghc: Some("gclab's own: proposed for GHC, with up to 20 roots"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set(Breakdown::NamedRoots, v),
        get: |f| f.profile.get(Breakdown::NamedRoots),
    },
    FlagSpec {
        name: "hc",
        toml: Some("hc"),
        kind: Kind::Names,
        default: "off",
        meaning: "heap profile by the cost centres that closures were allocated by; with names: restricted to these",
        ghc: Some("in every build"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set(Breakdown::CostCentre, v),
        get: |f| f.profile.get(Breakdown::CostCentre),
    },
    FlagSpec {
        name: "hC",
        toml: Some("hC"),
        kind: Kind::Names,
        default: "off",
        meaning: "restricts a heap profile to what was allocated with one of these cost centres in the stack",
        ghc: None,
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set_stacks(v),
        get: |f| f.profile.stacks(),
    },
    FlagSpec {
        name: "hb",
        toml: Some("hb"),
        kind: Kind::Names,
        default: "off",
        meaning: "biographical heap profile; with names (void, lag, use, drag): restricted to these",
        ghc: Some("in every build, with any -N"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.profile.set(Breakdown::Biography, v),
        get: |f| f.profile.get(Breakdown::Biography),
    },
    FlagSpec {
        name: "i",
        toml: Some("i"),
        kind: Kind::Number { min: 0.0, max: 86400.0 },
        default: "0.1",
        meaning: "seconds between censuses of a heap profile; 0: one at each collection",
        ghc: Some("of elapsed time, and no census forces a collection"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.profile.interval = number(&v),
        get: |f| Some(Value::Number(f.profile.interval)),
    },
    FlagSpec {
        name: "R",
        toml: Some("R"),
        kind: Kind::Count {
            min: 0,
            max: u32::MAX as u64,
            bare: false,
        },
        default: "8",
        meaning: "most retainers that a set may have under -hr; larger ones are MANY; 0: no limit",
        ghc: Some("GHC has no 0"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.profile.retainers = count(&v) as u32,
        get: |f| Some(Value::Count(u64::from(f.profile.retainers))),
    },
    FlagSpec {
        name: "L",
        toml: Some("L"),
        kind: Kind::Count {
            min: 1,
            max: 4000,
            bare: false,
        },
        default: "25",
        meaning: "most letters of the names of a set under -hr",
        ghc: None,
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.profile.name_length = count(&v) as u32,
        get: |f| Some(Value::Count(u64::from(f.profile.name_length))),
    },
    FlagSpec {
        name: "DS",
        toml: Some("DS"),
        kind: Kind::Switch,
        default: "off",
        meaning: "check the whole heap after each collection",
        ghc: Some("in every build, not only in one for debugging"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.sanity = v == Value::On,
        get: |f| switch(f.sanity),
    },
    FlagSpec {
        name: "DZ",
        toml: Some("DZ"),
        kind: Kind::Count {
            min: 1,
            max: u64::MAX,
            bare: false,
        },
        default: "off",
        meaning: "stress: collect at every n-th allocation",
        ghc: Some("gclab's own: in GHC -DZ is something else"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.stress = if let Value::Count(n) = v { Some(n) } else { None },
        get: |f| f.stress.map(Value::Count),
    },
    FlagSpec {
        name: "DF",
        toml: Some("DF"),
        kind: Kind::Count {
            min: 1,
            max: u64::MAX,
            bare: false,
        },
        default: "off",
        meaning: "refuse the n-th request for memory, of whatever kind, to see what happens then",
        ghc: Some("gclab's own"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.refuse_request = if let Value::Count(n) = v { Some(n) } else { None },
        get: |f| f.refuse_request.map(Value::Count),
    },
    FlagSpec {
        name: "xr",
        toml: Some("xr"),
        kind: Kind::Size {
            min: MIB,
            max: MAX_RESERVATION,
            zero: false,
            bare: false,
        },
        default: "1t",
        meaning: "address space to reserve for the heap; less if the system refuses",
        ghc: None,
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.reserve = bytes(&v),
        get: |f| Some(Value::Size(f.reserve)),
    },
    FlagSpec {
        name: "-no-huge-pages",
        toml: Some("huge_pages"),
        kind: Kind::SwitchOff,
        default: "huge pages are asked for",
        meaning: "do not ask the system for huge pages",
        ghc: Some("gclab's own"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.huge_pages = v != Value::On,
        get: |f| switch(!f.huge_pages),
    },
    FlagSpec {
        name: "-info",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "print what this program is and stop",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.info = v == Value::On,
        get: |f| switch(f.info),
    },
    FlagSpec {
        name: "?",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "print these flags and stop",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.help = v == Value::On,
        get: |f| switch(f.help),
    },
];
