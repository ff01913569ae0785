//! `gclab profile`: heap profiles in files, GHC's and ours.

use std::fs;
use std::io::{BufReader, ErrorKind};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};
use gclab_eventlog::hp::{Problem, Profile};
use gclab_report::{profile_line, profile_page, wrapped};

use crate::common::{print, refuse};
use crate::input::{self, page_of};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Show(Show),
}

/// Draw a heap profile (.hp, from GHC or gclab) as one HTML file
#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    /// The heap profile, plain or gzip; `-` is standard input
    #[arg(value_name = "FILE.hp")]
    file: PathBuf,
    /// The page to write [default: the profile's name with .html, in the working directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn profile(command: &Command) -> ExitCode {
    let Command::Show(arguments) = command;
    match show(arguments) {
        Ok(line) => print(&line),
        Err(message) => refuse(message),
    }
}

/// Writes the page. Returns its name, and the profile in one line.
fn show(arguments: &Show) -> Result<String, String> {
    let name = input::name(&arguments.file);
    let file = input::plain(&arguments.file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{name}: no such file"),
        ErrorKind::IsADirectory => format!("{name}: is a folder, not a file{}", input::hint(&arguments.file)),
        _ => format!("{name}: cannot read: {error}"),
    })?;
    let profile = Profile::read(BufReader::new(file), &name).map_err(|error| {
        let hint = match error.problem() {
            Problem::NoProfile(_) => input::hint(&arguments.file),
            _ => String::new(),
        };
        format!("{error}{hint}")
    })?;
    let output = arguments
        .output
        .clone()
        .unwrap_or_else(|| page_of(&arguments.file, "profile"));
    let short = arguments
        .file
        .file_name()
        .map_or_else(|| name.clone(), |file| file.display().to_string());
    fs::write(&output, profile_page(&short, &profile))
        .map_err(|error| format!("{}: cannot write the page: {error}", output.display()))?;
    let cut_off = if profile.cut_off {
        "; the file ends within a census, which is left out"
    } else {
        ""
    };
    let line = format!("{}: {}{cut_off}", output.display(), profile_line(&profile));
    Ok(format!("{}\n", wrapped(&line)))
}
