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
}

impl Configuration {
    /// A stable name: 16 hexadecimal digits, the FNV-1a hash of all parts. It is the same on every
    /// machine and in every version, so that results of several folders can be matched.
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
        self.flags
            .iter()
            .try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): small, and the same on every machine, which std's hashers do
/// not promise.
pub(crate) struct Fnv1a(u64);

impl Fnv1a {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    pub(crate) fn new() -> Self {
        Fnv1a(Self::OFFSET_BASIS)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(Self::PRIME);
    }

    /// A part ends in a byte that UTF-8 text never contains, so that `ab`, `c` and `a`, `bc`
    /// differ.
    pub(crate) fn part(&mut self, text: &str) {
        text.bytes().for_each(|b| self.byte(b));
        self.byte(0xff);
    }

    pub(crate) fn end_of_list(&mut self) {
        self.byte(0xfe);
    }

    /// The hash as 16 hexadecimal digits.
    pub(crate) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

documented! {
    /// One run of a plan. Runs are done in the order of `position`.
    #[derive(Default)]
    pub struct PlannedRun {
        /// Names the run: the configuration's id, `-`, and the round. Instead of the round, a
        /// profiled run has `p0`, `p1` and so on, by the number of the profile, and a run for an
        /// event log has `l`.
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
    }
}

impl PlannedRun {
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
