//! The facts about a workload that are known without running it: its name, arguments and sizes.
//!
//! Arguments are positional. Trailing arguments may be omitted, and `-` stands for the default.

use std::ops::RangeInclusive;

/// The kind of an argument, with its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// A whole number.
    Number {
        /// The default: the size at which workloads are compared.
        default: u64,
        /// The accepted numbers.
        range: RangeInclusive<u64>,
    },
    /// A readable file.
    File {
        /// The built-in input, in words; `None` if there is none and a file must be named.
        default: Option<&'static str>,
    },
}

/// One declared argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgSpec {
    /// Its name, in capitals, as in the usage line.
    pub name: &'static str,
    /// Its meaning in a few words.
    pub meaning: &'static str,
    /// Its kind and default.
    pub kind: ArgKind,
}

impl ArgSpec {
    /// Declares a number in `range`.
    pub const fn number(name: &'static str, meaning: &'static str, default: u64, range: RangeInclusive<u64>) -> Self {
        ArgSpec {
            name,
            meaning,
            kind: ArgKind::Number { default, range },
        }
    }

    /// Declares a file; `default` names the built-in input.
    pub const fn file(name: &'static str, meaning: &'static str, default: Option<&'static str>) -> Self {
        ArgSpec {
            name,
            meaning,
            kind: ArgKind::File { default },
        }
    }

    /// The accepted values in words: "a whole number from 1 to 40".
    pub fn expected(&self) -> String {
        match &self.kind {
            ArgKind::Number { range, .. } => {
                format!("a whole number from {} to {}", range.start(), range.end())
            }
            ArgKind::File { .. } => "a file that can be read".to_owned(),
        }
    }

    /// The default in words; `None` if the argument is required.
    pub fn default_text(&self) -> Option<String> {
        match &self.kind {
            ArgKind::Number { default, .. } => Some(default.to_string()),
            ArgKind::File { default } => default.map(str::to_owned),
        }
    }
}

/// The size at which tests run a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSize {
    /// The arguments, as on the command line.
    pub args: &'static [&'static str],
    /// The checksum at these arguments; `None` where no definition gives one.
    pub checksum: Option<u64>,
}

/// Sizes at which tests force collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StressSize {
    /// The arguments of runs that collect at every `every`-th allocation, under each collector.
    pub args: &'static [&'static str],
    /// 1, or more if a collection at every allocation would take too long.
    pub every: u64,
    /// The arguments in `.ci/parallel-stress`: enough live data for GC threads to share the work,
    /// yet about a second a run with the checker on.
    pub parallel: &'static [&'static str],
}

/// The facts about a workload that are known without running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadDescription {
    /// Its name on the command line and in experiment files.
    pub name: &'static str,
    /// What it does to a heap, in one line.
    pub summary: &'static str,
    /// Its arguments, in order.
    pub args: &'static [ArgSpec],
    /// The checksum at the default arguments; `None` where no definition gives one.
    pub checksum: Option<u64>,
    /// A size small enough to check the whole heap after every collection.
    pub test: TestSize,
    /// The arguments in the bench of all collectors: a run takes some milliseconds, and collects
    /// many times with an allocation area of 256 KiB.
    pub bench: &'static [&'static str],
    /// Sizes for tests that force collections.
    pub stress: StressSize,
}
impl WorkloadDescription {
    /// The usage line: its name and its arguments, `heap_snapshot [FILE] [ROUNDS]`.
    pub fn usage(&self) -> String {
        let arg = |spec: &ArgSpec| match spec.default_text() {
            Some(_) => format!(" [{}]", spec.name),
            None => format!(" {}", spec.name),
        };
        self.args
            .iter()
            .map(arg)
            .fold(self.name.to_owned(), |usage, arg| usage + &arg)
    }
}
