//! The command line: `gclab exec | run | plan | status | minheap | tune | report | compare |
//! reproduce | emit | list | heap | inspect | new | profile | events | completions | man | help`.
//!
//! Flags between `+RTS` and `-RTS` may appear anywhere; they are removed first, and clap sees the
//! rest.

use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use gclab_core::stats::render::is_unprintable;
use gclab_flags::{CommandLine, FlagError, Flags, split};
use gclab_programs::Executor;
use gclab_results::shell_line;
use gclab_sweep::environment::Root;
use gclab_sweep::program::find;
use gclab_sweep::registry::Registry;
use gclab_sweep::tell;

use crate::common::{EXIT_USAGE, refuse};
use crate::input::MEASURE;
use crate::settings::{RtsOpts, Settings};
use crate::{
    compare, emit, events, exec, heap, input, inspect, list, minheap, new, plan, profile, report, reproduce, run,
    run_arguments, shell, status, tune,
};

/// A laboratory for garbage collectors: one heap, many collectors, the same programs, honest
/// numbers.
#[derive(Debug, Parser)]
#[command(name = "gclab", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

// Arguments are built only for the command that runs: building all of them took a third of the
// instructions of a short run.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    /// Run one workload under one collector, in this process
    Exec(exec::Arguments),
    /// Run an experiment, or the runs of it that are still missing, and report
    Run(run_arguments::Arguments),
    /// Print the runs of an experiment in order, one per line, with their ids
    Plan(plan::Arguments),
    /// Show the progress of a sweep: runs done, failed and left, and when it should finish
    Status(status::Arguments),
    /// Find the smallest heap in which a workload or program completes, by bisection; resumes where it
    /// stopped
    Minheap(minheap::Arguments),
    /// Find flags that minimise the time, longest pause or memory of a program or workload
    Tune(tune::Arguments),
    /// Report on results folders
    Report(report::ReportArguments),
    /// Compare two results folders, two collectors, or the history of many folders: exit 0 without a
    /// regression, 1 with one, 2 on wrong usage
    Compare(compare::CompareArguments),
    /// Repeat a published experiment, and say which figures agree: exit 0 if none differs, 1 if one
    /// does, 2 on wrong usage
    Reproduce(reproduce::Arguments),
    /// Print a Slurm script that runs the shards of an experiment on several machines
    Emit(emit::Arguments),
    /// List the collectors, workloads or flags of this program
    List(list::Arguments),
    /// Find the objects that hold memory, in the heap of a file or of a workload
    #[command(subcommand)]
    Heap(heap::Command),
    /// Run a workload and show a map of its heap: blocks, occupancy, ages, holes, moves
    Inspect(inspect::Arguments),
    /// Write a crate with a collector of your own that builds, passes its tests and runs sweeps
    New(new::Arguments),
    /// Draw the heap profile of a file
    #[command(subcommand)]
    Profile(profile::Command),
    /// Summarise, show, check, draw, compare and export the event logs of GHC programs
    #[command(subcommand)]
    Events(events::Command),
    /// Print completions for a shell: `source <(gclab completions bash)`
    Completions(shell::CompletionsArguments),
    /// Print the manual page of gclab or of one of its commands: `gclab man run | man -l -`
    Man(shell::ManArguments),
}

/// The description of the whole command line.
fn description() -> clap::Command {
    Cli::command()
}

/// Runs the command in `words`, which do not include the program's own name.
pub(crate) fn command(
    words: impl IntoIterator<Item = String>,
    executor: &dyn Executor,
    settings: &Settings,
) -> ExitCode {
    let registry = &Registry::new(executor.collectors(), executor.workloads());
    let CommandLine { mut program, rts } = split(words);
    // `gclab +RTS --info`, as for a GHC program.
    if program.is_empty() && !rts.is_empty() {
        program.push("exec".into());
    }
    if let Some((at, message)) = bare_command(&program, registry).or_else(|| bare_file(&program, registry))
        && !is_value(&program, at)
    {
        return refuse(message);
    }
    let cli = match Cli::try_parse_from(std::iter::once("gclab".to_owned()).chain(program.iter().cloned())) {
        Ok(cli) => cli,
        Err(error) => {
            if error.kind() == ErrorKind::InvalidSubcommand
                && let Some(message) = no_verb(&program)
            {
                return refuse(message);
            }
            if error.kind() == ErrorKind::UnknownArgument
                && error.get(ContextKind::InvalidArg).is_some_and(|wrong| {
                    // For -A1m the error quotes only -A.
                    let wrong = wrong.to_string();
                    program
                        .iter()
                        .find(|word| word.starts_with(&wrong))
                        .is_some_and(|word| is_flag(word))
                })
                && let Some(message) = misplaced(&program, &rts)
            {
                return refuse(message);
            }
            if error.kind() == ErrorKind::UnknownArgument
                && let Some(message) = compared_commands(&program)
            {
                return refuse(message);
            }
            if program.iter().any(|word| word.contains(is_unprintable)) {
                // Codes of colours are control characters too, so this message is printed without.
                tell!("{}", error.to_string().trim_end());
            } else {
                // If standard error is closed, there is nowhere to print the message.
                let _ = error.print();
            }
            return if error.use_stderr() {
                ExitCode::from(EXIT_USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let takes_flags = matches!(
        cli.command,
        Command::Exec(_) | Command::Minheap(_) | Command::Inspect(_) | Command::Heap(heap::Command::Dump(_))
    );
    if !rts.is_empty() && !takes_flags {
        return refuse(
            "flags between +RTS and -RTS are for `gclab exec`, `gclab minheap`, `gclab inspect` and `gclab heap dump`; in an experiment file they go under [flags] and \
             [sweep]",
        );
    }
    if settings.rtsopts != RtsOpts::All && matches!(cli.command, Command::Minheap(_)) {
        return refuse("minheap sets flags of its runs, which this program forbids");
    }
    match cli.command {
        Command::Exec(arguments) => exec::exec(&arguments, &rts, registry, executor, settings),
        Command::Run(arguments) => run::run(&arguments, registry, settings, &Root::system()),
        Command::Plan(arguments) => plan::plan(&arguments, registry),
        Command::Status(arguments) => status::status(&arguments),
        Command::Minheap(arguments) => minheap::minheap(&arguments, &rts, registry, settings),
        Command::Tune(arguments) => tune::tune(&arguments, registry, settings),
        Command::Report(arguments) => report::report(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(arguments, registry, settings),
        Command::Emit(arguments) => emit::emit(&arguments, registry),
        Command::List(arguments) => list::list(&arguments, registry),
        Command::Heap(command) => heap::heap(command, &rts, registry, executor, settings),
        Command::Inspect(arguments) => inspect::inspect(&arguments, &rts, registry, executor, settings),
        Command::New(arguments) => new::new(&arguments, registry),
        Command::Profile(command) => profile::profile(&command),
        Command::Events(command) => events::events(&command),
        Command::Completions(arguments) => shell::completions(&arguments, description()),
        Command::Man(arguments) => shell::man(&arguments, description()),
    }
}

/// The message for a command to measure that lacks the `--` before it, with the place of the
/// command; `None` if there is none.
fn bare_command(program: &[String], registry: &Registry) -> Option<(usize, String)> {
    let (verb, words) = program.split_first()?;
    if !["run", "tune", "minheap"].contains(&verb.as_str()) || words.iter().any(|word| word == "--") {
        return None;
    }
    // `prog` is not found in the working directory; ./prog is.
    let as_program = |word: &String| match word.contains('/') {
        true => Some(word.clone()),
        false => Some(format!("./{word}")).filter(|_| registry.workload(word).is_none()),
    };
    let is_program = |word: &String| !word.ends_with(".toml") && find(word, Path::new(""), None).is_some();
    let found = |(at, word)| Some((at, as_program(word).filter(&is_program)?));
    let (at, command) = words.iter().enumerate().find_map(found)?;
    let mut right = vec!["gclab".to_owned(), verb.clone()];
    right.extend_from_slice(&words[..at]);
    right.extend(["--".to_owned(), command]);
    right.extend_from_slice(&words[at + 1..]);
    Some((at + 1, format!("put -- before a command: {}", shell_line(&right))))
}

/// The message for `gclab events FILE`, `gclab run LOG`, `gclab exec ./prog` and the like, with the
/// place of the file: it names the command that reads the file, or measures the programs.
fn bare_file(program: &[String], registry: &Registry) -> Option<(usize, String)> {
    let (verb, words) = program.split_first()?;
    // `compare './a 1' './b 2'`
    let commands: Vec<String>;
    let words = match verb.as_str() {
        "compare" => {
            commands = words.iter().flat_map(|word| words_of_command(word)).collect();
            &commands
        }
        _ => words,
    };
    let named = match verb.as_str() {
        // In the place of the subcommand.
        "events" | "heap" | "profile" => words.get(..1)?,
        "run" | "plan" | "emit" | "exec" | "tune" | "minheap" | "inspect" | "report" => {
            words.split(|word| word == "--").next()?
        }
        // `compare -- ./a -- ./b`
        "compare" => words,
        _ => return None,
    };
    // A workload's arguments may be files.
    if named.iter().any(|word| registry.workload(word).is_some()) {
        return None;
    }
    let hint = |(at, file): (usize, &String)| {
        let path = Path::new(file);
        let is_other = match verb.as_str() {
            "events" | "heap" | "profile" => true,
            // A pipe can be read only once.
            "report" | "compare" => path.is_file(),
            _ if !path.is_file() && !path.is_dir() => false,
            "run" | "plan" | "emit" => input::kind(path)?.1 != "run",
            _ => true,
        };
        let rest = &words[at + 1..];
        Some((
            at + 1,
            right_command(file, rest, verb == "compare").filter(|_| is_other)?,
        ))
    };
    named.iter().enumerate().find_map(hint)
}

/// The words of a program with its arguments in one word; any other word alone.
fn words_of_command(word: &str) -> Vec<String> {
    let is_command = |first: &Path| first.is_file() && input::kind(first).is_some_and(|kind| kind.1 == MEASURE);
    match word.split_once(' ') {
        Some((first, _)) if is_command(Path::new(first)) && !Path::new(word).exists() => {
            word.split_whitespace().map(str::to_owned).collect()
        }
        _ => vec![word.to_owned()],
    }
}

/// The message for `gclab compare -- sleep 1 -- sleep 2`.
fn compared_commands(program: &[String]) -> Option<String> {
    let (_, words) = program.split_first().filter(|(verb, _)| *verb == "compare")?;
    let mut commands = words.splitn(2, |word| word == "--");
    let (first, others) = (commands.next()?, commands.next()?);
    // The first command may stand before the first `--`.
    let commands = match others.iter().any(|word| word == "--") {
        true => others,
        false => &words[first.iter().take_while(|word| word.starts_with('-')).count()..],
    };
    Some(format!(
        "compare reads folders of results; for commands: gclab run -- {}",
        shell_line(commands)
    ))
}

/// The message for `gclab ./prog`, `gclab x.toml` and the like.
fn no_verb(program: &[String]) -> Option<String> {
    let (file, rest) = program.split_first()?;
    right_command(file, rest, false)
}

/// The message that names the command for a file: that reads it, or that measures a program with
/// the words behind it; `several` programs, if each such word begins a command.
fn right_command(file: &str, rest: &[String], several: bool) -> Option<String> {
    let path = Path::new(file);
    let hint = input::hint(path);
    let mut hint = hint.strip_prefix("; ")?.to_owned();
    if input::kind(path)?.1 == MEASURE {
        let several = several && !rest.iter().any(|word| word == "--");
        let mut words = Vec::new();
        for word in rest {
            let path = Path::new(word);
            if several && input::kind(path).is_some_and(|(_, command, _)| command == MEASURE) {
                words.extend(["--".to_owned(), input::program(path)]);
            } else {
                words.push(word.clone());
            }
        }
        if !words.is_empty() {
            hint = format!("{hint} {}", shell_line(&words));
        }
    }
    Some(format!("{file}: {hint}"))
}

/// Whether the word at this place is the value of the option before it.
fn is_value(program: &[String], at: usize) -> bool {
    let mut command = description();
    command.build();
    let mut words = &program[..at];
    while let [verb, rest @ ..] = words
        && let Some(inner) = command.find_subcommand(verb)
    {
        command = inner.clone();
        words = rest;
    }
    let Some(option) = words.last().and_then(|word| word.strip_prefix('-')) else {
        return false;
    };
    let is_it = |known: &&clap::Arg| match option.strip_prefix('-') {
        Some(long) => known.get_long() == Some(long),
        None => known.get_short().is_some_and(|short| option == short.to_string()),
    };
    let known = command.get_arguments().find(is_it);
    known.is_some_and(|known| known.get_action().takes_values())
}

/// Whether a word is a runtime flag.
fn is_flag(word: &str) -> bool {
    matches!(Flags::parse_words(&[word]), Ok(_) | Err(FlagError::Conflict { .. }))
}

/// The message for runtime flags outside `+RTS … -RTS`, with the right command; `None` if there are
/// none.
fn misplaced(program: &[String], rts: &[String]) -> Option<String> {
    let (flags, others): (Vec<&String>, Vec<&String>) = program.iter().partition(|word| is_flag(word));
    if flags.is_empty() {
        return None;
    }
    let takes_flags = match others.first().map(|word| word.as_str()) {
        Some("exec" | "minheap" | "inspect") => true,
        Some("heap") => others.get(1).is_some_and(|word| *word == "dump"),
        _ => false,
    };
    if !takes_flags {
        return Some(format!(
            "{} is a flag, and flags are for `gclab exec`, `gclab minheap`, `gclab inspect` and `gclab heap dump`; in an experiment file flags go under [flags] and \
             [sweep]",
            flags[0]
        ));
    }
    let mut right = vec!["gclab".to_owned()];
    right.extend(others.into_iter().cloned());
    right.push("+RTS".to_owned());
    right.extend(flags.into_iter().cloned());
    right.extend(rts.iter().cloned());
    Some(format!("flags go after +RTS: {}", shell_line(&right)))
}
