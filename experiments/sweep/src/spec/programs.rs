//! Checks `[[program]]`: runtimes exist, and each has the flags that its programs get.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use gclab_results::{Expectation, Program as Description};
use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::file::{self, File};
use super::sweeps::{Entity, Reader, sweeps, variable_is_legal};
use crate::axes::ARGS;
use crate::experiment::{Axis, Entry};
use crate::program::{Program, find, place_of};
use crate::runtime::{self, Runtime, Setting};
use crate::suggest::suggest;
use crate::units::factor;

/// The length of a SHA-256 in hexadecimal.
const SHA256: usize = 64;

/// The programs of a file.
pub(super) fn programs(source: &Source, file: &File) -> Parsed<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen = HashSet::new();
    for own in &file.programs {
        let check = Check {
            source,
            file,
            own,
            runtime: runtime_of(source, own)?,
        };
        let entry = check.entry()?;
        one_unit(source, own, &entries)?;
        if !seen.insert((entry.workload.clone(), entry.args.clone(), entry.collector.clone())) {
            return Err(SpecError::at(
                source,
                own.name.span(),
                format!("two programs have the name \"{}\"", own.name.get_ref()),
                "given before",
            )
            .help("each name once, or once for each runtime: tables and records name a program by it"));
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Checks that a figure has the same unit in `own` as in the programs before it: tables have a
/// column for each figure.
fn one_unit(source: &Source, own: &file::Program, before: &[Entry]) -> Parsed<()> {
    for stat in &own.stats {
        let name = stat.name.get_ref();
        let unit = stat.unit.as_ref().map(|unit| unit.get_ref().as_str());
        let others = before.iter().map(|entry| &entry.program.description);
        let mut with = others.filter(|other| other.stats.contains_key(name) && other.unit(name) != unit);
        if let Some(other) = with.next()
            && factor(name, "") == Ok(None)
        {
            let named = other.unit(name).unwrap_or("no unit");
            let place = stat.unit.as_ref().unwrap_or(&stat.pattern).span();
            let text = format!(
                "`{name}` has {named} in program {}, and {} here",
                other.name,
                unit.unwrap_or("no unit")
            );
            return Err(SpecError::at(source, place, text, "another unit")
                .help("give the figure one unit, or one of the two another name"));
        }
    }
    Ok(())
}

/// Gives each program without a runtime the one detected from its file, if that exists.
pub(super) fn detect(file: &mut File) {
    for own in file.programs.iter_mut().filter(|own| own.runtime.is_none()) {
        let folder = own.dir.as_ref().map_or("", |dir| dir.get_ref());
        let path = own.env.iter().find(|(name, _)| name.get_ref() == "PATH");
        let path = path.map(|(_, path)| path.get_ref().as_str());
        let word = &own.command[0];
        let found = find(word.get_ref(), Path::new(folder), path).and_then(|file| runtime::runtime_of(&file));
        own.runtime = found.map(|runtime| Spanned::new(word.span(), runtime.name().to_owned()));
    }
}

/// The names of a program: its column in tables, its work, and its own.
pub(super) fn names(own: &file::Program) -> [String; 3] {
    let name = own.name.get_ref().clone();
    match &own.workload {
        // It competes with the collectors, under its own name.
        Some(work) => [name.clone(), work.name.get_ref().clone(), name],
        None => {
            let runtime = own.runtime.as_ref().map_or("none", |runtime| runtime.get_ref());
            [runtime.to_owned(), name.clone(), name]
        }
    }
}

/// The words of each command.
pub(super) fn commands(commands: &[Vec<Spanned<String>>]) -> Vec<Vec<String>> {
    let words = |command: &Vec<Spanned<String>>| command.iter().map(|word| word.get_ref().clone()).collect();
    commands.iter().map(words).collect()
}

fn runtime_of(source: &Source, own: &file::Program) -> Parsed<&'static dyn Runtime> {
    let Some(name) = &own.runtime else {
        return Ok(runtime::named("none").expect("a runtime of this name is in the list"));
    };
    runtime::named(name.get_ref()).ok_or_else(|| {
        let text = format!("`runtime`: unknown runtime \"{}\"", name.get_ref());
        SpecError::at(source, name.span(), text, "no such runtime").help(suggest(
            name.get_ref(),
            "runtimes",
            &runtime::names(),
        ))
    })
}

struct Check<'c> {
    source: &'c Source,
    file: &'c File,
    own: &'c file::Program,
    runtime: &'static dyn Runtime,
}

impl Check<'_> {
    fn entry(&self) -> Parsed<Entry> {
        let program = self.program()?;
        let [collector, workload, _] = names(self.own);
        let (flags, sweeps) = self.settings(&program, &collector, &workload)?;
        let args = self.own.workload.iter().flat_map(|work| &work.args);
        let args: Vec<String> = args.map(|word| word.get_ref().clone()).collect();
        Ok(Entry {
            eventlog: program.description.eventlog,
            flags,
            sweeps: Arc::new(sweeps),
            ..Entry::new(program, &workload, &args, &collector)
        })
    }

    fn program(&self) -> Parsed<Program> {
        let own = self.own;
        let text = |word: &Spanned<String>| word.get_ref().clone();
        let pair = |(name, value): &file::Flag| (text(name), text(value));
        let eventlog = own.eventlog.as_ref().filter(|asked| *asked.get_ref());
        if let Some(asked) = eventlog.filter(|_| !self.runtime.has_event_log()) {
            let logged: Vec<_> = runtime::all()
                .into_iter()
                .filter(|other| other.has_event_log())
                .collect();
            let names: Vec<&str> = logged.iter().map(|runtime| runtime.name()).collect();
            let message = format!("`eventlog`: the runtime {} writes no event log", self.runtime.name());
            return Err(SpecError::at(self.source, asked.span(), message, "no event log")
                .help(format!("of the runtimes, these do: {}", names.join(", "))));
        }
        for (name, value) in &own.env {
            variable_is_legal(self.source, name, name.get_ref(), value)?;
        }
        let description = Description {
            name: text(&own.name),
            command: own.command.iter().map(text).collect(),
            dir: own.dir.as_ref().map(text),
            env: own.env.iter().map(pair).collect(),
            stdin: own.stdin.as_ref().map(text),
            prepare: match &own.prepare[..] {
                [] => commands(&self.file.prepare),
                prepare => commands(prepare),
            },
            expect: Expectation {
                status: own.expect.status.unwrap_or(0).into(),
                checksum: self.checksum()?,
                pattern: own.expect.pattern.as_ref().map(text),
            },
            stats: own
                .stats
                .iter()
                .map(|stat| (text(&stat.name), text(&stat.pattern)))
                .collect(),
            more_is_better: own
                .stats
                .iter()
                .filter(|stat| stat.more)
                .map(|stat| text(&stat.name))
                .collect(),
            units: Some(self.units()?).filter(|units| !units.is_empty()),
            eventlog: eventlog.is_some(),
            ..Description::default()
        };
        let program = Program::new(description, self.runtime).map_err(|(key, fault)| {
            let place = own
                .stats
                .iter()
                .find(|stat| *stat.name.get_ref() == key)
                .map(|stat| &stat.pattern);
            let place = place.or(own.expect.pattern.as_ref());
            let fault: Vec<&str> = fault.split_whitespace().collect();
            SpecError::at(
                self.source,
                place.map_or(0..0, Spanned::span),
                format!("`{key}` is not a regular expression: {}", fault.join(" ")),
                "here",
            )
            .help("a string in single quotes needs no further backslashes: 'total: ([0-9]+)'")
        })?;
        self.groups(&program)?;
        Ok(program)
    }

    /// A regular expression for a figure has one group, and the expected pattern at most one.
    fn groups(&self, program: &Program) -> Parsed<()> {
        let wrong = |place: &Spanned<String>, key: &str, wanted: &str, groups: usize| {
            SpecError::at(
                self.source,
                place.span(),
                format!("`{key}` has {groups} groups"),
                format!("{wanted} is right"),
            )
            .help("a group is what is in parentheses: 'total: ([0-9]+) bytes'; (?:...) groups without counting")
        };
        for stat in &self.own.stats {
            let name = stat.name.get_ref();
            let groups = program.groups(Some(name));
            if groups != 1 {
                return Err(wrong(&stat.pattern, name, "one group, around the number,", groups));
            }
        }
        match &self.own.expect.pattern {
            Some(place) if program.groups(None) > 1 => {
                Err(wrong(place, "pattern", "at most one", program.groups(None)))
            }
            _ => Ok(()),
        }
    }

    /// The units of figures. That of a figure which records have must be one of its kind.
    fn units(&self) -> Parsed<BTreeMap<String, String>> {
        let mut units = BTreeMap::new();
        for stat in &self.own.stats {
            let (name, Some(unit)) = (stat.name.get_ref(), &stat.unit) else {
                continue;
            };
            if let Err(right) = factor(name, unit.get_ref()) {
                let text = format!(
                    "`{name}` is a figure of the record, and {} is not a unit of it",
                    unit.get_ref()
                );
                return Err(SpecError::at(self.source, unit.span(), text, "another unit, or none").help(right));
            }
            units.insert(name.clone(), unit.get_ref().clone());
        }
        Ok(units)
    }

    fn checksum(&self) -> Parsed<Option<String>> {
        let Some(checksum) = &self.own.expect.checksum else {
            return Ok(None);
        };
        let text = checksum.get_ref().to_ascii_lowercase();
        if text.len() != SHA256 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(SpecError::at(
                self.source,
                checksum.span(),
                "`checksum` is not a SHA-256",
                format!("{SHA256} hexadecimal digits are right"),
            )
            .help("`./prog | sha256sum` prints it; each record has its run's, as `output_sha256`"));
        }
        Ok(Some(text))
    }

    /// The flags of the program, or else of the file, read by its runtime; and its axes.
    fn settings(&self, program: &Program, collector: &str, workload: &str) -> Parsed<(Setting, Vec<Vec<Axis>>)> {
        let flags = self.own.flags.as_ref().unwrap_or(&self.file.flags);
        let tables = self.own.sweeps.as_ref().unwrap_or(&self.file.sweeps);
        let name = self.own.name.get_ref();
        let entity = Entity {
            title: format!("program {name}"),
            names: vec![
                ("collector", [collector].into()),
                ("workload", [workload].into()),
                ("program", [name.as_str()].into()),
                ("build", BTreeSet::new()),
            ],
        };
        let place = self.own.flags.as_ref().map_or("[flags]", |_| "`flags` of the program");
        let missing = match (&self.own.runtime, program.file()) {
            (None, None) => format!(
                "there is no {}, so its runtime is unknown: ",
                self.own.command[0].get_ref()
            ),
            _ => String::new(),
        };
        let reader = Reader {
            source: self.source,
            runtime: self.runtime,
            title: format!("program {name}: {missing}"),
            has_heap: self.file.heap.is_some(),
            fixed: flags.iter().map(|(key, _)| (key.get_ref().as_str(), place)).collect(),
        };
        let setting = setting(&reader, flags)?;
        let sweeps = sweeps(tables, &entity, &reader)?;
        self.places(program, tables, &sweeps)?;
        Ok((setting, sweeps))
    }

    /// Each swept argument has a place in the command.
    fn places(&self, program: &Program, tables: &[Vec<file::Axis>], sweeps: &[Vec<Axis>]) -> Parsed<()> {
        let points = sweeps.iter().flatten().flat_map(|axis| &axis.points);
        for name in points.flat_map(|point| point.args.keys()) {
            if program.has_place(name) {
                continue;
            }
            let wanted = format!("{ARGS}{name}");
            let mut keys = tables.iter().flatten().flat_map(file::Axis::values).map(|(key, _)| key);
            let key = keys.find(|key| *key.get_ref() == wanted);
            return Err(SpecError::at(
                self.source,
                key.map_or(0..0, Spanned::span),
                format!(
                    "`{wanted}`: the command of program {} has no {}",
                    self.own.name.get_ref(),
                    place_of(name)
                ),
                "an argument without a place",
            )
            .help(format!(
                "write the place into the command: command = [\"./prog\", \"{}\"]",
                place_of(name)
            )));
        }
        Ok(())
    }
}

/// The setting of these flags. Of several values of a flag the last one counts.
pub(super) fn setting(reader: &Reader<'_>, flags: &[file::Flag]) -> Parsed<Setting> {
    let values = flags.iter().map(|(key, text)| reader.value(key, text));
    values.map(|value| value.map(|value| (value.key(), value))).collect()
}
