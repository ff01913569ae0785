//! `gclab events`: event logs, GHC's and those of programs that write the same format.

mod check;
mod damage;
mod moment;
mod show;
mod summary;
mod timeline;

use std::process::ExitCode;

use clap::Subcommand;

/// Summarise, show, check and draw the event log of a GHC program
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Summary(summary::Arguments),
    Show(show::Arguments),
    Check(check::Arguments),
    Timeline(timeline::Arguments),
}

pub(crate) fn events(command: &Command) -> ExitCode {
    match command {
        Command::Summary(arguments) => summary::summary(arguments),
        Command::Show(arguments) => show::show(arguments),
        Command::Check(arguments) => check::check(arguments),
        Command::Timeline(arguments) => timeline::timeline(arguments),
    }
}
