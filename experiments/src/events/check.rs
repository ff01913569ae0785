//! `gclab events check`: the rules that an event log breaks.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_core::stats::render::escaped;
use gclab_eventlog::{Complaints, check_file};

use super::damage::message;
use super::log;
use crate::common::{print, refuse};

/// Check that a log obeys the rules that its readers rely on
#[derive(Debug, ClapArgs)]
#[command(after_help = "Exits with status 1 if a rule is broken.")]
pub(crate) struct Arguments {
    /// The event log of a GHC program (run it with `+RTS -l`); `-` is standard input
    file: PathBuf,
    /// Skip damaged parts of the log, and report them as complaints
    #[arg(long)]
    salvage: bool,
}

pub(super) fn check(arguments: &Arguments) -> ExitCode {
    let mut opened = match log::merged(&arguments.file, arguments.salvage) {
        Ok(opened) => opened,
        Err(error) => return refuse(message(&error, &arguments.file)),
    };
    let (complaints, events) = match check_file(&mut opened) {
        Ok(checked) => checked,
        Err(error) => return refuse(message(&error, &arguments.file)),
    };
    let file = escaped(&log::name(&arguments.file));
    let mut text = list(&complaints);
    if let Some(damage) = opened.damage() {
        text.push_str(&format!("the log is whole: broken\n    {damage}\n"));
    }
    if !text.is_empty() {
        let printed = print(&text);
        return if printed == ExitCode::SUCCESS {
            ExitCode::FAILURE
        } else {
            printed
        };
    }
    print(&format!("{file}: {events} events keep every rule\n"))
}

/// The broken rules, each with its first complaints.
fn list(complaints: &Complaints) -> String {
    let mut text = String::new();
    for rule in complaints.rules() {
        let times = if rule.count == 1 {
            "once".to_owned()
        } else {
            format!("{} times", rule.count)
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: broken {times}", rule.rule);
        for complaint in &rule.first {
            let _ = writeln!(text, "    {complaint}");
        }
        let more = rule.count - rule.first.len() as u64;
        if more > 0 {
            let _ = writeln!(text, "    and {more} more");
        }
    }
    text
}
