//! `gclab report`: results folders for people and other programs.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gclab_report::{Reader, Results, put_together};
use gclab_sweep::find::find;
use gclab_sweep::folder::note_on_strays;
use gclab_sweep::tell;

use crate::common::{print, print_by, refuse};

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
}

pub(crate) fn report(arguments: &ReportArguments) -> ExitCode {
    let reader = match arguments.format {
        Some(Format::Csv) => Reader::for_tables(),
        _ => Reader::for_reports(),
    };
    let opened = match open_by(&arguments.folders, &reader, MOST) {
        Ok(folders) => folders,
        Err(message) => return refuse(message),
    };
    let first = opened[0].path().to_owned();
    let folders = put_together(opened);
    match arguments.format {
        Some(Format::Markdown) => print(&gclab_report::markdown(&folders)),
        Some(Format::Csv) => print_by(|to| gclab_report::write_csv(&folders, to)),
        format => {
            let (page, tables) = gclab_report::html_and_tables(&folders);
            let written = write_page(&page, &first);
            // A page of markup is for a file or a pipe, not for a terminal.
            let piped = format == Some(Format::Html) && !std::io::stdout().is_terminal();
            let printed = if piped {
                print(&page)
            } else {
                let tables: Vec<String> = folders
                    .iter()
                    .zip(tables)
                    .map(|(folder, table)| format!("{}\n\n{table}", folder.path().display()))
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

/// Opens folders by their paths or names for a comparison, and prints a note on lines that are of
/// no planned run.
pub(crate) fn open_compared(folders: &[PathBuf]) -> Result<Vec<Results>, String> {
    open_by(folders, &Reader::for_comparisons(), MOST)
}

/// The most timed runs of all folders together. A run takes 48 bytes and some more while statistics
/// are made, so these take about two gigabytes; figures are in a temporary file. (The plan of one
/// folder has a million runs at most.)
const MOST: usize = 20_000_000;

fn open_by(folders: &[PathBuf], reader: &Reader, most: usize) -> Result<Vec<Results>, String> {
    let mut opened: Vec<Results> = Vec::new();
    for name in folders {
        let results = reader.read(find(name)?).map_err(|error| error.to_string())?;
        let timed = opened.iter().map(Results::timed).sum::<usize>() + results.timed();
        if timed > most {
            return Err(format!(
                "{}: the folders up to this one have {timed} timed runs, and at most {most} are compared at once: \
                 name fewer folders, or sweep in smaller experiments",
                name.display(),
            ));
        }
        if let Some(strays) = results.strays().map_err(|error| error.to_string())? {
            let note = note_on_strays(&results.runs_file(), &strays.first, strays.count);
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
pub(crate) fn write_html(results: &Results, folder: &Path) -> Result<PathBuf, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit is for all folders together, and the message says how to narrow.
    #[test]
    fn too_many_runs_are_refused_in_one_message() {
        let small = PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../results/tests/it/fixtures/small"
        ));
        let open =
            |folders: &[PathBuf], most| open_by(folders, &Reader::for_reports(), most).map(|opened| opened.len());
        let runs = Results::open(&small).expect("a folder").timed();
        let twice = [small.clone(), small.clone()];
        assert_eq!(open(&twice, 2 * runs), Ok(2));
        assert_eq!(open(&twice[..1], 2 * runs - 1), Ok(1));
        let message = open(&twice, 2 * runs - 1).expect_err("one run too many");
        assert!(
            message.contains(&format!("have {} timed runs", 2 * runs)) && message.contains("name fewer folders"),
            "{message}"
        );
    }
}
