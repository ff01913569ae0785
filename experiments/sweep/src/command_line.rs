//! The command of one planned run: its program with the flags of its runtime.

use gclab_results::shell_line;

use crate::run::Run;
use crate::runtime::{Files, Start, Task};

/// The start of a run. With `files`, it writes its statistics, profile and event log there.
pub(crate) fn start(run: &Run, files: Option<Files<'_>>) -> Start {
    let task = Task {
        purpose: run.planned.purpose(),
        files,
    };
    run.program.start(&run.setting, task)
}

/// The command that repeats the run, for people and for its record: if it needs a folder or
/// variables, after `env`; if it reads a file or has a limit, in a line for a shell.
pub fn shown(run: &Run) -> Vec<String> {
    let program = &run.program;
    let start = start(run, None);
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::run::Combination;
    use crate::runtime::GCLAB;

    fn run(args: &[&str], flags: &[(&str, &str)]) -> Run {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        let values = flags
            .iter()
            .map(|(key, text)| GCLAB.read(key, text).expect("a legal value"));
        let setting = values.map(|value| (value.key(), value)).collect();
        Run::new(&Combination::of_workload("mut_array", &args, "copying", setting), 0, 0)
    }

    #[test]
    fn names_everything_that_is_planned() {
        let planned = run(&["10", "20"], &[("A", "1m"), ("F", "1.5")]);
        assert_eq!(
            shell_line(&shown(&planned)),
            "gclab exec mut_array 10 20 --collector copying +RTS -A1m -F1.5"
        );
        let files = |pause_counters| Files {
            statistics: Path::new("/tmp/a b"),
            profile: Path::new("/tmp/c"),
            eventlog: Path::new("/tmp/d e"),
            pause_counters,
        };
        let written = |run: &Run, counters| shell_line(&start(run, Some(files(counters))).words);
        assert_eq!(
            written(&planned, false),
            "gclab exec mut_array 10 20 --collector copying --record '/tmp/a b' +RTS -A1m -F1.5"
        );
        assert_eq!(
            written(&planned, true),
            "gclab exec mut_array 10 20 --collector copying --record '/tmp/a b' --pause-counters +RTS -A1m -F1.5"
        );
        let mut logged = planned.clone();
        logged.planned.eventlog = Some(true);
        assert_eq!(
            written(&logged, false),
            "gclab exec mut_array 10 20 --collector copying --record '/tmp/a b' +RTS -A1m -F1.5 -l '-ol/tmp/d e'"
        );
        assert_eq!(
            shell_line(&shown(&logged)),
            "gclab exec mut_array 10 20 --collector copying +RTS -A1m -F1.5 -l"
        );
        let mut profiled = planned;
        profiled.planned.profile_flags = Some("-hy -i0".into());
        assert_eq!(
            written(&profiled, false),
            "gclab exec mut_array 10 20 --collector copying --record '/tmp/a b' --profile /tmp/c +RTS -A1m -F1.5 -hy -i0"
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
