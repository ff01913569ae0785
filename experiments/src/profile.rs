//! `gclab profile`: heap profiles in files, GHC's and ours.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};
use gclab_eventlog::hp::Profile;
use gclab_report::{profile_line, profile_page};

use crate::common::{print, refuse};

/// Draw the heap profile of a file
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Show(Show),
}

/// Draw a heap profile (.hp, of GHC or of gclab) as one HTML file
#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    /// The heap profile
    #[arg(value_name = "FILE.hp")]
    file: PathBuf,
    /// The page to write [default: the name of the profile with .html, in the working directory]
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
    let name = arguments.file.display().to_string();
    let file = File::open(&arguments.file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{name}: no such file"),
        _ => format!("{name}: cannot open: {error}"),
    })?;
    let profile = Profile::read(BufReader::new(file), &name).map_err(|error| error.to_string())?;
    let stem = arguments.file.file_stem().map(Path::new).unwrap_or(&arguments.file);
    let output = arguments.output.clone().unwrap_or_else(|| {
        let mut output = stem.as_os_str().to_owned();
        output.push(".html");
        output.into()
    });
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
    Ok(format!("{}: {}{cut_off}\n", output.display(), profile_line(&profile)))
}
