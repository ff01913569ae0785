//! Programs of GHC: flags between `+RTS` and `-RTS`, statistics by `-t<file> --machine-readable`.
//!
//! A program takes flags of the runtime only if it was linked with `-rtsopts` (GHC's default
//! refuses all that matter here, and `-rtsopts=ignoreAll` passes them on to the program). So
//! [`Runtime::probe`] asks each program first, with `--info`: the runtime reads its flags, refuses
//! them or prints a description of itself, and does not start the program.

use std::path::Path;

use gclab_results::{Generation, Purpose, RunRecord, RunStats};

use super::adapter::{Clash, Command, Ended, Failure, Runtime, Start, Task, first_line, number_of, warnings};
use super::flag::{BYTES, Flag, Kind, NO_SUCH, Setting, Value, words};
use super::space::{TunableFlag, tried};
use crate::text::cut;

/// The adapter.
#[derive(Debug)]
pub(super) struct Ghc;

/// The exit status of a program whose heap is exhausted (`EXIT_HEAPOVERFLOW` in GHC's `rts`).
const EXIT_HEAP_OVERFLOW: i32 = 251;

/// The variable that has flags, too.
const VARIABLE: &str = "GHCRTS";

/// The complaints of the runtime about its flags.
const REFUSALS: [&str; 7] = [
    "RTS options are disabled",
    "unknown RTS option",
    "requires the program to be built with",
    "error in RTS option",
    "bad RTS option",
    "The non-moving collector cannot be used in conjunction with",
    "stack chunk buffer size (-kb) must be less than",
];

/// The end of other refusals: a summary of the command line.
const USAGE: &str = "+RTS <rtsopts>";

/// The complaint about a setting that ends the program by SIGABRT.
const ABORT: &str = "The non-moving collector doesn't support";

/// The keys of a flag, and whether this word of it clashes with another flag.
type Clashing = (&'static [&'static str], fn(&str) -> bool);

const COMPACTING: Clashing = (&["c"], |word| !word.is_empty());
const SWEEPING: Clashing = (&["w"], |word| !word.is_empty());
const ONE_GENERATION: Clashing = (&["G"], |word| word == "-G1");
const NON_MOVING: Clashing = (&NONMOVING, |word| !word.is_empty());
const NO_PARALLEL: Clashing = (&["qg"], |word| word == "-qg");
const NO_IDLE: Clashing = (&["I"], |word| word == "-I0");

/// Pairs of flag values that GHC refuses together, or of which it ignores one, with the reason.
const CLASHES: [([Clashing; 2], &str); 7] = [
    (
        [(&["c"], |word| word == "-c"), NON_MOVING],
        "the non-moving collector cannot be used in conjunction with the compacting collector",
    ),
    (
        [COMPACTING, NON_MOVING],
        "compaction above a percentage is disabled by the non-moving collector",
    ),
    (
        [ONE_GENERATION, NON_MOVING],
        "the non-moving collector does not support -G1",
    ),
    (
        [ONE_GENERATION, COMPACTING],
        "compaction is incompatible with -G1, which disables it",
    ),
    (
        [ONE_GENERATION, SWEEPING],
        "sweeping is incompatible with -G1, which disables it",
    ),
    (
        [NO_PARALLEL, (&["qb", "qn", "qi"], |_| true)],
        "-qg turns parallel collections off, which alone the other flag concerns",
    ),
    (
        [NO_IDLE, (&["Iw"], |_| true)],
        "-I0 turns collections in idle time off, which alone -Iw concerns",
    ),
];

/// Pairs of flag values of which GHC ignores the second without harm, with the reason.
const IDLE: [([Clashing; 2], &str); 2] = [
    (
        [
            (&["N"], |word| word == "-N1"),
            (&["qg", "qb", "qn", "qi", "qm"], |_| true),
        ],
        "it concerns several capabilities, and -N1 has one",
    ),
    (
        [ONE_GENERATION, (&["O"], |_| true)],
        "-O concerns the old generation, and -G1 has none",
    ),
];

/// Flag values that GHC ignores without -M, with the reason.
const OF_LIMIT: [(Clashing, &str); 2] = [
    (
        (&["c"], |word| word.len() > 2),
        "-c with a number is a percentage of -M, and has no effect without it",
    ),
    (
        (&["m"], |_| true),
        "-m is a percentage of -M, and has no effect without it",
    ),
];

/// The keys of the non-moving collector.
const NONMOVING: [&str; 2] = ["xn", "nonmoving-gc"];

/// Its word.
const NONMOVING_WORD: &str = "--nonmoving-gc";

/// GHC documents no limit on generations; more than this is a mistake.
const MOST_GENERATIONS: i64 = 32;
/// The most capabilities (`MAX_N_CAPABILITIES` in GHC's `rts`).
const MOST_CAPABILITIES: i64 = 256;

const FLAGS: &[Flag] = &[
    Flag::new("A", BYTES, "-A{}", "size of the allocation area"),
    Flag::new("AL", BYTES, "-AL{}", "bytes of large objects between collections"),
    Flag::new("n", BYTES, "-n{}", "size of the chunks of allocation areas"),
    Flag::new("O", BYTES, "-O{}", "minimum size of the old generation"),
    Flag::new(
        "F",
        Kind::Number(0),
        "-F{}",
        "growth of old generations between collections",
    ),
    Flag::new("Fd", Kind::Number(0), "-Fd{}", "how slowly free memory is returned"),
    Flag::new("G", Kind::Integer(1, MOST_GENERATIONS), "-G{}", "number of generations"),
    Flag::new(
        "c",
        Kind::IntegerOr(0, 100, "-c", ""),
        "-c{}",
        "compact the oldest generation: always, or above this percentage of -M",
    ),
    Flag::new(
        "w",
        Kind::Switch(""),
        "-w",
        "mark and sweep the oldest generation by regions",
    ),
    Flag::new(
        "xn",
        Kind::Switch(""),
        NONMOVING_WORD,
        "the non-moving collector for the oldest generation",
    ),
    Flag::new(
        "nonmoving-gc",
        Kind::Switch(""),
        NONMOVING_WORD,
        "the same as xn, by its long name",
    ),
    Flag::new("H", BYTES, "-H{}", "suggested size of the heap"),
    Flag::new("M", BYTES, "-M{}", "maximum size of the heap"),
    Flag::new(
        "m",
        Kind::Number(0),
        "-m{}",
        "minimum percentage of the heap that is free",
    ),
    Flag::new(
        "N",
        Kind::IntegerOr(1, MOST_CAPABILITIES, "-N", NO_SUCH),
        "-N{}",
        "number of capabilities; true: as many as processors",
    ),
    Flag::new(
        "qg",
        Kind::IntegerOr(0, MOST_GENERATIONS, NO_SUCH, "-qg"),
        "-qg{}",
        "collect this generation and older ones in parallel; false: never",
    ),
    Flag::new(
        "qb",
        Kind::IntegerOr(0, MOST_GENERATIONS, NO_SUCH, "-qb"),
        "-qb{}",
        "balance the load of this generation and older ones; false: never",
    ),
    Flag::new(
        "qn",
        Kind::Integer(1, MOST_CAPABILITIES),
        "-qn{}",
        "number of GC threads",
    ),
    Flag::new(
        "qi",
        Kind::Integer(0, 1000),
        "-qi{}",
        "leave processors asleep that were idle for this many collections",
    ),
    Flag::new("qa", Kind::Switch(""), "-qa", "bind threads to processors"),
    Flag::new("qm", Kind::Switch(""), "-qm", "threads stay on their capability"),
    Flag::new("I", Kind::Number(0), "-I{}", "seconds of idleness before a collection"),
    Flag::new(
        "Iw",
        Kind::Number(0),
        "-Iw{}",
        "minimum seconds between collections when idle",
    ),
    Flag::new("K", BYTES, "-K{}", "maximum size of a stack"),
    Flag::new("ki", BYTES, "-ki{}", "initial size of a stack"),
    Flag::new("kc", BYTES, "-kc{}", "size of a stack chunk"),
    Flag::new("kb", BYTES, "-kb{}", "size of a stack chunk's buffer"),
    Flag::new("C", Kind::Number(0), "-C{}", "seconds between context switches"),
    Flag::new("V", Kind::Number(0), "-V{}", "seconds between ticks"),
];

/// The default of `-A` is 1 MiB before GHC 9.2, and 4 MiB from then on.
const TRIED: &[TunableFlag] = &[
    tried("A", &["512k", "", "16m", "64m", "256m"]),
    tried("n", &["", "4m"]).only_with("A", &["16m", "64m", "256m"]),
    tried("F", &["1.5", "", "4"]),
    tried("G", &["", "3"]),
    tried("c", &["", "true"]).only_with("xn", &[""]),
    tried("xn", &["", "true"]),
    tried("N", &["", "2", "4", "8"]).counting_processors(),
    tried("qg", &["", "false"]).only_with("N", &["2", "4", "8"]),
];

/// The start of a command with these words between `+RTS` and `-RTS`.
pub(super) fn with_words(command: Command<'_>, words: Vec<String>) -> Start {
    let mut start = command.start();
    if !words.is_empty() {
        // After `--RTS` or `--` the runtime stops looking for flags, so the flags come first.
        let end = start
            .words
            .iter()
            .position(|word| ["--RTS", "--"].contains(&word.as_str()));
        let at = end.unwrap_or(start.words.len());
        let block = ["+RTS".to_owned()].into_iter().chain(words).chain(["-RTS".to_owned()]);
        start.words.splice(at..at, block);
    }
    start
}

/// The flags of the runtime in a command and its variables.
fn own_words<'c>(command: Command<'c>) -> impl Iterator<Item = &'c str> {
    let variables = command.env.iter().filter(|(name, _)| name == VARIABLE);
    let mut is_flag = false;
    let words = command.words.iter().map(String::as_str).filter(move |word| {
        is_flag = *word == "+RTS" || is_flag && *word != "-RTS";
        is_flag
    });
    words.chain(variables.flat_map(|(_, value)| value.split_whitespace()))
}

/// The flags of a setting and of the files.
fn flags(setting: &Setting, task: Task<'_>) -> Vec<String> {
    let mut all: Vec<String> = words(setting).map(str::to_owned).collect();
    if let Some(files) = task.files {
        all.extend([
            format!("-t{}", files.statistics.display()),
            "--machine-readable".to_owned(),
        ]);
        if task.purpose == Purpose::EventLog {
            all.extend(["-l".to_owned(), format!("-ol{}", files.eventlog.display())]);
        }
    }
    all
}

impl Runtime for Ghc {
    fn name(&self) -> &'static str {
        "ghc"
    }

    fn flags(&self) -> &'static [Flag] {
        FLAGS
    }

    fn limit(&self) -> &'static str {
        "M"
    }

    fn tried(&self) -> &'static [TunableFlag] {
        TRIED
    }

    fn is_size(&self, flag: &Value) -> bool {
        ["M", "H"].contains(&flag.key())
    }

    fn variables(&self) -> &'static [&'static str] {
        &[VARIABLE]
    }

    fn has_event_log(&self) -> bool {
        true
    }

    fn start(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Start {
        with_words(command, flags(setting, task))
    }

    fn probe(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Option<Start> {
        let mut words = flags(setting, task);
        words.push("--info".to_owned());
        Some(with_words(command, words))
    }

    fn probed(&self, setting: &Setting, ended: &Ended<'_>) -> Result<(), String> {
        let describes_itself = ended.stdout.contains("(\"GHC RTS\", \"YES\")");
        let is_quiet = ended.stderr.trim().is_empty();
        if ended.status == Some(0) && describes_itself && is_quiet {
            let way = Pairs::of(ended.stdout).text("RTS way");
            let idle = ["I", "Iw"].iter().find(|key| setting.contains_key(**key));
            return match idle.filter(|_| way.is_some_and(|way| !way.contains("_thr"))) {
                Some(key) => Err(format!(
                    "it ignores -{key}: a collection in idle time requires the program to be built with -threaded"
                )),
                None => Ok(()),
            };
        }
        // The runtime complains about some wrong flags at once, but exits only after reading all
        // flags, and `--info` comes before that.
        if describes_itself || self.failure(ended) == Some(Failure::Refused) {
            return Err(first_line(ended.stderr));
        }
        Err(
            "it passes them on to the program, as one of GHC's does that was linked with -rtsopts=ignoreAll, \
             or one of another compiler"
                .to_owned(),
        )
    }

    fn version(&self, probed: Option<&Ended<'_>>, _: Option<&Path>) -> Option<String> {
        // `--info` prints pairs in the form of the statistics.
        let pairs = Pairs::of(probed?.stdout);
        let way = pairs.text("RTS way").map_or_else(String::new, |way| format!(" {way}"));
        Some(format!("GHC {}{way}", pairs.text("GHC version")?))
    }

    fn clash(&self, command: Command<'_>, setting: &Setting) -> Option<Clash> {
        let value = |(keys, clashes): Clashing| {
            let mut values = keys.iter().filter_map(|key| setting.get(*key));
            values.find(|value| clashes(value.meaning())).cloned()
        };
        let pair = |is_idle| {
            move |([one, other], reason): ([Clashing; 2], _)| {
                let flags = vec![value(one)?, value(other)?];
                Some(Clash { flags, reason, is_idle })
            }
        };
        let has_limit = || setting.contains_key("M") || own_words(command).any(|word| word.starts_with("-M"));
        let alone = |(flag, reason)| {
            let flags = vec![value(flag).filter(|_| !has_limit())?];
            Some(Clash {
                flags,
                reason,
                is_idle: false,
            })
        };
        let pairs = CLASHES.into_iter().find_map(pair(false));
        let alone = pairs.or_else(|| OF_LIMIT.into_iter().find_map(alone));
        alone.or_else(|| IDLE.into_iter().find_map(pair(true)))
    }

    fn overriding(&self, command: Command<'_>, flag: &Value) -> Option<String> {
        // The adapter's words come last, but a flag that is off has none.
        let is_it = |word: &&str| match self.flags().iter().find(|own| own.key == flag.key()) {
            Some(own) if flag.meaning().is_empty() => {
                word.starts_with(own.word.trim_end_matches("{}")) || *word == "-xn" && NONMOVING.contains(&own.key)
            }
            _ => false,
        };
        own_words(command).find(is_it).map(str::to_owned)
    }

    fn failure(&self, ended: &Ended<'_>) -> Option<Failure> {
        let says = |text: &str| ended.stderr.contains(text);
        match ended.status {
            Some(EXIT_HEAP_OVERFLOW) => Some(Failure::Exhausted),
            _ if says("Heap exhausted;") || says("heap overflow") => Some(Failure::Exhausted),
            Some(1) if REFUSALS.iter().any(|text| says(text)) || says(USAGE) => Some(Failure::Refused),
            None if says(ABORT) => Some(Failure::Refused),
            _ => None,
        }
    }

    fn figures(&self, ended: &Ended<'_>) -> RunRecord {
        let pairs = Pairs::of(ended.statistics.unwrap_or_default());
        RunRecord {
            stats: (!pairs.0.is_empty()).then(|| pairs.statistics()),
            notes: warnings(ended.stderr, "WARNING: ").chain(pairs.unread()).collect(),
            ..RunRecord::default()
        }
    }
}

/// The most characters of a value in a message.
const LONGEST_VALUE: usize = 40;

/// The pairs of names and values that `--machine-readable` prints. Of a name that occurs twice the
/// first value counts; GHC prints one name with a blank at its end.
struct Pairs<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Pairs<'t> {
    fn of(text: &'t str) -> Pairs<'t> {
        // A line is ` ,("name", "value")`.
        let pair = |line: &'t str| {
            let (_, rest) = line.split_once("(\"")?;
            let (name, rest) = rest.split_once("\", \"")?;
            let (value, _) = rest.split_once("\")")?;
            Some((name.trim(), value.trim()))
        };
        Pairs(text.lines().filter_map(pair).collect())
    }

    fn text(&self, name: &str) -> Option<&'t str> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    fn seconds(&self, name: &str) -> Option<f64> {
        number_of(self.text(name)?)
    }

    /// What to say if values are not understood.
    fn unread(&self) -> Option<String> {
        let has_digits = |value: &str| value.contains(char::is_numeric);
        let mut unread = self
            .0
            .iter()
            .filter(|(_, value)| has_digits(value) && number_of(value).is_none());
        let (name, value) = unread.next()?;
        Some(format!(
            "no figures of {} values that GHC prints in a form unknown to gclab; one is {name}, `{}`",
            1 + unread.count(),
            cut(value, LONGEST_VALUE)
        ))
    }

    fn generation(&self, number: usize) -> Option<Generation> {
        let name = |figure: &str| format!("gen_{number}_{figure}");
        Some(Generation {
            collections: self.count(&name("collections"))?,
            par_collections: self.count(&name("par_collections")),
            cpu_seconds: self.seconds(&name("cpu_seconds")),
            elapsed_seconds: self.seconds(&name("wall_seconds")),
            max_pause_seconds: self.seconds(&name("max_pause_seconds")),
            sharing: None,
        })
    }

    fn statistics(&self) -> RunStats {
        let in_parallel = self.count("par_copied_bytes").filter(|bytes| *bytes > 0);
        let of_parallel = |name: &str| in_parallel.and_then(|_| self.count(name));
        let balanced = of_parallel("cumulative_par_balanced_copied_bytes");
        RunStats {
            allocated_bytes: self.count("allocated_bytes").or_else(|| self.count("bytes allocated")),
            copied_bytes: self.count("copied_bytes"),
            max_live_bytes: self.count("max_live_bytes"),
            cumulative_live_bytes: self.count("cumulative_live_bytes"),
            max_large_objects_bytes: self.count("max_large_objects_bytes"),
            max_slop_bytes: self.count("max_slop_bytes"),
            peak_in_use_bytes: self.count("max_mem_in_use_bytes"),
            fragmentation_bytes: self.count("fragmentation_bytes"),
            init_cpu_seconds: self.seconds("init_cpu_seconds"),
            init_elapsed_seconds: self.seconds("init_wall_seconds"),
            mut_cpu_seconds: self.seconds("mut_cpu_seconds"),
            mut_elapsed_seconds: self.seconds("mut_wall_seconds"),
            gc_cpu_seconds: self.seconds("GC_cpu_seconds"),
            gc_elapsed_seconds: self.seconds("GC_wall_seconds"),
            exit_cpu_seconds: self.seconds("exit_cpu_seconds"),
            exit_elapsed_seconds: self.seconds("exit_wall_seconds"),
            total_cpu_seconds: self.seconds("total_cpu_seconds"),
            total_elapsed_seconds: self.seconds("total_wall_seconds"),
            gcs: self.count("num_GCs"),
            major_gcs: self.count("major_gcs"),
            par_copied_bytes: self.count("par_copied_bytes"),
            cumulative_par_max_copied_bytes: of_parallel("cumulative_par_max_copied_bytes"),
            cumulative_par_balanced_copied_bytes: balanced,
            // GHC prints it with few digits; computed from the bytes it is exact.
            work_balance: balanced
                .zip(in_parallel)
                .map(|(balanced, copied)| balanced as f64 / copied as f64),
            capabilities: self.count("n_capabilities").and_then(|count| u32::try_from(count).ok()),
            generations: (0..).map_while(|number| self.generation(number)).collect(),
            ..RunStats::default()
        }
    }
}
