//! Flags for sizes: of areas, generations, the heap and its limits, and how they are chosen.

use super::common::{BLOCK, MOST, OLDEST, PERCENT, TWO_BLOCKS, bytes, count, number, optional_size, size, switch};
use crate::kind::Kind;
use crate::spec::{FlagSpec, Scope};
use crate::value::Value;
use gclab_core::config::{Compact, HeapHint, LEAST_MAX_HEAP, Parameter, SizingPolicy};
use gclab_core::words::Bytes;

/// The flags of this part, in the order of help.
pub(super) const SIZES: &[FlagSpec] = &[
    FlagSpec {
        name: "A",
        toml: Some("A"),
        kind: size(TWO_BLOCKS),
        default: "4m",
        meaning: "size of each capability's allocation area; with -G1 the least one",
        ghc: Some("GHC 9.2 and later have this default; older versions have 1m or 512k"),
        scope: Scope::Collector(Parameter::AllocationArea),
        optional: false,
        set: |f, v| f.config.allocation_area = bytes(&v),
        get: |f| Some(Value::Size(f.config.allocation_area)),
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
        meaning: "cut allocation areas into chunks of this size, which any capability can take; 0, or at least -A: one piece",
        ghc: Some("GHC takes 4m at -A16m and more even if -n is given"),
        scope: Scope::Collector(Parameter::Chunk),
        optional: true,
        set: |f, v| f.config.chunk = Some(bytes(&v)),
        get: |f| {
            f.config.chunk.map(|size| {
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
        meaning: "bytes of large objects allocated before a collection",
        ghc: None,
        scope: Scope::Collector(Parameter::LargeArea),
        optional: true,
        set: |f, v| f.config.large_area = optional_size(&v),
        get: |f| f.config.large_area.map(Value::Size),
    },
    FlagSpec {
        name: "F",
        toml: Some("F"),
        kind: Kind::Number { min: 1.0, max: 1000.0 },
        default: "2",
        meaning: "collect an old generation when it reaches this multiple of its live data",
        ghc: Some("GHC takes factors below 1, under which every collection is a major one"),
        scope: Scope::Collector(Parameter::OldFactor),
        optional: false,
        set: |f, v| f.config.old_factor = number(&v),
        get: |f| Some(Value::Number(f.config.old_factor)),
    },
    FlagSpec {
        name: "Fd",
        toml: Some("Fd"),
        kind: Kind::Number { min: 0.0, max: 1000.0 },
        default: "4",
        meaning: "halve the free memory that the heap keeps after this many consecutive major collections at the program's request; 0: never",
        ghc: None,
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.config.decay = number(&v),
        get: |f| Some(Value::Number(f.config.decay)),
    },
    FlagSpec {
        name: "O",
        toml: Some("O"),
        kind: size(BLOCK),
        default: "1m",
        meaning: "do not collect an old generation while it is smaller than this",
        ghc: None,
        scope: Scope::Collector(Parameter::OldMin),
        optional: false,
        set: |f, v| f.config.old_min = bytes(&v),
        get: |f| Some(Value::Size(f.config.old_min)),
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
        ghc: Some(
            "GHC takes any number; with -G1 it takes -O and -H too, without effect, and here two-space refuses -O and -H",
        ),
        scope: Scope::Collector(Parameter::Generations),
        optional: false,
        set: |f, v| f.config.generations = count(&v) as u32,
        get: |f| Some(Value::Count(u64::from(f.config.generations))),
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
        meaning: "use about this much memory: the allocation area takes what the old generations leave; bare: as much as the old generation may take",
        ghc: None,
        scope: Scope::Collector(Parameter::HeapHint),
        optional: true,
        set: |f, v| {
            f.config.heap_hint = match v {
                Value::Size(size) => HeapHint::Size(size),
                Value::On => HeapHint::Auto,
                _ => HeapHint::None,
            }
        },
        get: |f| match f.config.heap_hint {
            HeapHint::None => None,
            HeapHint::Auto => Some(Value::On),
            HeapHint::Size(size) => Some(Value::Size(size)),
        },
    },
    FlagSpec {
        name: "M",
        toml: Some("M"),
        kind: size(LEAST_MAX_HEAP),
        default: "the memory of the machine, or of its control group",
        meaning: "most memory the heap may take; a heap that needs more ends the run with status 251",
        ghc: Some(
            "without -M GHC has no limit; the least is 2m, not 4k; -H above it is refused, where GHC raises -M; -M also selects the compacting collector, unless another one is named",
        ),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.config.max_heap = optional_size(&v),
        get: |f| f.config.max_heap.map(Value::Size),
    },
    FlagSpec {
        name: "m",
        toml: Some("m"),
        kind: PERCENT,
        default: "3",
        meaning: "percentage of -M, or of the machine's memory without -M, that stays free for allocation (of which half is kept, as in GHC)",
        ghc: None,
        scope: Scope::Collector(Parameter::MinFree),
        optional: false,
        set: |f, v| f.config.min_free = number(&v),
        get: |f| Some(Value::Number(f.config.min_free)),
    },
    FlagSpec {
        name: "c",
        toml: Some("c"),
        kind: Kind::Percent { bare: true },
        default: "off, but 30 under -M",
        meaning: "compact the oldest generation at each major collection, or only when live data exceed n % of -M",
        ghc: Some("works with -G1 too"),
        scope: Scope::Collector(Parameter::Compact),
        optional: true,
        set: |f, v| {
            f.config.compact = match v {
                Value::Number(percent) => Compact::Above(percent),
                Value::On => Compact::Always,
                _ => Compact::Never,
            }
        },
        get: |f| match f.config.compact {
            Compact::Never => None,
            Compact::Always => Some(Value::On),
            Compact::Above(percent) => Some(Value::Number(percent)),
        },
    },
    FlagSpec {
        name: "xn",
        toml: Some("xn"),
        kind: Kind::Switch,
        default: "off",
        meaning: "the old generation stays in place and is marked while the program runs, by the collector nonmoving; also `--nonmoving-gc`",
        ghc: Some("no ageing in the nursery; a requested major collection stops the program"),
        scope: Scope::Collector(Parameter::Nonmoving),
        optional: false,
        set: |f, v| f.config.nonmoving = v == Value::On,
        get: |f| switch(f.config.nonmoving),
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
        meaning: "the rule for how far the heap grows before a major collection: factor (-F), fixed (to the size -H, or else -M) or membalancer (by the rates of allocation and collection)",
        ghc: Some("gclab's own"),
        scope: Scope::Collector(Parameter::Sizing),
        optional: false,
        set: |f, v| {
            f.config.sizing = match v {
                Value::Name("fixed") => SizingPolicy::Fixed,
                Value::Name("membalancer") => SizingPolicy::MemBalancer,
                _ => SizingPolicy::Factor,
            }
        },
        get: |f| Some(Value::Name(f.config.sizing.name())),
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
        set: |f, v| f.config.membalancer_c = number(&v),
        get: |f| Some(Value::Number(f.config.membalancer_c)),
    },
    FlagSpec {
        name: "-gc-overhead-limit",
        toml: Some("gc_overhead_limit"),
        kind: Kind::Number { min: 0.0, max: 100.0 },
        default: "98",
        meaning: "under -M: percentage of time in collections that free almost nothing (less than 2 % of -M) at which, over a second and five major collections, the run ends with status 251; 0: never",
        ghc: Some("gclab's own: HotSpot's GCTimeLimit and GCHeapFreeLimit"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.config.gc_overhead_limit = number(&v),
        get: |f| Some(Value::Number(f.config.gc_overhead_limit)),
    },
];
