//! Checks the flags of heap profiles: `profiles` of an experiment file.
//!
//! Each profile is a separate run. Under `[flags]` and `[sweep]` the same flags would slow down
//! timed runs, so they are refused there. A profile's string has the words of a command line, and
//! is checked by the same table.

use std::collections::HashSet;
use std::ops::Range;

use gclab_flags::{FLAGS, FlagError, FlagSpec, Flags, Scope};
use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::file::{self, File};

/// Whether a flag sets the breakdown of a heap profile, its interval, or the names of its bands.
fn is_profile_flag(flag: &FlagSpec) -> bool {
    flag.scope == Scope::Profile
}

/// The flags that `profiles` takes, in the form of help texts.
fn profile_flags() -> String {
    let forms: Vec<String> = FLAGS
        .iter()
        .filter(|flag| is_profile_flag(flag))
        .map(FlagSpec::form)
        .collect();
    forms.join(" ")
}

/// The profiles of each workload: its own, or else the file's; the words of each joined by blanks.
pub(super) fn of_workloads(source: &Source, file: &File) -> Parsed<Vec<Vec<String>>> {
    let of_file = checked(source, &file.profiles)?;
    let of = |workload: &file::Workload| match &workload.profiles {
        Some(own) => checked(source, own),
        None => Ok(of_file.clone()),
    };
    file.workloads.iter().map(of).collect()
}

/// Checks a list of profiles: each is legal, and no two are the same.
fn checked(source: &Source, profiles: &[Spanned<String>]) -> Parsed<Vec<String>> {
    let mut seen = HashSet::new();
    let mut texts = Vec::new();
    for profile in profiles {
        let flags = flags(source, profile)?;
        // Compared by meaning, not by text: -h is -hT.
        if !seen.insert(flags.to_words()) {
            let text = format!("`profiles` has \"{}\" twice", profile.get_ref());
            return Err(
                SpecError::at(source, profile.span(), text, "the same profile as an earlier one")
                    .help("each profile once: a run with it is not timed, so one is enough"),
            );
        }
        texts.push(profile.get_ref().split_whitespace().collect::<Vec<_>>().join(" "));
    }
    Ok(texts)
}

/// The flags of one profile.
fn flags(source: &Source, profile: &Spanned<String>) -> Parsed<Flags> {
    let help = || format!("a profile has these flags: {}", profile_flags());
    for (word, place) in words(source, profile) {
        let at = |message: String, label: &str| SpecError::at(source, place.clone(), message, label);
        if matches!(word, "+RTS" | "-RTS" | "--RTS") {
            return Err(at(format!("`profiles` has flags only, without {word}"), "leave it out").help(help()));
        }
        // Each word separately, so that a fault is shown at its place.
        let foreign = match Flags::parse_words(&[word]) {
            Ok(flags) => {
                let mut given = FLAGS.iter().filter(|flag| flags.given.contains_key(flag.name));
                given.any(|flag| !is_profile_flag(flag))
            }
            // The flag needs another one; flags of profiles are checked together below.
            Err(FlagError::Conflict { flag, .. }) => !flag.starts_with("-h"),
            Err(error) => return Err(at(format!("`profiles`: {error}"), "not a legal flag").help(help())),
        };
        if foreign {
            let text = format!("`profiles`: {word} is not a flag of a heap profile");
            return Err(at(text, "not a flag of heap profiles").help(format!(
                "flags of all runs go in [flags] and [sweep], and apply to profiled runs too; {}",
                help()
            )));
        }
    }
    let words: Vec<&str> = profile.get_ref().split_whitespace().collect();
    let whole = |message: String, label: &str| SpecError::at(source, profile.span(), message, label);
    let flags = Flags::parse_words(&words)
        .map_err(|error| whole(format!("`profiles`: {error}"), "these contradict each other").help(help()))?;
    if flags.config.profile.breakdown.is_none() {
        let text = format!("`profiles`: \"{}\" has no flag -h<letter>", profile.get_ref());
        return Err(whole(text, "no breakdown").help(help()));
    }
    Ok(flags)
}

/// The words of a string with their places in the file. If the string has escapes, each word has
/// the place of the whole string.
fn words<'s>(source: &Source, text: &'s Spanned<String>) -> Vec<(&'s str, Range<usize>)> {
    let (span, inner) = (text.span(), text.get_ref());
    let plain = source.text.get(span.start + 1..span.end.saturating_sub(1)) == Some(inner);
    let place = |word: &str| {
        let from = span.start + 1 + (word.as_ptr().addr() - inner.as_ptr().addr());
        if plain { from..from + word.len() } else { span.clone() }
    };
    inner.split_whitespace().map(|word| (word, place(word))).collect()
}

/// Checks that `[flags]` and `[sweep]` have no flag of heap profiles: timed runs are not profiled.
pub(super) fn not_in_timed_runs(source: &Source, file: &File) -> Parsed<()> {
    let fixed = file.fixed().map(|((key, _), place)| (key, place));
    let swept = file.swept().map(|(key, _)| (key, "[sweep]"));
    for (key, place) in fixed.chain(swept) {
        let name = key.get_ref().as_str();
        let profile = |flag: &&FlagSpec| flag.toml == Some(name) && is_profile_flag(flag);
        if let Some(flag) = FLAGS.iter().find(profile) {
            let text = format!("`{name}` is in {place}, but heap profiles belong to `profiles`");
            let example = if flag.name.starts_with('h') {
                format!("-{}", flag.name)
            } else {
                format!("-hT -{}{}", flag.name, flag.default)
            };
            return Err(SpecError::at(source, key.span(), text, "a flag of heap profiles").help(format!(
                "a profile makes a run slower, and these runs are timed. For one more run of each configuration, with the profile: profiles = [\"{example}\"], before the first table of the file"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_profiles_are_those_that_change_a_profile() {
        let default = Flags::default();
        for flag in FLAGS {
            let changes = ["", "1", "7", "1m", "fixed", "x"].iter().any(|value| {
                let joint = if flag.name.starts_with('-') && !value.is_empty() {
                    "="
                } else {
                    ""
                };
                let word = format!("-{}{joint}{value}", flag.name);
                // A flag that is illegal by itself is not a flag of a profile: -h<letter> needs no
                // other.
                Flags::parse_words(&[word.as_str(), "-hT"][..if flag.name == "hC" { 2 } else { 1 }]).is_ok_and(
                    |flags| flags.config.profile != default.config.profile && flags.given.contains_key(flag.name),
                )
            });
            assert_eq!(changes, is_profile_flag(flag), "-{}", flag.name);
        }
    }
}
