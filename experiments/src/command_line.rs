//! The command line of one planned run: what `gclab exec` is to be told.

use std::path::Path;

use gclab_core::flags::{FlagError, Flags};
use gclab_results::PlannedRun;

/// The typed flags of a planned run.
///
/// # Errors
/// The first value at fault. Plans made by this crate hold legal values only; one edited by hand may not.
pub fn flags(run: &PlannedRun) -> Result<Flags, FlagError> {
    let mut flags = Flags::default();
    for (name, value) in &run.flags {
        flags.set(name, value)?;
    }
    Ok(flags)
}

/// The arguments, without the program's name. A record is written to `record` if there is one.
///
/// # Errors
/// As [`flags`].
pub fn exec(run: &PlannedRun, record: Option<&Path>) -> Result<Vec<String>, FlagError> {
    let mut words = vec!["exec".to_owned()];
    let mut work = vec![run.workload.clone()];
    work.extend(run.args.iter().cloned());
    // An argument that looks like an option goes behind `--`, where nothing is an option. (A dash alone does not: it asks for the default.)
    let odd = work.iter().any(|word| word != "-" && word.starts_with(['-', '+']));
    if !odd {
        words.append(&mut work);
    }
    words.extend(["--collector".to_owned(), run.collector.clone()]);
    if let Some(record) = record {
        words.extend(["--record".to_owned(), record.display().to_string()]);
    }
    let rts = flags(run)?.to_words();
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

/// The command that repeats the run, as shown to people and recorded.
///
/// # Errors
/// As [`flags`].
pub fn shown(run: &PlannedRun) -> Result<Vec<String>, FlagError> {
    let mut words = vec!["gclab".to_owned()];
    words.extend(exec(run, None)?);
    // At the end of a line it is not needed.
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
    fn says_all_that_was_planned() {
        let planned = run(&["10", "20"], &[("A", "1m"), ("F", "1.5")]);
        assert_eq!(
            shell_line(&shown(&planned).unwrap()),
            "gclab exec mut_array 10 20 --collector copying +RTS -A1m -F1.5"
        );
        let words = exec(&planned, Some(Path::new("/tmp/a b"))).unwrap();
        assert_eq!(
            shell_line(&words),
            "exec mut_array 10 20 --collector copying --record '/tmp/a b' +RTS -A1m -F1.5 -RTS"
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
