//! `gclab report`: results folders for people and other programs.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gclab_report::Document;
use gclab_results::{ResultsDir, path_name};
use gclab_sweep::find;
use gclab_sweep::folder::note_on_strays;
use gclab_sweep::tell;

use crate::common::{print, print_by, refuse};

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Folders that `gclab run` wrote, or names of experiments: `quick` is the newest folder of
    /// quick.toml under results/runs. Shards of one sweep are joined; a folder of shards, such as
    /// results/shards/quick, is read as one
    #[arg(required = true, value_name = "DIR|NAME")]
    folders: Vec<PathBuf>,
    /// Print the report in this format [default: text, and report.html is rewritten]
    #[arg(long)]
    format: Option<Format>,
    /// Show all columns and tables in the terminal, however wide
    #[arg(long)]
    wide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One self-contained page; also written to report.html in the (first) folder
    Html,
    /// The answer and its tables, for an issue or a pull request
    Markdown,
    /// One line per timed run
    Csv,
    /// The whole report for other programs: verdicts, tables and the points of charts
    Json,
}

pub(crate) fn report(arguments: &ReportArguments) -> ExitCode {
    let folders = match open(&arguments.folders) {
        Ok(folders) => ResultsDir::join(folders),
        Err(message) => return refuse(message),
    };
    if arguments.format == Some(Format::Csv) {
        return print_by(|to| gclab_report::csv(&folders, to));
    }
    let documents: Vec<Document> = folders.iter().map(gclab_report::report).collect();
    match arguments.format {
        Some(Format::Markdown) => print(&gclab_report::markdown(&documents)),
        Some(Format::Json) => print(&json(&documents)),
        format => {
            let page = gclab_report::html(&documents);
            let written = write(&page, folders[0].path());
            // A page of markup is for a file or a pipe, not for a terminal.
            let is_piped = format == Some(Format::Html) && !std::io::stdout().is_terminal();
            let printed = if is_piped {
                print(&page)
            } else {
                let texts = documents
                    .iter()
                    .map(|document| gclab_report::terminal(document, arguments.wide));
                print(&texts.collect::<Vec<_>>().join("\n"))
            };
            match written {
                Ok(_) if is_piped => {}
                Ok(path) => tell!("\n{}", path_name(&path)),
                // The report has been printed; only the file is missing.
                Err(message) => return refuse(message),
            }
            printed
        }
    }
}

/// Opens folders by their paths or names, and prints a note on lines that are not in the plan.
pub(crate) fn open(folders: &[PathBuf]) -> Result<Vec<ResultsDir>, String> {
    let open = |name: &PathBuf| {
        let results = find::open(name)?;
        if let strays @ [first, ..] = &results.strays()[..] {
            tell!(
                "gclab: note: {}",
                note_on_strays(&results.runs_file(), first, strays.len())
            );
        }
        Ok(results)
    };
    folders.iter().map(open).collect()
}

/// A value for other programs, in lines.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    format!("{}\n", serde_json::to_string_pretty(value).expect("keys are text"))
}

/// Prints the report of a folder, and writes `report.html` into it: the result of both.
pub(crate) fn show(results: &ResultsDir) -> (ExitCode, Result<PathBuf, String>) {
    let document = gclab_report::report(results);
    let printed = print(&gclab_report::terminal(&document, false));
    (printed, write(&gclab_report::html(&[document]), results.path()))
}

/// Prints which published figures the results agree with, and writes `report.html` into their folder:
/// the result of both.
pub(crate) fn show_reproduction(published: &ResultsDir, here: &ResultsDir) -> (ExitCode, Result<PathBuf, String>) {
    let reproduction = gclab_report::reproduction(published, here);
    let printed = print(&gclab_report::terminal(&reproduction.document(), false));
    let code = if reproduction.differs() {
        ExitCode::FAILURE
    } else {
        printed
    };
    (code, write_html(here))
}

/// Writes `report.html` into a folder.
///
/// # Errors
/// A message, if the file cannot be written.
pub(crate) fn write_html(results: &ResultsDir) -> Result<PathBuf, String> {
    write(&gclab_report::html(&[gclab_report::report(results)]), results.path())
}

fn write(page: &str, folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("report.html");
    let draft = folder.join("report.html.new");
    // A browser showing the old page never sees half of the new one.
    fs::write(&draft, page)
        .and_then(|()| fs::rename(&draft, &path))
        .map_err(|error| format!("{}: cannot write the report: {error}", path_name(&path)))?;
    Ok(path)
}
