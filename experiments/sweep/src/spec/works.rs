//! The workloads of a file with their arguments. Each value of a swept argument makes a separate
//! work, and each work has an entry under each collector and build.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use gclab_workloads::{ArgError, Args, WorkloadDescription};
use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::file::{self, File};
use super::profiles;
use super::programs::{commands, setting};
use super::sweeps::{Entity, Reader, sweeps, twice};
use crate::axes::{ARGS, Point, product};
use crate::build::Build;
use crate::experiment::Entry;
use crate::program::{Own, Program};
use crate::registry::{Registry, usage};
use crate::runtime::GCLAB;
use crate::suggest::suggest;

/// The entries of the workloads: works × collectors × builds.
pub(super) fn entries(
    source: &Source,
    file: &File,
    registry: &Registry,
    collectors: &[String],
    builds: &[Arc<Build>],
) -> Parsed<Vec<Entry>> {
    let pause_counters = pause_counters(source, file)?;
    no_untimed_runs_of_programs(source, file)?;
    if file.workloads.is_empty() {
        return Ok(Vec::new());
    }
    let reader = Reader {
        source,
        runtime: GCLAB,
        title: String::new(),
        has_heap: file.heap.is_some(),
        fixed: file
            .fixed()
            .map(|((key, _), place)| (key.get_ref().as_str(), place))
            .collect(),
    };
    let flags = setting(&reader, &file.flags)?;
    let names = file.workloads.iter().map(|own| own.name.get_ref().as_str());
    let entity = Entity {
        title: "the workloads".to_owned(),
        names: vec![
            ("collector", collectors.iter().map(String::as_str).collect()),
            ("workload", names.collect()),
            ("program", BTreeSet::new()),
        ],
    };
    let sweeps = Arc::new(sweeps(&file.sweeps, &entity, &reader)?);
    let builds: Vec<_> = match builds {
        [] => vec![None],
        builds => builds.iter().cloned().map(Some).collect(),
    };
    let points = product(&flags, &sweeps);
    let mut entries = Vec::new();
    for work in works(source, file, registry, &points)? {
        for collector in collectors {
            for build in &builds {
                let own = Own {
                    build: build.clone(),
                    full_args: Some(work.full_args.clone()),
                    pause_counters,
                };
                let program = Program::of_workload(&work.name, &work.args, collector, commands(&file.prepare), own);
                entries.push(Entry {
                    flags: flags.clone(),
                    sweeps: Arc::clone(&sweeps),
                    swept_args: work.swept_args.clone(),
                    profiles: work.profiles.clone(),
                    eventlog: work.eventlog,
                    ..Entry::new(program, &work.name, &work.args, collector)
                });
            }
        }
    }
    Ok(entries)
}

/// A workload with its arguments.
struct Work {
    name: String,
    /// Its arguments as the file has them.
    args: Vec<String>,
    /// The arguments in full, without defaults.
    full_args: Vec<String>,
    /// The values of arguments that are swept.
    swept_args: BTreeMap<String, String>,
    profiles: Vec<String>,
    eventlog: bool,
}

/// Looks up the workloads of the file: one work for each set of swept arguments in `points`.
fn works(source: &Source, file: &File, registry: &Registry, points: &[Point]) -> Parsed<Vec<Work>> {
    let profiles = profiles::of_workloads(source, file)?;
    let mut seen = HashSet::new();
    let mut works = Vec::new();
    for (own, profiles) in file.workloads.iter().zip(profiles) {
        let name = own.name.get_ref();
        let Some(workload) = registry.workload(name) else {
            let help = suggest(name, "workloads", &registry.workload_names());
            return Err(SpecError::at(
                source,
                own.name.span(),
                format!("`workloads`: unknown workload \"{name}\""),
                "no such workload",
            )
            .help(help));
        };
        let mine = points
            .iter()
            .filter(|point| point.is_for("workload", name) && !point.only.contains_key("program"));
        let mut sets: BTreeSet<BTreeMap<String, String>> = mine.map(|point| point.args.clone()).collect();
        if sets.is_empty() {
            sets.insert(BTreeMap::new());
        }
        for set in sets {
            let args = if set.is_empty() {
                checked(source, own, workload)?
            } else {
                with(source, file, own, workload, &set)?
            };
            let full = full(workload, &args);
            if !seen.insert((name.clone(), full.clone())) {
                return Err(twice(source, own.name.span(), "workloads", name));
            }
            works.push(Work {
                name: name.clone(),
                args,
                full_args: full,
                swept_args: set,
                profiles: profiles.clone(),
                eventlog: is_logged(file, own),
            });
        }
    }
    Ok(works)
}

/// The arguments of a workload as the file has them.
fn checked(source: &Source, own: &file::Workload, workload: &'static WorkloadDescription) -> Parsed<Vec<String>> {
    let texts: Vec<String> = own.args.iter().map(|arg| arg.get_ref().clone()).collect();
    Args::parse(workload, &texts).map_err(|error| {
        let index = match &error {
            ArgError::Invalid { arg, .. } => workload.args.iter().position(|spec| spec.name == *arg),
            ArgError::TooMany { expected, .. } => Some(*expected),
            ArgError::Missing { .. } => None,
        };
        let span = index
            .and_then(|index| own.args.get(index))
            .map_or_else(|| own.name.span(), Spanned::span);
        SpecError::at(source, span, format!("`args`: {error}"), "here").help(usage(workload))
    })?;
    Ok(texts)
}

/// The same with swept arguments.
fn with(
    source: &Source,
    file: &File,
    own: &file::Workload,
    workload: &'static WorkloadDescription,
    set: &BTreeMap<String, String>,
) -> Parsed<Vec<String>> {
    let place = |name: &str, value: &str, of_value: bool| {
        let wanted = format!("{ARGS}{name}");
        let mut found = file
            .swept()
            .filter(|(key, text)| *key.get_ref() == wanted && text.get_ref() == value);
        found
            .next()
            .map_or(0..0, |(key, text)| if of_value { text.span() } else { key.span() })
    };
    let mut texts: Vec<String> = own.args.iter().map(|arg| arg.get_ref().clone()).collect();
    for (name, value) in set {
        let at = |message: String, label: &str| SpecError::at(source, place(name, value, false), message, label);
        let Some(index) = workload.args.iter().position(|spec| spec.name == name) else {
            let names: Vec<&str> = workload.args.iter().map(|spec| spec.name).collect();
            return Err(at(
                format!("`{ARGS}{name}`: {} has no argument {name}", workload.name),
                "no such argument",
            )
            .help(format!(
                "{}; a [[sweep]] table with workload = [\"...\"] is for one workload",
                suggest(name, &format!("arguments of {}", workload.name), &names)
            )));
        };
        if texts.get(index).is_some_and(|given| given != "-") {
            return Err(at(
                format!("`{name}` is both in `args` of {} and in `sweep`", workload.name),
                "also in `args`",
            )
            .help("write \"-\" in its place in `args`, or leave it out there"));
        }
        let length = texts.len().max(index + 1);
        texts.resize(length, "-".to_owned());
        texts[index].clone_from(value);
        let alone: Vec<&str> = (0..=index)
            .map(|at| if at == index { value.as_str() } else { "-" })
            .collect();
        if let Err(error @ ArgError::Invalid { .. }) = Args::parse(workload, &alone)
            && matches!(&error, ArgError::Invalid { arg, .. } if arg == name)
        {
            return Err(SpecError::at(
                source,
                place(name, value, true),
                format!("`{ARGS}{name}`: {error}"),
                "here",
            )
            .help(usage(workload)));
        }
    }
    let known: Vec<Spanned<String>> = texts
        .iter()
        .map(|text| Spanned::new(own.name.span(), text.clone()))
        .collect();
    let all = file::Workload {
        name: own.name.clone(),
        args: known,
        profiles: None,
        eventlog: None,
    };
    checked(source, &all, workload)
}

/// The arguments in full: without defaults, and numbers in their plain form.
fn full(workload: &WorkloadDescription, args: &[String]) -> Vec<String> {
    let value = |(index, spec): (usize, &gclab_workloads::ArgSpec)| {
        let given = args.get(index).filter(|given| *given != "-");
        let text = given.cloned().or_else(|| spec.default_text());
        let text = text.unwrap_or_else(|| "-".to_owned());
        text.parse::<u64>().map_or(text, |number| number.to_string())
    };
    workload.args.iter().enumerate().map(value).collect()
}

/// The builds of the file.
pub(super) fn builds(source: &Source, file: &File) -> Parsed<Vec<Arc<Build>>> {
    let mut builds: Vec<Arc<Build>> = Vec::new();
    for own in &file.builds {
        let (name, file) = (own.name.get_ref(), own.file.get_ref());
        let build = Build::new(name, file).map_err(|problem| {
            SpecError::at(source, own.file.span(), format!("`builds`: {file}: {problem}"), "no build")
                .help("a build is the file of a gclab, as cargo build makes it: target/release/gclab; paths begin in the current folder")
        })?;
        if let Some(same) = builds.iter().find(|other| other.executable == build.executable) {
            return Err(SpecError::at(
                source,
                own.file.span(),
                format!("`builds`: {file} is the same file as {}, byte for byte", same.name),
                "the same build",
            )
            .help("two builds are two files; `repeat` says how often a configuration is run"));
        }
        builds.push(Arc::new(build));
    }
    if !builds.is_empty() && file.workloads.is_empty() {
        let place = file.builds.first().map_or(0..0, |own| own.file.span());
        return Err(SpecError::at(
            source,
            place,
            "`builds` are for workloads, but this file has only programs",
            "no workload",
        )
        .help("for a program, write two [[program]] tables with the same `workload`"));
    }
    Ok(builds)
}

/// Whether runs of workloads read their counters at each pause.
fn pause_counters(source: &Source, file: &File) -> Parsed<bool> {
    let Some(asked) = file.pause_counters.as_ref().filter(|asked| *asked.get_ref()) else {
        return Ok(false);
    };
    if file.workloads.is_empty() {
        return Err(SpecError::at(
            source,
            asked.span(),
            "`pause_counters` is for workloads, but this file has only programs",
            "no workload",
        )
        .help("take the key out, or write `pause_counters = false`: records of programs have the counters of the whole run"));
    }
    Ok(true)
}

/// Refuses the file's `eventlog` and `profiles` if there is no workload.
fn no_untimed_runs_of_programs(source: &Source, file: &File) -> Parsed<()> {
    let eventlog = file.eventlog.as_ref().filter(|asked| *asked.get_ref());
    let eventlog = eventlog.map(|asked| ("eventlog", asked.span(), "write it into the table of each [[program]]"));
    let profile = file.profiles.first().map(|profile| {
        let help = "take the key out; `./prog +RTS -hT` writes a profile, and `gclab profile show` draws it";
        ("profiles", profile.span(), help)
    });
    match eventlog.or(profile).filter(|_| file.workloads.is_empty()) {
        None => Ok(()),
        Some((key, place, help)) => {
            let text = format!("`{key}` of the file is for workloads, and this file has programs alone");
            Err(SpecError::at(source, place, text, "no workload").help(help))
        }
    }
}

/// Whether the configurations of a workload have a run for an event log.
pub(super) fn is_logged(file: &File, own: &file::Workload) -> bool {
    let asked = own.eventlog.as_ref().or(file.eventlog.as_ref());
    asked.is_some_and(|asked| *asked.get_ref())
}
