//! What an experiment is: `plan.json`, written once before the first run.
//!
//! It holds the question, the experiment file's text, the machine, the build, and every run in the order in which it is to
//! be done. A folder with a plan and no runs is a valid folder: it is where an interrupted experiment goes on.

use crate::plan::PlannedRun;
use crate::probe::{Minimum, reference};
use crate::schema::documented;

documented! {
    /// `plan.json`: the experiment, the machine, the build and the plan.
    #[derive(Default)]
    pub struct Manifest {
        /// Version of this file's schema.
        pub schema: u32,
        /// Version of the gclab that wrote the file.
        pub gclab: String,
        /// The experiment's name: its file's name without `.toml`.
        pub name: String,
        /// The question that the experiment is to answer.
        pub question: Option<String>,
        /// The experiment file, word for word.
        pub experiment: String,
        /// Seed of the order of runs.
        pub seed: u64,
        /// How the order of runs follows from the seed: the generator and the shuffle.
        pub order: Option<String>,
        /// Which part of the whole plan this folder holds, e.g. `1/4`; absent when it holds all of it.
        pub shard: Option<String>,
        /// Longest time that a run may take before it is killed and counts as a timeout, in seconds.
        pub timeout_seconds: Option<f64>,
        /// Runs of each configuration.
        pub repeat: u32,
        /// The swept flags with their values, in the order of the file.
        pub sweep: Vec<Axis>,
        /// Sizes of the heap, in multiples of the reference minimum of each workload; empty if the experiment does not say `heap`.
        #[serde(default)]
        pub heap: Vec<f64>,
        /// The least heap of each configuration, found before the plan was made; empty without `heap`.
        #[serde(default)]
        pub minima: Vec<Minimum>,
        /// The machine.
        pub machine: Machine,
        /// The gclab that ran.
        pub build: Build,
        /// When the experiment was started: UTC, RFC 3339.
        pub started: String,
        /// The command that repeats the experiment.
        pub command: Vec<String>,
        /// Every run, in the order in which it is to be done.
        pub plan: Vec<PlannedRun>,
    }
}

documented! {
    /// A swept flag.
    #[derive(Default)]
    pub struct Axis {
        /// The flag's name in experiment files.
        pub flag: String,
        /// The text of its values, in the order of the file.
        pub values: Vec<String>,
    }
}

documented! {
    /// The machine that the runs were done on. What could not be found out is absent.
    #[derive(Default)]
    pub struct Machine {
        /// The machine's name.
        pub host: Option<String>,
        /// The processor's model, as the kernel names it.
        pub cpu: Option<String>,
        /// Logical processors that the process may use.
        pub logical_cpus: Option<u32>,
        /// Physical cores.
        pub cores: Option<u32>,
        /// Caches, one text each, e.g. `L2 unified 2 MiB`.
        pub caches: Vec<String>,
        /// Main memory in bytes.
        pub memory_bytes: Option<u64>,
        /// The kernel's name and release.
        pub kernel: Option<String>,
        /// Transparent huge pages: the setting in force (`always`, `madvise`, `never`).
        pub transparent_huge_pages: Option<String>,
        /// The processor's frequency governor.
        pub governor: Option<String>,
        /// Whether the machine is virtual, and by what, e.g. `kvm`, or `none`.
        pub virtualisation: Option<String>,
        /// Mitigations of processor faults in force, one text each.
        #[serde(default)]
        pub mitigations: Vec<String>,
        /// What a reader should know before trusting the figures, e.g. `governor is powersave`.
        #[serde(default)]
        pub warnings: Vec<String>,
    }
}

documented! {
    /// The gclab that ran, as far as it is known.
    #[derive(Default)]
    pub struct Build {
        /// Commit of the source tree.
        pub git_commit: Option<String>,
        /// Whether the source tree had changes that are in no commit.
        pub git_dirty: Option<bool>,
        /// The compiler, as `rustc --version` says.
        pub rustc: Option<String>,
        /// The cargo profile: `release` or `debug`.
        pub profile: Option<String>,
        /// Hash of the executable's bytes (FNV-1a, 64 bits, hexadecimal): results of two builds are never mixed in one folder.
        pub executable: Option<String>,
    }
}

impl Manifest {
    /// The reference minimum of a workload, in bytes: the least of its configurations' minima. Multiples of the heap are of this.
    pub fn reference(&self, workload: &str, args: &[String]) -> Option<u64> {
        reference(self.minima.iter().filter(|m| m.workload == workload && m.args == args))
    }

    /// An empty plan of this version, to be filled in.
    pub fn new(name: &str) -> Manifest {
        Manifest {
            schema: crate::record::SCHEMA,
            gclab: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            ..Manifest::default()
        }
    }
}
