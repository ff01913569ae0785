//! Sweeps with typed values: each key is a flag of gclab or of a runtime, an environment variable,
//! an argument, or the name of something that the file lists.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::file::{self, File, SWEEP_KEYS};
use crate::axes::{ARGS, CHOICES, ENV};
use crate::experiment::{Axis, Point};
use crate::runtime::{self, Runtime, Value};
use crate::suggest::suggest;

/// The names that the runs of an entity of the file have: see [`CHOICES`]. A choice without names
/// fits no point that has it.
pub(super) struct Entity<'e> {
    /// The name of the entity, for messages.
    pub(super) title: String,
    /// The names for each choice that the entity restricts. A choice that is not here is
    /// unrestricted.
    pub(super) names: Vec<(&'static str, BTreeSet<&'e str>)>,
}

impl Entity<'_> {
    /// Whether a point can belong to one of its runs.
    fn fits(&self, point: &file::Point) -> bool {
        point.values.iter().all(|(key, value)| {
            let names = self.names.iter().find(|(choice, _)| choice == key.get_ref());
            names.is_none_or(|(_, names)| names.contains(value.get_ref().as_str()))
        })
    }
}

/// How the flags of an entity are read, and which of them are fixed.
pub(super) struct Reader<'r> {
    pub(super) source: &'r Source,
    pub(super) runtime: &'static dyn Runtime,
    /// The program, before messages; empty for workloads.
    pub(super) title: String,
    /// Whether `heap` says how large heaps are.
    pub(super) has_heap: bool,
    /// The flags that are fixed, with the place where.
    pub(super) fixed: Vec<(&'r str, &'static str)>,
}

impl Reader<'_> {
    /// Reads a value of a flag.
    pub(super) fn value(&self, key: &Spanned<String>, text: &Spanned<String>) -> Parsed<Value> {
        let name = key.get_ref().as_str();
        let value = runtime::read(self.runtime, name, text.get_ref()).map_err(|bad| {
            let place = if bad.is_value { text.span() } else { key.span() };
            let near = gclab_flags::nearest(name, SWEEP_KEYS).filter(|_| !bad.is_value);
            let near = near
                .map(|near| format!("did you mean `{near}`, a key of sweeps? "))
                .unwrap_or_default();
            let error = SpecError::at(self.source, place, format!("{}{}", self.title, bad.message), bad.label);
            match format!("{near}{}", bad.help) {
                help if help.is_empty() => error,
                help => error.help(help),
            }
        })?;
        if self.has_heap && self.runtime.is_size(&value) {
            return Err(SpecError::at(
                self.source,
                key.span(),
                format!("{}`{name}` is given, but `heap` says how large heaps are", self.title),
                "also a size of the heap",
            )
            .help(format!(
                "`heap` sets the {} of every run, in multiples of the least heap of its program: leave one of the two out",
                self.runtime.limit_name()
            )));
        }
        Ok(value)
    }

    /// Reads a value of a flag that is swept.
    fn swept(&self, key: &Spanned<String>, text: &Spanned<String>) -> Parsed<Value> {
        let name = key.get_ref().as_str();
        if let Some((_, place)) = self.fixed.iter().find(|(fixed, _)| *fixed == name) {
            let message = format!("`{name}` is both in {place} and in [sweep]");
            return Err(
                SpecError::at(self.source, key.span(), message, format!("fixed in {place}"))
                    .help("a flag is either the same in every run or swept: leave one out"),
            );
        }
        self.value(key, text)
    }
}

/// Reads the sweeps of an entity. Points that are only for others are left out, and so are tables
/// with no other points.
pub(super) fn sweeps(file: &[Vec<file::Axis>], entity: &Entity<'_>, reader: &Reader<'_>) -> Parsed<Vec<Vec<Axis>>> {
    let source = reader.source;
    let mine = |axis: &file::Axis| -> Option<file::Axis> {
        let points: Vec<file::Point> = axis.points.iter().filter(|point| entity.fits(point)).cloned().collect();
        (!points.is_empty()).then(|| file::Axis {
            key: axis.key.clone(),
            points,
        })
    };
    let tables = file
        .iter()
        .filter_map(|axes| axes.iter().map(mine).collect::<Option<Vec<_>>>());
    let tables: Vec<Vec<file::Axis>> = tables.collect();
    if tables.is_empty()
        && let Some(first) = file.iter().flatten().next()
    {
        return Err(never_runs(source, first, &entity.title));
    }
    let table = |axes: &Vec<file::Axis>| {
        let mut seen: HashSet<&str> = HashSet::new();
        for axis in axes {
            let keys: BTreeSet<&str> = axis.values().map(|(key, _)| key.get_ref().as_str()).collect();
            if let Some(key) = keys.into_iter().find(|key| !seen.insert(key)) {
                return Err(SpecError::at(
                    source,
                    axis.key.span(),
                    format!("`{key}` is twice in one sweep"),
                    "given before",
                )
                .help("a sweep is the product of its axes, so each of them has other keys; several [[sweep]] tables are run one after the other"));
            }
        }
        axes.iter().map(|axis| self::axis(axis, reader)).collect()
    };
    tables.iter().map(table).collect()
}

/// The error about something that no point of the sweeps is for.
pub(super) fn never_runs(source: &Source, first: &file::Axis, title: &str) -> Box<SpecError> {
    let message = format!("no point of `sweep` is for {title}, so it would never run");
    SpecError::at(source, first.key.span(), message, "all of these are for others")
        .help("take it out of the file, or add a [[sweep]] table for it")
}

fn axis(axis: &file::Axis, reader: &Reader<'_>) -> Parsed<Axis> {
    let mut seen = HashSet::new();
    let mut points = Vec::new();
    for file in &axis.points {
        let (point, meaning) = point(file, reader)?;
        // Compared by meaning, not by text: 1m and 1024k are one value.
        if !seen.insert(meaning) {
            let name = axis.key.get_ref();
            let words: Vec<String> = point.words().map(|(_, text)| text.to_owned()).collect();
            return Err(twice(reader.source, file.place.clone(), name, &words.join(" ")));
        }
        points.push(point);
    }
    Ok(Axis { points })
}

pub(super) fn twice(source: &Source, span: Range<usize>, key: &str, value: &str) -> Box<SpecError> {
    SpecError::at(source, span, format!("`{key}` has {value} twice"), "given before")
        .help("each value once: `repeat` says how often a configuration is run")
}

/// A point with values of their types, and its meaning.
fn point(file: &file::Point, reader: &Reader<'_>) -> Parsed<(Point, Vec<String>)> {
    let mut point = Point::default();
    let mut meaning = Vec::new();
    for (key, text) in &file.values {
        let (name, value) = (key.get_ref().as_str(), text.get_ref());
        if let Some(variable) = name.strip_prefix(ENV) {
            point.env.insert(variable.to_owned(), value.clone());
            meaning.push(format!("{name}={value}"));
        } else if let Some(argument) = name.strip_prefix(ARGS) {
            point.args.insert(argument.to_owned(), value.clone());
            meaning.push(format!("{name}={value}"));
        } else if let Some(choice) = choice(name) {
            point.only.insert(choice, value.clone());
            meaning.push(format!("{name}={value}"));
        } else {
            let value = reader.swept(key, text)?;
            meaning.push(format!("{} {}", value.key(), value.meaning()));
            point.flags.insert(value.key(), value);
        }
    }
    meaning.sort();
    Ok((point, meaning))
}

/// The choice of this name.
pub(super) fn choice(name: &str) -> Option<&'static str> {
    CHOICES.iter().copied().find(|choice| *choice == name)
}

/// The names that the file lists, for each choice.
pub(super) struct Names {
    lists: Vec<(&'static str, &'static str, Vec<String>)>,
}

impl Names {
    /// The names of the file: `collectors` and `programs` have the name of a program's column, its
    /// work, and its own.
    pub(super) fn new(file: &File, collectors: Vec<String>, programs: &[[String; 3]]) -> Names {
        let of_program = |at: usize| programs.iter().map(move |names| names[at].clone());
        let own = file.workloads.iter().map(|own| own.name.get_ref().clone());
        let heap = file.heap.iter().flat_map(|heap| heap.get_ref());
        let list = |names: &mut dyn Iterator<Item = String>| {
            let mut seen = HashSet::new();
            names.filter(|name| seen.insert(name.clone())).collect()
        };
        Names {
            lists: vec![
                (
                    "collector",
                    "collectors",
                    list(&mut collectors.into_iter().chain(of_program(0))),
                ),
                ("workload", "workloads", list(&mut own.chain(of_program(1)))),
                ("program", "programs", list(&mut of_program(2))),
                (
                    "build",
                    "builds",
                    list(&mut file.builds.iter().map(|build| build.name.get_ref().clone())),
                ),
                (
                    "heap",
                    "multiples in `heap`",
                    list(&mut heap.map(|multiple| crate::plan::heap_name(*multiple.get_ref()))),
                ),
            ],
        }
    }

    /// Checks the names of points, and writes multiples of the heap as plans have them.
    ///
    /// # Errors
    /// If a point names something that the file does not list, or if an environment variable has an
    /// impossible name or would bring in flags.
    pub(super) fn check<'p>(
        &self,
        source: &Source,
        points: impl IntoIterator<Item = &'p mut file::Point>,
    ) -> Parsed<()> {
        points
            .into_iter()
            .flat_map(|point| &mut point.values)
            .try_for_each(|value| self.value(source, value))
    }

    fn value(&self, source: &Source, (key, text): &mut file::Flag) -> Parsed<()> {
        let name = key.get_ref().as_str();
        if let Some(variable) = name.strip_prefix(ENV) {
            variable_is_legal(source, key, variable, text)?;
            return variable_brings_no_flags(source, key, variable);
        }
        let Some((_, what, names)) = self.lists.iter().find(|(choice, ..)| *choice == name) else {
            return Ok(());
        };
        if name == "heap"
            && let Ok(multiple) = text.get_ref().parse::<f64>()
        {
            *text.get_mut() = crate::plan::heap_name(multiple);
        }
        if names.contains(text.get_ref()) {
            return Ok(());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = format!("`{name}`: \"{}\" is not among the {what} of this file", text.get_ref());
        Err(SpecError::at(source, text.span(), message, "not in the file").help(suggest(text.get_ref(), what, &names)))
    }
}

/// Checks the name and the value of a variable of the environment.
pub(super) fn variable_is_legal(
    source: &Source,
    key: &Spanned<String>,
    variable: &str,
    text: &Spanned<String>,
) -> Parsed<()> {
    if variable.is_empty() || variable.contains(['=', '\0']) || text.get_ref().contains('\0') {
        return Err(
            SpecError::at(source, key.span(), "`env`: not a legal name or value", "here")
                .help("a variable has a name without =, and text without NUL, such as LANG = \"C\""),
        );
    }
    Ok(())
}

/// Checks a variable that workloads also see.
fn variable_brings_no_flags(source: &Source, key: &Spanned<String>, variable: &str) -> Parsed<()> {
    if variable == gclab_flags::ENVIRONMENT || variable == gclab_flags::OCAML_ENVIRONMENT {
        let message = format!("`env`: {variable} would bring flags past the plan");
        return Err(SpecError::at(source, key.span(), message, "not here").help("flags go in [flags] and [sweep]"));
    }
    Ok(())
}
