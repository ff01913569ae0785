//! `gclab report` and `gclab compare`: results folders for people, other programs, and CI.

use std::collections::BTreeSet;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gclab_report::{Rivals, compare as compare_folders};
use gclab_results::ResultsDir;
use gclab_results::parts::put_together;
use gclab_sweep::find::find;
use gclab_sweep::folder::strays;
use gclab_sweep::tell;

use crate::common::{fraction, print, refuse};

/// Report on results folders
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Folders that `gclab run` wrote, or names of experiments: `quick` is the newest folder of
    /// quick.toml under results/runs. Parts of one plan (`--shard`) are put together
    #[arg(required = true, value_name = "DIR|NAME")]
    folders: Vec<PathBuf>,
    /// Print the report in this format [default: a table, and report.html is written anew]
    #[arg(long)]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One page without network; also written to report.html in the (first) folder
    Html,
    /// A table for an issue or a pull request
    Markdown,
    /// A line for each run that was timed
    Csv,
    /// Heap profiles: a line for each band of each census
    ProfileCsv,
}

pub(crate) fn report(arguments: &ReportArguments) -> ExitCode {
    let opened = match open(&arguments.folders) {
        Ok(folders) => folders,
        Err(message) => return refuse(message),
    };
    let first = opened[0].path().to_owned();
    let folders = put_together(opened);
    match arguments.format {
        Some(Format::Markdown) => print(&gclab_report::markdown(&folders)),
        Some(Format::Csv) => print(&gclab_report::csv(&folders)),
        Some(Format::ProfileCsv) => print(&gclab_report::profile_csv(&folders)),
        format => {
            let page = gclab_report::html(&folders);
            let written = write_page(&page, &first);
            // A page of markup is for a file or a pipe, not for a terminal.
            let piped = format == Some(Format::Html) && !std::io::stdout().is_terminal();
            let printed = if piped {
                print(&page)
            } else {
                let tables: Vec<String> = folders
                    .iter()
                    .map(|folder| format!("{}\n\n{}", folder.path().display(), gclab_report::terminal(folder)))
                    .collect();
                print(&tables.join("\n"))
            };
            match written {
                // The reader of the pipe has the page itself.
                Ok(_) if piped => {}
                Ok(path) => tell!("\n{}", path.display()),
                // The report has been printed; only the file is missing.
                Err(message) => return refuse(message),
            }
            printed
        }
    }
}

/// Opens folders by their paths or names, and prints a note on lines that are of no planned run.
fn open(folders: &[PathBuf]) -> Result<Vec<ResultsDir>, String> {
    let mut opened = Vec::new();
    for name in folders {
        let results = ResultsDir::open(find(name)?).map_err(|error| error.to_string())?;
        if let Some(note) = strays(&results) {
            tell!("gclab: note: {note}");
        }
        opened.push(results);
    }
    Ok(opened)
}

/// Writes `report.html` of one folder.
///
/// # Errors
/// A message, if the file cannot be written.
pub(crate) fn write_html(results: &ResultsDir, folder: &Path) -> Result<PathBuf, String> {
    write_page(&gclab_report::html(std::slice::from_ref(results)), folder)
}

fn write_page(page: &str, folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("report.html");
    let draft = folder.join("report.html.new");
    // A browser that has the old page open never sees half of the new one.
    fs::write(&draft, page)
        .and_then(|()| fs::rename(&draft, &path))
        .map_err(|error| format!("{}: cannot write the report: {error}", path.display()))?;
    Ok(path)
}

/// Compare two results folders, or two collectors: exit 0 without a regression, 1 with one, 2 on
/// wrong usage
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The folder to compare with, or the name of its experiment: then the newest one
    base: PathBuf,
    /// The folder that may have become worse, or the name of its experiment. With `--collector` it
    /// may be absent: then both collectors are those of one folder
    #[arg(required_unless_present = "collector")]
    new: Option<PathBuf>,
    /// The collector whose figures are judged, at each setting that both collectors have
    #[arg(long, value_name = "NAME", requires = "against")]
    collector: Option<String>,
    /// The collector that it is compared with
    #[arg(long, value_name = "NAME", requires = "collector")]
    against: Option<String>,
    /// The smallest change that counts: 3% or 0.03
    #[arg(long, value_name = "FRACTION", default_value = "3%", value_parser = threshold)]
    threshold: f64,
    /// Show only figures that became better or worse
    #[arg(long)]
    only_changed: bool,
    /// Print the comparison in this format [default: a table]
    #[arg(long)]
    format: Option<CompareFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// The counts and a table for an issue or a pull request
    Markdown,
    /// All figures for other programs
    Json,
}

/// A fraction from `3%` or `0.03`: not negative, less than 1000 %.
fn threshold(text: &str) -> Result<f64, String> {
    fraction(text)
        .filter(|fraction| (0.0..10.0).contains(fraction))
        .ok_or_else(|| "expected a fraction such as 3% or 0.03".into())
}

pub(crate) fn compare(arguments: &CompareArguments) -> ExitCode {
    let new = arguments.new.as_ref().unwrap_or(&arguments.base);
    let rivals = arguments.collector.as_deref().zip(arguments.against.as_deref());
    let rivals = rivals.map(|(collector, against)| Rivals { collector, against });
    let comparison = open(&[arguments.base.clone(), new.clone()]).and_then(|folders| {
        if let Some(rivals) = rivals {
            has_collector(&folders[0], &arguments.base, rivals.against)?;
            has_collector(&folders[1], new, rivals.collector)?;
            if arguments.new.is_none() && rivals.collector == rivals.against {
                return Err(format!("--collector and --against are both {}", rivals.against));
            }
        }
        Ok(compare_folders(&folders[0], &folders[1], arguments.threshold, rivals))
    });
    let comparison = match comparison {
        Ok(comparison) => comparison.only_changed(arguments.only_changed),
        Err(message) => return refuse(message),
    };
    if comparison.is_empty() {
        return refuse(match rivals {
            None => format!(
                "{} and {} have no configuration in common that was run: nothing can be compared",
                arguments.base.display(),
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

/// Checks that a folder has runs of a collector.
fn has_collector(results: &ResultsDir, folder: &Path, collector: &str) -> Result<(), String> {
    let there: BTreeSet<&str> = results.runs().iter().map(|run| run.collector.as_str()).collect();
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
