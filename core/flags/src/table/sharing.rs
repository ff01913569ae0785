//! Flags for threads: the program's, and those that collect.

use gclab_core::config::Parameter;

use super::common::{MOST_THREADS, OLDEST, count, generation, generation_value};
use crate::kind::Kind;
use crate::spec::{FlagSpec, Scope};
use crate::value::{AUTO, Value};

/// The flags of this part, in the order of help.
pub(super) const SHARING: &[FlagSpec] = &[
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
        ghc: Some("a capability has an allocation area only while it has a thread that allocates"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| {
            f.config.capabilities = match v {
                Value::Count(count) => count as u32,
                _ => num_cpus::get() as u32,
            }
        },
        get: |f| Some(Value::Count(u64::from(f.config.capabilities))),
    },
    FlagSpec {
        name: "qg",
        toml: Some("qg"),
        kind: Kind::GenerationOrOff {
            max: OLDEST,
            auto: false,
        },
        default: "0",
        meaning: "collect this generation and older ones in parallel; bare: never in parallel",
        ghc: Some(
            "with one capability -qg<n> is refused unless the collector is named, where GHC takes it without effect; a collection counts as parallel only if threads really shared it",
        ),
        scope: Scope::Collector(Parameter::ParallelGc),
        optional: false,
        set: |f, v| f.config.parallel_gc = generation(&v),
        get: |f| Some(generation_value(f.config.parallel_gc)),
    },
    FlagSpec {
        name: "qb",
        toml: Some("qb"),
        kind: Kind::GenerationOrOff {
            max: OLDEST,
            auto: true,
        },
        default: "auto",
        meaning: "balance the load of parallel collections of this generation and older ones; bare: never; =auto: of all that have enough to share",
        ghc: Some(
            "=auto is the default, where GHC has 1, or 0 if -A is 32m or more: a collection wakes other threads for the work that it finds, so its generation need not decide",
        ),
        scope: Scope::Collector(Parameter::LoadBalance),
        optional: false,
        set: |f, v| f.config.load_balance = (v != Value::Name(AUTO)).then(|| generation(&v)),
        get: |f| Some(f.config.load_balance.map_or(Value::Name(AUTO), generation_value)),
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
        scope: Scope::Collector(Parameter::GcThreads),
        optional: false,
        set: |f, v| f.config.gc_threads = count(&v) as u32,
        get: |f| (f.config.gc_threads != 0).then_some(Value::Count(u64::from(f.config.gc_threads))),
    },
];
