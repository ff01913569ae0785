//! `gclab events`: event logs of GHC and of programs that write the same format.

mod check;
mod damage;
mod diff;
mod export;
mod log;
mod moment;
mod show;
mod speedscope;
mod summary;
mod timeline;

use std::process::ExitCode;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Summary(summary::Arguments),
    Show(show::Arguments),
    Check(check::Arguments),
    Timeline(timeline::Arguments),
    Diff(diff::Arguments),
    Export(export::Arguments),
}

pub(crate) fn events(command: &Command) -> ExitCode {
    match command {
        Command::Summary(arguments) => summary::summary(arguments),
        Command::Show(arguments) => show::show(arguments),
        Command::Check(arguments) => check::check(arguments),
        Command::Timeline(arguments) => timeline::timeline(arguments),
        Command::Diff(arguments) => diff::diff(arguments),
        Command::Export(arguments) => export::export(arguments),
    }
}
