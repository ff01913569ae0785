//! `exclude`: runs that are left out. A run is left out if it has all values of one table.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::file::{self, File};
use super::sweeps::choice;
use crate::axes::{ARGS, ENV};
use crate::experiment::{Entry, Exclude, Experiment};
use crate::plan;
use crate::suggest::suggest;

/// Enters the runs that are left out into `experiment`.
///
/// # Errors
/// If a table has a key that is not an axis of the file, or leaves nothing out. Such a table is a
/// slip: runs meant to be left out would take their time.
pub(super) fn enter(source: &Source, file: &File, experiment: &mut Experiment) -> Parsed<()> {
    if file.excludes.is_empty() {
        return Ok(());
    }
    let keys = axes(file);
    for (key, _) in file.excludes.iter().flat_map(|table| &table.values) {
        if choice(key.get_ref()).is_none() && !keys.contains(key.get_ref().as_str()) {
            return Err(no_axis(source, key, &keys));
        }
    }
    for (number, table) in file.excludes.iter().enumerate() {
        for entry in &mut experiment.entries {
            let found = exclude(number, table, entry);
            entry.excludes.extend(found);
        }
    }
    let used = plan::used_excludes(experiment, file.excludes.len());
    let idle = file
        .excludes
        .iter()
        .zip(used)
        .find(|(table, used)| !used && !is_of_left_out(table, experiment));
    match idle {
        None => Ok(()),
        Some((table, _)) => Err(SpecError::at(
            source,
            table.place.clone(),
            "`exclude` leaves nothing out: no run has all of these values",
            "no such run",
        )
        .help("a run is left out if it has all values of the table; `gclab plan` shows the values of each run")),
    }
}

/// Whether a table names a collector that `collectors = "all"` has left out already.
fn is_of_left_out(table: &file::Point, experiment: &Experiment) -> bool {
    let names_collector = |(key, text): &(Spanned<String>, Spanned<String>)| {
        key.get_ref() == "collector" && !experiment.columns().contains(&text.get_ref().as_str())
    };
    !experiment.left_out.is_empty() && table.values.iter().any(names_collector)
}

/// The keys of all flags, variables and arguments of the file.
fn axes(file: &File) -> BTreeSet<&str> {
    let of_programs = file.programs.iter().flat_map(|own| {
        let fixed = own.flags.iter().flatten();
        let swept = own.sweeps.iter().flatten().flatten().flat_map(|axis| axis.values());
        fixed.chain(swept)
    });
    let all = file.flags.iter().chain(file.swept()).chain(of_programs);
    all.map(|(key, _)| key.get_ref().as_str())
        .filter(|key| choice(key).is_none())
        .collect()
}

fn no_axis(source: &Source, key: &Spanned<String>, axes: &BTreeSet<&str>) -> Box<SpecError> {
    let mut names: Vec<&str> = axes.iter().copied().collect();
    names.extend(crate::axes::CHOICES);
    SpecError::at(
        source,
        key.span(),
        format!("`exclude`: `{}` is not an axis of this file", key.get_ref()),
        "no such axis",
    )
    .help(suggest(key.get_ref(), "axes", &names))
}

/// The table as it concerns an entry; `None` if no value of its flags is meant.
fn exclude(number: usize, table: &file::Point, entry: &Entry) -> Option<Exclude> {
    let mut exclude = Exclude {
        number,
        ..Exclude::default()
    };
    let points = || entry.sweeps.iter().flatten().flat_map(|axis| &axis.points);
    for (key, text) in &table.values {
        let (name, value) = (key.get_ref().as_str(), text.get_ref());
        let put = |to: &mut BTreeMap<String, String>, name: &str| {
            to.insert(name.to_owned(), value.clone());
        };
        if let Some(variable) = name.strip_prefix(ENV) {
            put(&mut exclude.env, variable);
        } else if let Some(argument) = name.strip_prefix(ARGS) {
            put(&mut exclude.args, argument);
        } else if let Some(choice) = choice(name) {
            exclude.only.insert(choice, value.clone());
        } else {
            let wanted = entry.program.runtime.read(name, value).ok()?;
            let swept = points().filter_map(|point| point.flags.get(wanted.key()));
            let all = swept.chain(entry.flags.get(wanted.key()));
            let texts: BTreeSet<String> = all
                .filter(|value| value.meaning() == wanted.meaning())
                .map(|value| value.text().to_owned())
                .collect();
            if texts.is_empty() {
                return None;
            }
            exclude.flags.insert(wanted.key(), texts);
        }
    }
    Some(exclude)
}
