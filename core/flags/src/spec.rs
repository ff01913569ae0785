//! The description of a flag.

use gclab_core::config::Parameter;

use super::Flags;
use super::kind::Kind;
use super::read::is_long;
use super::value::Value;

/// The part of the program that gives a flag its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The heap, for every collector alike.
    Heap,
    /// The collector: those whose description lists this parameter honour the flag.
    Collector(Parameter),
    /// The heap profiler: experiment files list these flags under `profiles`, for untimed runs.
    Profile,
    /// The program around the heap: printing.
    Program,
}

/// The description of one flag.
#[derive(Clone, Copy, Debug)]
pub struct FlagSpec {
    /// The name as typed, without the dash: `A` for `-A4m`, `-info` for `--info`.
    pub name: &'static str,
    /// Key in experiment files; `None` for flags of the command line only.
    pub toml: Option<&'static str>,
    /// Type and range of its value.
    pub kind: Kind,
    /// The value if it is not given.
    pub default: &'static str,
    /// Its meaning, in one line.
    pub meaning: &'static str,
    /// How it differs from GHC's flag of the same name, if it does.
    pub ghc: Option<&'static str>,
    /// The part of the program that honours it.
    pub scope: Scope,
    /// Whether `false` in an experiment file removes the value.
    pub(super) optional: bool,
    /// Sets the flag to a value.
    pub(super) set: fn(&mut Flags, Value),
    /// Returns the value of the flag; `None` if it needs no word, being the default.
    pub(super) get: fn(&Flags) -> Option<Value>,
}

impl FlagSpec {
    /// The parameter that a collector must honour for the flag to have its effect; `None` if the
    /// flag works with every collector.
    pub fn parameter(&self) -> Option<Parameter> {
        match self.scope {
            Scope::Collector(parameter) => Some(parameter),
            _ => None,
        }
    }

    /// Returns the flag as help shows it: `-A<size>`, `--sizing=<name>`.
    pub fn form(&self) -> String {
        self.word(self.kind.placeholder())
    }

    /// Returns the word that sets the flag to `value`.
    pub(super) fn word(&self, value: &str) -> String {
        let joint = if is_long(self.name) && !value.is_empty() {
            "="
        } else {
            ""
        };
        format!("-{}{joint}{value}", self.name)
    }
}
