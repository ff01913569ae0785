//! Programs of the Java virtual machine: flags are words after `java`, statistics come from the log
//! of `-Xlog:gc*`.
//!
//! If the command is a script that starts `java`, the flags go into `JDK_JAVA_OPTIONS`, which
//! `java` reads (JDK 9 and later).

use std::collections::BTreeMap;
use std::path::Path;

use gclab_core::words::size::read_number;
use gclab_results::{Pauses, PlannedRun, RunRecord, RunStats};

use super::adapter::{Clash, Command, Ended, Failure, Runtime, Start, Task, first_line, number_of, warnings};
use super::flag::{BYTES, Flag, Kind, Setting, Value, words};
use super::space::{TunableFlag, tried};
use crate::text::cut;

/// The adapter.
#[derive(Debug)]
pub(super) struct Jvm;

/// The variable that holds the flags if the command is a script.
const VARIABLE: &str = "JDK_JAVA_OPTIONS";

/// The variable whose flags come after those of the command.
const LAST_VARIABLE: &str = "_JAVA_OPTIONS";

/// Large enough for any count of threads, milliseconds or collections.
const MOST: i64 = 1_000_000;

const FLAGS: &[Flag] = &[
    Flag::new("Xmx", BYTES, "-Xmx{}", "the largest heap"),
    Flag::new("Xms", BYTES, "-Xms{}", "initial size of the heap"),
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
        "threads that collect while the program is stopped",
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
        "target length of pauses",
    ),
    Flag::new(
        "GCTimeRatio",
        Kind::Integer(0, MOST),
        "-XX:GCTimeRatio={}",
        "target share of the program's time",
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

/// Other words for flags, after which the value comes.
const ALIASES: [(&str, &[&str]); 4] = [
    ("Xmx", &["-XX:MaxHeapSize="]),
    ("Xms", &["-XX:InitialHeapSize=", "-XX:MinHeapSize="]),
    ("Xmn", &["-XX:NewSize=", "-XX:MaxNewSize="]),
    ("Xss", &["-XX:ThreadStackSize="]),
];

/// The flags whose next word is their value.
const WITH_VALUE: [&str; 8] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-opens",
];

/// Flags that only some collectors take account of, by the values of `gc` that ignore them.
const IGNORED: [(&str, &[&str]); 12] = [
    ("MaxGCPauseMillis", &["Serial", "Z", "Shenandoah"]),
    ("GCTimeRatio", &["Serial", "Z", "Shenandoah"]),
    ("ParallelGCThreads", &["Serial"]),
    ("ConcGCThreads", &["Serial", "Parallel"]),
    (
        "InitiatingHeapOccupancyPercent",
        &["Serial", "Parallel", "Z", "Shenandoah"],
    ),
    ("G1HeapRegionSize", &["Serial", "Parallel", "Z", "Shenandoah"]),
    ("SoftMaxHeapSize", &["Serial", "Parallel"]),
    ("Xmn", &["Z", "Shenandoah"]),
    ("NewRatio", &["Z", "Shenandoah"]),
    ("SurvivorRatio", &["Z", "Shenandoah"]),
    ("MaxTenuringThreshold", &["Shenandoah"]),
    ("UseCompressedOops", &["Z"]),
];

/// The words of a command and its variables that are flags of the JVM, and come after the adapter's.
fn own_words<'c>(command: Command<'c>) -> Vec<&'c str> {
    let mut words: Vec<&str> = Vec::new();
    let mut own = command.words.iter().map(String::as_str).skip(1);
    if is_java(&command) {
        // Those of the program follow its class or archive.
        while let Some(word) = own.next().filter(|word| word.starts_with('-') && *word != "-jar") {
            words.push(word);
            own.by_ref()
                .take(usize::from(WITH_VALUE.contains(&word)))
                .for_each(drop);
        }
    } else {
        // A script may pass on any of its words.
        words.extend(own.flat_map(str::split_whitespace));
    }
    let variables = command.env.iter().filter(|(name, _)| name == LAST_VARIABLE);
    words.extend(variables.flat_map(|(_, value)| value.split_whitespace()));
    words
}

/// The value that a word gives to a flag, or an empty text for a switch; `None` if it is another's.
fn value_of<'w>(flag: &Flag, word: &'w str) -> Option<&'w str> {
    if let Kind::Switch(off) = flag.kind {
        return [flag.word, off].contains(&word).then_some("");
    }
    let (before, after) = flag.word.split_once("{}")?;
    let aliases = ALIASES
        .iter()
        .find(|(key, _)| *key == flag.key)
        .map_or(&[][..], |(_, words)| words);
    let mut starts = std::iter::once(&before).chain(aliases);
    let value = starts.find_map(|start| word.strip_prefix(start))?.strip_suffix(after)?;
    match flag.kind {
        Kind::Name(names) => names.contains(&value).then_some(value),
        _ => Some(value),
    }
}

/// A word for the variable, which `java` splits at blanks outside of quotes.
fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

/// The flags of a setting and of the files. A script may start several JVMs: then the log of each
/// has the number of its process.
fn flags(command: &Command<'_>, setting: &Setting, task: Task<'_>) -> Vec<String> {
    let process = if is_java(command) { "" } else { ".%p" };
    let mut all: Vec<String> = words(setting).map(str::to_owned).collect();
    // No more detail than this, which would slow the program down.
    all.extend(
        task.files
            .map(|files| format!("-Xlog:gc*:file={}{process}::filecount=0", files.statistics.display())),
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

    fn overriding(&self, command: Command<'_>, flag: &Value) -> Option<String> {
        let flag = FLAGS.iter().find(|own| own.key == flag.key())?;
        let mut words = own_words(command).into_iter();
        words.find(|word| value_of(flag, word).is_some()).map(str::to_owned)
    }

    fn clash(&self, command: Command<'_>, setting: &Setting) -> Option<Clash> {
        let value = |key: &str| {
            let flag = FLAGS.iter().find(|flag| flag.key == key)?;
            let own = || {
                let mut words = own_words(command).into_iter();
                words.find_map(|word| flag.read(value_of(flag, word)?))
            };
            setting.get(key).cloned().or_else(own)
        };
        if let Some((size, ratio)) = value("Xmn").zip(setting.get("NewRatio").cloned()) {
            return Some(Clash {
                flags: vec![ratio, size],
                reason: "the size of the young generation overrides its ratio",
                is_idle: false,
            });
        }
        let gc = value("gc")?;
        let (ignored, _) = IGNORED.iter().find(|(key, by)| {
            let is_on = setting
                .get(*key)
                .is_some_and(|value| !value.meaning().starts_with("-XX:-"));
            is_on && by.contains(&gc.text())
        })?;
        Some(Clash {
            flags: vec![setting[ignored].clone(), gc],
            reason: "that collector takes no account of the flag",
            is_idle: false,
        })
    }

    fn is_size(&self, flag: &Value) -> bool {
        ["Xmx", "Xms"].contains(&flag.key())
    }

    fn variables(&self) -> &'static [&'static str] {
        &[VARIABLE, "JAVA_TOOL_OPTIONS", LAST_VARIABLE]
    }

    fn start(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Start {
        let mut start = command.start();
        let flags = flags(&command, setting, task);
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
            start.words.truncate(1 + flags(&command, setting, task).len());
            start.words.push("-version".to_owned());
            start
        })
    }

    fn probed(&self, setting: &Setting, ended: &Ended<'_>) -> Result<(), String> {
        let mut warnings = warned(ended).filter(|_| !setting.is_empty());
        if let Some(warning) = warnings.find(|line| IGNORES.iter().any(|word| line.contains(word))) {
            return Err(format!("it ignores a flag: {warning}"));
        }
        // Runs will find out whether a heap is too small for the JVM itself.
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
        let (stats, note) = match ended.statistics.map(statistics) {
            Some(Ok(stats)) => (Some(stats), None),
            Some(Err(why)) => (None, Some(format!("no figures of collections: {why}"))),
            None => (None, None),
        };
        RunRecord {
            stats,
            notes: warned(ended).chain(note).collect(),
            ..RunRecord::default()
        }
    }

    /// A script may start `java` with a heap of its own.
    fn agrees(&self, run: &PlannedRun, ended: &Ended<'_>, _: &RunRecord) -> Result<(), String> {
        let asked = run.flags.get("Xmx").and_then(|text| read_number(text));
        let lines = ended.statistics.unwrap_or_default().lines();
        let given = lines.filter(|line| line.contains("gc,init")).find_map(|line| {
            let (_, size) = line.split_once("Max Capacity: ")?;
            bytes(size.trim())
        });
        let Some((asked, given)) = asked.zip(given).filter(|_| !run.flags.contains_key("G1HeapRegionSize")) else {
            return Ok(());
        };
        if (given as f64 - asked).abs() <= ROUNDING.1.max(asked * ROUNDING.0) {
            return Ok(());
        }
        Err(format!(
            "the JVM's heap had at most {} MiB, not Xmx = {}: the command sets it itself",
            given >> 20,
            run.flags["Xmx"]
        ))
    }
}

/// What a warning says that is about a flag without effect.
const IGNORES: [&str; 4] = ["disabled", "override", "ignored", "gnoring"];

/// The warnings of a JVM. Those of its log are on standard output, as
/// `[0.001s][warning][gc,ergo] ...`; their times differ from run to run.
fn warned<'e>(ended: &Ended<'e>) -> impl Iterator<Item = String> + use<'e> {
    let logged = warnings(ended.stdout, "s][warning][").filter_map(|line| {
        let (time, rest) = line.split_once(']')?;
        time.starts_with('[').then(|| rest.to_owned())
    });
    warnings(ended.stderr, " VM warning: ").chain(logged)
}

/// How much more a JVM may give than `-Xmx`, which it rounds: a share, and at least some bytes.
const ROUNDING: (f64, f64) = (1.0 / 16.0, (4 << 20) as f64);

/// The JVM's messages when memory runs out, in a program or while starting up.
const EXHAUSTED: [&str; 3] = [
    "java.lang.OutOfMemoryError",
    "Too small maximum heap",
    "GC triggered before VM initialization completed",
];

/// The statistics of a log.
///
/// # Errors
/// The part that is not understood: figures without some of the collections would be wrong.
fn statistics(text: &str) -> Result<RunStats, String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else {
        return Err("the log of the JVM is empty (`-Xlog` of the command may switch it off)".to_owned());
    };
    // Each log says at the start which collector works: `[0.008s][info][gc] Using G1`.
    if !text.contains("][gc") {
        let first = cut(first.trim(), LONGEST_LINE);
        return Err(format!(
            "no line of the JVM's log is like `[0.1s][info][gc] GC(0) Pause Young ...`; it begins with `{first}`"
        ));
    }
    let mut logs = vec![Log::default()];
    for line in text.lines() {
        // Each JVM begins so.
        if line.contains("][gc") && line.contains("] Using ") {
            logs.push(Log::default());
        }
        logs.last_mut().expect("one at least").line(line);
    }
    // One that a script asks for its version collects nothing.
    let collecting = logs.iter().filter(|log| !log.collections.is_empty()).count();
    if collecting > 1 {
        return Err(format!(
            "the command starts {collecting} JVMs that collect, and their sum describes none of them; measure each by a \
             command of its own"
        ));
    }
    let log = logs.into_iter().max_by_key(|log| log.collections.len());
    log.expect("one at least").statistics()
}

/// The most characters of a line of the log in a message.
const LONGEST_LINE: usize = 80;

/// The figures of a log.
#[derive(Debug, Default)]
struct Log<'t> {
    pauses: Vec<u64>,
    /// By their numbers: `GC(7)`.
    collections: BTreeMap<u64, Collection<'t>>,
    /// The largest committed heap.
    committed: Option<u64>,
    /// The most that was live after a full collection.
    live: Option<u64>,
}

/// What the lines of a collection, or of a concurrent cycle of G1, say.
#[derive(Debug, Default)]
struct Collection<'t> {
    /// The first line.
    first: &'t str,
    /// Whether a line is one of [`NAMES`], and no line has a pause of unknown length.
    is_known: bool,
    has_odd_pause: bool,
    has_ended: bool,
    /// Whether it is a cycle of Shenandoah, which can be cancelled: then it has no end.
    is_cancellable: bool,
    /// Whether it is one of [`WHOLE`], and not of one generation only.
    is_whole: bool,
    is_of_generation: bool,
}

/// The beginnings of the lines that name a collection. Once it has ended, the heap sizes follow the
/// name. They never do for G1's concurrent cycles, which are not collections; nor are the remark
/// and cleanup pauses.
const NAMES: [&str; 13] = [
    "Pause Young",
    "Pause Full",
    "Pause Initial Mark",
    "Pause Mixed",
    "Pause Init Mark",
    "Pause Degenerated",
    "Garbage Collection",
    "Minor Collection",
    "Major Collection",
    "Concurrent reset",
    "Concurrent cleanup",
    "Concurrent Mark Cycle",
    "Concurrent Undo Cycle",
];

/// Of these, those of the cycles of Shenandoah that can be cancelled.
const CANCELLABLE: [&str; 2] = ["Concurrent reset", "Pause Init Mark"];

/// Of these, the collections of the whole heap.
const WHOLE: [&str; 7] = [
    "Pause Full",
    "Garbage Collection",
    "Major Collection",
    "Concurrent reset",
    "Pause Init Mark",
    "Pause Degenerated",
    "Concurrent cleanup",
];

/// What generational Shenandoah writes after the name of a collection of part of the heap.
const GENERATIONS: [&str; 3] = ["(Young", "(Old", "(Bootstrap"];

impl<'t> Log<'t> {
    /// A line such as `[0.1s][info][gc] GC(0) Pause Young (Normal) 6M->1M(64M) 2.170ms`.
    fn line(&mut self, line: &'t str) {
        let Some((_, rest)) = line.split_once("] GC(") else {
            return;
        };
        let Some((Ok(number), what)) = rest
            .split_once(") ")
            .map(|(number, what)| (number.parse(), what.trim()))
        else {
            return;
        };
        // Generational ZGC begins with the generation: `Y: Pause Mark Start 0.012ms`.
        let what = match what.split_once(": ") {
            Some((generation, rest)) if generation.len() == 1 => rest.trim_start(),
            _ => what,
        };
        let collection = self.collections.entry(number).or_insert(Collection {
            first: what,
            ..Collection::default()
        });
        let starts = |all: &[&str]| all.iter().any(|start| what.starts_with(start));
        let words: Vec<&str> = what.split_whitespace().collect();
        let heap = words.iter().find_map(|word| heap(word));
        if starts(&NAMES) {
            collection.is_known = true;
            collection.has_ended |= heap.is_some();
            collection.is_cancellable |= starts(&CANCELLABLE);
            collection.is_whole |= starts(&WHOLE);
            collection.is_of_generation |= GENERATIONS.iter().any(|generation| what.contains(generation));
        }
        let is_pause = what.starts_with("Pause ");
        if let Some((after, committed)) = heap.filter(|_| is_pause || starts(&NAMES)) {
            self.committed = self.committed.max(committed);
            // The log has whole mebibytes: 0 may be almost one.
            if what.starts_with("Pause Full") && after > 0 {
                self.live = self.live.max(Some(after));
            }
        }
        // ZGC writes it apart, at several moments of a collection: `Capacity: 64M (100%) 64M (100%)`.
        if what.starts_with("Capacity:") {
            let sizes = words.iter().filter_map(|word| bytes(word));
            self.committed = self.committed.max(sizes.max());
        }
        let length = words.last().and_then(|last| last.strip_suffix("ms"));
        match length.and_then(number_of).filter(|_| is_pause) {
            Some(milliseconds) => self.pauses.push((milliseconds * 1e6).round() as u64),
            None => collection.has_odd_pause |= is_pause && (heap.is_some() || length.is_some()),
        }
    }

    fn statistics(mut self) -> Result<RunStats, String> {
        let all = &self.collections;
        let mut odd = all.values().filter(|one| !one.is_known || one.has_odd_pause);
        if let Some(Collection { first, .. }) = odd.next() {
            return Err(format!(
                "gclab does not understand {} of {} collections in the log of the JVM; one begins with `{}`",
                1 + odd.count(),
                all.len(),
                cut(first, LONGEST_LINE)
            ));
        }
        let ended: Vec<_> = all
            .iter()
            .filter(|(number, one)| {
                // If the last one has no end, the program ended first.
                let is_cancelled = one.is_cancellable && all.keys().next_back() != Some(number);
                one.has_ended || is_cancelled
            })
            .map(|(_, one)| one)
            .collect();
        let gcs = ended.len() as u64;
        let whole = ended.iter().filter(|one| one.is_whole && !one.is_of_generation);
        let major_gcs = whole.count() as u64;
        self.pauses.sort_unstable();
        let count = self.pauses.len();
        if gcs > 0 && count == 0 {
            return Err("the log of the JVM has no pause".to_owned());
        }
        let total: u64 = self.pauses.iter().sum();
        // The nearest rank: one in `of` is longer.
        let rank = |of: usize| (count >= of).then(|| self.pauses[(count * (of - 1)).div_ceil(of) - 1]);
        Ok(RunStats {
            gc_elapsed_seconds: Some(total as f64 / 1e9),
            gcs: Some(gcs),
            major_gcs: Some(major_gcs),
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
        })
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
