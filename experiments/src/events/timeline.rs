//! `gclab events timeline`: a log over time, as one HTML page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_eventlog::{Error, Interval, Merged, Reader, Summary, Timeline};
use gclab_report::{TimelineFacts, timeline_page, wrapped};
use gclab_results::path_name;
use gclab_sweep::tell;

use super::damage::{message, salvaged};
use super::log;
use crate::common::{print, refuse};
use crate::input::{may_write, page_of};

/// Draw a log over time as one HTML page: capabilities, collections and the heap
#[derive(Debug, ClapArgs)]
#[command(after_help = "The page needs no network. A selection has the same figures as `events summary`.")]
pub(crate) struct Arguments {
    /// The event log of a GHC program (run it with `+RTS -l`); `-` is standard input
    file: PathBuf,
    /// The page to write [default: the log's name with .html, in the working directory]
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Skip damaged parts of the log
    #[arg(long)]
    salvage: bool,
}

pub(super) fn timeline(arguments: &Arguments) -> ExitCode {
    let file = &arguments.file;
    let output = arguments.output.clone().unwrap_or_else(|| page_of(file, "timeline"));
    if let Err(wrong) = may_write(&output, "-o", [file]) {
        return refuse(wrong);
    }
    let (timeline, summary, damage) = match read(file, arguments.salvage) {
        Ok(read) => read,
        Err(error) => return refuse(message(&error, file)),
    };
    if timeline.is_empty() {
        return refuse(format!(
            "{}: the log has no events of capabilities and no heap profile, so there is nothing to draw: run the \
             program with +RTS -l",
            log::name(file)
        ));
    }
    let path = file.display().to_string();
    let page = timeline_page(&TimelineFacts {
        path: log::is_regular(file).then_some(&path),
        file: &file.file_name().unwrap_or(file.as_os_str()).display().to_string(),
        timeline: &timeline,
        summary: &summary,
        damage: damage.clone(),
    });
    if let Err(error) = fs::write(&output, page) {
        return refuse(format!("{}: cannot write the page: {error}", path_name(&output)));
    }
    if let Some(damage) = &damage {
        tell!("gclab: {damage}; {}", salvaged("are on the page"));
    }
    let mut lines = summary.sentences();
    lines.push(format!("{}: {}", path_name(&output), line(&timeline, &summary)));
    let lines: Vec<String> = lines.iter().map(|line| wrapped(line)).collect();
    print(&format!("{}\n", lines.join("\n")))
}

fn read(path: &Path, salvage: bool) -> Result<(Timeline, Summary, Option<String>), Error> {
    let (file, name) = (log::seekable(path)?, log::name(path));
    let again = file.try_clone().map_err(|error| Error::cannot_open(&name, error))?;
    // For a damaged log, lanes and figures cover the same events.
    let summary = if salvage {
        Summary::of_merged_file(&mut Merged::new(again, &name, salvage)?, Interval::default())?
    } else {
        Summary::of_open_file(&mut Reader::new(again, &name)?, Interval::default())?
    };
    let mut merged = Merged::new(file, &name, salvage)?;
    let timeline = Timeline::of_open_file(&mut merged)?;
    Ok((timeline, summary, merged.damage().map(Error::to_string)))
}

/// The log in one line.
fn line(timeline: &Timeline, summary: &Summary) -> String {
    let seconds = timeline.length as f64 / 1e9;
    let mut parts = vec![
        format!("{seconds:.3} s"),
        counted(timeline.lanes.len() as u64, "capability", "capabilities"),
        counted(summary.events, "event", "events"),
    ];
    if let Some(collections) = summary.collections {
        parts.push(counted(collections, "collection", "collections"));
    }
    if let Some(profile) = &timeline.profile {
        parts.push(counted(profile.censuses.len() as u64, "census", "censuses"));
    }
    parts.join(", ")
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
