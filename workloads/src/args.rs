//! Declared arguments of workloads, and their checking before a heap exists.
//!
//! Arguments are positional. Those left out at the end, and those given as `-`, take their defaults.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::workload::WorkloadDescription;

/// What an argument may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// A whole number.
    Number {
        /// Taken if none is given: the size at which workloads are compared.
        default: u64,
        /// What is accepted.
        range: RangeInclusive<u64>,
    },
    /// A file that can be read.
    File {
        /// What is read if none is given, in words; `None` if there is nothing built in and a file must be given.
        default: Option<&'static str>,
    },
}

/// One declared argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgSpec {
    /// Its name, in capitals as usage lines have it.
    pub name: &'static str,
    /// What it sets, in a few words.
    pub meaning: &'static str,
    /// What it may be.
    pub kind: ArgKind,
}

impl ArgSpec {
    /// A number in `range`.
    pub const fn number(name: &'static str, meaning: &'static str, default: u64, range: RangeInclusive<u64>) -> Self {
        ArgSpec {
            name,
            meaning,
            kind: ArgKind::Number { default, range },
        }
    }

    /// A file, or what is built in.
    pub const fn file(name: &'static str, meaning: &'static str, default: Option<&'static str>) -> Self {
        ArgSpec {
            name,
            meaning,
            kind: ArgKind::File { default },
        }
    }

    /// What may be given, in words: "a whole number from 1 to 40".
    pub fn expected(&self) -> String {
        match &self.kind {
            ArgKind::Number { range, .. } => {
                format!("a whole number from {} to {}", range.start(), range.end())
            }
            ArgKind::File { .. } => "a file that can be read".to_owned(),
        }
    }

    /// What is taken if it is left out, in words; `None` if it must be given.
    pub fn default_text(&self) -> Option<String> {
        match &self.kind {
            ArgKind::Number { default, .. } => Some(default.to_string()),
            ArgKind::File { default } => default.map(str::to_owned),
        }
    }

    fn check(&self, workload: &'static str, given: &str) -> Result<Value, ArgError> {
        let invalid = |problem: Option<std::io::Error>| {
            let default = self
                .default_text()
                .map_or(String::new(), |default| format!(" (or - for {default})"));
            let problem = problem.map_or(String::new(), |problem| format!(": {problem}"));
            let expected = self.expected() + &default + &problem;
            ArgError::Invalid {
                workload,
                arg: self.name,
                value: given.to_owned(),
                expected,
            }
        };
        match &self.kind {
            // `parse` alone would accept a plus sign.
            ArgKind::Number { range, .. } => match given.parse() {
                Ok(number) if range.contains(&number) && !given.starts_with('+') => Ok(Value::Number(number)),
                _ => Err(invalid(None)),
            },
            ArgKind::File { .. } => {
                let directory = || std::io::Error::from(std::io::ErrorKind::IsADirectory);
                let metadata = std::fs::File::open(given).and_then(|file| file.metadata());
                match metadata {
                    Ok(metadata) if metadata.is_dir() => Err(invalid(Some(directory()))),
                    Ok(_) => Ok(Value::File(Some(given.into()))),
                    Err(problem) => Err(invalid(Some(problem))),
                }
            }
        }
    }

    fn default(&self, workload: &'static str) -> Result<Value, ArgError> {
        match &self.kind {
            ArgKind::Number { default, .. } => Ok(Value::Number(*default)),
            ArgKind::File { default: Some(_) } => Ok(Value::File(None)),
            ArgKind::File { default: None } => Err(ArgError::Missing {
                workload,
                arg: self.name,
                expected: self.expected(),
                meaning: self.meaning,
            }),
        }
    }
}

/// The arguments of one run, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args(Vec<(&'static str, Value)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Number(u64),
    /// `None`: what is built in.
    File(Option<PathBuf>),
}

impl Args {
    /// Checks what was given against what `workload` declares.
    ///
    /// # Errors
    /// If there are too many or too few, or one is not what is declared.
    pub fn parse<S: AsRef<str>>(workload: &WorkloadDescription, given: &[S]) -> Result<Self, ArgError> {
        let (name, specs) = (workload.name, workload.args);
        if let Some(extra) = given.get(specs.len()) {
            let (extra, usage) = (extra.as_ref().to_owned(), workload.usage());
            return Err(ArgError::TooMany {
                workload: name,
                given: given.len(),
                extra,
                expected: specs.len(),
                usage,
            });
        }
        let value = |(place, spec): (usize, &ArgSpec)| {
            let given = given.get(place).map(AsRef::as_ref).filter(|given| *given != "-");
            let value = given.map_or_else(|| spec.default(name), |given| spec.check(name, given))?;
            Ok((spec.name, value))
        };
        specs.iter().enumerate().map(value).collect::<Result<_, _>>().map(Args)
    }

    /// The number that was given for `name`, or its default.
    ///
    /// # Panics
    /// If the workload does not declare a number of this name.
    pub fn number(&self, name: &str) -> u64 {
        match self.find(name) {
            Value::Number(number) => *number,
            Value::File(_) => panic!("{name} is declared as a file"),
        }
    }

    /// The file that was given for `name`; `None` for what is built in.
    ///
    /// # Panics
    /// If the workload does not declare a file of this name.
    pub fn file(&self, name: &str) -> Option<&Path> {
        match self.find(name) {
            Value::File(file) => file.as_deref(),
            Value::Number(_) => panic!("{name} is declared as a number"),
        }
    }

    fn find(&self, name: &str) -> &Value {
        let found = self.0.iter().find(|(declared, _)| *declared == name);
        &found.unwrap_or_else(|| panic!("no argument {name} is declared")).1
    }
}

/// Arguments that a workload does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// One is not what is declared.
    #[error("{workload}: {arg} is `{value}`, expected {expected}")]
    Invalid {
        /// The workload's name.
        workload: &'static str,
        /// The argument's name.
        arg: &'static str,
        /// What was given.
        value: String,
        /// What would be accepted, how to ask for the default, and why a file cannot be read.
        expected: String,
    },
    /// One without a default was left out.
    #[error("{workload}: {arg} is missing, expected {expected}: {meaning}")]
    Missing {
        /// The workload's name.
        workload: &'static str,
        /// The argument's name.
        arg: &'static str,
        /// What would be accepted.
        expected: String,
        /// What the argument sets.
        meaning: &'static str,
    },
    /// There are more than are declared.
    #[error("{workload}: {given} arguments given (`{extra}` is one too many), expected at most {expected}: {usage}")]
    TooMany {
        /// The workload's name.
        workload: &'static str,
        /// How many were given.
        given: usize,
        /// The first that is not declared.
        extra: String,
        /// How many are declared.
        expected: usize,
        /// The usage line.
        usage: String,
    },
}
