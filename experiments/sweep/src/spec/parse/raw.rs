//! An experiment file whose keys and types are legal. Its names are not looked up yet.

use std::ops::Range;
use std::time::Duration;

use toml::Spanned;

use crate::registry::Registry;

/// A workload of the file with its arguments.
#[derive(Debug)]
pub(crate) struct RawWorkload {
    pub name: Spanned<String>,
    pub args: Vec<Spanned<String>>,
    /// `profiles` of this workload; they replace those of the file.
    pub profiles: Option<Vec<Spanned<String>>>,
    /// `eventlog` of this workload; it replaces that of the file.
    pub eventlog: Option<Spanned<bool>>,
}

/// The key of a flag, and the text of its value.
pub(crate) type RawFlag = (Spanned<String>, Spanned<String>);

/// Values of several axes at once. The key of a variable of the environment is `env.NAME`, that of
/// an argument `args.NAME`.
#[derive(Clone, Debug)]
pub(crate) struct RawPoint {
    /// The place of the point, or of its only value.
    pub place: Range<usize>,
    pub values: Vec<RawFlag>,
}

/// An axis of a sweep: the key of a flag with its values, or `points` or `pairs`.
#[derive(Clone, Debug)]
pub(crate) struct RawAxis {
    pub key: Spanned<String>,
    pub points: Vec<RawPoint>,
}

impl RawAxis {
    /// The keys and values of all points.
    pub(crate) fn values(&self) -> impl Iterator<Item = &RawFlag> {
        self.points.iter().flat_map(|point| &point.values)
    }
}

/// A build of gclab.
#[derive(Debug)]
pub(crate) struct RawBuild {
    pub name: Spanned<String>,
    pub file: Spanned<String>,
}

/// `expect` of a program.
#[derive(Debug, Default)]
pub(crate) struct RawExpectation {
    pub status: Option<i32>,
    pub checksum: Option<Spanned<String>>,
    pub pattern: Option<Spanned<String>>,
}

/// A figure that `stats` of a program takes from its output.
#[derive(Debug)]
pub(crate) struct RawStat {
    pub name: Spanned<String>,
    pub pattern: Spanned<String>,
    pub unit: Option<Spanned<String>>,
}

/// A `[[program]]` of the file.
#[derive(Debug)]
pub(crate) struct RawProgram {
    pub name: Spanned<String>,
    pub runtime: Option<Spanned<String>>,
    pub command: Vec<Spanned<String>>,
    pub dir: Option<Spanned<String>>,
    pub env: Vec<RawFlag>,
    pub stdin: Option<Spanned<String>>,
    /// The words of each command.
    pub prepare: Vec<Vec<Spanned<String>>>,
    pub expect: RawExpectation,
    pub stats: Vec<RawStat>,
    /// The workload whose work it does, with arguments.
    pub workload: Option<(Spanned<String>, Vec<Spanned<String>>)>,
    /// `flags` of this program; they replace those of the file.
    pub flags: Option<Vec<RawFlag>>,
    /// `sweep` of this program; it replaces that of the file.
    pub sweeps: Option<Vec<Vec<RawAxis>>>,
    pub eventlog: Option<Spanned<bool>>,
}

/// The collectors of the file.
#[derive(Debug)]
pub(crate) enum RawCollectors {
    /// `"all"`, at this place: those that honour all flags of the file.
    All(Range<usize>),
    /// These names.
    Named(Vec<Spanned<String>>),
}

impl RawCollectors {
    /// The number of collectors, before any is left out.
    pub(crate) fn count(&self, registry: &Registry) -> usize {
        match self {
            RawCollectors::All(_) => registry.collectors.len(),
            RawCollectors::Named(names) => names.len(),
        }
    }
}

/// An experiment file whose keys and types are legal.
#[derive(Debug)]
pub(crate) struct Raw {
    pub question: String,
    pub collectors: RawCollectors,
    pub workloads: Vec<RawWorkload>,
    pub programs: Vec<RawProgram>,
    pub builds: Vec<RawBuild>,
    pub repeat: u32,
    pub precision: Option<f64>,
    pub seed: u64,
    pub timeout: Duration,
    /// `prepare` of the whole file: the words of each command.
    pub prepare: Vec<Vec<Spanned<String>>>,
    pub pause_counters: Option<Spanned<bool>>,
    /// `heap`: its place and its values.
    pub heap: Option<Spanned<Vec<Spanned<f64>>>>,
    /// `profiles` of the whole file.
    pub profiles: Vec<Spanned<String>>,
    /// `eventlog` of the whole file.
    pub eventlog: Option<Spanned<bool>>,
    /// `[flags]` and then `[ocaml]`, each in the order of the file.
    pub flags: Vec<RawFlag>,
    /// How many of these stand in `[flags]`.
    pub in_flags: usize,
    /// `[sweep]`, or each of several `[[sweep]]`, in the order of the file.
    pub sweeps: Vec<Vec<RawAxis>>,
    /// `exclude`: runs that are left out.
    pub excludes: Vec<RawPoint>,
}

impl Raw {
    /// The keys and values of the flags that are fixed, and the table that each stands in.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = (&RawFlag, &'static str)> {
        let (flags, letters) = self.flags.split_at(self.in_flags);
        let flags = flags.iter().map(|flag| (flag, "[flags]"));
        flags.chain(letters.iter().map(|letter| (letter, "[ocaml]")))
    }

    /// The keys and values of the sweeps of the file.
    pub(crate) fn swept(&self) -> impl Iterator<Item = &RawFlag> {
        self.sweeps.iter().flatten().flat_map(RawAxis::values)
    }
}
