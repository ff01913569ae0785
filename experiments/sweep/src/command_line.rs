//! The command line of one planned run: the words for `gclab exec`.

use std::path::Path;

use gclab_flags::{FlagError, Flags};
use gclab_results::PlannedRun;

/// The files that a run writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'f> {
    /// The file of its record.
    pub(crate) record: &'f Path,
    /// The path of its heap profile, without the ending.
    pub(crate) profile: &'f Path,
}

/// The typed flags of a planned run, without those of its heap profile.
///
/// # Errors
/// The first illegal value. Plans that this crate makes have legal values only; one that was edited
/// by hand may not.
pub fn flags(run: &PlannedRun) -> Result<Flags, FlagError> {
    let mut flags = Flags::default();
    for (name, value) in &run.flags {
        flags.set(name, value)?;
    }
    Ok(flags)
}

/// The words of the flags of its heap profile; none for a run that is timed.
fn profile_words(run: &PlannedRun) -> Result<Vec<String>, FlagError> {
    let words = run.profile_flags.iter().flat_map(|flags| flags.split_whitespace());
    let words: Vec<String> = words.map(str::to_owned).collect();
    Flags::parse_words(&words)?;
    Ok(words)
}

/// The words after the program's name. With `files`, the run writes its record and profile there.
///
/// # Errors
/// As [`flags`].
pub(crate) fn exec(run: &PlannedRun, files: Option<&Files<'_>>) -> Result<Vec<String>, FlagError> {
    let mut words = vec!["exec".to_owned()];
    let mut work = vec![run.workload.clone()];
    work.extend(run.args.iter().cloned());
    // An argument that looks like an option goes behind `--`, where no word is an option. (A dash
    // alone stays: it asks for the default.)
    let odd = work.iter().any(|word| word != "-" && word.starts_with(['-', '+']));
    if !odd {
        words.append(&mut work);
    }
    words.extend(["--collector".to_owned(), run.collector.clone()]);
    if let Some(files) = files {
        words.extend(["--record".to_owned(), files.record.display().to_string()]);
        if run.profile_flags.is_some() {
            words.extend(["--profile".to_owned(), files.profile.display().to_string()]);
        }
    }
    let mut rts = flags(run)?.to_words();
    rts.extend(profile_words(run)?);
    if !rts.is_empty() {
        words.push("+RTS".to_owned());
        words.extend(rts);
        words.push("-RTS".to_owned());
    }
    if odd {
        words.push("--".to_owned());
        words.append(&mut work);
    }
    Ok(words)
}

/// The command that repeats the run, for people and for its record.
///
/// # Errors
/// As [`flags`].
pub fn shown(run: &PlannedRun) -> Result<Vec<String>, FlagError> {
    let mut words = vec!["gclab".to_owned()];
    words.extend(exec(run, None)?);
    // At the end of the line it is not needed.
    words.pop_if(|last| last == "-RTS");
    Ok(words)
}

#[cfg(test)]
mod tests {
    use gclab_results::{Configuration, shell_line};

    use super::*;

    fn run(args: &[&str], flags: &[(&str, &str)]) -> PlannedRun {
        let configuration = Configuration {
            workload: "mut_array".into(),
            collector: "copying".into(),
            args: args.iter().map(|arg| arg.to_string()).collect(),
            flags: flags
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
        };
        PlannedRun::new(configuration, 0, 0)
    }

    #[test]
    fn names_everything_that_is_planned() {
        let planned = run(&["10", "20"], &[("A", "1m"), ("F", "1.5")]);
        assert_eq!(
            shell_line(&shown(&planned).unwrap()),
            "gclab exec mut_array 10 20 --collector copying +RTS -A1m -F1.5"
        );
        let files = Files {
            record: Path::new("/tmp/a b"),
            profile: Path::new("/tmp/c"),
        };
        let words = exec(&planned, Some(&files)).unwrap();
        assert_eq!(
            shell_line(&words),
            "exec mut_array 10 20 --collector copying --record '/tmp/a b' +RTS -A1m -F1.5 -RTS"
        );
        let profiled = PlannedRun {
            profile_flags: Some("-hy -i0".into()),
            ..planned
        };
        let words = exec(&profiled, Some(&files)).unwrap();
        assert_eq!(
            shell_line(&words),
            "exec mut_array 10 20 --collector copying --record '/tmp/a b' --profile /tmp/c +RTS -A1m -F1.5 -hy -i0 -RTS"
        );
        assert_eq!(
            shell_line(&shown(&profiled).unwrap()),
            "gclab exec mut_array 10 20 --collector copying +RTS -A1m -F1.5 -hy -i0"
        );
    }

    #[test]
    fn arguments_that_look_like_options_stay_arguments() {
        assert_eq!(
            shell_line(&shown(&run(&["-5"], &[("A", "1m")])).unwrap()),
            "gclab exec --collector copying +RTS -A1m -RTS -- mut_array -5"
        );
    }
}
