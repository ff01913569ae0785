//! An experiment file whose keys and types are legal. Its names are not looked up yet.

use std::ops::Range;
use std::time::Duration;

use gclab_flags::FlagValue;
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

/// The key of a swept flag, and its values.
pub(crate) type RawAxis = (Spanned<String>, Vec<Spanned<FlagValue>>);

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
    pub repeat: u32,
    pub precision: Option<f64>,
    pub seed: u64,
    pub timeout: Duration,
    /// `heap`: its place and its values.
    pub heap: Option<Spanned<Vec<Spanned<f64>>>>,
    /// `profiles` of the whole file.
    pub profiles: Vec<Spanned<String>>,
    /// `eventlog` of the whole file.
    pub eventlog: Option<Spanned<bool>>,
    /// `[flags]`, in the order of the file.
    pub flags: Vec<(Spanned<String>, Spanned<FlagValue>)>,
    /// `[sweep]`, or each of several `[[sweep]]`, in the order of the file.
    pub sweeps: Vec<Vec<RawAxis>>,
}
