//! Arguments of a run, checked against the workload's description before a heap exists.

use std::path::{Path, PathBuf};

use crate::description::{ArgKind, ArgSpec, WorkloadDescription};

impl ArgSpec {
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
            // `parse` accepts a plus sign.
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

impl WorkloadDescription {
    /// The arguments at the test size.
    ///
    /// # Errors
    /// If they do not fit the declaration. A test of every list should rule that out.
    pub fn test_args(&self) -> Result<Args, ArgError> {
        Args::parse(self, self.test.args)
    }
}

/// The arguments of one run, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args(Vec<(&'static str, Value)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Number(u64),
    /// `None` is the built-in input.
    File(Option<PathBuf>),
}

impl Args {
    /// Checks the words `given` against the declaration of `workload`.
    ///
    /// # Errors
    /// If there are too many or too few, or one does not fit its declaration.
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

    /// The number given for the argument `name`, or its default.
    ///
    /// # Panics
    /// If the workload does not declare a number of this name.
    pub fn number(&self, name: &str) -> u64 {
        match self.find(name) {
            Value::Number(number) => *number,
            Value::File(_) => panic!("{name} is declared as a file"),
        }
    }

    /// The file given for the argument `name`; `None` for the built-in input.
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

/// Why a workload does not accept its arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// One does not fit its declaration.
    #[error("{workload}: {arg} is `{value}`, expected {expected}")]
    Invalid {
        /// The workload's name.
        workload: &'static str,
        /// The argument's name.
        arg: &'static str,
        /// The word on the command line.
        value: String,
        /// The accepted values, how to request the default, and why a file cannot be read.
        expected: String,
    },
    /// An argument without a default is missing.
    #[error("{workload}: {arg} is missing, expected {expected}: {meaning}")]
    Missing {
        /// The workload's name.
        workload: &'static str,
        /// The argument's name.
        arg: &'static str,
        /// The accepted values, in words.
        expected: String,
        /// The argument's meaning.
        meaning: &'static str,
    },
    /// There are more arguments than declared.
    #[error("{workload}: {given} arguments given (`{extra}` is one too many), expected at most {expected}: {usage}")]
    TooMany {
        /// The workload's name.
        workload: &'static str,
        /// The number of arguments given.
        given: usize,
        /// The first that is not declared.
        extra: String,
        /// The number of arguments declared.
        expected: usize,
        /// The usage line.
        usage: String,
    },
}
