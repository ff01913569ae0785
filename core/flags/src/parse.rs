//! From words and keys to [`Flags`], and back.

use gclab_core::config::{HeapHint, SizingPolicy};
use gclab_core::words::size::size_text;

use super::ghc_only::GHC_ONLY;
use super::nearest::nearest;
use super::spec::FlagSpec;
use super::table::FLAGS;
use super::value::{Called, Kind, Value, is_long};
use super::{FlagError, Flags};

/// The environment variable with flags that apply before those of the command line, separated by
/// blanks (GHC's is `GHCRTS`).
pub const ENVIRONMENT: &str = "GCLABRTS";

/// A command line, split into the words of the program and those of the flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Words for the program.
    pub program: Vec<String>,
    /// Words between `+RTS` and `-RTS`.
    pub rts: Vec<String>,
}

/// Splits a command line as GHC does: words between `+RTS` and `-RTS` (or the end) are flags,
/// several times if need be; after `--RTS` (dropped) or `--` (kept) all words are the program's.
pub fn split(words: impl IntoIterator<Item = String>) -> CommandLine {
    let mut line = CommandLine::default();
    let mut words = words.into_iter();
    let mut in_rts = false;
    while let Some(word) = words.next() {
        match word.as_str() {
            "+RTS" => in_rts = true,
            "-RTS" => in_rts = false,
            "--RTS" | "--" => {
                if word == "--" {
                    line.program.push(word);
                }
                line.program.extend(words.by_ref());
            }
            _ if in_rts => line.rts.push(word),
            _ => line.program.push(word),
        }
    }
    line
}

impl Flags {
    /// The flags of a run: those of [`ENVIRONMENT`] (its value, if it is set), then those of the
    /// command line.
    ///
    /// # Errors
    /// The first word at fault, or two flags that contradict each other.
    pub fn parse<S: AsRef<str>>(environment: Option<&str>, words: &[S]) -> Result<Self, FlagError> {
        let mut flags = Self::default();
        for word in environment.unwrap_or_default().split_whitespace() {
            flags.take_word(word).map_err(|e| FlagError::Environment(Box::new(e)))?;
        }
        for word in words {
            flags.take_word(word.as_ref())?;
        }
        flags.settle()?;
        Ok(flags)
    }

    /// Flags from a list of words such as `-A4m`, without any environment.
    ///
    /// # Errors
    /// As [`Flags::parse`].
    pub fn parse_words<S: AsRef<str>>(words: &[S]) -> Result<Self, FlagError> {
        Self::parse(None, words)
    }

    /// The words from which these flags are read again, in the order of the table. Flags with their
    /// default value have none.
    pub fn to_words(&self) -> Vec<String> {
        let default = Flags::default();
        let word = |spec: &FlagSpec| {
            let value = (spec.get)(self)?;
            (Some(&value) != (spec.get)(&default).as_ref()).then(|| spec.word(&value.text(&spec.kind)))
        };
        FLAGS.iter().filter_map(word).chain(self.bare_profile_word()).collect()
    }

    fn take_word(&mut self, word: &str) -> Result<(), FlagError> {
        let Some(rest) = word.strip_prefix('-') else {
            let suggestion = suggest(word);
            return Err(FlagError::NotAFlag {
                word: word.to_owned(),
                suggestion,
            });
        };
        let ours = FLAGS
            .iter()
            .filter(|spec| rest.starts_with(spec.name))
            .max_by_key(|spec| spec.name.len());
        let ghc = GHC_ONLY
            .iter()
            .filter(|(name, _)| rest.starts_with(name))
            .max_by_key(|(name, _)| name.len());
        match (ours, ghc) {
            (Some(spec), None) => self.take_value(spec, word, &rest[spec.name.len()..]),
            (Some(spec), Some((name, _))) if spec.name.len() > name.len() => {
                self.take_value(spec, word, &rest[spec.name.len()..])
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

    fn take_value(&mut self, spec: &'static FlagSpec, word: &str, text: &str) -> Result<(), FlagError> {
        let text = match text.strip_prefix('=') {
            Some(value) if is_long(spec.name) && !matches!(spec.kind, Kind::Switch | Kind::SwitchOff) => value,
            None if is_long(spec.name) && !text.is_empty() && !matches!(spec.kind, Kind::Switch | Kind::SwitchOff) => {
                return Err(FlagError::Unknown {
                    word: word.to_owned(),
                    suggestion: suggest(&word[1..]),
                });
            }
            _ => text,
        };
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
        self.enter(spec, value);
        Ok(())
    }

    pub(crate) fn enter(&mut self, spec: &'static FlagSpec, value: Value) {
        (spec.set)(self, value);
        self.given.insert(spec.name);
    }

    /// Applies the rules that concern several flags, once all are known: an allocation area larger
    /// than the whole heap is cut to it, as in GHC. [`Flags::parse`] calls this; after
    /// [`Flags::set`] the caller has to.
    ///
    /// # Errors
    /// [`FlagError::Conflict`] if `-H` is more than `-M`, if a heap of fixed size has none, if a
    /// flag means nothing under the sizing policy, or if several heap profiles are asked for.
    pub fn settle(&mut self) -> Result<(), FlagError> {
        self.settle_sizing()?;
        self.settle_profile().map_err(|(flag, why)| FlagError::Conflict {
            flag: format!("-{flag}"),
            why,
        })?;
        let Some(max) = self.config.max_heap else {
            return Ok(());
        };
        if let HeapHint::Size(hint) = self.config.heap_hint
            && hint > max
        {
            return Err(FlagError::Conflict {
                flag: format!("-H{}", size_text(hint)),
                why: format!("more than -M{} allows: lower -H or raise -M", size_text(max)),
            });
        }
        self.config.allocation_area = self.config.allocation_area.min(max);
        Ok(())
    }
}

impl Flags {
    /// Checks that the policy has the flags that it needs, and none that it would ignore.
    fn settle_sizing(&self) -> Result<(), FlagError> {
        let conflict = |flag: String, why: String| Err(FlagError::Conflict { flag, why });
        let policy = format!("--sizing={}", self.config.sizing.name());
        if self.config.sizing == SizingPolicy::Fixed && self.config.fixed_size().is_none() {
            return conflict(policy, "without a size: give it with -H<size> or -M<size>".to_owned());
        }
        if self.config.sizing != SizingPolicy::Factor && self.given.contains("F") {
            let flag = format!("-F{}", self.config.old_factor);
            return conflict(flag, format!("for --sizing=factor: under {policy} it has no effect"));
        }
        if self.config.sizing != SizingPolicy::MemBalancer && self.given.contains("-membalancer-c") {
            let flag = format!("--membalancer-c={}", self.config.membalancer_c);
            return conflict(
                flag,
                format!("for --sizing=membalancer: under {policy} it has no effect"),
            );
        }
        Ok(())
    }
}

/// Returns the flag nearest to `rest`, a word without its dash, by the letters before the digits of
/// a value.
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
    if let Some(spec) = FLAGS
        .iter()
        .find(|spec| spec.toml.is_none() && plain(spec.name) == dashed)
    {
        return FlagError::CommandLineOnly {
            name: key.to_owned(),
            flag: format!("-{}", spec.name),
        };
    }
    // `hT` and `ki` are the flags -h and -k with a letter that says which.
    let is_ghc = |name: &str| plain(name) == dashed || (key.len() == 2 && name.len() == 1 && key.starts_with(name));
    if let Some((name, meaning)) = GHC_ONLY.iter().find(|(name, _)| is_ghc(name)) {
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
