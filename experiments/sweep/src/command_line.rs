//! The command of one planned run: the words for `gclab exec`, or a program with the flags of its
//! runtime.

use std::path::Path;

use gclab_results::{Purpose, shell_line};

use crate::program::Program;
use crate::run::{Run, Subject};
use crate::runtime::{self, Start};

/// The files that a run writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'f> {
    /// The file of its record.
    pub(crate) record: &'f Path,
    /// The path of its heap profile, without the ending.
    pub(crate) profile: &'f Path,
    /// The file of its event log.
    pub(crate) eventlog: &'f Path,
}

/// The flag of a run that writes an event log.
pub(crate) const LOG_FLAG: &str = "-l";

/// The option of a run whose record has its performance counters of each part. Without a record it
/// would have no effect.
pub const PAUSE_COUNTERS: &str = "--pause-counters";

/// The words after the program's name. With `files`, the run writes its record, profile and event
/// log there.
pub(crate) fn exec(run: &Run, files: Option<&Files<'_>>) -> Vec<String> {
    let planned = &run.planned;
    let mut words = vec!["exec".to_owned()];
    let mut work = vec![planned.workload.clone()];
    work.extend(planned.args.iter().cloned());
    // An argument that looks like an option goes behind `--`, where no word is an option. (A dash
    // alone stays: it asks for the default.)
    let odd = work.iter().any(|word| word != "-" && word.starts_with(['-', '+']));
    if !odd {
        words.append(&mut work);
    }
    words.extend(["--collector".to_owned(), planned.collector.clone()]);
    if let Some(files) = files {
        words.extend(["--record".to_owned(), files.record.display().to_string()]);
        if run.surroundings.pause_counters {
            words.push(PAUSE_COUNTERS.to_owned());
        }
        if let Purpose::HeapProfile(_) = planned.purpose() {
            words.extend(["--profile".to_owned(), files.profile.display().to_string()]);
        }
    }
    let mut rts = run.own_flags().to_words();
    match planned.purpose() {
        Purpose::Times => {}
        Purpose::HeapProfile(flags) => rts.extend(flags.split_whitespace().map(str::to_owned)),
        Purpose::EventLog => {
            rts.push(LOG_FLAG.to_owned());
            rts.extend(files.map(|files| format!("-ol{}", files.eventlog.display())));
        }
    }
    if !rts.is_empty() {
        words.push("+RTS".to_owned());
        words.extend(rts);
        words.push("-RTS".to_owned());
    }
    if odd {
        words.push("--".to_owned());
        words.append(&mut work);
    }
    words
}

/// The start of a run of `program`. With `files`, its runtime writes its statistics and event log
/// there.
pub(crate) fn start(run: &Run, program: &Program, setting: &runtime::Setting, files: Option<&Files<'_>>) -> Start {
    let is_logged = run.planned.purpose() == Purpose::EventLog;
    let files = files.map(|files| runtime::Files {
        statistics: files.record,
        eventlog: Some(files.eventlog).filter(|_| is_logged),
    });
    program.start(setting, files)
}

/// The command that repeats the run, for people and for its record.
pub fn shown(run: &Run) -> Vec<String> {
    match &run.subject {
        Subject::Workload(_) => shown_workload(run),
        Subject::Program(program, setting) => shown_program(program, start(run, program, setting, None)),
    }
}

/// The words of a program; if it needs a folder or variables, after `env`; if it reads a file or
/// has a limit, in a line for a shell.
fn shown_program(program: &Program, start: Start) -> Vec<String> {
    let mut words = Vec::new();
    if program.folder().is_some() || !start.env.is_empty() {
        words.push("env".to_owned());
        words.extend(program.description.dir.iter().map(|dir| format!("--chdir={dir}")));
        words.extend(start.env.iter().map(|(name, value)| format!("{name}={value}")));
    }
    words.extend(start.words);
    let limit = start.address_space.map(|bytes| format!("ulimit -v {}; ", bytes / 1024));
    let stdin = program.description.stdin.as_deref();
    let stdin = stdin.map(|file| format!(" < {}", shell_line(&[program.path(file).display().to_string()])));
    if limit.is_none() && stdin.is_none() {
        return words;
    }
    let line = format!(
        "{}{}{}",
        limit.unwrap_or_default(),
        shell_line(&words),
        stdin.unwrap_or_default()
    );
    ["sh", "-c", &line].map(str::to_owned).to_vec()
}

fn shown_workload(run: &Run) -> Vec<String> {
    let surroundings = &run.surroundings;
    let mut words = Vec::new();
    if !surroundings.env.is_empty() {
        words.push("env".to_owned());
        words.extend(surroundings.env.iter().map(|(name, value)| format!("{name}={value}")));
    }
    let build = surroundings.build.as_ref();
    words.push(build.map_or_else(|| "gclab".to_owned(), |build| build.file.display().to_string()));
    words.extend(exec(run, None));
    // At the end of the line it is not needed.
    words.pop_if(|last| last == "-RTS");
    words
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gclab_flags::FlagValue;
    use gclab_results::shell_line;

    use super::*;
    use crate::run::{Combination, Surroundings};

    fn run(args: &[&str], flags: &[(&str, &str)]) -> Run {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        let values = flags
            .iter()
            .map(|(key, text)| FlagValue::read(key, text).expect("a legal value"));
        let setting = values.map(|value| (value.key(), value)).collect();
        Run::new(&Combination::new("mut_array", &args, "copying", setting), 0, 0)
    }

    #[test]
    fn names_everything_that_is_planned() {
        let planned = run(&["10", "20"], &[("A", "1m"), ("F", "1.5")]);
        assert_eq!(
            shell_line(&shown(&planned)),
            "gclab exec mut_array 10 20 --collector copying +RTS -A1m -F1.5"
        );
        let files = Files {
            record: Path::new("/tmp/a b"),
            profile: Path::new("/tmp/c"),
            eventlog: Path::new("/tmp/d e"),
        };
        let words = exec(&planned, Some(&files));
        assert_eq!(
            shell_line(&words),
            "exec mut_array 10 20 --collector copying --record '/tmp/a b' +RTS -A1m -F1.5 -RTS"
        );
        let mut counted = planned.clone();
        counted.surroundings = Arc::new(Surroundings {
            pause_counters: true,
            ..Surroundings::default()
        });
        assert_eq!(
            shell_line(&exec(&counted, Some(&files))),
            "exec mut_array 10 20 --collector copying --record '/tmp/a b' --pause-counters +RTS -A1m -F1.5 -RTS"
        );
        assert_eq!(shown(&counted), shown(&planned), "without a record they have no effect");
        let mut logged = planned.clone();
        logged.planned.eventlog = Some(true);
        let words = exec(&logged, Some(&files));
        assert_eq!(
            shell_line(&words),
            "exec mut_array 10 20 --collector copying --record '/tmp/a b' +RTS -A1m -F1.5 -l '-ol/tmp/d e' -RTS"
        );
        assert_eq!(
            shell_line(&shown(&logged)),
            "gclab exec mut_array 10 20 --collector copying +RTS -A1m -F1.5 -l"
        );
        let mut profiled = planned;
        profiled.planned.profile_flags = Some("-hy -i0".into());
        let words = exec(&profiled, Some(&files));
        assert_eq!(
            shell_line(&words),
            "exec mut_array 10 20 --collector copying --record '/tmp/a b' --profile /tmp/c +RTS -A1m -F1.5 -hy -i0 -RTS"
        );
        assert_eq!(
            shell_line(&shown(&profiled)),
            "gclab exec mut_array 10 20 --collector copying +RTS -A1m -F1.5 -hy -i0"
        );
    }

    #[test]
    fn arguments_that_look_like_options_stay_arguments() {
        assert_eq!(
            shell_line(&shown(&run(&["-5"], &[("A", "1m")]))),
            "gclab exec --collector copying +RTS -A1m -RTS -- mut_array -5"
        );
    }

    #[test]
    fn words_are_made_of_values_and_plans_of_their_text() {
        let planned = run(&[], &[("A", "1024k"), ("qg", "false"), ("F", "2.50")]);
        let text = planned.planned.flags.iter().map(|(key, text)| format!("{key}={text}"));
        assert_eq!(text.collect::<Vec<_>>(), ["A=1024k", "F=2.50", "qg=false"]);
        assert_eq!(
            shell_line(&shown(&planned)),
            "gclab exec mut_array --collector copying +RTS -A1m -F2.5 -qg"
        );
    }
}
