//! From words and keys to [`Flags`], and back.

use super::ghc_only::GHC_ONLY;
use super::kind::Kind;
use super::nearest::nearest;
use super::ocaml;
use super::read::{Called, is_long};
use super::spec::FlagSpec;
use super::table::FLAGS;
use super::value::Value;
use super::{FlagError, Flags};

/// The environment variable for flags that apply before the command line's, separated by blanks
/// (GHC's is `GHCRTS`).
pub const ENVIRONMENT: &str = "GCLABRTS";

/// The variable of GHC's programs. gclab does not read it.
pub const GHC_ENVIRONMENT: &str = "GHCRTS";

/// The flag that names the file of an event log.
const LOG_FILE: &str = "ol";

/// A command line, split into the words of the program and the flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Words for the program.
    pub program: Vec<String>,
    /// Words between `+RTS` and `-RTS`.
    pub rts: Vec<String>,
}

/// Splits a command line as GHC does: words between `+RTS` and `-RTS` (or the end) are flags,
/// several times if need be; after `--RTS` or `--` all words are the program's. Both leave a `--`,
/// so that the program's own options are not looked for in the words after it.
pub fn split(words: impl IntoIterator<Item = String>) -> CommandLine {
    let mut line = CommandLine::default();
    let mut words = words.into_iter();
    let mut in_rts = false;
    while let Some(word) = words.next() {
        match word.as_str() {
            "+RTS" => in_rts = true,
            "-RTS" => in_rts = false,
            "--RTS" | "--" => {
                line.program.push("--".to_owned());
                line.program.extend(words.by_ref());
            }
            _ if in_rts => line.rts.push(word),
            _ => line.program.push(word),
        }
    }
    line
}

/// The source of a flag, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The program itself.
    Program,
    /// The environment variable with OCaml's letters.
    OcamlEnvironment,
    /// The environment variable.
    Environment,
    /// The command line.
    #[default]
    CommandLine,
}

impl Origin {
    /// An error about a flag of this source.
    pub(crate) fn fault(self, error: FlagError) -> FlagError {
        match self {
            Origin::Program => FlagError::Program(Box::new(error)),
            Origin::OcamlEnvironment => FlagError::OcamlEnvironment(Box::new(error)),
            Origin::Environment => FlagError::Environment(Box::new(error)),
            Origin::CommandLine => error,
        }
    }
}

/// A flag with its value and its source.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    spec: &'static FlagSpec,
    value: Value,
    pub(crate) word: String,
    pub(crate) origin: Origin,
}

impl Entry {
    /// The note that a later flag overrides this one.
    pub(crate) fn gives_way(&self) -> String {
        let of = match self.origin {
            Origin::Program => "this program's own flags",
            Origin::OcamlEnvironment => ocaml::ENVIRONMENT,
            Origin::Environment => ENVIRONMENT,
            Origin::CommandLine => "the command line",
        };
        format!("{} of {of} is overridden by a later flag or choice", self.word)
    }
}

/// Words read so far, as flags with their values.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) entries: Vec<Entry>,
}

/// GHC's long name of `-xn`.
const NONMOVING_GC: &str = "--nonmoving-gc";

/// The prefix of a word that cancels a flag: `--no-c`.
const TAKES_BACK: &str = "--no-";

/// The flag that `word` cancels: `-c` for `--no-c`, `--sizing` for `--no-sizing`; for a flag that
/// turns something off, the same word without its `no`.
fn taken_back(word: &str) -> Option<&'static FlagSpec> {
    let on = |spec: &&FlagSpec| spec.kind == Kind::SwitchOff && spec.name.replacen("-no-", "--", 1) == word;
    if let Some(spec) = FLAGS.iter().find(on) {
        return Some(spec);
    }
    let name = word.strip_prefix(TAKES_BACK)?;
    let mut named = FLAGS.iter().filter(|spec| spec.kind != Kind::SwitchOff);
    named.find(|spec| !name.is_empty() && spec.name.trim_start_matches('-') == name)
}

impl Words {
    /// Reads the next word: a flag, or one that cancels a flag.
    ///
    /// # Errors
    /// If the word is not a flag, or its value is not legal.
    pub(crate) fn take(&mut self, origin: Origin, word: &str) -> Result<(), FlagError> {
        if let Some(gone) = taken_back(word) {
            // -h is -hT.
            let name = |spec: &FlagSpec| if spec.name == "h" { "hT" } else { spec.name };
            self.entries.retain(|entry| name(entry.spec) != name(gone));
            return Ok(());
        }
        if word == NONMOVING_GC {
            return self.enter(origin, "-xn");
        }
        if let Some(list) = ocaml::list_in(word) {
            return self.take_ocaml(origin, list?);
        }
        self.enter(origin, word)
    }

    /// Reads a list of OCaml's letters, each of which is a flag.
    ///
    /// # Errors
    /// As [`Words::take`].
    pub(crate) fn take_ocaml(&mut self, origin: Origin, list: &str) -> Result<(), FlagError> {
        let words = ocaml::words(list)?;
        words.iter().try_for_each(|word| self.enter(origin, word))
    }

    fn enter(&mut self, origin: Origin, word: &str) -> Result<(), FlagError> {
        let (spec, value) = read_word(word)?;
        self.entries.push(Entry {
            spec,
            value,
            word: word.to_owned(),
            origin,
        });
        Ok(())
    }
}

/// The flag that `word` begins with, whether or not its value is legal.
pub(crate) fn spec_of(word: &str) -> Option<&'static FlagSpec> {
    let rest = word.strip_prefix('-')?;
    let fitting = FLAGS.iter().filter(|spec| rest.starts_with(spec.name));
    fitting.max_by_key(|spec| spec.name.len())
}

/// Reads a word: the flag and its value.
fn read_word(word: &str) -> Result<(&'static FlagSpec, Value), FlagError> {
    let Some(rest) = word.strip_prefix('-') else {
        let suggestion = suggest(word);
        return Err(FlagError::NotAFlag {
            word: word.to_owned(),
            suggestion,
        });
    };
    let ghc = GHC_ONLY
        .iter()
        .filter(|(name, _)| rest.starts_with(name))
        .max_by_key(|(name, _)| name.len());
    match (spec_of(word), ghc) {
        (Some(spec), None) => read_value(spec, word, &rest[spec.name.len()..]),
        (Some(spec), Some((name, _))) if spec.name.len() > name.len() => {
            read_value(spec, word, &rest[spec.name.len()..])
        }
        // Long names are whole words: `--info-x` is not `--info`.
        (_, Some((name, meaning)))
            if !name.starts_with('-') || matches!(rest[name.len()..].chars().next(), None | Some('=')) =>
        {
            Err(FlagError::NotYet {
                word: word.to_owned(),
                flag: format!("-{name}"),
                meaning,
            })
        }
        _ => Err(FlagError::Unknown {
            word: word.to_owned(),
            suggestion: suggest(rest),
        }),
    }
}

/// Reads the text after the flag's name.
fn read_value(spec: &'static FlagSpec, word: &str, text: &str) -> Result<(&'static FlagSpec, Value), FlagError> {
    let takes_text = is_long(spec.name) && !matches!(spec.kind, Kind::Switch | Kind::SwitchOff);
    let text = match text.strip_prefix('=') {
        Some(value) if takes_text => value,
        None if takes_text && !text.is_empty() => {
            return Err(FlagError::Unknown {
                word: word.to_owned(),
                suggestion: suggest(&word[1..]),
            });
        }
        _ => text,
    };
    if spec.name == "h" && !text.is_empty() {
        return Err(FlagError::NoSuchProfile {
            word: word.to_owned(),
            known: breakdowns(),
        });
    }
    let value = spec
        .kind
        .read_word(&Called::Word(spec.name), text)
        .map_err(|error| match error {
            FlagError::UnexpectedValue { flag, .. } => {
                let suggestion = suggest(&word[1..]).filter(|s| *s != flag);
                FlagError::UnexpectedValue {
                    word: word.to_owned(),
                    flag,
                    suggestion,
                }
            }
            other => other,
        })?;
    Ok((spec, value))
}

/// The flags of heap profiles, with what they break down by: `-hT (closure type)`.
fn breakdowns() -> Vec<String> {
    let all = FLAGS.iter().filter_map(|spec| {
        let (_, by) = spec.meaning.split_once("heap profile by ")?;
        let by = by.split([',', ';']).next().unwrap_or(by);
        Some(format!("-{} ({by})", spec.name))
    });
    all.chain(["-hb (biography)".to_owned()]).collect()
}

impl Flags {
    /// The flags of these entries combined.
    ///
    /// # Errors
    /// If two of them contradict each other.
    pub(crate) fn of<'e>(entries: impl Iterator<Item = &'e Entry>) -> Result<Flags, FlagError> {
        let mut flags = Flags::default();
        let mut file_of = Origin::default();
        let mut followed: Option<&Entry> = None;
        for entry in entries {
            if entry.spec.kind == Kind::Closure {
                one_closure(followed.replace(entry), entry)?;
            }
            flags.enter(entry.spec, entry.value.clone(), entry.word.clone());
            if entry.spec.name == LOG_FILE {
                file_of = entry.origin;
            }
        }
        if file_of != Origin::CommandLine && !flags.log.is_file() {
            // As in GHC, a file named by the environment applies only to runs with a log.
            flags.log.file = None;
            flags.given.remove(LOG_FILE);
        }
        flags.settle()?;
        Ok(flags)
    }

    /// The words that parse to these flags, in the order of the table. Flags at their defaults have
    /// none.
    pub fn to_words(&self) -> Vec<String> {
        let default = Flags::default();
        let word = |spec: &FlagSpec| {
            let value = (spec.get)(self)?;
            (Some(&value) != (spec.get)(&default).as_ref()).then(|| spec.word(&value.text(&spec.kind)))
        };
        FLAGS.iter().filter_map(word).chain(self.bare_profile_word()).collect()
    }

    /// Sets a flag to a value, written as `word`.
    pub(crate) fn enter(&mut self, spec: &'static FlagSpec, value: Value, word: String) {
        (spec.set)(self, value);
        self.given.insert(spec.name, word);
    }

    /// The flag `name` as written, or `otherwise` if it is not given.
    pub(crate) fn written(&self, name: &str, otherwise: impl FnOnce() -> String) -> String {
        self.given.get(name).cloned().unwrap_or_else(otherwise)
    }
}

/// Checks that the flags name only one closure: a run follows one, and others would be ignored.
fn one_closure(before: Option<&Entry>, entry: &Entry) -> Result<(), FlagError> {
    match before {
        Some(before) if before.value != entry.value => Err(FlagError::Conflict {
            flag: entry.word.clone(),
            why: format!(
                "a second closure besides {}: a run follows only one, so run once for each",
                before.word
            ),
        }),
        _ => Ok(()),
    }
}

/// Returns the flag nearest to `rest`, a word without its dash, comparing the letters before the
/// digits of a value.
fn suggest(rest: &str) -> Option<String> {
    let letters = rest
        .split(|c: char| c.is_ascii_digit() || c == '=')
        .next()
        .unwrap_or(rest);
    nearest(letters, FLAGS.iter().map(|spec| spec.name)).map(|name| format!("-{name}"))
}

pub(crate) fn unknown_key(key: &str) -> FlagError {
    let dashed = key.trim_start_matches('-').replace('_', "-");
    let plain = |name: &str| name.trim_start_matches('-').to_owned();
    if let Some(error) = ocaml::unknown_key(key) {
        return error;
    }
    if let Some(spec) = FLAGS
        .iter()
        .find(|spec| spec.toml.is_none() && plain(spec.name) == dashed)
    {
        return FlagError::CommandLineOnly {
            name: key.to_owned(),
            flag: format!("-{}", spec.name),
        };
    }
    // `hT` and `ki` are -h and -k with a letter that says which.
    let exact = |name: &str| plain(name) == dashed;
    let with_letter = |name: &str| key.len() == 2 && name.len() == 1 && key.starts_with(name);
    let named = GHC_ONLY.iter().find(|(name, _)| exact(name));
    let ghc = named.or_else(|| GHC_ONLY.iter().find(|(name, _)| with_letter(name)));
    if let Some((name, meaning)) = ghc {
        return FlagError::NotYet {
            word: key.to_owned(),
            flag: format!("-{name}"),
            meaning,
        };
    }
    let suggestion = nearest(key, FLAGS.iter().filter_map(|spec| spec.toml)).map(str::to_owned);
    FlagError::Unknown {
        word: key.to_owned(),
        suggestion,
    }
}
