//! The axes of a sweep: flags with their values, variables of the environment, arguments, names,
//! lists of points, and lists that go in pairs. And what goes with them: `exclude` and `builds`.

use std::collections::HashSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::raw::{RawAxis, RawBuild, RawFlag, RawPoint};
use super::walk::{Walk, in_order, owned};
use crate::axes::{ARGS, ENV, OCAML};
use crate::spec::errors::{Parsed, SpecError};

/// The keys of a sweep that are no flags. (Each key of `crate::axes::CHOICES` is among them.)
pub(crate) const SWEEP_KEYS: [&str; 10] = [
    "points",
    "pairs",
    "env",
    "args",
    "ocaml",
    "collector",
    "workload",
    "program",
    "build",
    "heap",
];

/// The keys of a build.
const BUILD_KEYS: [&str; 2] = ["name", "file"];

const POINTS_HELP: &str =
    "a point is a table with a value for each of some axes: points = [{ A = \"1m\", N = 1 }, { A = \"4m\", N = 2 }]";

const EXCLUDE_HELP: &str = "runs that have all values of one of these tables are left out: exclude = [{ collector = \"two-space\", A = \"1m\" }]";

const PAIRS_HELP: &str =
    "the first value goes with the first, the second with the second: pairs = { A = [\"1m\", \"4m\"], N = [1, 2] }";

const BUILDS_HELP: &str =
    "builds = [\"old/gclab\", \"new/gclab\"], or with names: builds = [{ name = \"old\", file = \"old/gclab\" }, ...]";

impl Walk<'_> {
    /// The axes of one table, in the order of the file.
    pub(super) fn sweep(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawAxis>> {
        let mut axes = Vec::new();
        for (key, values) in in_order(self.table("sweep", value, "A = [\"1m\", \"4m\"]")?) {
            match key.get_ref().as_ref() {
                "points" => axes.push(RawAxis {
                    key: owned(key),
                    points: self.points("points", values)?,
                }),
                "pairs" => self.pairs(&owned(key), values, &mut axes)?,
                "env" => axes.extend(self.named(ENV, "LANG = [\"C\"]", values)?),
                "args" => axes.extend(self.named(ARGS, "N = [16, 18]", values)?),
                "ocaml" => axes.extend(self.named(OCAML, "o = [80, 120]", values)?),
                _ => axes.push(self.axis(owned(key), values)?),
            }
        }
        Ok(axes)
    }

    /// The axis of one key.
    fn axis(&self, key: Spanned<String>, values: &Spanned<DeValue<'_>>) -> Parsed<RawAxis> {
        let array = self.array(key.get_ref(), values, "values")?;
        if !SWEEP_KEYS.contains(&key.get_ref().as_str()) && array.iter().any(|item| item.get_ref().is_table()) {
            return Err(self.unknown_key(&key, &SWEEP_KEYS, " of a sweep"));
        }
        let point = |item: &Spanned<DeValue<'_>>| {
            let value = self.flag(&key, item)?;
            Ok(RawPoint {
                place: value.span(),
                values: vec![(key.clone(), value)],
            })
        };
        let points = array.iter().map(point).collect::<Parsed<_>>()?;
        Ok(RawAxis { key, points })
    }

    /// The axes of a table of variables or arguments.
    fn named(&self, prefix: &str, example: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawAxis>> {
        let table = self.table(prefix.trim_end_matches('.'), value, example)?;
        in_order(table)
            .map(|(key, values)| self.axis(Spanned::new(key.span(), format!("{prefix}{}", key.get_ref())), values))
            .collect()
    }

    /// Tables, each with a value for some axes.
    pub(super) fn points(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawPoint>> {
        let help = if key == "exclude" { EXCLUDE_HELP } else { POINTS_HELP };
        let wrong = |value: &Spanned<DeValue<'_>>| self.wrong_type(key, value, "an array of tables").help(help);
        let array = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        // Without a table nothing is left out, which a file that includes another one may want.
        if array.is_empty() && key != "exclude" {
            return Err(SpecError::at(
                self.source,
                value.span(),
                format!("`{key}` is empty: there would be nothing to run"),
                "at least one point is needed",
            )
            .help(help));
        }
        let point = |item: &Spanned<DeValue<'_>>| {
            let table = item.get_ref().as_table().ok_or_else(|| wrong(item))?;
            let mut values = Vec::new();
            self.flatten(table, "", &mut values)?;
            if values.is_empty() {
                return Err(SpecError::at(
                    self.source,
                    item.span(),
                    format!("`{key}` has a table without a value"),
                    "empty",
                )
                .help(help));
            }
            Ok(RawPoint {
                place: item.span(),
                values,
            })
        };
        array.iter().map(point).collect()
    }

    /// The values of a table, and of `env`, `args` and `ocaml` in it.
    fn flatten(&self, table: &DeTable<'_>, prefix: &str, values: &mut Vec<RawFlag>) -> Parsed<()> {
        for (key, value) in in_order(table) {
            let name = key.get_ref().as_ref();
            match (prefix, name, value.get_ref().as_table()) {
                ("", "env", Some(inner)) => self.flatten(inner, ENV, values)?,
                ("", "args", Some(inner)) => self.flatten(inner, ARGS, values)?,
                ("", "ocaml", Some(inner)) => self.flatten(inner, OCAML, values)?,
                _ => values.push((
                    Spanned::new(key.span(), format!("{prefix}{name}")),
                    self.flag(key, value)?,
                )),
            }
        }
        Ok(())
    }

    /// One table of lists that go in pairs, or several such tables.
    fn pairs(&self, key: &Spanned<String>, value: &Spanned<DeValue<'_>>, axes: &mut Vec<RawAxis>) -> Parsed<()> {
        match value.get_ref().as_array() {
            Some(tables) if tables.iter().any(|table| table.get_ref().is_table()) => {
                tables.iter().try_for_each(|table| self.pairs(key, table, axes))
            }
            _ => {
                let wrong = || self.wrong_type("pairs", value, "a table of lists").help(PAIRS_HELP);
                let table = value.get_ref().as_table().ok_or_else(wrong)?;
                axes.push(self.pair(key, value, table)?);
                Ok(())
            }
        }
    }

    fn pair(&self, key: &Spanned<String>, value: &Spanned<DeValue<'_>>, table: &DeTable<'_>) -> Parsed<RawAxis> {
        let mut lists: Vec<RawAxis> = Vec::new();
        for (name, values) in in_order(table) {
            match (name.get_ref().as_ref(), values.get_ref().is_table()) {
                ("env", true) => lists.extend(self.named(ENV, "LANG = [\"C\"]", values)?),
                ("args", true) => lists.extend(self.named(ARGS, "N = [16, 18]", values)?),
                ("ocaml", true) => lists.extend(self.named(OCAML, "o = [80, 120]", values)?),
                _ => lists.push(self.axis(owned(name), values)?),
            }
        }
        let Some((first, others)) = lists.split_first().filter(|(_, others)| !others.is_empty()) else {
            return Err(SpecError::at(
                self.source,
                value.span(),
                "`pairs` needs two lists or more",
                "fewer than two lists",
            )
            .help(PAIRS_HELP));
        };
        let length = first.points.len();
        if let Some(other) = others.iter().find(|other| other.points.len() != length) {
            return Err(SpecError::at(
                self.source,
                other.key.span(),
                format!(
                    "`pairs`: `{}` has {length} values, and `{}` has {}",
                    first.key.get_ref(),
                    other.key.get_ref(),
                    other.points.len()
                ),
                "another number of values",
            )
            .help(PAIRS_HELP));
        }
        let point = |place: usize| RawPoint {
            place: first.points[place].place.clone(),
            values: lists
                .iter()
                .flat_map(|list| list.points[place].values.clone())
                .collect(),
        };
        Ok(RawAxis {
            key: key.clone(),
            points: (0..length).map(point).collect(),
        })
    }

    /// The builds of gclab: files, or tables with a name and a file.
    pub(super) fn builds(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawBuild>> {
        let wrong =
            |value: &Spanned<DeValue<'_>>| self.wrong_type("builds", value, "an array of files").help(BUILDS_HELP);
        let array = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        if array.is_empty() {
            return Err(SpecError::at(
                self.source,
                value.span(),
                "`builds` is empty: there would be nothing to run",
                "at least one build is needed",
            )
            .help(BUILDS_HELP));
        }
        let mut builds: Vec<RawBuild> = Vec::new();
        let mut names = HashSet::new();
        for item in array {
            let build = match item.get_ref() {
                DeValue::String(file) => {
                    let file = Spanned::new(item.span(), file.to_string());
                    RawBuild {
                        name: file.clone(),
                        file,
                    }
                }
                DeValue::Table(table) => {
                    for (key, _) in in_order(table) {
                        if !BUILD_KEYS.contains(&key.get_ref().as_ref()) {
                            return Err(self.unknown_key(key, &BUILD_KEYS, " of a build"));
                        }
                    }
                    let file = table.get("file").ok_or_else(|| {
                        SpecError::at(self.source, item.span(), "a build without `file`", "no `file` here")
                            .help(BUILDS_HELP)
                    })?;
                    let name = table.get("name").unwrap_or(file);
                    RawBuild {
                        name: self.spanned_text("name", name)?,
                        file: self.spanned_text("file", file)?,
                    }
                }
                _ => return Err(wrong(item)),
            };
            if !names.insert(build.name.get_ref().clone()) {
                return Err(SpecError::at(
                    self.source,
                    item.span(),
                    format!("`builds` has \"{}\" twice", build.name.get_ref()),
                    "given before",
                )
                .help("each build once: `repeat` says how often a configuration is run"));
            }
            builds.push(build);
        }
        Ok(builds)
    }
}
