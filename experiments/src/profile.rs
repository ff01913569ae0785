//! `gclab profile`: heap profiles in files, GHC's and ours.

use std::fs;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};
use gclab_eventlog::hp::{Problem, Profile};
use gclab_report::{profile_changes, profile_line, profile_page, wrapped};

use crate::common::{print, refuse};
use crate::input::{self, page_of};
use gclab_results::path_name;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Show(Show),
}

/// Draw a heap profile (.hp, from GHC or gclab) as one HTML file, or print how two differ
#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    /// The heap profile, plain or gzip; `-` is standard input
    #[arg(value_name = "FILE.hp")]
    file: PathBuf,
    /// The profile of another run: print what it has more and less of, and write no page
    #[arg(value_name = "OTHER.hp", conflicts_with = "output")]
    other: Option<PathBuf>,
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

/// Writes the page, and returns its name with the profile in one line; or the differences of two.
fn show(arguments: &Show) -> Result<String, String> {
    let both = [Some(&arguments.file), arguments.other.as_ref()];
    if both
        .into_iter()
        .flatten()
        .filter(|path| input::is_standard_input(path))
        .count()
        > 1
    {
        return Err("both profiles are standard input, expected a file for one of them".to_owned());
    }
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| page_of(&arguments.file, "profile"));
    input::may_write(&output, "-o", [&arguments.file])?;
    let profile = read(&arguments.file)?;
    let name = input::name(&arguments.file);
    if let Some(other) = &arguments.other {
        let other_profile = read(other)?;
        return Ok(profile_changes(
            [&name, &input::name(other)],
            [&profile, &other_profile],
        ));
    }
    let short = arguments
        .file
        .file_name()
        .map_or_else(|| name.clone(), |file| file.display().to_string());
    fs::write(&output, profile_page(&short, &profile))
        .map_err(|error| format!("{}: cannot write the page: {error}", path_name(&output)))?;
    let is_cut = profile.cut_off && profile.samples.iter().any(|sample| !sample.values.is_empty());
    let cut_off = if is_cut {
        "; the file ends within a census, which is left out"
    } else {
        ""
    };
    let line = format!("{}: {}{cut_off}", path_name(&output), profile_line(&profile));
    Ok(format!("{}\n", wrapped(&line)))
}

fn read(path: &Path) -> Result<Profile, String> {
    let name = input::name(path);
    let file = input::plain(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{name}: no such file"),
        ErrorKind::IsADirectory => format!("{name}: is a folder, not a file{}", input::hint(path)),
        _ => format!("{name}: cannot read: {error}"),
    })?;
    Profile::read(BufReader::new(file), &name).map_err(|error| {
        let hint = match error.problem() {
            Problem::NoProfile(_) => input::hint(path),
            _ => String::new(),
        };
        format!("{error}{hint}")
    })
}
