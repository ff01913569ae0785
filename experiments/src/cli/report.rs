//! `gclab report` and `gclab compare`: what results folders say, for people, other programs, and CI.

use gclab_sweep::tell;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gclab_report::compare as compare_folders;
use gclab_results::ResultsDir;
use gclab_results::parts::put_together;

use super::usage;

/// Report on results folders
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folders that `gclab run` wrote; the parts of a plan (`--shard`) are put together
    #[arg(required = true, value_name = "DIR")]
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

pub fn report(arguments: &ReportArguments) -> ExitCode {
    let folders = match open(&arguments.folders) {
        Ok(folders) => put_together(folders),
        Err(message) => return usage(message),
    };
    match arguments.format {
        Some(Format::Markdown) => super::print(&gclab_report::markdown(&folders)),
        Some(Format::Csv) => super::print(&gclab_report::csv(&folders)),
        Some(Format::ProfileCsv) => super::print(&gclab_report::profile_csv(&folders)),
        format => {
            let page = gclab_report::html(&folders);
            let written = write_page(&page, &arguments.folders[0]);
            // A page of markup is for a file or a pipe, not for the eyes.
            let piped = format == Some(Format::Html) && !std::io::stdout().is_terminal();
            let printed = if piped {
                super::print(&page)
            } else {
                let tables: Vec<String> = folders
                    .iter()
                    .map(|folder| format!("{}\n\n{}", folder.path().display(), gclab_report::terminal(folder)))
                    .collect();
                super::print(&tables.join("\n"))
            };
            match written {
                // Who has the page itself need not be told where else it is.
                Ok(_) if piped => {}
                Ok(path) => tell!("\n{}", path.display()),
                // What was asked for has been printed; only the file is missing.
                Err(message) => return usage(message),
            }
            printed
        }
    }
}

fn open(folders: &[PathBuf]) -> Result<Vec<ResultsDir>, String> {
    let opened: Vec<ResultsDir> = folders
        .iter()
        .map(|folder| ResultsDir::open(folder).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    Ok(opened)
}

/// Writes `report.html` of one folder.
///
/// # Errors
/// In words, when the file cannot be written.
pub fn write_html(results: &ResultsDir, folder: &Path) -> Result<PathBuf, String> {
    write_page(&gclab_report::html(std::slice::from_ref(results)), folder)
}

fn write_page(page: &str, folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("report.html");
    let draft = folder.join("report.html.new");
    // A browser that has the old page open never meets half of the new one.
    fs::write(&draft, page)
        .and_then(|()| fs::rename(&draft, &path))
        .map_err(|error| format!("{}: cannot write the report: {error}", path.display()))?;
    Ok(path)
}

/// Compare two results folders: exit 0 without a regression, 1 with one, 2 on wrong usage
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The folder to compare with
    base: PathBuf,
    /// The folder that may have become worse
    new: PathBuf,
    /// The smallest change that counts: 3% or 0.03
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = threshold)]
    threshold: f64,
}

/// A share from `3%` or `0.03`: not negative, less than 1000 %.
fn threshold(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    share
        .filter(|share| (0.0..10.0).contains(share))
        .ok_or_else(|| "a share such as 3% or 0.03 is wanted".into())
}

pub fn compare(arguments: &CompareArguments) -> ExitCode {
    let folders = match open(&[arguments.base.clone(), arguments.new.clone()]) {
        Ok(folders) => folders,
        Err(message) => return usage(message),
    };
    let comparison = compare_folders(&folders[0], &folders[1], arguments.threshold);
    if comparison.is_empty() {
        return usage(format!(
            "{} and {} have no configuration in common that was run: nothing can be compared",
            arguments.base.display(),
            arguments.new.display()
        ));
    }
    let printed = super::print(&gclab_report::comparison(&comparison));
    if comparison.regressed() {
        ExitCode::FAILURE
    } else {
        printed
    }
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
