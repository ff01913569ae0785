//! Programs of OCaml: flags in `OCAMLRUNPARAM`, statistics by `v=0x400`, which prints OCaml's
//! counters on standard error at exit.
//!
//! The runtime has no limit of memory, so the limit is one of the address space. It reports a
//! refusal of the system as an exception (exit status 2), or ends with SIGABRT in a collection.

use gclab_results::RunStats;

use super::adapter::{Command, Ended, Failure, Files, Runtime, Start, says_no_memory};
use super::flag::{ADDRESS_SPACE, ADDRESS_SPACE_KEY, Flag, Kind, Setting, address_space, words};

/// The adapter.
#[derive(Debug)]
pub(super) struct Ocaml;

/// The variable that has the flags.
const VARIABLE: &str = "OCAMLRUNPARAM";

/// Bytes of a word.
const WORD: f64 = 8.0;

/// The letters of numbers in `OCAMLRUNPARAM`. They count words.
const WORDS: Kind = Kind::Size {
    letters: ['k', 'M', 'G'],
};

const FLAGS: &[Flag] = &[
    flag("s", WORDS, "s={}", "words of the minor heap"),
    flag(
        "o",
        Kind::Integer(1, 1_000_000),
        "o={}",
        "space overhead: percent of the live data that may be waste",
    ),
    flag(
        "O",
        Kind::Integer(0, 1_000_000),
        "O={}",
        "overhead that makes the collector compact",
    ),
    flag(
        "i",
        WORDS,
        "i={}",
        "growth of the major heap: words, or percent up to 1000",
    ),
    flag("h", WORDS, "h={}", "words of the first major heap"),
    flag(
        "a",
        Kind::Integer(0, 2),
        "a={}",
        "policy of allocation in the major heap",
    ),
    flag("w", Kind::Integer(1, 50), "w={}", "window of major slices"),
    flag("l", WORDS, "l={}", "words of the stack, at most"),
    flag(
        "M",
        Kind::Integer(1, 1_000_000),
        "M={}",
        "weight of memory outside of the heap for major collections",
    ),
    flag(
        "m",
        Kind::Integer(1, 1_000_000),
        "m={}",
        "the same for minor collections",
    ),
    flag(
        "n",
        WORDS,
        "n={}",
        "bytes of one custom block that count for minor collections, at most",
    ),
    flag("d", Kind::Integer(1, 128), "d={}", "the most domains (OCaml 5)"),
    ADDRESS_SPACE,
];

const fn flag(key: &'static str, kind: Kind, word: &'static str, meaning: &'static str) -> Flag {
    Flag {
        key,
        kind,
        word,
        meaning,
    }
}

impl Runtime for Ocaml {
    fn name(&self) -> &'static str {
        "ocaml"
    }

    fn flags(&self) -> &'static [Flag] {
        FLAGS
    }

    fn limit(&self) -> &'static str {
        ADDRESS_SPACE_KEY
    }

    fn variables(&self) -> &'static [&'static str] {
        &[VARIABLE, "CAMLRUNPARAM"]
    }

    fn start(&self, command: Command<'_>, setting: &Setting, files: Option<Files<'_>>) -> Start {
        let mut start = command.start();
        // A variable of the experiment file comes first, so that flags replace its values.
        let own = start.env.iter().position(|(name, _)| name == VARIABLE);
        let own = own.map(|at| start.env.remove(at).1);
        let exit_statistics = files.map(|_| "v=0x400".to_owned());
        let parts: Vec<String> = own
            .into_iter()
            .chain(words(setting).map(str::to_owned))
            .chain(exit_statistics)
            .collect();
        if !parts.is_empty() {
            start.env.push((VARIABLE.to_owned(), parts.join(",")));
        }
        start.address_space = address_space(setting);
        start
    }

    fn failure(&self, ended: &Ended<'_>) -> Option<Failure> {
        // Without room for its first heap the runtime names the part that it could not set up.
        let no_start = ended.limited && ended.stderr.contains("Fatal error: cannot initialize");
        (no_start || says_no_memory(ended.stderr)).then_some(Failure::Exhausted)
    }

    fn statistics(&self, ended: &Ended<'_>) -> Option<RunStats> {
        let figure = |name: &str| {
            // The last one is the runtime's: the program may print such a line, too.
            let lines = ended.stderr.lines().rev().filter_map(|line| line.split_once(':'));
            let (_, value) = lines.into_iter().find(|(key, _)| *key == name)?;
            value.trim().parse::<f64>().ok()
        };
        let bytes = |words: f64| (words * WORD) as u64;
        let minor = figure("minor_words")?;
        let promoted = figure("promoted_words");
        let major = figure("major_words");
        let major_gcs = figure("major_collections").map(|count| count as u64);
        Some(RunStats {
            // The major words have the promoted ones, which were allocated as minor words.
            allocated_bytes: major
                .zip(promoted)
                .map(|(major, promoted)| bytes(minor + major - promoted)),
            copied_bytes: promoted.map(bytes),
            peak_in_use_bytes: figure("top_heap_words").filter(|words| *words > 0.0).map(bytes),
            gcs: figure("minor_collections")
                .zip(major_gcs)
                .map(|(minor, major)| minor as u64 + major),
            major_gcs,
            ..RunStats::default()
        })
    }
}
