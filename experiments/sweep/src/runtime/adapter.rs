//! The interface of an adapter: the questions it answers, and the facts about a process that it is
//! given.

use std::fmt;
use std::path::Path;

use gclab_results::{PlannedRun, Purpose, RunRecord};

use super::flag::{Flag, Setting, Value};
use super::space::TunableFlag;
use crate::suggest::suggest;
use crate::text::{cut, western};

/// What a run is for, and the files that it writes.
#[derive(Clone, Copy, Debug)]
pub struct Task<'f> {
    /// What the run is for.
    pub purpose: Purpose<'f>,
    /// The files; none for a command meant for people to repeat.
    pub files: Option<Files<'f>>,
}

impl Task<'_> {
    /// A run that is timed and writes nothing.
    pub const TIMES: Task<'static> = Task {
        purpose: Purpose::Times,
        files: None,
    };
}

/// The files that a run writes, apart from its output.
#[derive(Clone, Copy, Debug)]
pub struct Files<'f> {
    /// The file of the runtime's statistics, or of a workload's record.
    pub statistics: &'f Path,
    /// The file of its event log, if it writes one.
    pub eventlog: &'f Path,
    /// The path of its heap profile without the ending, if it writes one.
    pub profile: &'f Path,
    /// Whether a workload reads performance counters at each pause.
    pub pause_counters: bool,
}

/// The start of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The words of the command.
    pub words: Vec<String>,
    /// Variables of its environment, in addition to this process's.
    pub env: Vec<(String, String)>,
    /// The most address space that it may take, in bytes.
    pub address_space: Option<u64>,
}

impl Start {
    /// Appends words to a variable, so that they override values from the experiment file.
    pub(super) fn add_to_variable(&mut self, name: &str, words: &[String], separator: &str) {
        if words.is_empty() {
            return;
        }
        let own = self.env.iter().position(|(own, _)| own == name);
        let own = own.map(|at| self.env.remove(at).1);
        // OCaml before 4.12 loses the item behind two separators.
        let own = own.iter().map(|own| own.trim_matches(|c| separator.contains(c)));
        let own = own.filter(|own| !own.is_empty());
        let all: Vec<&str> = own.chain(words.iter().map(String::as_str)).collect();
        self.env.push((name.to_owned(), all.join(separator)));
    }
}

/// The command that an adapter adds its flags to.
#[derive(Clone, Copy, Debug)]
pub struct Command<'c> {
    /// The words of the command.
    pub words: &'c [String],
    /// Variables of its environment.
    pub env: &'c [(String, String)],
}

impl Command<'_> {
    /// The command unchanged.
    pub(super) fn start(&self) -> Start {
        Start {
            words: self.words.to_vec(),
            env: self.env.to_vec(),
            address_space: None,
        }
    }
}

/// A process that has ended, as far as adapters look at it.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'e> {
    /// The exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// The beginning and the end of its standard output.
    pub stdout: &'e str,
    /// The beginning and the end of its standard error.
    pub stderr: &'e str,
    /// The file of its statistics, if there is one.
    pub statistics: Option<&'e str>,
    /// Whether the run had a limit of address space.
    pub limited: bool,
}

/// The meaning of an unexpected end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The memory ran out.
    Exhausted,
    /// The runtime refused its flags.
    Refused,
}

/// Two flags that a runtime refuses together or of which it ignores one, or one that it ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The flags with their values.
    pub flags: Vec<Value>,
    /// The runtime's reason.
    pub reason: &'static str,
    /// Whether runs that differ only in the last flag are the same, so that one of them may stay.
    pub is_idle: bool,
}

/// Why a runtime does not take a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFlag {
    /// Whether the value is wrong, not the key.
    pub is_value: bool,
    /// What is wrong.
    pub message: String,
    /// The same in a few words.
    pub label: String,
    /// What would be right.
    pub help: String,
}

/// The adapter of a runtime.
pub trait Runtime: fmt::Debug + Send + Sync {
    /// Its name in experiment files and records.
    fn name(&self) -> &'static str;

    /// Its flags.
    fn flags(&self) -> &'static [Flag];

    /// Reads a value of the flag `key`.
    ///
    /// # Errors
    /// If there is no such flag, or it does not take the value.
    fn read(&self, key: &str, text: &str) -> Result<Value, BadFlag> {
        let name = self.name();
        let Some(flag) = self.flags().iter().find(|flag| flag.key == key) else {
            let keys: Vec<&str> = self.flags().iter().map(|flag| flag.key).collect();
            return Err(BadFlag {
                is_value: false,
                message: format!("the runtime {name} has no flag `{key}`"),
                label: format!("not with {name}"),
                help: format!(
                    "{}; `flags` and `sweep` in the table of a program replace the file's",
                    suggest(key, &format!("flags of {name}"), &keys)
                ),
            });
        };
        flag.read(text).ok_or_else(|| BadFlag {
            is_value: true,
            message: format!("`{key}`: {text} is not {}", flag.expected()),
            label: "not a legal value".to_owned(),
            help: format!("{key} ({name}): {}", flag.meaning),
        })
    }

    /// The key of the flag that limits the memory of a program.
    fn limit(&self) -> &'static str;

    /// The least limit that makes sense, in bytes.
    fn least_limit(&self) -> u64 {
        1
    }

    /// The setting of a run with all of the machine's memory.
    fn without_limit(&self, setting: &Setting) -> Setting {
        setting.clone()
    }

    /// The name of the memory limit for people: its flag's word, or else its key.
    fn limit_name(&self) -> &'static str {
        let flag = self.flags().iter().find(|flag| flag.key == self.limit());
        let word = flag.map_or("", |flag| flag.word.trim_end_matches("{}"));
        if word.is_empty() { self.limit() } else { word }
    }

    /// The word of a command, or of its variables, that sets the same flag and overrides an
    /// adapter's value.
    fn overriding(&self, command: Command<'_>, flag: &Value) -> Option<String> {
        let _ = (command, flag);
        None
    }

    /// The flags that are worth trying, for `gclab tune`; none if there are none.
    fn tried(&self) -> &'static [TunableFlag] {
        &[]
    }

    /// Whether a flag fixes the size of the heap, as the limit does.
    fn is_size(&self, flag: &Value) -> bool {
        flag.key() == self.limit()
    }

    /// The variables that could bring in flags from outside the plan: no run gets them.
    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a run can write an event log.
    fn has_event_log(&self) -> bool {
        false
    }

    /// The start of `command` with the flags of `setting`. If the task has files, the runtime
    /// writes its statistics.
    fn start(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Start;

    /// The start of a process that shows whether the runtime takes these flags, and does no work;
    /// `None` if there is none.
    fn probe(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Option<Start> {
        let _ = (command, setting, task);
        None
    }

    /// Whether a process that [`Runtime::probe`] started took its flags.
    ///
    /// # Errors
    /// The runtime's own message, or the reason why it ignores a flag.
    fn probed(&self, setting: &Setting, ended: &Ended<'_>) -> Result<(), String> {
        let _ = (setting, ended);
        Ok(())
    }

    /// The version of the runtime: from the output of a process that [`Runtime::probe`] started, or
    /// from the file of the program; `None` if neither names it.
    fn version(&self, probed: Option<&Ended<'_>>, file: Option<&Path>) -> Option<String> {
        let _ = (probed, file);
        None
    }

    /// Flags of a setting that the runtime takes one by one, and refuses or ignores together when
    /// the program starts: [`Runtime::probe`] does not see that.
    fn clash(&self, command: Command<'_>, setting: &Setting) -> Option<Clash> {
        let _ = (command, setting);
        None
    }

    /// The meaning of a failed run, if the runtime reports it.
    fn failure(&self, ended: &Ended<'_>) -> Option<Failure>;

    /// The figures that a run reports: its statistics, and of a workload also the other keys of
    /// its record.
    fn figures(&self, ended: &Ended<'_>) -> RunRecord;

    /// Checks that a run with the expected status did what was planned.
    ///
    /// # Errors
    /// The difference.
    fn agrees(&self, run: &PlannedRun, ended: &Ended<'_>, figures: &RunRecord) -> Result<(), String> {
        let _ = (run, ended, figures);
        Ok(())
    }
}

/// The lines of a text that contain a runtime's mark of a warning.
pub(super) fn warnings<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = String> + use<'t> {
    let lines = text.lines().filter(move |line| line.contains(mark));
    lines.take(MOST_WARNINGS).map(|line| cut(line.trim(), LONGEST_WARNING))
}

/// The most warnings of a run that its record keeps, and the most characters of one.
const MOST_WARNINGS: usize = 5;
const LONGEST_WARNING: usize = 200;

/// A number that a program printed under any locale: with a point, or with a comma.
pub(super) fn number_of(text: &str) -> Option<f64> {
    let number: f64 = western(text.trim()).replace(',', ".").parse().ok()?;
    number.is_finite().then_some(number)
}

/// The first non-empty line of a text.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or("it printed nothing").to_owned()
}

/// Out-of-memory messages of programs and libraries, in lower case.
const NO_MEMORY: [&str; 6] = [
    "out of memory",
    "out_of_memory",
    "cannot allocate memory",
    "bad_alloc",
    "failed to map segment",
    "memory allocation of",
];

/// Out-of-memory messages of the loader and of shells, in lower case. They can have other causes,
/// too.
const NO_START: [&str; 3] = [
    "error while loading shared libraries",
    "cannot allocate tls data structures",
    "cannot fork",
];

/// Whether a limit of address space ended a run.
///
/// The system kills a process whose program does not fit, or whose stack cannot grow: the signal is
/// then all there is. A bug in the program itself looks the same.
pub(super) fn limit_ended(ended: &Ended<'_>) -> bool {
    let text = ended.stderr.to_lowercase();
    let says = || says_no_memory(&text) || NO_START.iter().any(|message| text.contains(message));
    ended.limited && (ended.status.is_none() || says())
}

/// Whether a text has one of the usual messages that memory ran out.
pub(super) fn says_no_memory(text: &str) -> bool {
    let text = text.to_lowercase();
    NO_MEMORY.iter().any(|message| text.contains(message)) || text.contains("memoryerror")
}
