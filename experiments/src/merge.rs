//! `gclab merge`: joins the folders of the shards of a plan.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use gclab_sweep::cluster::merge::merge as join;
use gclab_sweep::tell;
use gclab_sweep::text::counted;

use crate::common::refuse;

/// Check the folders of the shards of a plan, and join them into one
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folders of all shards. They are only read
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The new folder
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Join shards that were run on several kinds of processor, too; the report warns of them
    #[arg(long)]
    mixed_processors: bool,
}

pub(crate) fn merge(arguments: &Arguments) -> ExitCode {
    match join(&arguments.folders, &arguments.into, arguments.mixed_processors) {
        Ok(merged) => {
            for note in &merged.notes {
                tell!("gclab: note: {note}");
            }
            tell!(
                "{}: {} of {}",
                arguments.into.display(),
                counted(merged.runs, "run"),
                counted(arguments.folders.len(), "folder")
            );
            ExitCode::SUCCESS
        }
        Err(error) => refuse(error),
    }
}
