//! Sweeps with values of their types: each key is a flag of gclab's or of a runtime, a variable of
//! the environment, an argument, or the name of something that the file lists.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::file::{self, File, SWEEP_KEYS};
use crate::axes::{ARGS, CHOICES, ENV, FlagText};
use crate::experiment::{Axis, Point};
use crate::suggest::suggest;

/// The names that the runs of an entity of the file have: see [`CHOICES`]. A choice without names
/// fits no point that has it.
pub(super) struct Entity<'e> {
    /// The name of the entity, for messages.
    pub(super) title: String,
    /// The names for each choice that the entity restricts. A choice that is not here may be any.
    pub(super) names: Vec<(&'static str, BTreeSet<&'e str>)>,
}

impl Entity<'_> {
    /// Whether a point can be of one of its runs.
    fn fits(&self, point: &file::Point) -> bool {
        point.values.iter().all(|(key, value)| {
            let names = self.names.iter().find(|(choice, _)| choice == key.get_ref());
            names.is_none_or(|(_, names)| names.contains(value.get_ref().as_str()))
        })
    }
}

/// How the values of a kind of flags are read.
pub(super) trait Reader<V> {
    /// Reads a value of a flag, which has the key of the result.
    fn read(&self, key: &Spanned<String>, text: &Spanned<String>) -> Parsed<(&'static str, V)>;
    /// The effect of a value: equal for `1m` and `1024k`.
    fn meaning(&self, value: &V) -> String;
    /// The error about a flag that is swept and also fixed, if it is.
    fn fixed(&self, key: &Spanned<String>) -> Option<Box<SpecError>>;
}

/// Reads the sweeps of an entity. Tables that are for others only are left out.
pub(super) fn sweeps<V: Clone + FlagText>(
    source: &Source,
    file: &[Vec<file::Axis>],
    entity: &Entity<'_>,
    reader: &dyn Reader<V>,
) -> Parsed<Vec<Vec<Axis<V>>>> {
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
        return Err(SpecError::at(
            source,
            first.key.span(),
            format!("no point of `sweep` is for {}, so it would never run", entity.title),
            "all of these are for others",
        )
        .help("take it out of the file, or add a [[sweep]] table for it"));
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
        axes.iter().map(|axis| self::axis(source, axis, reader)).collect()
    };
    tables.iter().map(table).collect()
}

fn axis<V: Clone + FlagText>(source: &Source, axis: &file::Axis, reader: &dyn Reader<V>) -> Parsed<Axis<V>> {
    let mut seen = HashSet::new();
    let mut points = Vec::new();
    for file in &axis.points {
        let (point, meaning) = point(file, reader)?;
        // Compared by meaning, not by text: 1m and 1024k are one value.
        if !seen.insert(meaning) {
            let name = axis.key.get_ref();
            let words: Vec<String> = point.words().map(|(_, text)| text.to_owned()).collect();
            return Err(twice(source, file.place.clone(), name, &words.join(" ")));
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
fn point<V: Clone + FlagText>(file: &file::Point, reader: &dyn Reader<V>) -> Parsed<(Point<V>, Vec<String>)> {
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
            if let Some(error) = reader.fixed(key) {
                return Err(error);
            }
            let (flag, value) = reader.read(key, text)?;
            meaning.push(format!("{flag} {}", reader.meaning(&value)));
            point.flags.insert(flag, value);
        }
    }
    meaning.sort();
    Ok((point, meaning))
}

/// The choice of this name.
pub(super) fn choice(name: &str) -> Option<&'static str> {
    CHOICES.iter().copied().find(|choice| *choice == name)
}

/// Whether a key of a sweep is a flag's.
pub(super) fn is_flag(key: &str) -> bool {
    !key.starts_with(ENV) && !key.starts_with(ARGS) && choice(key).is_none()
}

/// A suggestion for a flag that no table knows, if it is near to a key of sweeps.
pub(super) fn near_key(key: &str) -> Option<String> {
    gclab_flags::nearest(key, SWEEP_KEYS).map(|near| format!("did you mean `{near}`, a key of sweeps? "))
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
    /// If a point names something that the file does not list; or a variable of the environment
    /// could not have its name, or would bring flags.
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

/// Checks a variable that workloads see, too.
fn variable_brings_no_flags(source: &Source, key: &Spanned<String>, variable: &str) -> Parsed<()> {
    if variable == gclab_flags::ENVIRONMENT || variable == gclab_flags::OCAML_ENVIRONMENT {
        let message = format!("`env`: {variable} would bring flags past the plan");
        return Err(SpecError::at(source, key.span(), message, "not here").help("flags stand in [flags] and [sweep]"));
    }
    Ok(())
}
