//! The description of an experiment: `plan.json`, which is written once, before the first run.
//!
//! It holds the question, the experiment file's text, the machine, the build, and all runs in their
//! order. A folder with a plan and no runs is a valid folder: an interrupted experiment continues
//! there.

use crate::plan::PlannedRun;
use crate::probe::{Minimum, reference};
use crate::program::Program;
use crate::schema::documented;

documented! {
    /// `plan.json`: the experiment, the machine, the build and the plan.
    #[derive(Default)]
    pub struct Manifest {
        /// Version of the file's schema.
        pub schema: u32,
        /// Version of the gclab that wrote the file.
        pub gclab: String,
        /// The experiment's name: the name of its file without `.toml`.
        pub name: String,
        /// The question that the experiment answers.
        pub question: Option<String>,
        /// The experiment file, word for word.
        pub experiment: String,
        /// Seed of the order of runs.
        pub seed: u64,
        /// The generator and the shuffle that make the order of runs from the seed.
        pub order: Option<String>,
        /// The part of the whole plan that this folder holds, e.g. `1/4`; absent if it holds the
        /// whole plan.
        pub shard: Option<String>,
        /// Longest time of a run before it is killed and counts as a timeout, in seconds.
        pub timeout_seconds: Option<f64>,
        /// Number of runs of each configuration.
        pub repeat: u32,
        /// The precision at which the experiment is complete, also with fewer runs than `repeat`.
        /// It is the share of the mean time that its 95 % interval reaches to either side, for each
        /// configuration.
        pub precision: Option<f64>,
        /// The swept flags and other axes with their values, in the order of the file.
        pub sweep: Vec<Axis>,
        /// Sizes of the heap, in multiples of the reference minimum of each workload; empty for an
        /// experiment without `heap`.
        pub heap: Vec<f64> = default,
        /// The least heap of each configuration, which was found before the plan was made; empty
        /// without `heap`.
        pub minima: Vec<Minimum> = default,
        /// Whether runs of workloads read their performance counters at each pause
        /// (`pause_counters`); absent if they do not.
        pub pause_counters: Option<bool>,
        /// The builds of gclab that do the runs, if the experiment names several; empty if the
        /// gclab of `build` does them.
        pub builds: Vec<NamedBuild> = default,
        /// The commands of the experiment's `[[program]]` tables; empty without any.
        pub programs: Vec<Program> = default,
        /// The machine that runs the experiment.
        pub machine: Machine,
        /// The gclab that runs the experiment.
        pub build: Build,
        /// Start of the experiment: UTC, RFC 3339.
        pub started: String,
        /// The command that repeats the experiment.
        pub command: Vec<String>,
        /// All runs in their order.
        pub plan: Vec<PlannedRun>,
    }
}

documented! {
    /// A build of gclab that an experiment names.
    #[derive(Default)]
    pub struct NamedBuild {
        /// Its name in the experiment: the value of `build` in the settings of its runs.
        pub name: String,
        /// The path of its file.
        pub file: String,
        /// Hash of the file's bytes (FNV-1a, 64 bits, hexadecimal).
        pub executable: String,
    }
}

documented! {
    /// A swept flag, or another swept axis, with its values.
    #[derive(Default)]
    pub struct Axis {
        /// The flag's name in experiment files; or `build`, `env.NAME` or `args.NAME`.
        pub flag: String,
        /// The text of the values, in the order of the file.
        pub values: Vec<String>,
    }
}

documented! {
    /// The machine of the runs. Facts that could not be found out are absent.
    #[derive(Default)]
    pub struct Machine {
        /// The machine's name.
        pub host: Option<String>,
        /// The processor's model, as the kernel names it.
        pub cpu: Option<String>,
        /// Number of logical processors that the process may use.
        pub logical_cpus: Option<u32>,
        /// Number of physical cores.
        pub cores: Option<u32>,
        /// Caches, one text for each, e.g. `L2 unified 2 MiB`.
        pub caches: Vec<String>,
        /// Main memory in bytes.
        pub memory_bytes: Option<u64>,
        /// The kernel's name and release.
        pub kernel: Option<String>,
        /// Transparent huge pages: the setting in force (`always`, `madvise`, `never`).
        pub transparent_huge_pages: Option<String>,
        /// The processor's frequency governor.
        pub governor: Option<String>,
        /// The kind of virtual machine, e.g. `kvm`, or `none`.
        pub virtualisation: Option<String>,
        /// Mitigations of processor faults in force, one text for each.
        pub mitigations: Vec<String> = default,
        /// Whether processors may exceed their nominal frequency (boost, turbo).
        pub boost: Option<bool>,
        /// Threads of one core that run at the same time (`on`, `off`, `notsupported`).
        pub smt: Option<String>,
        /// Randomisation of addresses: `off`, `partial` or `full`.
        pub address_randomisation: Option<String>,
        /// When the kernel compacts memory to make huge pages (`always`, `defer`, `madvise`, ...).
        pub huge_page_defrag: Option<String>,
        /// Swap space in bytes.
        pub swap_bytes: Option<u64>,
        /// Processors that the control group may use at a time; absent without a limit.
        pub cpu_limit: Option<f64>,
        /// Bytes of memory that the control group may use; absent without a limit.
        pub memory_limit_bytes: Option<u64>,
        /// The source of power: `mains` or `battery`.
        pub power: Option<String>,
        /// The kernel's limit on performance counters (`perf_event_paranoid`).
        pub perf_event_paranoid: Option<i32>,
        /// The performance counters that runs have, by their keys in records.
        pub counters: Vec<String> = default,
        /// Why runs lack performance counters; absent if they have all of them.
        pub counters_absent: Option<String>,
        /// Cautions for readers of the figures, e.g. `governor is powersave`.
        pub warnings: Vec<String> = default,
    }
}

documented! {
    /// The gclab of the runs, as far as it is known.
    #[derive(Default)]
    pub struct Build {
        /// Commit of the source tree.
        pub git_commit: Option<String>,
        /// Whether the source tree had changes that are in no commit.
        pub git_dirty: Option<bool>,
        /// The compiler, as printed by `rustc --version`.
        pub rustc: Option<String>,
        /// The cargo profile: `release` or `debug`.
        pub profile: Option<String>,
        /// Hash of the executable's bytes (FNV-1a, 64 bits, hexadecimal): a folder never has
        /// results of two builds.
        pub executable: Option<String>,
    }
}

impl Manifest {
    /// The reference minimum of a workload, in bytes: the least of the minima of its
    /// configurations. Heaps are multiples of it.
    pub fn reference(&self, workload: &str, args: &[String]) -> Option<u64> {
        reference(self.minima.iter().filter(|m| m.workload == workload && m.args == args))
    }

    /// A manifest of this version with an empty plan.
    pub fn new(name: &str) -> Manifest {
        Manifest {
            schema: crate::record::SCHEMA,
            gclab: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            ..Manifest::default()
        }
    }
}
