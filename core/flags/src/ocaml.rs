//! OCaml's syntax for parameters: `s=64k,o=80,v=0x400`, from a word or the environment.
//!
//! OCaml ignores unknown letters and values. Here they are errors that say what would be right.

use super::FlagError;
use super::nearest::list;
use super::table::FLAGS;

/// The environment variable for letters, as in `OCAMLRUNPARAM`.
pub const ENVIRONMENT: &str = "GCLAB_OCAMLRUNPARAM";

/// The key before a letter, in experiment files.
const KEY: &str = "ocaml.";

/// The flag before the letters, as typed.
const FLAG: &str = "--ocaml=";

/// OCaml's letters that control nothing here, and why.
const WITHOUT_USE: [(&str, &str); 9] = [
    ("b", "backtraces of exceptions: RUST_BACKTRACE=1 prints them for panics"),
    ("c", "freeing everything at exit: a heap always does that"),
    ("H", "huge pages: --no-huge-pages turns them off"),
    (
        "l",
        "the stack of byte code: programs here have the stack of their thread",
    ),
    ("p", "messages of OCaml's parser"),
    ("R", "the hashing of OCaml's tables"),
    ("t", "messages of OCaml's byte code"),
    ("V", "checks of OCaml's runtime for debugging: -DS checks a heap"),
    ("W", "warnings of OCaml's runtime"),
];

/// The words for a list of letters: `--ocaml=s=64k` and so on. As in OCaml, empty items are
/// ignored.
///
/// # Errors
/// If an item is not an existing letter with a value.
pub(crate) fn words(list: &str) -> Result<Vec<String>, FlagError> {
    let items = list.split(',').filter(|item| !item.is_empty());
    items.map(word).collect()
}

/// The list of letters in `word`; `None` if it is another flag.
///
/// # Errors
/// If the word has no letters.
pub(crate) fn list_in(word: &str) -> Option<Result<&str, FlagError>> {
    let rest = word.strip_prefix(FLAG.trim_end_matches('='))?;
    let letters = rest.strip_prefix('=').filter(|list| !list.is_empty());
    let missing = || FlagError::OcamlNoList { word: word.to_owned() };
    Some(letters.ok_or_else(missing))
}

/// The word of an item such as `s=64k`.
fn word(item: &str) -> Result<String, FlagError> {
    let (letter, value) = item.split_once('=').unwrap_or((item, ""));
    if let Some(error) = without_use(letter, || format!("--ocaml: {item}")) {
        return Err(error);
    }
    if !letters().any(|known| known == letter) {
        return Err(FlagError::OcamlLetter {
            item: item.to_owned(),
            letters: letters().map(str::to_owned).collect(),
        });
    }
    Ok(format!("{FLAG}{letter}={value}"))
}

/// The error for a letter that has no effect here; `None` for other text.
fn without_use(letter: &str, place: impl FnOnce() -> String) -> Option<FlagError> {
    let (_, use_of_it) = WITHOUT_USE.iter().find(|(without, _)| *without == letter)?;
    Some(FlagError::OcamlWithoutUse {
        place: place(),
        letter: letter.to_owned(),
        use_of_it,
    })
}

/// The error for `key`, a name in an experiment file, if it names a letter that does not exist.
pub(crate) fn unknown_key(key: &str) -> Option<FlagError> {
    let letter = key.strip_prefix(KEY)?;
    if letters().any(|known| known == letter) {
        return Some(FlagError::CommandLineOnly {
            name: key.to_owned(),
            flag: format!("{FLAG}{letter}"),
        });
    }
    let unknown = || {
        let keys = FLAGS.iter().filter_map(|spec| spec.toml?.strip_prefix(KEY));
        let keys: Vec<_> = keys.map(str::to_owned).collect();
        FlagError::Unknown {
            word: key.to_owned(),
            suggestion: Some(format!("one of the letters {}", list(&keys))),
        }
    };
    Some(without_use(letter, || key.to_owned()).unwrap_or_else(unknown))
}

/// The letters that exist.
fn letters() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().filter_map(|spec| spec.name.strip_prefix(&FLAG[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_becomes_a_word_for_each_letter() {
        assert_eq!(words("").unwrap(), Vec::<String>::new());
        assert_eq!(
            words("s=64k,o=80,v=0x400").unwrap(),
            ["--ocaml=s=64k", "--ocaml=o=80", "--ocaml=v=0x400"]
        );
        for list in [",s=64k", "s=64k,", ",,s=64k,,"] {
            assert_eq!(words(list).unwrap(), ["--ocaml=s=64k"], "{list}");
        }
    }
}
