//! `gclab compare`: two results folders, two collectors of one, or the history of many folders, for
//! people, for a comment on a pull request, and for CI.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gclab_report::{Order, Results, Rivals, compare as compare_folders, compare_builds, history_of};
use gclab_sweep::find::find;
use gclab_sweep::suggest::suggest;
use gclab_sweep::tell;

use crate::common::{fraction, print, refuse};
use crate::conditions::disturbances;
use crate::report::open_compared;

/// Compare two results folders, two collectors, or the history of many folders: exit 0 without a
/// regression, 1 with one, 2 on wrong usage
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The folder to compare with, or the name of its experiment: then the newest one
    #[arg(required_unless_present = "history")]
    base: Option<PathBuf>,
    /// The folder that may have become worse, or the name of its experiment. With `--collector` it
    /// may be absent: then both collectors are those of one folder
    #[arg(required_unless_present_any = ["collector", "build", "against", "history"])]
    new: Option<PathBuf>,
    /// Look for changes in two folders or more; exit 1 if the last folder is worse than those since
    /// the last change before it
    #[arg(long, value_name = "DIR|NAME", num_args = 2.., conflicts_with_all = ["base", "collector", "build", "against"])]
    history: Vec<PathBuf>,
    /// The order of the folders of a history [default: time]
    #[arg(long, value_name = "ORDER")]
    order: Option<FolderOrder>,
    /// The collector whose figures are judged, at each setting that both collectors have
    #[arg(long, value_name = "NAME", requires = "against")]
    collector: Option<String>,
    /// The build whose figures are judged, in an experiment with `builds`
    #[arg(long, value_name = "NAME", requires = "against", conflicts_with = "collector")]
    build: Option<String>,
    /// The collector, or the build, that it is compared with
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    /// The smallest change that counts: 3% or 0.03
    #[arg(long, value_name = "FRACTION", default_value = "3%", value_parser = threshold)]
    threshold: f64,
    /// Show only figures that became better or worse; of a history, only configurations with such
    /// a figure
    #[arg(long)]
    only_changed: bool,
    /// Print the comparison in this format [default: a table]
    #[arg(long)]
    format: Option<CompareFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// The answer, the figures that changed, and parts to open, for a comment on a pull request
    #[value(alias = "github")]
    Markdown,
    /// All figures for other programs
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FolderOrder {
    /// By the start of their experiments
    Time,
    /// As they are given
    Given,
}

/// A fraction from `3%` or `0.03`: not negative, less than 1000 %.
fn threshold(text: &str) -> Result<f64, String> {
    fraction(text)
        .filter(|fraction| (0.0..10.0).contains(fraction))
        .ok_or_else(|| "expected a fraction such as 3% or 0.03".into())
}

pub(crate) fn compare(arguments: &CompareArguments) -> ExitCode {
    let Some(base) = &arguments.base else {
        return history(arguments);
    };
    // The parser does not ask for what conflicts with a folder that is there.
    if arguments.order.is_some() {
        return refuse("--order is for --history, and these are two folders");
    }
    let new = arguments.new.as_ref().unwrap_or(base);
    let rivals = arguments.collector.as_deref().zip(arguments.against.as_deref());
    let rivals = rivals.map(|(collector, against)| Rivals { collector, against });
    let builds = arguments.build.as_deref().zip(arguments.against.as_deref());
    if arguments.against.is_some() && rivals.is_none() && builds.is_none() {
        return refuse("--against needs --collector, or --build");
    }
    let comparison = open_compared(&[base.clone(), new.clone()]).and_then(|folders| {
        note_disturbed(&folders[0], base);
        if new != base {
            note_disturbed(&folders[1], new);
        }
        if let Some(rivals) = rivals {
            has_collector(&folders[0], base, rivals.against)?;
            has_collector(&folders[1], new, rivals.collector)?;
            if arguments.new.is_none() && rivals.collector == rivals.against {
                return Err(format!("--collector and --against are both {}", rivals.against));
            }
        }
        if let Some((build, against)) = builds {
            has_build(&folders[0], base, against)?;
            has_build(&folders[1], new, build)?;
            if arguments.new.is_none() && build == against {
                return Err(format!("--build and --against are both {against}"));
            }
            return Ok(compare_builds(
                &folders[0],
                &folders[1],
                arguments.threshold,
                build,
                against,
            ));
        }
        Ok(compare_folders(&folders[0], &folders[1], arguments.threshold, rivals))
    });
    let comparison = match comparison {
        Ok(comparison) => comparison.only_changed(arguments.only_changed),
        Err(message) => return refuse(message),
    };
    if comparison.is_empty() {
        return refuse(match rivals {
            _ if builds.is_some() => {
                "the two builds have no setting in common that was run: nothing can be compared".to_owned()
            }
            None => format!(
                "{} and {} have no configuration in common that was run: nothing can be compared",
                base.display(),
                new.display()
            ),
            Some(Rivals { collector, against }) => {
                format!("{collector} and {against} have no setting in common that was run: nothing can be compared")
            }
        });
    }
    let printed = print(&match arguments.format {
        None => gclab_report::comparison(&comparison),
        Some(CompareFormat::Markdown) => gclab_report::comparison_markdown(&comparison),
        Some(CompareFormat::Json) => gclab_report::comparison_json(&comparison),
    });
    if comparison.regressed() {
        ExitCode::FAILURE
    } else {
        printed
    }
}

/// Says so if runs of a folder were disturbed: what looks like a change may come from that.
fn note_disturbed(results: &Results, folder: &Path) {
    if let Some(how) = disturbances(results) {
        let folder = folder.display();
        tell!("gclab: note: {folder}: runs were disturbed ({how}); a difference may come from that");
    }
}

/// The history of the folders.
fn history(arguments: &CompareArguments) -> ExitCode {
    let order = match arguments.order {
        None | Some(FolderOrder::Time) => Order::Time,
        Some(FolderOrder::Given) => Order::Given,
    };
    let folders = match different(&arguments.history).and_then(|()| open_compared(&arguments.history)) {
        Ok(folders) => folders,
        Err(message) => return refuse(message),
    };
    for (results, folder) in folders.iter().zip(&arguments.history) {
        note_disturbed(results, folder);
    }
    let history = history_of(folders, order, arguments.threshold).only_changed(arguments.only_changed);
    if history.is_empty() {
        return refuse("no two of these folders have a configuration in common that was run: there is no history");
    }
    let printed = print(&match arguments.format {
        None => gclab_report::history(&history),
        Some(CompareFormat::Markdown) => gclab_report::history_markdown(&history),
        Some(CompareFormat::Json) => gclab_report::history_json(&history),
    });
    if history.regressed() {
        ExitCode::FAILURE
    } else {
        printed
    }
}

/// Checks that no folder is given twice: a copy would look like a folder without noise.
fn different(names: &[PathBuf]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        let path = find(name)?;
        let path = path.canonicalize().unwrap_or(path);
        if !seen.insert(path) {
            return Err(format!(
                "--history: {} is given twice; each folder is one point of a history",
                name.display()
            ));
        }
    }
    Ok(())
}

/// Checks that a folder has runs of a collector.
fn has_collector(results: &Results, folder: &Path, collector: &str) -> Result<(), String> {
    let there = results.collectors();
    if there.contains(collector) {
        return Ok(());
    }
    let there: Vec<&str> = there.into_iter().collect();
    Err(format!(
        "{}: no run of the collector `{collector}`; there are: {}",
        folder.display(),
        if there.is_empty() {
            "none".to_owned()
        } else {
            there.join(", ")
        }
    ))
}

/// Checks that a folder has runs of a build.
fn has_build(results: &Results, folder: &Path, build: &str) -> Result<(), String> {
    let there = results.builds();
    if there.contains(build) {
        return Ok(());
    }
    let there: Vec<&str> = there.into_iter().collect();
    Err(format!(
        "{}: no run of the build `{build}`; {}",
        folder.display(),
        suggest(build, "builds", &there)
    ))
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
