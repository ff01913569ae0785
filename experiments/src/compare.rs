//! `gclab compare`: two results folders, two collectors, programs or builds of one, or the history
//! of many folders, for people, for a comment on a pull request, and for CI.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gclab_report::{Document, Side, history};
use gclab_results::{ResultsDir, path_name};
use gclab_sweep::find;
use gclab_sweep::suggest::suggest;

use crate::common::{fraction, print, refuse};
use crate::report::{json, open};

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The baseline: a results folder, a folder of shards, or an experiment's name for its newest
    /// folder
    #[arg(required_unless_present = "history")]
    base: Option<PathBuf>,
    /// The folder to check against the baseline, or its experiment's name. With `--against` it may
    /// be omitted: then both sides are in one folder
    new: Option<PathBuf>,
    /// Alone: look for changes across these folders, and exit 1 if the last one is worse than those
    /// since the last change. With two folders to compare: widen their intervals by the scatter
    /// among these folders of the same kind
    #[arg(long, value_name = "DIR|NAME", num_args = 2.., conflicts_with = "against")]
    history: Vec<PathBuf>,
    /// How to order the folders of a history
    #[arg(long, value_name = "ORDER", default_value = "time", requires = "history")]
    order: FolderOrder,
    /// The collector or program to judge, at each setting that both sides have
    #[arg(long, value_name = "NAME", requires = "against")]
    collector: Option<String>,
    /// The build to judge, in an experiment with `builds`
    #[arg(long, value_name = "NAME", requires = "against", conflicts_with = "collector")]
    build: Option<String>,
    /// The collector, program or build to compare it with
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    /// The smallest change that counts: 3% or 0.03
    #[arg(long, value_name = "FRACTION", default_value = "3%", value_parser = threshold)]
    threshold: f64,
    /// Show all figures, not only those that changed
    #[arg(long)]
    all: bool,
    /// Show all columns in the terminal, however wide
    #[arg(long)]
    wide: bool,
    /// Print the comparison in this format [default: text]
    #[arg(long)]
    format: Option<CompareFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// One self-contained page
    Html,
    /// The answer and the figures that changed, for a comment on a pull request
    #[value(alias = "github")]
    Markdown,
    /// All figures for other programs
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FolderOrder {
    /// By the start of their experiments
    Time,
    /// As given
    Given,
}

/// A fraction from `3%` or `0.03`: not negative, less than 1000 %.
fn threshold(text: &str) -> Result<f64, String> {
    fraction(text)
        .filter(|fraction| (0.0..10.0).contains(fraction))
        .ok_or_else(|| "expected a fraction such as 3% or 0.03".into())
}

pub(crate) fn compare(arguments: &CompareArguments) -> ExitCode {
    let result = match &arguments.base {
        Some(base) => of_two(arguments, base),
        None => of_many(arguments),
    };
    let (document, data, regressed) = match result {
        Ok(result) => result,
        Err(message) => return refuse(message),
    };
    let printed = print(&match arguments.format {
        None => gclab_report::terminal(&document, arguments.wide),
        Some(CompareFormat::Html) => gclab_report::html(&[document]),
        Some(CompareFormat::Markdown) => gclab_report::markdown(&[document]),
        Some(CompareFormat::Json) => data,
    });
    if regressed { ExitCode::FAILURE } else { printed }
}

/// A document, its data as JSON, and whether it has a regression.
type Compared = Result<(Document, String, bool), String>;

fn of_two(arguments: &CompareArguments, base: &Path) -> Compared {
    let new = arguments.new.as_deref().unwrap_or(base);
    let against = arguments.against.as_deref();
    if arguments.new.is_none() && against.is_none() {
        let there = gclab_report::names(&find::open(base)?);
        let within = match &there[..] {
            [first, .., last] => format!(", or compare within it: --collector {last} --against {first}"),
            _ => String::new(),
        };
        return Err(format!("{}: name a second folder{within}", path_name(base)));
    }
    let sides = match (arguments.collector.as_deref(), arguments.build.as_deref(), against) {
        (Some(name), _, Some(against)) => Some((Side::Collector(against), Side::Collector(name))),
        (None, Some(build), Some(against)) => Some((Side::Build(against), Side::Build(build))),
        (None, None, Some(_)) => return Err("--against needs --collector, or --build".to_owned()),
        _ => None,
    };
    let folders = open(&[base.to_owned(), new.to_owned()])?;
    if let Some((side_base, side_new)) = sides {
        has(&folders[0], base, side_base)?;
        has(&folders[1], new, side_new)?;
        if arguments.new.is_none() && arguments.collector.as_deref().or(arguments.build.as_deref()) == against {
            return Err(format!("both sides are {}", against.unwrap_or_default()));
        }
    }
    let past = open(&arguments.history)?;
    let comparison = gclab_report::compare(&folders[0], &folders[1], arguments.threshold, sides, &past);
    if comparison.is_empty() {
        let (one, other) = match &comparison.sides {
            Some((base, new)) => (base.clone(), new.clone()),
            None => (path_name(base), path_name(new)),
        };
        return Err(format!(
            "{one} and {other} have run no configuration in common: nothing can be compared"
        ));
    }
    Ok((
        comparison.document(arguments.all),
        json(&comparison),
        comparison.regressed,
    ))
}

/// The history of the folders.
fn of_many(arguments: &CompareArguments) -> Compared {
    different(&arguments.history)?;
    let mut folders = open(&arguments.history)?;
    if arguments.order == FolderOrder::Time {
        folders.sort_by(|one, other| one.manifest().started.cmp(&other.manifest().started));
    }
    let history = history(&folders, arguments.threshold);
    if history.is_empty() {
        return Err("no two of these folders have run a configuration in common: there is no history".to_owned());
    }
    Ok((history.document(arguments.all), json(&history), history.regressed))
}

/// Checks that no folder is given twice: a copy would look like a folder without noise.
fn different(names: &[PathBuf]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        let path = find::find(name)?;
        if !seen.insert(path.canonicalize().unwrap_or(path)) {
            return Err(format!(
                "--history: {} is given twice; each folder is one point of a history",
                path_name(name)
            ));
        }
    }
    Ok(())
}

/// Checks that a folder has runs of a side.
fn has(results: &ResultsDir, folder: &Path, side: Side<'_>) -> Result<(), String> {
    let (name, what, there) = match side {
        Side::Collector(name) => (name, "collector", gclab_report::names(results)),
        Side::Build(name) => (name, "build", results.builds().into_iter().map(str::to_owned).collect()),
    };
    if there.iter().any(|other| other == name) {
        return Ok(());
    }
    let there: Vec<&str> = there.iter().map(String::as_str).collect();
    let known = suggest(name, &format!("{what}s"), &there);
    Err(format!("{}: no run of the {what} `{name}`; {known}", path_name(folder)))
}

#[cfg(test)]
mod tests {
    use super::threshold;

    #[test]
    fn thresholds() {
        assert_eq!(
            (threshold("3%"), threshold("0.03"), threshold("0")),
            (Ok(0.03), Ok(0.03), Ok(0.0))
        );
        for wrong in ["", "%", "-1%", "x", "NaN", "inf", "1000%"] {
            assert!(threshold(wrong).is_err(), "{wrong}");
        }
    }
}
