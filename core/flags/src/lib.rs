//! The flags of a run: GHC's names and meanings, from `+RTS ... -RTS`, from `GCLABRTS`, from a
//! table of names and values.
//!
//! The table [`FLAGS`] describes each flag once; parsing, help, the list of flags, the names in
//! experiment files and the documentation derive from it. The result is a [`Flags`]: the heap's
//! [`Config`], which is all that the heap sees, and the flags for the program around it.
//!
//! Terms: a *flag word* is one argument as typed (`-A4m`); a flag's *name* is the text between the
//! dash and the value (`A`); its *TOML name* is the key in an experiment file. A flag is *given* if
//! a word or a key names it, even with its default value.
//!
//! Invariant: `Flags::parse_words(&flags.to_words())` gives equal settings (a unit test checks the
//! whole table).

#![forbid(unsafe_code)]

mod error;
mod flag_value;
mod ghc_only;
mod help;
mod honour;
mod kind;
mod log;
mod nearest;
mod number;
mod ocaml;
mod parse;
mod profile;
mod read;
mod settle;
mod sources;
mod spec;
mod table;
mod value;

use std::collections::BTreeMap;
use std::path::PathBuf;

use gclab_core::config::{Breakdown, Config};
use gclab_core::stats::{StatsLevel, StatsOption};
use gclab_eventlog::DebugMessages;

pub use error::FlagError;
pub use flag_value::FlagValue;
pub use help::{help, markdown};
pub use honour::honours;
pub use kind::Kind;
pub use log::LogOption;
pub use nearest::nearest;
pub use ocaml::ENVIRONMENT as OCAML_ENVIRONMENT;
pub use parse::{CommandLine, ENVIRONMENT, GHC_ENVIRONMENT, split};
pub use sources::{Given, RtsOpts, Sources};
pub use spec::{FlagSpec, Scope};
pub use table::FLAGS;
pub use value::Value;

/// The flags of one run, typed. [`Flags::default`] holds the defaults of current GHC.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// The flags of the heap.
    pub config: Config,
    /// `-T`, `-t`, `-s`, `-S`, the last of them, and `--machine-readable`.
    pub stats: StatsOption,
    /// `-l` and `-ol`: the event log.
    pub log: LogOption,
    /// `-D<x>`: debug messages, to the event log or else to standard error.
    pub debug: DebugMessages,
    /// `-DS`: check the whole heap after each collection.
    pub sanity: bool,
    /// `-B`: ring the bell at each collection.
    pub bell: bool,
    /// `-po<file>`: the path of the profiles, without their extensions.
    pub profile_stem: Option<PathBuf>,
    /// `--install-signal-handlers=no`: Ctrl-C and SIGTERM end the process at once.
    pub leave_signals: bool,
    /// `--info`: print a description of this program, and stop.
    pub info: bool,
    /// `-?`: print the flags, and stop.
    pub help: bool,
    /// The flags given, by name (as in [`FLAGS`]), each as a command-line word, as its user wrote
    /// it.
    pub given: BTreeMap<&'static str, String>,
    /// A second breakdown of the heap profile, which is an error.
    second_breakdown: Option<Breakdown>,
}

impl Flags {
    /// Whether a run with these flags has output to save when a signal ends it early: printed
    /// statistics, a profile, or an event log.
    pub fn keeps_figures(&self) -> bool {
        let prints = !matches!(self.stats.level, StatsLevel::None | StatsLevel::Collect);
        prints || self.makes_profile() || self.log.classes.is_some()
    }

    /// Whether a run with these flags makes a heap profile or a time profile.
    pub fn makes_profile(&self) -> bool {
        self.config.profile.breakdown.is_some() || self.config.time_profile.is_some()
    }
}
