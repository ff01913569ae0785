//! Programs of the Java virtual machine: flags are words after `java`, statistics come from the log
//! of `-Xlog:gc*`.
//!
//! If the command is not `java` itself but a script that starts it, the flags go into
//! `JDK_JAVA_OPTIONS`, which `java` reads (JDK 9 and later).

use std::collections::BTreeSet;
use std::path::Path;

use gclab_results::{Pauses, RunRecord, RunStats};

use super::adapter::{Command, Ended, Failure, Runtime, Start, Task, first_line, number_of, warnings};
use super::flag::{BYTES, Flag, Kind, Setting, Value, words};
use super::space::{TunableFlag, tried};

/// The adapter.
#[derive(Debug)]
pub(super) struct Jvm;

/// The variable that has the flags if the command is a script.
const VARIABLE: &str = "JDK_JAVA_OPTIONS";

/// Large enough for any count of threads, milliseconds or collections.
const MOST: i64 = 1_000_000;

const FLAGS: &[Flag] = &[
    Flag::new("Xmx", BYTES, "-Xmx{}", "the largest heap"),
    Flag::new("Xms", BYTES, "-Xms{}", "the first size of the heap"),
    Flag::new("Xmn", BYTES, "-Xmn{}", "size of the young generation"),
    Flag::new("Xss", BYTES, "-Xss{}", "size of a thread's stack"),
    Flag::new(
        "gc",
        Kind::Name(&["Serial", "Parallel", "G1", "Z", "Shenandoah"]),
        "-XX:+Use{}GC",
        "the collector",
    ),
    Flag::new(
        "ParallelGCThreads",
        Kind::Integer(1, MOST),
        "-XX:ParallelGCThreads={}",
        "threads that collect while the program stands",
    ),
    Flag::new(
        "ConcGCThreads",
        Kind::Integer(1, MOST),
        "-XX:ConcGCThreads={}",
        "threads that collect while the program runs",
    ),
    Flag::new(
        "MaxGCPauseMillis",
        Kind::Integer(1, MOST),
        "-XX:MaxGCPauseMillis={}",
        "wished length of pauses",
    ),
    Flag::new(
        "GCTimeRatio",
        Kind::Integer(0, MOST),
        "-XX:GCTimeRatio={}",
        "wished share of the program's time",
    ),
    Flag::new(
        "NewRatio",
        Kind::Integer(1, MOST),
        "-XX:NewRatio={}",
        "old generation over young one",
    ),
    Flag::new(
        "SurvivorRatio",
        Kind::Integer(1, MOST),
        "-XX:SurvivorRatio={}",
        "eden over a survivor space",
    ),
    Flag::new(
        "MaxTenuringThreshold",
        Kind::Integer(0, 15),
        "-XX:MaxTenuringThreshold={}",
        "collections before promotion",
    ),
    Flag::new(
        "InitiatingHeapOccupancyPercent",
        Kind::Integer(0, 100),
        "-XX:InitiatingHeapOccupancyPercent={}",
        "occupancy that starts marking",
    ),
    Flag::new("G1HeapRegionSize", BYTES, "-XX:G1HeapRegionSize={}", "size of a region"),
    Flag::new(
        "SoftMaxHeapSize",
        BYTES,
        "-XX:SoftMaxHeapSize={}",
        "size below which the heap should stay",
    ),
    Flag::new(
        "AlwaysPreTouch",
        Kind::Switch("-XX:-AlwaysPreTouch"),
        "-XX:+AlwaysPreTouch",
        "touch the whole heap at the start",
    ),
    Flag::new(
        "UseCompressedOops",
        Kind::Switch("-XX:-UseCompressedOops"),
        "-XX:+UseCompressedOops",
        "references of four bytes",
    ),
    Flag::new(
        "UseStringDeduplication",
        Kind::Switch("-XX:-UseStringDeduplication"),
        "-XX:+UseStringDeduplication",
        "share the contents of equal strings",
    ),
    Flag::new(
        "TieredCompilation",
        Kind::Switch("-XX:-TieredCompilation"),
        "-XX:+TieredCompilation",
        "compile quickly first",
    ),
];

/// The collectors with generations of fixed sizes, and those that have a goal for pauses.
const TRIED: &[TunableFlag] = &[
    tried("gc", &["", "Serial", "Parallel", "G1", "Z", "Shenandoah"]),
    tried("Xmn", &["", "16m", "64m", "256m"]).only_with("gc", &["", "Serial", "Parallel", "G1"]),
    tried("Xms", &["", "256m", "1g"]),
    tried("MaxGCPauseMillis", &["10", "50", ""]).only_with("gc", &["G1"]),
];

/// Whether the command is `java` itself.
fn is_java(command: &Command<'_>) -> bool {
    let program = command.words.first().map(Path::new);
    program.and_then(Path::file_name).is_some_and(|name| name == "java")
}

/// A word for the variable, which `java` splits at blanks outside of quotes.
fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

fn flags(setting: &Setting, task: Task<'_>) -> Vec<String> {
    let mut all: Vec<String> = words(setting).map(str::to_owned).collect();
    // No level of detail beyond this: it would slow the program down.
    all.extend(
        task.files
            .map(|files| format!("-Xlog:gc*:file={}::filecount=0", files.statistics.display())),
    );
    all
}

impl Runtime for Jvm {
    fn name(&self) -> &'static str {
        "jvm"
    }

    fn flags(&self) -> &'static [Flag] {
        FLAGS
    }

    fn tried(&self) -> &'static [TunableFlag] {
        TRIED
    }

    fn limit(&self) -> &'static str {
        "Xmx"
    }

    fn size_in<'w>(&self, words: &'w [String]) -> Option<&'w str> {
        // Of two values the last one counts, and the words of the command are behind the adapter's.
        let is_size = |word: &&str| {
            ["-Xmx", "-Xms", "-XX:MaxHeapSize="]
                .iter()
                .any(|size| word.starts_with(size))
        };
        words.iter().map(String::as_str).find(is_size)
    }

    fn is_size(&self, flag: &Value) -> bool {
        ["Xmx", "Xms"].contains(&flag.key())
    }

    fn variables(&self) -> &'static [&'static str] {
        &[VARIABLE, "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"]
    }

    fn start(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Start {
        let mut start = command.start();
        let flags = flags(setting, task);
        if is_java(&command) {
            start.words.splice(1..1, flags);
        } else {
            let words: Vec<String> = flags.iter().map(|flag| quoted(flag)).collect();
            start.add_to_variable(VARIABLE, &words, " ");
        }
        start
    }

    fn probe(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Option<Start> {
        let mut start = self.start(command, setting, task);
        is_java(&command).then(|| {
            start.words.truncate(1 + flags(setting, task).len());
            start.words.push("-version".to_owned());
            start
        })
    }

    fn probed(&self, ended: &Ended<'_>) -> Result<(), String> {
        // A heap that is too small for the machine itself is for the runs to find out.
        if ended.status == Some(0) || self.failure(ended) == Some(Failure::Exhausted) {
            return Ok(());
        }
        let said = if ended.stderr.trim().is_empty() {
            ended.stdout
        } else {
            ended.stderr
        };
        let lines = said.lines().filter(|line| !line.starts_with("Error occurred during"));
        Err(first_line(&lines.collect::<Vec<_>>().join("\n")))
    }

    fn version(&self, probed: Option<&Ended<'_>>, _: Option<&Path>) -> Option<String> {
        // The line of the machine itself: `OpenJDK 64-Bit Server VM (build 17.0.15+6, mixed mode)`.
        let mut lines = probed?.stderr.lines().chain(probed?.stdout.lines());
        let line = lines.find(|line| line.contains(" VM ") && line.contains("(build "))?;
        Some(line.trim().to_owned())
    }

    fn failure(&self, ended: &Ended<'_>) -> Option<Failure> {
        let says = |text: &str| ended.stderr.contains(text) || ended.stdout.contains(text);
        if EXHAUSTED.iter().any(|text| says(text)) {
            return Some(Failure::Exhausted);
        }
        let refused = says("Could not create the Java Virtual Machine");
        (refused && ended.status == Some(1)).then_some(Failure::Refused)
    }

    fn figures(&self, ended: &Ended<'_>) -> RunRecord {
        let log = ended.statistics.filter(|log| !log.is_empty());
        let (stats, note) = log.map_or((None, None), |log| Log::of(log).statistics());
        RunRecord {
            stats,
            notes: warnings(ended.stderr, " VM warning: ").chain(note).collect(),
            ..RunRecord::default()
        }
    }
}

/// The words of a machine without memory: of a program, and of the machine itself while it starts.
const EXHAUSTED: [&str; 3] = [
    "java.lang.OutOfMemoryError",
    "Too small maximum heap",
    "GC triggered before VM initialization completed",
];

/// The figures of a log.
#[derive(Debug, Default)]
struct Log<'t> {
    pauses: Vec<u64>,
    /// The numbers of the collections that the log has lines of, as it writes them: `GC(7)`.
    begun: BTreeSet<&'t str>,
    /// Those of them that ended.
    ended: BTreeSet<&'t str>,
    /// Those of them that collected the whole heap.
    whole: BTreeSet<&'t str>,
    /// The largest committed heap.
    committed: Option<u64>,
    /// The most that was live after a full collection.
    live: Option<u64>,
}

/// The beginnings of the lines that end a collection: of all collectors that stop the program, of
/// ZGC, of generational ZGC, and of Shenandoah.
const ENDS: [&str; 5] = [
    "Pause ",
    "Garbage Collection",
    "Minor Collection",
    "Major Collection",
    "Concurrent cleanup",
];

/// Of these, the collections of the whole heap.
const WHOLE: [&str; 4] = [
    "Pause Full",
    "Garbage Collection",
    "Major Collection",
    "Concurrent cleanup",
];

impl<'t> Log<'t> {
    fn of(text: &'t str) -> Log<'t> {
        let mut log = Log::default();
        for line in text.lines() {
            log.line(line);
        }
        log
    }

    /// A line such as `[0.1s][info][gc] GC(0) Pause Young (Normal) 6M->1M(64M) 2.170ms`.
    fn line(&mut self, line: &'t str) {
        let Some((_, rest)) = line.split_once("] GC(") else {
            return;
        };
        let Some((number, what)) = rest.split_once(") ") else {
            return;
        };
        self.begun.insert(number);
        // Generational ZGC begins with the generation: `Y: Pause Mark Start 0.012ms`.
        let what = match what.split_once(": ") {
            Some((generation, rest)) if generation.len() == 1 => rest,
            _ => what,
        };
        let starts = |all: &[&str]| all.iter().any(|start| what.starts_with(start));
        let words: Vec<&str> = what.split_whitespace().collect();
        if let Some((after, committed)) = words.iter().find_map(|word| heap(word)).filter(|_| starts(&ENDS)) {
            self.ended.insert(number);
            self.committed = self.committed.max(committed);
            if starts(&WHOLE) {
                self.whole.insert(number);
            }
            if what.starts_with("Pause Full") {
                self.live = self.live.max(Some(after));
            }
        }
        // ZGC writes it apart, at several moments of a collection: `Capacity: 64M (100%) 64M (100%)`.
        if what.starts_with("Capacity:") {
            let sizes = words.iter().filter_map(|word| bytes(word));
            self.committed = self.committed.max(sizes.max());
        }
        let milliseconds = words.last().and_then(|last| number_of(last.strip_suffix("ms")?));
        if let Some(milliseconds) = milliseconds.filter(|_| what.starts_with("Pause ")) {
            self.pauses.push((milliseconds * 1e6).round() as u64);
        }
    }

    /// The statistics; if the log has collections of which neither an end nor a pause was
    /// understood, a note in their place.
    fn statistics(mut self) -> (Option<RunStats>, Option<String>) {
        let missing = match (self.ended.is_empty(), self.pauses.is_empty()) {
            (true, _) => Some("the end of a collection"),
            (_, true) => Some("a pause"),
            _ => None,
        };
        if let Some(missing) = missing.filter(|_| !self.begun.is_empty()) {
            let count = self.begun.len();
            return (
                None,
                Some(format!(
                    "no figures of collections: the log of the JVM has {count}, and in no line of it {missing} that gclab knows"
                )),
            );
        }
        self.pauses.sort_unstable();
        let count = self.pauses.len();
        let total: u64 = self.pauses.iter().sum();
        // The nearest rank: one in `of` is longer.
        let rank = |of: usize| (count >= of).then(|| self.pauses[(count * (of - 1)).div_ceil(of) - 1]);
        let stats = RunStats {
            gc_elapsed_seconds: Some(total as f64 / 1e9),
            gcs: Some(self.ended.len() as u64),
            major_gcs: Some(self.whole.len() as u64),
            peak_in_use_bytes: self.committed,
            max_live_bytes: self.live,
            pauses: Some(Pauses {
                count: count as u64,
                total_ns: total,
                p50_ns: rank(2),
                p90_ns: rank(10),
                p99_ns: rank(100),
                p99_9_ns: rank(1000),
                max_ns: self.pauses.last().copied(),
                single_pauses_absent: Some("only their lengths are known, from the log".to_owned()),
                ..Pauses::default()
            }),
            ..RunStats::default()
        };
        (Some(stats), None)
    }
}

/// The bytes after a collection and those committed, from `6M->1M(64M)`. ZGC writes shares of the
/// heap instead, `38M(59%)->18M(28%)`; then the committed bytes are unknown.
fn heap(word: &str) -> Option<(u64, Option<u64>)> {
    let (_, after) = word.split_once("->")?;
    let (after, rest) = after.split_once('(')?;
    Some((bytes(after)?, rest.strip_suffix(')').and_then(bytes)))
}

/// The bytes of `64M`.
fn bytes(text: &str) -> Option<u64> {
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let of = |(letter, shift): (char, u32)| Some(text.strip_suffix(letter)?.parse::<u64>().ok()? << shift);
    units.into_iter().find_map(of)
}
