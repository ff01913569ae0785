//! Programs of OCaml: flags in `OCAMLRUNPARAM`, statistics by `v=0x400`, which prints OCaml's
//! counters on standard error at exit.
//!
//! The runtime has no memory limit, so the limit is on address space. It reports a refusal of the
//! system as an exception (exit status 2), or ends with SIGABRT in a collection. With less room
//! than its code and libraries need, the system kills it before its first instruction.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use gclab_results::{RunRecord, RunStats};

use super::adapter::{Command, Ended, Failure, Runtime, Start, Task, limit_ended, says_no_memory};
use super::flag::{ADDRESS_SPACE, ADDRESS_SPACE_KEY, Flag, Kind, Setting, address_space, words};
use super::space::{TunableFlag, tried};

/// The adapter.
#[derive(Debug)]
pub(super) struct Ocaml;

/// The variable that has the flags.
const VARIABLE: &str = "OCAMLRUNPARAM";
const OLDER_VARIABLE: &str = "CAMLRUNPARAM";

/// Bytes of a word.
const WORD: f64 = 8.0;

/// The letters of numbers in `OCAMLRUNPARAM`. They count words.
const WORDS: Kind = Kind::Size {
    letters: ['k', 'M', 'G'],
};

const FLAGS: &[Flag] = &[
    Flag::new("s", WORDS, "s={}", "words of the minor heap"),
    Flag::new(
        "o",
        Kind::Integer(1, 1_000_000),
        "o={}",
        "space overhead: percent of the live data that may be waste",
    ),
    Flag::new(
        "O",
        Kind::Integer(0, 1_000_000),
        "O={}",
        "overhead that makes the collector compact",
    ),
    Flag::new(
        "i",
        WORDS,
        "i={}",
        "growth of the major heap: words, or percent up to 1000",
    ),
    Flag::new("h", WORDS, "h={}", "initial words of the major heap"),
    Flag::new("a", Kind::Integer(0, 2), "a={}", "allocation policy of the major heap"),
    Flag::new("w", Kind::Integer(1, 50), "w={}", "window of major slices"),
    Flag::new("l", WORDS, "l={}", "most words of the stack"),
    Flag::new(
        "M",
        Kind::Integer(1, 1_000_000),
        "M={}",
        "weight of memory outside of the heap for major collections",
    ),
    Flag::new(
        "m",
        Kind::Integer(1, 1_000_000),
        "m={}",
        "the same for minor collections",
    ),
    Flag::new(
        "n",
        WORDS,
        "n={}",
        "most bytes of one custom block that count for minor collections",
    ),
    Flag::new(
        "d",
        Kind::Integer(1, 128),
        "d={}",
        "maximum number of domains (OCaml 5)",
    ),
    ADDRESS_SPACE,
];

/// The default of `o` is 80 before OCaml 4.14, and 120 from then on.
const TRIED: &[TunableFlag] = &[
    tried("s", &["32k", "64k", "128k", "", "512k", "1m", "4m", "8m"]),
    tried("o", &["40", "60", "", "200", "400"]),
];

/// The most bytes of a file that are searched for a version.
const MOST: u64 = 1 << 28;

/// The version in an executable: a text between two NULs, such as `4.14.1`. `None` if there are
/// several, since libraries may have their own.
fn version_in(bytes: &[u8]) -> Option<String> {
    let is_version = |text: &&[u8]| {
        let mut parts = text.split(|byte| *byte == b'.');
        let major = parts.next();
        let numbers: Vec<&[u8]> = parts.collect();
        let is_number = |part: &&[u8]| (1..=2).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
        [Some(&b"4"[..]), Some(b"5")].contains(&major) && numbers.len() == 2 && numbers.iter().all(is_number)
    };
    let mut found: Vec<&[u8]> = bytes.split(|byte| *byte == 0).filter(is_version).collect();
    found.dedup();
    match found[..] {
        [version] => Some(format!("OCaml {}", String::from_utf8_lossy(version))),
        _ => None,
    }
}

impl Runtime for Ocaml {
    fn name(&self) -> &'static str {
        "ocaml"
    }

    fn flags(&self) -> &'static [Flag] {
        FLAGS
    }

    fn tried(&self) -> &'static [TunableFlag] {
        TRIED
    }

    fn limit(&self) -> &'static str {
        ADDRESS_SPACE_KEY
    }

    fn variables(&self) -> &'static [&'static str] {
        &[VARIABLE, OLDER_VARIABLE]
    }

    fn start(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Start {
        let mut start = command.start();
        let exit_statistics = task.files.map(|_| "v=0x400".to_owned());
        let parts: Vec<String> = words(setting).map(str::to_owned).chain(exit_statistics).collect();
        // The runtime reads the older variable only where the newer one is not set.
        if !parts.is_empty() && start.env.iter().all(|(name, _)| name != VARIABLE) {
            let older = start.env.iter_mut().find(|(name, _)| name == OLDER_VARIABLE);
            older.into_iter().for_each(|(name, _)| *name = VARIABLE.to_owned());
        }
        start.add_to_variable(VARIABLE, &parts, ",");
        start.address_space = address_space(setting);
        start
    }

    fn version(&self, _: Option<&Ended<'_>>, file: Option<&Path>) -> Option<String> {
        let file = File::open(file?).ok()?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes).ok()?;
        version_in(&bytes)
    }

    fn failure(&self, ended: &Ended<'_>) -> Option<Failure> {
        // Without room for its first heap the runtime names the part that it could not set up.
        let no_start = ended.limited && ended.stderr.contains("Fatal error: cannot initialize");
        let exhausted = no_start || limit_ended(ended) || says_no_memory(ended.stderr);
        exhausted.then_some(Failure::Exhausted)
    }

    fn figures(&self, ended: &Ended<'_>) -> RunRecord {
        let (stats, note) = match statistics(ended.stderr) {
            Ok(stats) => (stats, None),
            Err(why) => (None, Some(format!("no figures of collections: {why}"))),
        };
        RunRecord {
            stats,
            notes: note.into_iter().collect(),
            ..RunRecord::default()
        }
    }
}

/// The statistics that the runtime prints at its exit, if there are any.
///
/// # Errors
/// If several programs print them.
fn statistics(stderr: &str) -> Result<Option<RunStats>, String> {
    let lines: Vec<&str> = stderr.lines().collect();
    let is_start = |at: &usize| lines[*at].starts_with("minor_words:") && lines[at + 1].starts_with("promoted_words:");
    let starts = (1..lines.len()).map(|next| next - 1).filter(is_start);
    let is_figure = |line: &&&str| {
        line.split_once(": ")
            .is_some_and(|(_, value)| value.parse::<f64>().is_ok())
    };
    let programs = starts.filter_map(|start| {
        let own = lines[start..].iter().take_while(is_figure).count();
        statistics_in(&lines[start..start + own])
    });
    // One that a script asks for its version collects nothing.
    let mut collecting: Vec<RunStats> = programs.filter(|stats| stats.gcs > Some(0)).collect();
    match collecting.len() {
        0 => Ok(statistics_in(&lines)),
        1 => Ok(collecting.pop()),
        count => Err(format!(
            "the command starts {count} programs of OCaml that collect, and their sum describes none of them; measure \
             each by a command of its own"
        )),
    }
}

/// The statistics in some lines.
fn statistics_in(lines: &[&str]) -> Option<RunStats> {
    let figure = |name: &str| {
        // The last one is the runtime's: the program may print such a line, too.
        let lines = lines.iter().rev().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.into_iter().find(|(key, _)| *key == name)?;
        value.trim().parse::<f64>().ok()
    };
    let bytes = |words: f64| (words * WORD) as u64;
    let minor = figure("minor_words")?;
    let promoted = figure("promoted_words");
    let major = figure("major_words");
    let major_gcs = figure("major_collections").map(|count| count as u64);
    Some(RunStats {
        // The major words include the promoted ones, which were allocated as minor words.
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
