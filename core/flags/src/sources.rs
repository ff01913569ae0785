//! The sources of a run's flags: the program itself, the environment, and the command line.
//!
//! A later source overrides an earlier one. Most flags simply replace each other. If two flags
//! contradict each other (`-hT` and `-hy`, `-H1g` and `-M64m`), the one from the earlier source is
//! dropped, and a note says so. A contradiction within one source is an error.
//!
//! A program may also disallow flags ([`RtsOpts`]), as with GHC's `-rtsopts`.

use gclab_core::collector::Description;

use crate::parse::{ENVIRONMENT, Entry, Origin, Words, spec_of};
use crate::{FlagError, Flags, OCAML_ENVIRONMENT};

/// The flags that a program's users may give: GHC's `-rtsopts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtsOpts {
    /// All flags.
    #[default]
    All,
    /// `-?` and `--info` only.
    Some,
    /// No flags. Those in the environment are ignored, and a note says so.
    None,
}

/// The sources of a run's flags.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources<'s> {
    /// The program's own flags: GHC's `-with-rtsopts`.
    pub program: &'s str,
    /// The value of [`ENVIRONMENT`], if set.
    pub environment: Option<&'s str>,
    /// The value of [`OCAML_ENVIRONMENT`](crate::OCAML_ENVIRONMENT), if set.
    pub ocaml_environment: Option<&'s str>,
    /// The words of the command line.
    pub words: &'s [String],
    /// The flags that the environment and the command line may contain.
    pub allowed: RtsOpts,
}

/// The flags of a run, from all sources.
#[derive(Clone, Debug)]
pub struct Given {
    entries: Vec<Entry>,
    flags: Flags,
    notes: Vec<String>,
}

impl Given {
    /// Reads all sources.
    ///
    /// # Errors
    /// The first word at fault, or flags of one source that contradict each other.
    pub fn read(sources: &Sources<'_>) -> Result<Given, FlagError> {
        let mut words = Words::default();
        let mut notes = Vec::new();
        for word in sources.program.split_whitespace() {
            words
                .take(Origin::Program, word)
                .map_err(|error| Origin::Program.fault(error))?;
        }
        let ocaml = sources.ocaml_environment.unwrap_or_default().trim();
        if sources.allowed == RtsOpts::All {
            words
                .take_ocaml(Origin::OcamlEnvironment, ocaml)
                .map_err(|error| Origin::OcamlEnvironment.fault(error))?;
        } else if !ocaml.is_empty() {
            notes.push(format!(
                "{OCAML_ENVIRONMENT} is ignored: this program takes no such flags"
            ));
        }
        let environment = sources.environment.unwrap_or_default();
        if sources.allowed == RtsOpts::None && !environment.trim().is_empty() {
            notes.push(format!("{ENVIRONMENT} is ignored: this program takes no flags"));
        } else {
            for word in environment.split_whitespace() {
                if ["+RTS", "-RTS", "--RTS"].contains(&word) {
                    let word = word.to_owned();
                    return Err(Origin::Environment.fault(FlagError::Mark { word }));
                }
                sources
                    .allowed
                    .check(word)
                    .and_then(|()| words.take(Origin::Environment, word))
                    .map_err(|error| Origin::Environment.fault(error))?;
            }
        }
        for word in sources.words {
            sources.allowed.check(word)?;
            words.take(Origin::CommandLine, word)?;
        }
        let (flags, gave_way) = together(&words.entries, Ok)?;
        notes.extend(gave_way);
        Ok(Given {
            entries: words.entries,
            flags,
            notes,
        })
    }

    /// The flags of all sources combined.
    pub fn flags(&self) -> &Flags {
        &self.flags
    }

    /// The flags of the program and the environment, as written.
    pub fn words_before(&self) -> impl Iterator<Item = &str> {
        let before = self.entries.iter().filter(|entry| entry.origin != Origin::CommandLine);
        before.map(|entry| entry.word.as_str())
    }

    /// Notes for the user: flags that were overridden or ignored.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The flags fitted to a collector named on the command line: see [`Flags::fit`]. Flags from
    /// other sources that it does not honour are dropped; the texts are notes about them.
    ///
    /// # Errors
    /// As [`Flags::fit`], for flags of the command line.
    pub fn fit(
        &self,
        collector: &Description,
        all: &[&'static Description],
    ) -> Result<(Flags, Vec<String>), FlagError> {
        let (flags, notes) = together(&self.entries, |mut flags| {
            flags.fit(collector, all)?;
            Ok(flags)
        })?;
        let new = notes.into_iter().filter(|note| !self.notes.contains(note));
        Ok((flags, new.collect()))
    }
}

/// The flags of these entries, checked one by one, against each other, and by `check`; and a note
/// for each entry dropped in favour of a later source.
fn together(
    entries: &[Entry],
    check: impl Fn(Flags) -> Result<Flags, FlagError>,
) -> Result<(Flags, Vec<String>), FlagError> {
    let flags = |kept: &[&Entry]| Flags::of(kept.iter().copied()).and_then(&check);
    let of = |origin| -> Vec<&Entry> { entries.iter().filter(|entry| entry.origin == origin).collect() };
    let mut kept: Vec<&Entry> = entries.iter().collect();
    let Err(error) = flags(&kept) else {
        return Ok((flags(&kept)?, Vec::new()));
    };
    // The command line must be right by itself, and so must each other source.
    flags(&of(Origin::CommandLine))?;
    for origin in [Origin::Environment, Origin::OcamlEnvironment, Origin::Program] {
        Flags::of(of(origin).into_iter()).map_err(|error| origin.fault(error))?;
    }
    let mut notes = Vec::new();
    // Drop a flag of the weakest source: the last one without which the rest is valid; if there is
    // none, its last flag, and then another.
    for origin in [Origin::Program, Origin::OcamlEnvironment, Origin::Environment] {
        while kept.iter().any(|entry| entry.origin == origin) {
            let without = |place: usize| {
                let mut fewer = kept.clone();
                fewer.remove(place);
                fewer
            };
            let mut places = (0..kept.len()).rev().filter(|place| kept[*place].origin == origin);
            let last = places.clone().next();
            let place = places.find(|place| flags(&without(*place)).is_ok()).or(last);
            let Some(place) = place else { break };
            notes.push(kept[place].gives_way());
            kept.remove(place);
            if let Ok(flags) = flags(&kept) {
                return Ok((flags, notes));
            }
        }
    }
    Err(error)
}

impl Flags {
    /// The flags of a run: those of [`ENVIRONMENT`] (its value, if set), then those of the command
    /// line. See [`Given`].
    ///
    /// # Errors
    /// The first word at fault, or two flags that contradict each other.
    pub fn parse<S: AsRef<str>>(environment: Option<&str>, words: &[S]) -> Result<Self, FlagError> {
        let words: Vec<String> = words.iter().map(|word| word.as_ref().to_owned()).collect();
        let sources = Sources {
            environment,
            words: &words,
            ..Sources::default()
        };
        Given::read(&sources).map(|given| given.flags)
    }

    /// Flags from a list of words such as `-A4m`, ignoring the environment.
    ///
    /// # Errors
    /// As [`Flags::parse`].
    pub fn parse_words<S: AsRef<str>>(words: &[S]) -> Result<Self, FlagError> {
        Self::parse(None, words)
    }
}

impl RtsOpts {
    /// Checks that users may give this flag.
    fn check(self, word: &str) -> Result<(), FlagError> {
        let harmless = || spec_of(word).is_some_and(|spec| matches!(spec.name, "?" | "-info"));
        let (allowed, takes) = match self {
            RtsOpts::All => (true, ""),
            RtsOpts::Some => (harmless(), "takes -? and --info only"),
            RtsOpts::None => (false, "takes no flags"),
        };
        if allowed {
            return Ok(());
        }
        Err(FlagError::Forbidden {
            word: word.to_owned(),
            takes,
        })
    }
}
