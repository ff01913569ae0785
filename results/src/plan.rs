//! Configurations and planned runs.
//!
//! A configuration has a stable id, so that a plan can be continued, divided among machines and
//! matched with another one.

use crate::schema::documented;
use std::collections::BTreeMap;

/// Everything that could change the result of a run, and nothing else: no time limits, no labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// The workload's name.
    pub workload: String,
    /// The workload's arguments.
    pub args: Vec<String>,
    /// The collector's name.
    pub collector: String,
    /// The flags that are set, by their names in experiment files.
    pub flags: BTreeMap<String, String>,
    /// For a command that is not gclab's own: the id of its [`Program`](crate::Program).
    pub program: Option<String>,
    /// The values of swept axes that are no flags, by name: `build`, `env.NAME`, `args.NAME`.
    pub settings: BTreeMap<String, String>,
}

impl Configuration {
    /// A stable name: 16 hexadecimal digits, the FNV-1a hash of all parts. It is the same on every
    /// machine and in every version, so that results of several folders can be matched.
    /// (`PlannedRun::id` has a hash of what affects the result, and so of the build as well.)
    pub fn id(&self) -> String {
        let mut hash = Fnv1a::new();
        hash.part(&self.collector);
        hash.part(&self.workload);
        self.args.iter().for_each(|arg| hash.part(arg));
        hash.end_of_list();
        for (name, value) in &self.flags {
            hash.part(name);
            hash.part(value);
        }
        if let Some(program) = &self.program {
            hash.end_of_list();
            hash.part(program);
        }
        if !self.settings.is_empty() {
            hash.end_of_list();
            hash.end_of_list();
        }
        for (name, value) in &self.settings {
            hash.part(name);
            hash.part(value);
        }
        hash.text()
    }

    /// The workload with its arguments, as on a command line.
    pub fn work(&self) -> String {
        let mut words = vec![self.workload.clone()];
        words.extend(self.args.iter().cloned());
        words.join(" ")
    }
}

impl std::fmt::Display for Configuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", self.work(), self.collector)?;
        let all = self.flags.iter().chain(&self.settings);
        all.into_iter()
            .try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): small, and the same on every machine, which std's hashers do
/// not promise.
#[derive(Debug)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Fnv1a::new()
    }
}

impl Fnv1a {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// The hash of nothing.
    pub fn new() -> Self {
        Fnv1a(Self::OFFSET_BASIS)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(Self::PRIME);
    }

    /// Adds a part. It ends in a byte that UTF-8 text never contains, so that `ab`, `c` and `a`,
    /// `bc` differ.
    pub fn part(&mut self, text: &str) {
        text.bytes().for_each(|b| self.byte(b));
        self.byte(0xff);
    }

    /// Adds bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.byte(*byte));
    }

    /// Ends a list of parts.
    pub fn end_of_list(&mut self) {
        self.byte(0xfe);
    }

    /// The hash as 16 hexadecimal digits.
    pub fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

documented! {
    /// One run of a plan. Runs are done in the order of `position`.
    #[derive(Default)]
    pub struct PlannedRun {
        /// Names the run: its fingerprint, `-`, and the round. The fingerprint is a hash of exactly
        /// what affects the result (see `docs/experiments.md`). Instead of the round, a profiled
        /// run has `p0`, `p1` and so on, by the number of the profile, and a run for an event log
        /// has `l`. (Plans of gclab before fingerprints have `cell` in its place.)
        pub id: String,
        /// Names the configuration: `Configuration::id`.
        pub cell: String,
        /// Place in the order of all runs, from 0.
        pub position: u32,
        /// Number of the repetition of its configuration, from 0.
        pub round: u32,
        /// The collector's name.
        pub collector: String,
        /// The workload's name.
        pub workload: String,
        /// The workload's arguments.
        pub args: Vec<String>,
        /// The flags that are set, by their names in experiment files.
        pub flags: BTreeMap<String, String>,
        /// `-M` as a multiple of the workload's reference minimum, in an experiment with `heap`.
        pub heap_multiple: Option<f64>,
        /// The flags of the heap profile, in a run that the experiment's `profiles` asks for;
        /// absent in other runs.
        pub profile_flags: Option<String>,
        /// Whether the run writes an event log, in an experiment with `eventlog`; absent in other
        /// runs.
        pub eventlog: Option<bool>,
        /// The runtime of a `[[program]]`: `ghc`, `ocaml`, `jvm` or `none`; absent for gclab's own
        /// workloads.
        pub runtime: Option<String>,
        /// Names the command of a `[[program]]`: `Program.id` in `plan.json`.
        pub program: Option<String>,
        /// The values of swept axes that are no flags, by name: `build`, `env.NAME`, `args.NAME`;
        /// absent without any.
        pub settings: Option<BTreeMap<String, String>>,
    }
}

impl PlannedRun {
    /// This run with a fingerprint in its id, in the place of the configuration's.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: &str) -> PlannedRun {
        let number = self.id.rsplit_once('-').map_or("", |(_, number)| number);
        PlannedRun {
            id: format!("{fingerprint}-{number}"),
            ..self
        }
    }

    /// The configuration of this run.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            workload: self.workload.clone(),
            args: self.args.clone(),
            collector: self.collector.clone(),
            flags: self.flags.clone(),
            program: self.program.clone(),
            settings: self.settings.clone().unwrap_or_default(),
        }
    }

    /// The run of `configuration` in `round` at `position`, with its ids.
    pub fn new(configuration: Configuration, round: u32, position: u32) -> PlannedRun {
        let cell = configuration.id();
        PlannedRun {
            id: format!("{cell}-{round}"),
            cell,
            position,
            round,
            collector: configuration.collector,
            workload: configuration.workload,
            args: configuration.args,
            flags: configuration.flags,
            heap_multiple: None,
            profile_flags: None,
            eventlog: None,
            runtime: None,
            program: configuration.program,
            settings: Some(configuration.settings).filter(|settings| !settings.is_empty()),
        }
    }

    /// The run of `configuration` with profile number `number`, from 0, whose flags are `flags`.
    pub fn profiled(configuration: Configuration, flags: &str, number: usize, position: u32) -> PlannedRun {
        let run = PlannedRun::new(configuration, 0, position);
        PlannedRun {
            id: format!("{}-p{number}", run.cell),
            profile_flags: Some(flags.to_owned()),
            ..run
        }
    }

    /// The run of `configuration` that writes an event log.
    pub fn logged(configuration: Configuration, position: u32) -> PlannedRun {
        let run = PlannedRun::new(configuration, 0, position);
        PlannedRun {
            id: format!("{}-l", run.cell),
            eventlog: Some(true),
            ..run
        }
    }
}
