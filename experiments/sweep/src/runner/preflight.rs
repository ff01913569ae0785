//! Checks the programs of an experiment before its first run: whether they exist, and whether their
//! runtimes accept the file's flags. A program that refuses them would otherwise fail in each of a
//! thousand runs.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gclab_results::{Purpose, path_name, shell_line};

use super::{Scratch, by_itself};
use crate::axes::{ARGS, Point};
use crate::experiment::{Entry, Experiment};
use crate::plan;
use crate::program::{Program, place_of, why_not};
use crate::runner::child::End;
use crate::runner::stop::Stop;
use crate::runtime::{Clash, Ended, Failure, Files, Setting, Task, Value};

/// A runtime that only reads its flags needs no more time than this.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Limit on the settings of a program that are tried: by then most flags have been seen.
const MOST_SETTINGS: usize = 64;

/// The heap that represents all limits.
const SOME_HEAP: u64 = 1 << 30;

/// Checks each program of `experiment`, and the commands that prepare its workloads. A program
/// whose runtime refuses only the flag for statistics goes without statistics. Returns a note for
/// each of these.
///
/// # Errors
/// A message about the first program that cannot run, or refuses the flags of the file.
pub fn preflight(experiment: &mut Experiment, stop: &Stop) -> Result<Vec<String>, String> {
    if let Some(own) = experiment.own().next()
        && let Some(word) = missing(&own.program.description.prepare, |word| own.program.find(word))
    {
        return Err(format!("`prepare`: {word}: {}", not_found(word, None)));
    }
    if experiment.programs().next().is_none() {
        return Ok(Vec::new());
    }
    let folder = std::env::temp_dir().join(format!("gclab-preflight-{}", std::process::id()));
    let scratch = Scratch::new(&folder).map_err(|error| format!("{}: {error}", path_name(&folder)))?;
    let with_heap = !experiment.heap.is_empty();
    let none = match experiment.is_of_commands {
        true => "--runtime none",
        false => "runtime = \"none\"",
    };
    let mut notes = Vec::new();
    let mut result = Ok(());
    let entries = experiment.entries.iter();
    let points: Vec<_> = entries.map(|entry| plan::planned_points(experiment, entry)).collect();
    look_for_clashes(experiment)?;
    let entries = experiment.entries.iter_mut().zip(points);
    for (entry, points) in entries.filter(|(entry, _)| !entry.is_own()) {
        result = look(entry, points, with_heap, none, &scratch, stop, &mut notes);
        if result.is_err() {
            break;
        }
    }
    drop(scratch);
    // The folder is now empty; a leftover is harmless.
    let _ = std::fs::remove_dir(&folder);
    result.map(|()| notes)
}

/// Looks for flags of a setting that a runtime refuses together, that it ignores, or that the
/// command of the program overrides.
///
/// # Errors
/// A message about the first such setting, and the ways out.
pub fn look_for_clashes(experiment: &Experiment) -> Result<(), String> {
    for entry in experiment.entries.iter().filter(|entry| !entry.is_own()) {
        let mut variants = plan::Variants::new(entry);
        let (mut seen, mut same) = (BTreeSet::new(), Vec::new());
        for mut point in plan::planned_points(experiment, entry) {
            let program = variants.of(&point);
            let setting = with_limit(&program, &point.flags, !experiment.heap.is_empty());
            if let Some((value, word)) = setting
                .values()
                .find_map(|value| Some((value, program.overriding(value)?)))
            {
                return Err(overridden(&program, value, &word));
            }
            let Some(clash) = program.clash(&setting) else { continue };
            if !clash.is_idle {
                return Err(clashing(&program, &[clash]));
            }
            point
                .flags
                .retain(|key, _| clash.flags.last().is_none_or(|idle| idle.key() != *key));
            if !seen.insert(point) && !same.contains(&clash) {
                same.push(clash);
            }
        }
        if !same.is_empty() {
            return Err(clashing(&entry.program, &same));
        }
    }
    Ok(())
}

/// The setting with some limit, if runs have one.
fn with_limit(program: &Program, setting: &Setting, has_limit: bool) -> Setting {
    let limit = has_limit.then(|| program.limit(SOME_HEAP).ok()).flatten();
    let limit = limit.map(|limit| (limit.key(), limit));
    setting.clone().into_iter().chain(limit).collect()
}

/// The refusals of the runtime of `program`: a reason for each of `settings` that it does not take.
///
/// # Errors
/// If a process cannot be started, or the folder for its files cannot be made.
pub(crate) fn refusals(program: &Program, settings: &[Setting], stop: &Stop) -> Result<Vec<Option<String>>, String> {
    let folder = std::env::temp_dir().join(format!("gclab-probes-{}", std::process::id()));
    let scratch = Scratch::new(&folder).map_err(|error| format!("{}: {error}", path_name(&folder)))?;
    let refusal = |setting: &Setting| takes(program, setting, &scratch, stop).map(|taken| taken.refusal);
    let refusals = settings.iter().map(refusal).collect();
    drop(scratch);
    // The folder is now empty; a leftover is harmless.
    let _ = std::fs::remove_dir(&folder);
    refusals
}

fn look(
    entry: &mut Entry,
    mut points: Vec<Point>,
    with_heap: bool,
    none: &str,
    scratch: &Scratch,
    stop: &Stop,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    notes.extend(empty_place(entry));
    points.truncate(MOST_SETTINGS);
    let mut version = None;
    for point in points {
        let program = &plan::Variants::new(entry).of(&point);
        is_there(program)?;
        let setting = with_limit(program, &point.flags, with_heap);
        let mut taken = takes(program, &setting, scratch, stop)?;
        if let Some(reason) = taken.refusal {
            let mut without = Program::clone(program);
            without.has_statistics = false;
            taken = match setting.is_empty() {
                // No flag at all is left, and its runtime may refuse each.
                true => Taken::default(),
                false => takes(&without, &setting, scratch, stop)?,
            };
            if program.description.eventlog || taken.refusal.is_some() {
                return Err(refused(program, &setting, &reason, none));
            }
            notes.push(format!(
                "program {}: its records have no statistics of the {} runtime, which does not take the flags for them \
                 ({reason})",
                program.description.name,
                program.runtime.name()
            ));
            let mut without = Program::clone(&entry.program);
            without.has_statistics = false;
            entry.program = without.into();
        }
        version = version.or(taken.version);
    }
    let version = version.or_else(|| entry.program.runtime.version(None, entry.file().as_deref()));
    if version.is_some() {
        let mut known = Program::clone(&entry.program);
        known.description.runtime_version = version;
        entry.program = known.into();
    }
    Ok(())
}

/// A note about a place in the command of a program that has swept arguments, and none for this
/// place. A command without any may have its own braces.
fn empty_place(entry: &Entry) -> Option<String> {
    let points = entry.sweeps.iter().flatten().flat_map(|axis| &axis.points);
    let swept: BTreeSet<&String> = points.flat_map(|point| point.args.keys()).collect();
    let description = &entry.program.description;
    let words = description.command.iter().chain(&description.stdin);
    let mut names = words.flat_map(|word| places(word));
    let name = names.find(|name| !swept.is_empty() && !swept.iter().any(|swept| swept == name))?;
    Some(format!(
        "program {}: no axis `{ARGS}{name}` fills {}, so the program gets it as written",
        description.name,
        place_of(name)
    ))
}

/// The names in braces of a word.
fn places(word: &str) -> Vec<&str> {
    let is_name = |name: &&str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
    };
    let inner = word.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    inner.map(|(name, _)| name).filter(is_name).collect()
}

/// The message about a flag that the command of a program has, too.
fn overridden(program: &Program, value: &Value, word: &str) -> String {
    format!(
        "program {}: its command has {word}, which overrides {} = {} of the experiment; leave {word} out of the command, \
         or {} out of the experiment",
        program.description.name,
        value.key(),
        value.text(),
        value.key()
    )
}

/// The message about flags that exclude each other, or flags without effect: of the first clash,
/// with all those to exclude.
fn clashing(program: &Program, clashes: &[Clash]) -> String {
    // As in an experiment file.
    let flag = |value: &Value| match value.text().parse::<f64>().is_ok() || ["true", "false"].contains(&value.text()) {
        true => format!("{} = {}", value.key(), value.text()),
        false => format!("{} = {:?}", value.key(), value.text()),
    };
    let clash = &clashes[0];
    let flags: Vec<String> = clash.flags.iter().map(flag).collect();
    let problem = match &flags[..] {
        [one, other] if clash.is_idle => format!("ignores {other} with {one}"),
        [one, other] => format!("does not take {one} with {other}"),
        _ => format!("ignores {}", flags.join(", ")),
    };
    let table = |clash: &Clash| format!("{{ {} }}", clash.flags.iter().map(flag).collect::<Vec<_>>().join(", "));
    let excluded = clashes.iter().map(table);
    let remedy = match flags.len() {
        1 => "give it what it needs, or leave it out",
        _ => "leave one of the two out",
    };
    format!(
        "program {}: the {} runtime {problem}: {}; {remedy}, or leave such runs out by exclude = [{}] before the \
         first table of the file",
        program.description.name,
        program.runtime.name(),
        clash.reason,
        excluded.collect::<Vec<_>>().join(", ")
    )
}

fn refused(program: &Program, setting: &Setting, reason: &str, none: &str) -> String {
    let flags: Vec<String> = setting
        .values()
        .map(|value| format!("{} = {}", value.key(), value.text()))
        .collect();
    let flags = if reason.contains("-eventlog") {
        "`eventlog = true`".to_owned()
    } else if flags.is_empty() {
        "flags".to_owned()
    } else {
        flags.join(", ")
    };
    let runtime = program.runtime.name();
    let reason = reason.trim_end_matches('.');
    let remedy = match runtime {
        "ghc" if reason.contains("requires the program to be built with") => {
            "link it so, or leave the flag out".to_owned()
        }
        "ghc" if reason.contains("RTS options are disabled") => {
            format!("link it with -rtsopts, or run it without flags with {none}")
        }
        _ => format!("leave the flag out, or run it without flags with {none}"),
    };
    format!(
        "program {}: the {runtime} runtime of {} refuses {flags}: {reason}; {remedy}",
        program.description.name,
        shell_line(&program.description.command[..1])
    )
}

/// Whether the files of a program exist.
fn is_there(program: &Program) -> Result<(), String> {
    let description = &program.description;
    let name = &description.name;
    if let Some(folder) = program.folder().filter(|folder| !folder.is_dir()) {
        return Err(format!("program {name}: `dir`: {}: no such folder", path_name(folder)));
    }
    let word = description.command.first().map_or("", String::as_str);
    // The commands that prepare a run may make this file.
    let is_made = word.contains('/') && !description.prepare.is_empty();
    let command = Some(word).filter(|word| !is_made && program.find(word).is_none());
    let prepare = missing(&description.prepare, |word| program.find(word));
    for (key, word) in [("prepare", prepare), ("command", command)] {
        let Some(word) = word else { continue };
        return Err(format!(
            "program {name}: `{key}`: {word}: {}",
            not_found(word, program.folder())
        ));
    }
    if let Some(file) = &description.stdin {
        let path = program.path(file);
        std::fs::File::open(&path)
            .map_err(|error| format!("program {name}: `stdin`: {}: {error}", path_name(&path)))?;
    }
    Ok(())
}

/// Says why no program of this name can be run.
fn not_found(word: &str, folder: Option<&Path>) -> String {
    why_not(word, folder.unwrap_or(Path::new(""))).unwrap_or_else(|| {
        let place = match folder {
            Some(folder) if word.contains('/') => format!(" in {}", path_name(folder)),
            None if word.contains('/') => String::new(),
            _ => " on the PATH".to_owned(),
        };
        format!("no program of this name{place}")
    })
}

/// The answer of a runtime about its flags.
#[derive(Default)]
struct Taken {
    /// Its reason, if it refuses them.
    refusal: Option<String>,
    /// Its version, if it prints one.
    version: Option<String>,
}

/// Asks the runtime of a program whether it takes these flags.
fn takes(program: &Program, setting: &Setting, scratch: &Scratch, stop: &Stop) -> Result<Taken, String> {
    let statistics = scratch.path.join("statistics");
    let eventlog = scratch.path.join("eventlog");
    let task = Task {
        purpose: match program.description.eventlog {
            true => Purpose::EventLog,
            false => Purpose::Times,
        },
        files: Some(Files {
            statistics: &statistics,
            eventlog: &eventlog,
            profile: Path::new(""),
            pause_counters: false,
        }),
    };
    let Some(start) = program.probe(setting, task) else {
        return Ok(Taken::default());
    };
    let failed = |error: io::Error| {
        let word = program.description.command.first().map_or("", String::as_str);
        let problem = match error.kind() {
            io::ErrorKind::NotFound => not_found(word, program.folder()),
            _ => error.to_string(),
        };
        format!("program {}: `command`: {word}: {problem}", program.description.name)
    };
    let finished = by_itself(program, &start, TIMEOUT, stop).map_err(failed)?;
    let status = match finished.end {
        End::Exit(status) => Some(status),
        _ => None,
    };
    let ended = Ended {
        status,
        stdout: &finished.stdout,
        stderr: &finished.stderr,
        statistics: None,
        limited: false,
    };
    let refusal = program.runtime.probed(setting, &ended).err();
    let is_own = status == Some(0) || program.runtime.failure(&ended) == Some(Failure::Refused);
    let refusal = match refusal {
        Some(reason) if is_own || !fails(program, stop).map_err(failed)? => Some(reason),
        _ => None,
    };
    Ok(Taken {
        refusal,
        version: program.runtime.version(Some(&ended), None),
    })
}

/// Whether a program fails without any flag of its runtime. Then its first run says why.
fn fails(program: &Program, stop: &Stop) -> io::Result<bool> {
    let task = Task {
        purpose: Purpose::Times,
        files: None,
    };
    let start = program.start(&Setting::new(), task);
    let end = by_itself(program, &start, TIMEOUT, stop)?.end;
    Ok(end != End::Exit(program.description.expect.status) && end != End::Timeout)
}

/// The first word of the first of `commands` that cannot be run, for the message of a refusal. A
/// later one that is a path may be a file that an earlier one creates.
fn missing(commands: &[Vec<String>], found: impl Fn(&str) -> Option<PathBuf>) -> Option<&str> {
    let first_words = commands.iter().map(|words| words.first().map_or("", String::as_str));
    let mut missing = first_words.enumerate().filter(|(index, word)| {
        let is_made = *index > 0 && word.contains('/');
        !is_made && found(word).is_none()
    });
    missing.next().map(|(_, word)| word)
}
