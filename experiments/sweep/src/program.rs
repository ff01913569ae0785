//! A program of an experiment: its command under its runtime's adapter, and the figures in its
//! output. A workload of gclab's is a program whose command is `gclab exec`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gclab_results::{Program as Description, RunRecord};
use regex_lite::Regex;

use crate::build::Build;
use crate::machine;
use crate::runtime::{self, Clash, Command, Ended, Runtime, Setting, Start, Task, Value, gclab};
use crate::text::{cut, western};
use crate::units::factor;

/// Figures further from 0 than this, or closer to it than its inverse, are not computed with: their
/// squares are no numbers.
const FURTHEST: f64 = 1e100;

/// The most characters of a figure in a message.
const LONGEST_NUMBER: usize = 40;

/// A program of an experiment.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program as `plan.json` has it.
    pub description: Description,
    /// The adapter of its runtime.
    pub runtime: &'static dyn Runtime,
    /// Whether the runtime writes its statistics. It does not if it refuses the flag for that.
    pub has_statistics: bool,
    pattern: Option<Regex>,
    stats: Vec<Stat>,
    env: Vec<(String, String)>,
    /// What only a workload of gclab's has.
    pub(crate) own: Option<Own>,
}

/// What a workload of gclab's has beside its command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Own {
    /// The build of gclab that does the runs, if it is not this one.
    pub(crate) build: Option<Arc<Build>>,
    /// The arguments in full, without defaults, if they are known.
    pub(crate) full_args: Option<Vec<String>>,
    /// Whether the runs read their performance counters at each pause.
    pub(crate) pause_counters: bool,
}

/// A figure that is taken from the output.
#[derive(Clone, Debug)]
struct Stat {
    name: String,
    regex: Regex,
    /// From the unit of the output to the record's.
    factor: f64,
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.description == other.description && self.own == other.own
    }
}

/// The output of a program.
#[derive(Clone, Copy, Debug)]
pub struct Output<'o> {
    /// The beginning and the end of its standard output.
    pub stdout: &'o str,
    /// The end of its standard error.
    pub stderr: &'o str,
    /// SHA-256 of the whole standard output, in hexadecimal.
    pub sha256: &'o str,
}

impl Program {
    /// The program of this description under `runtime`. Its id and the hashes of its files are
    /// filled in.
    ///
    /// # Errors
    /// The key with an invalid regular expression, and the fault.
    pub fn new(mut description: Description, runtime: &'static dyn Runtime) -> Result<Program, (String, String)> {
        let regex = |key: &str, text: &String| Regex::new(text).map_err(|error| (key.to_owned(), error.to_string()));
        let pattern = description.expect.pattern.as_ref();
        let pattern = pattern.map(|text| regex("pattern", text)).transpose()?;
        let stats = description.stats.iter();
        let stats = stats.map(|(name, text)| -> Result<Stat, (String, String)> {
            Ok(Stat {
                name: name.clone(),
                regex: regex(name, text)?,
                factor: factor(name, description.unit(name).unwrap_or(""))
                    .ok()
                    .flatten()
                    .unwrap_or(1.0),
            })
        });
        let stats = stats.collect::<Result<_, _>>()?;
        description.runtime = runtime.name().to_owned();
        let env = description.env.clone().into_iter().collect();
        let mut program = Program {
            description,
            runtime,
            has_statistics: true,
            pattern,
            stats,
            env,
            own: None,
        };
        program.description.executable = program.file().and_then(|file| machine::hash_of(&file));
        program.description.input = program.input();
        program.description.id = program.description.identity();
        Ok(program)
    }

    /// A workload under a collector, prepared by these commands.
    pub(crate) fn of_workload(
        workload: &str,
        args: &[String],
        collector: &str,
        prepare: Vec<Vec<String>>,
        own: Own,
    ) -> Program {
        let file = own.build.as_ref().map_or(Path::new("gclab"), |build| &build.file);
        Program {
            description: Description {
                name: workload.to_owned(),
                command: gclab::exec(file, workload, args, collector),
                prepare,
                executable: own.build.as_ref().map(|build| build.executable.clone()),
                runtime: runtime::GCLAB.name().to_owned(),
                ..Description::default()
            },
            runtime: runtime::GCLAB,
            has_statistics: true,
            pattern: None,
            stats: Vec::new(),
            env: Vec::new(),
            own: Some(own),
        }
    }

    /// Whether it is a workload of gclab's.
    pub fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// The same program with these arguments and variables: `{name}` in its command and in the path
    /// of its standard input becomes the value of the argument.
    pub(crate) fn with(&self, args: &BTreeMap<String, String>, env: &BTreeMap<String, String>) -> Program {
        let mut program = self.clone();
        let description = &mut program.description;
        for (name, value) in args.iter().filter(|_| self.own.is_none()) {
            let place = place_of(name);
            for text in description.command.iter_mut().chain(&mut description.stdin) {
                *text = text.replace(&place, value);
            }
        }
        description
            .env
            .extend(env.iter().map(|(name, value)| (name.clone(), value.clone())));
        program.env = description.env.clone().into_iter().collect();
        if program.is_own() {
            return program;
        }
        let is_elsewhere =
            env.contains_key("PATH") || program.description.command[..1] != self.description.command[..1];
        if is_elsewhere {
            program.description.executable = program.file().and_then(|file| machine::hash_of(&file));
        }
        if program.description.stdin != self.description.stdin {
            program.description.input = program.input();
        }
        program.description.id = program.description.identity();
        program
    }

    /// The hash of the standard input.
    fn input(&self) -> Option<String> {
        machine::hash_of(&self.path(self.description.stdin.as_ref()?))
    }

    /// Whether the command, or the path of the standard input, has a place for this argument.
    pub(crate) fn has_place(&self, argument: &str) -> bool {
        let place = place_of(argument);
        let description = &self.description;
        let mut texts = description.command.iter().chain(&description.stdin);
        texts.any(|text| text.contains(&place))
    }

    /// The number of groups of the pattern for the figure `name`, or of the expected pattern.
    pub fn groups(&self, name: Option<&str>) -> usize {
        let regex = match name {
            None => self.pattern.as_ref(),
            Some(name) => self.stats.iter().find(|stat| stat.name == name).map(|stat| &stat.regex),
        };
        regex.map_or(0, |regex| regex.captures_len() - 1)
    }

    /// The flag that limits the memory to these bytes.
    ///
    /// # Errors
    /// If no flag takes that many.
    pub(crate) fn limit(&self, bytes: u64) -> Result<Value, String> {
        let limit = self.runtime.read(self.runtime.limit(), &bytes.to_string());
        limit.map_err(|bad| bad.message)
    }

    /// The folder in which it runs, if it is not the current one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.description.dir.as_deref().map(Path::new)
    }

    /// A path of the description: relative ones start in the program's folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder().unwrap_or(Path::new("")).join(path)
    }

    /// The file of the command: see [`Program::find`].
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.find(self.description.command.first()?)
    }

    /// The file that the first word of a command names, as a shell would find it; `None` if there
    /// is none that can be run.
    pub(crate) fn find(&self, word: &str) -> Option<PathBuf> {
        let own = self.description.env.get("PATH").map(String::as_str);
        find(word, self.folder().unwrap_or(Path::new("")), own)
    }

    /// Its variables of the environment.
    pub(crate) fn env(&self) -> &[(String, String)] {
        &self.env
    }

    fn command(&self) -> Command<'_> {
        Command {
            words: &self.description.command,
            env: &self.env,
        }
    }

    /// The task, without files if the runtime refuses to write them.
    fn possible<'f>(&self, task: Task<'f>) -> Task<'f> {
        Task {
            files: task.files.filter(|_| self.has_statistics),
            ..task
        }
    }

    /// The start of a run with these flags.
    pub(crate) fn start(&self, setting: &Setting, task: Task<'_>) -> Start {
        self.runtime.start(self.command(), setting, self.possible(task))
    }

    /// The start of a process that shows whether the runtime takes these flags.
    pub(crate) fn probe(&self, setting: &Setting, task: Task<'_>) -> Option<Start> {
        self.runtime.probe(self.command(), setting, self.possible(task))
    }

    /// The word of its command, or of its variables, that overrides a flag.
    pub fn overriding(&self, flag: &Value) -> Option<String> {
        self.runtime.overriding(self.command(), flag)
    }

    /// Flags of a setting that its runtime refuses or ignores together.
    pub(crate) fn clash(&self, setting: &Setting) -> Option<Clash> {
        self.runtime.clash(self.command(), setting)
    }

    /// The checksum of a run that ended with the expected status; `None` if `expect` asks for none.
    ///
    /// # Errors
    /// The difference from the answer that `expect` names.
    pub(crate) fn answer(&self, output: &Output<'_>) -> Result<Option<String>, String> {
        let expect = &self.description.expect;
        let mut checksum = None;
        if let Some(wanted) = &expect.checksum {
            if *wanted != output.sha256 {
                return Err(format!("the SHA-256 of its output is {}, not {wanted}", output.sha256));
            }
            checksum = Some(output.sha256.to_owned());
        }
        if let (Some(pattern), Some(text)) = (&self.pattern, &expect.pattern) {
            let Some(found) = pattern.captures(output.stdout) else {
                return Err(format!("its output does not match {text}"));
            };
            checksum = found.get(1).map(|group| group.as_str().to_owned()).or(checksum);
        }
        Ok(checksum)
    }

    /// The figures of a run: those that its runtime reports, with those that `stats` takes from
    /// its output.
    pub(crate) fn figures(&self, ended: &Ended<'_>, output: &Output<'_>) -> RunRecord {
        let mut figures = self.runtime.figures(ended);
        let mut others = BTreeMap::new();
        for Stat { name, regex, factor } in &self.stats {
            // The last match counts: programs that report progress end with the total.
            let in_text = |text| Some(regex.captures_iter(text).last()?.get(1)?.as_str());
            let Some(found) = in_text(output.stderr).or_else(|| in_text(output.stdout)) else {
                continue;
            };
            let known = figures.clone();
            let mut refuse = |why: &str| {
                let found = cut(found, LONGEST_NUMBER);
                figures.notes.push(format!(
                    "`{name}` of `stats` is {found:?}, {why}, so the run has no such figure"
                ));
            };
            let figure = match number(found) {
                Ok(number) => number * factor,
                Err(why) => {
                    refuse(why);
                    continue;
                }
            };
            if figure != 0.0 && !(FURTHEST.recip()..=FURTHEST).contains(&figure.abs()) {
                refuse("which is beyond the figures that can be computed with, from 1e-100 to 1e100");
                continue;
            }
            match known.with_figure(name, figure) {
                Some(all)
                    if figure > u64::MAX as f64 && all == known.with_figure(name, FURTHEST).unwrap_or_default() =>
                {
                    refuse("which is more than its record can hold");
                }
                Some(_) if figure < 0.0 => refuse("which is negative"),
                Some(all) if figure > 0.0 && all == known.with_figure(name, 0.0).unwrap_or_default() => {
                    refuse("which is less than its unit");
                }
                Some(all) => figures = all,
                None => {
                    others.insert(name.clone(), figure);
                }
            }
        }
        figures.figures = (!others.is_empty()).then_some(others);
        figures
    }
}

/// The file that the first word of a command in `folder` names, as a shell would find it on `path`,
/// or else on the `PATH` of this process; `None` if there is none that can be run.
pub fn find(word: &str, folder: &Path, path: Option<&str>) -> Option<PathBuf> {
    let can_run = |path: &PathBuf| {
        let metadata = fs::metadata(path);
        metadata.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if word.contains('/') {
        return Some(folder.join(word)).filter(can_run);
    }
    let path = path.map(Into::into).or_else(|| std::env::var_os("PATH"));
    std::env::split_paths(&path.unwrap_or_default())
        .map(|folder| folder.join(word))
        .find(can_run)
}

/// The reason why [`find`] does not find `word`, which has a slash; `None` if it has none, or if
/// there is no such file.
pub(crate) fn why_not(word: &str, folder: &Path) -> Option<String> {
    let found = fs::metadata(folder.join(word));
    match found.map(|found| found.is_dir()) {
        _ if !word.contains('/') => None,
        Ok(true) => Some("a folder, not a program".to_owned()),
        Ok(false) => Some("this file may not be executed; `chmod +x` allows it".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(error.to_string()),
    }
}

/// The place of an argument in a command.
pub(crate) fn place_of(argument: &str) -> String {
    format!("{{{argument}}}")
}

/// A number as programs print it under any locale: with a decimal point or comma, and with groups
/// of three digits.
///
/// # Errors
/// Why there is none. `1,234` may be either.
fn number(text: &str) -> Result<f64, &'static str> {
    let apart = ['_', ' ', '\'', '\u{a0}', '\u{202f}', '\u{66c}'];
    let plain: String = western(text.trim()).chars().filter(|c| !apart.contains(c)).collect();
    let digits = plain.trim_start_matches(['-', '+']);
    let joined = |groups: &str, separator: char| {
        let (first, others) = groups.split_once(separator)?;
        let is_grouped = (1..=3).contains(&first.len()) && others.split(separator).all(|group| group.len() == 3);
        is_grouped.then(|| groups.replace(separator, ""))
    };
    let read = match digits.rfind([',', '.']).map(|at| digits.split_at(at)) {
        None => Some(digits.to_owned()),
        Some((whole, part)) => {
            let (separator, other) = if part.starts_with(',') { (',', '.') } else { ('.', ',') };
            let part = &part[1..];
            if whole.contains(separator) {
                joined(digits, separator)
            } else if whole.contains(other) {
                joined(whole, other).map(|whole| format!("{whole}.{part}"))
            } else if separator == ',' && part.len() == 3 && (1..=3).contains(&whole.len()) && whole != "0" {
                return Err("whose comma may stand for a decimal point or part thousands");
            } else {
                Some(format!("{whole}.{part}"))
            }
        }
    };
    let sign = if plain.starts_with('-') { -1.0 } else { 1.0 };
    let number = read.and_then(|read| read.parse().ok()).map(|number: f64| sign * number);
    number
        .filter(|number| number.is_finite() && plain.len() - digits.len() < 2)
        .ok_or("which is not a finite number")
}

#[cfg(test)]
mod tests {
    use gclab_results::Expectation;

    use super::*;
    use crate::runtime::named;

    fn program(expect: Expectation, stats: &[(&str, &str)]) -> Program {
        let stats = stats.iter().map(|(name, text)| (name.to_string(), text.to_string()));
        let description = Description {
            command: vec!["sh".into()],
            expect,
            stats: stats.collect(),
            ..Description::default()
        };
        Program::new(description, named("none").unwrap()).unwrap()
    }

    fn output(stdout: &'static str) -> Output<'static> {
        Output {
            stdout,
            stderr: "",
            sha256: "ab",
        }
    }

    #[test]
    fn an_answer_is_the_group_or_else_the_checksum() {
        let of = |checksum: Option<&str>, pattern: Option<&str>| {
            let expect = Expectation {
                status: 0,
                checksum: checksum.map(str::to_owned),
                pattern: pattern.map(str::to_owned),
            };
            program(expect, &[]).answer(&output("one\nsum=42 end\n"))
        };
        let some = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(of(None, None), Ok(None));
        assert_eq!(of(Some("ab"), None), some("ab"));
        assert_eq!(of(None, Some("sum=[0-9]+")), Ok(None));
        assert_eq!(of(Some("ab"), Some("sum=([0-9]+)")), some("42"));
        assert!(of(Some("cd"), None).unwrap_err().contains("is ab, not cd"));
        assert!(of(None, Some("sum=43")).unwrap_err().contains("does not match sum=43"));
    }

    #[test]
    fn figures_of_known_names_join_the_statistics_and_others_stay_apart() {
        let stats = [
            ("gcs", "gcs=([0-9]+)"),
            ("gc_cpu_seconds", "gc=([0-9.]+)"),
            ("latency_p99_9_ns", "p99.9: ([0-9]+) ns"),
            ("requests", "served ([0-9,]+)"),
            ("never", "never=([0-9]+)"),
        ];
        let ended = Ended {
            status: Some(0),
            stdout: "",
            stderr: "",
            statistics: None,
            limited: false,
        };
        let program = program(Expectation::default(), &stats);
        let text = "served 7\nserved 1,234,567 requests\ngcs=12 gc=0.25\np99.9: 1500 ns";
        let figures = program.figures(&ended, &output(text));
        let stats = figures.stats.unwrap();
        assert_eq!(
            (stats.gcs, stats.gc_cpu_seconds, stats.major_gcs),
            (Some(12), Some(0.25), None)
        );
        let latency = figures.latency.unwrap();
        assert_eq!((latency.p99_9_ns, latency.p99_ns), (Some(1500), None));
        assert_eq!(figures.figures, Some([("requests".to_owned(), 1_234_567.0)].into()));
        let none = program.figures(&ended, &output(""));
        assert_eq!(
            (none.stats, none.latency, none.figures),
            (None, None, None),
            "absent, not zero"
        );
    }

    #[test]
    fn a_number_is_read_under_any_locale() {
        for (text, expected) in [
            ("12.5", 12.5),
            ("12,5", 12.5),
            ("-0,125", -0.125),
            ("7,14159", 7.14159),
            ("1.234,5", 1234.5),
            ("1,234.5", 1234.5),
            ("1,234,567", 1_234_567.0),
            ("1.234.567", 1_234_567.0),
            ("1'234'567", 1_234_567.0),
            ("1 234 567,25", 1_234_567.25),
            ("1.5e3", 1500.0),
            ("1234,567", 1234.567),
            ("١٬٢٣٤٫٥", 1234.5),
            ("۱۲٫۵", 12.5),
            ("0\u{66b}125", 0.125),
        ] {
            assert_eq!(number(text), Ok(expected), "{text}");
        }
        assert!(number("12,500").is_err_and(|why| why.contains("thousands")));
        for none in ["", "-", "1,23,4", "inf", "--5", "1.2.3"] {
            assert!(number(none).is_err_and(|why| why.contains("not a finite")), "{none}");
        }
    }

    #[test]
    fn a_command_is_found_as_a_shell_finds_it() {
        let sh = program(Expectation::default(), &[]);
        assert!(sh.file().is_some_and(|file| file.ends_with("sh")));
        assert!(sh.description.executable.is_some());
        let mut other = sh.clone();
        other.description.command = vec!["no-such-program-at-all".into()];
        assert_eq!(other.file(), None);
        other.description.command = vec!["./sh".into()];
        other.description.dir = sh.file().unwrap().parent().map(|folder| folder.display().to_string());
        assert!(other.file().is_some());
        other.description.env = [("PATH".to_owned(), "/nowhere".to_owned())].into();
        other.description.command = vec!["sh".into()];
        assert_eq!(other.file(), None);
    }
}
