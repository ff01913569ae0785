//! Errors in flags. Each message says which values would be right.

use super::nearest::list;

/// A flag that cannot be accepted as given. `flag` is as the user writes it: `-A` on a command
/// line, `A` in an experiment file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// Neither gclab nor GHC has this flag.
    #[error("{word}: no such flag{}; `gclab list flags` lists all", did_you_mean(suggestion))]
    Unknown {
        /// The word at fault.
        word: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// GHC has this flag but gclab does not.
    #[error("{word}: GHC has {flag} ({meaning}), but gclab does not (yet)")]
    NotYet {
        /// The word at fault.
        word: String,
        /// GHC's flag.
        flag: String,
        /// Its meaning there.
        meaning: &'static str,
    },
    /// The value is not of the flag's type.
    #[error("{flag}: {value} is not {wanted}: write {write}, as in {example}")]
    BadValue {
        /// The flag.
        flag: String,
        /// The value at fault.
        value: String,
        /// The type, with its article.
        wanted: &'static str,
        /// The form of a value.
        write: &'static str,
        /// The flag with a legal value.
        example: String,
    },
    /// The value is of the right type but too small or too large.
    #[error("{flag}: {value} is out of range: expected {min} to {max}")]
    OutOfRange {
        /// The flag.
        flag: String,
        /// The value at fault.
        value: String,
        /// Smallest legal value.
        min: String,
        /// Largest legal value.
        max: String,
    },
    /// A required value is missing.
    #[error("{flag}: a value is missing: write {write}, as in {example}")]
    MissingValue {
        /// The flag.
        flag: String,
        /// The form of a value.
        write: &'static str,
        /// The flag with a legal value.
        example: String,
    },
    /// A flag that takes no value has one.
    #[error("{word}: {flag} takes no value{}", did_you_mean(suggestion))]
    UnexpectedValue {
        /// The word at fault.
        word: String,
        /// The flag.
        flag: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// A word between `+RTS` and `-RTS` that is not a flag.
    #[error("{word}: flags between +RTS and -RTS begin with a dash{}", did_you_mean(suggestion))]
    NotAFlag {
        /// The word at fault.
        word: String,
        /// The nearest flag.
        suggestion: Option<String>,
    },
    /// `+RTS` or the like among the environment's flags.
    #[error("{word} is not needed here: every word is a flag")]
    Mark {
        /// The word at fault.
        word: String,
    },
    /// The flag makes sense on a command line only.
    #[error("{name}: {flag} is for the command line, not for experiment files")]
    CommandLineOnly {
        /// The key at fault.
        name: String,
        /// The flag as typed.
        flag: String,
    },
    /// The chosen collector does not honour the flag.
    #[error(
        "{flag}: the {collector} collector does not honour this flag; {}",
        other_collectors(collector, others, honours)
    )]
    NotHonoured {
        /// The flag.
        flag: String,
        /// The collector that was chosen.
        collector: String,
        /// Collectors that would honour it.
        others: Vec<String>,
        /// The flags that the chosen one honours.
        honours: Vec<String>,
    },
    /// The chosen collector has no flag of its own with this name.
    #[error("--own={word}: the {collector} collector has {}", own_flags(has))]
    NotOwn {
        /// The word at fault.
        word: String,
        /// The collector that was chosen.
        collector: String,
        /// The flags of its own.
        has: Vec<String>,
    },
    /// OCaml's collector has no such letter.
    #[error(
        "--ocaml: {item:?} is not a letter with a value: write some of {}, as in --ocaml=s=64k,o=80",
        list(letters)
    )]
    OcamlLetter {
        /// The item at fault.
        item: String,
        /// The letters that exist.
        letters: Vec<String>,
    },
    /// The flag for OCaml's letters has none.
    #[error("{word}: the letters are missing: write --ocaml=s=64k,o=80")]
    OcamlNoList {
        /// The word at fault.
        word: String,
    },
    /// The letter has no effect here.
    #[error("{place}: {letter} has no effect here; in OCaml it controls {use_of_it}")]
    OcamlWithoutUse {
        /// The item at fault in a list, or the key.
        place: String,
        /// The letter.
        letter: String,
        /// Its use in OCaml, and what replaces it here.
        use_of_it: &'static str,
    },
    /// Two flags contradict each other.
    #[error("{flag} is {why}")]
    Conflict {
        /// The flag with its value.
        flag: String,
        /// The setting that it contradicts.
        why: String,
    },
    /// No heap profile has this letter.
    #[error("{word}: no such heap profile; there are {}", list(known))]
    NoSuchProfile {
        /// The word at fault.
        word: String,
        /// The flags of heap profiles.
        known: Vec<String>,
    },
    /// The program does not allow its users this flag.
    #[error("{word}: this program {takes} between +RTS and -RTS, and in GCLABRTS")]
    Forbidden {
        /// The word at fault.
        word: String,
        /// The flags that it accepts.
        takes: &'static str,
    },
    /// An error in the flags built into the program.
    #[error("the program's own flags: {0}")]
    Program(Box<FlagError>),
    /// An error in the environment variable.
    #[error("GCLABRTS: {0}")]
    Environment(Box<FlagError>),
    /// An error in the environment variable with OCaml's letters.
    #[error("GCLAB_OCAMLRUNPARAM: {0}")]
    OcamlEnvironment(Box<FlagError>),
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion
        .as_ref()
        .map_or(String::new(), |s| format!("; did you mean {s}?"))
}

fn other_collectors(collector: &str, others: &[String], honours: &[String]) -> String {
    match others {
        [] => format!(
            "nor does any other yet; of the flags for collectors, {collector} honours {}",
            if honours.is_empty() {
                "none".to_owned()
            } else {
                list(honours)
            }
        ),
        [one] => format!("{one} does"),
        many => format!("{} do", list(many)),
    }
}

fn own_flags(has: &[String]) -> String {
    match has {
        [] => "no flags of its own".to_owned(),
        has => format!("no such flag of its own: write {}", list(has)),
    }
}
