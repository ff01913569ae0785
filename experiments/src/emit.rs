//! `gclab emit`: the Slurm script that runs the shards of an experiment on several machines.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use gclab_results::path_name;
use gclab_sweep::plan::{Plan, Shard};
use gclab_sweep::registry::Registry;
use gclab_sweep::script::{Job, MAX_ARRAY_SIZE, sha256};
use gclab_sweep::spec::{self, MAX_REPEAT};
use gclab_sweep::tell;

use crate::common::{own_command, print, refuse, refuse_file};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The experiment file
    experiment: PathBuf,
    /// The number of shards. Each gets whole groups: all configurations of a round and workload
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    shards: u32,
    /// Number of runs of each configuration, instead of the file's `repeat`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_REPEAT as i64))]
    repeat: Option<u32>,
    /// Folder for the folders of the shards [default: results/shards/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn emit(arguments: &Arguments, registry: &Registry) -> ExitCode {
    let experiment = match spec::load(&arguments.experiment, arguments.repeat, registry) {
        Ok(experiment) => experiment,
        Err(error) => return refuse_file(&error),
    };
    let groups = experiment.repeat as usize * experiment.works().len();
    if arguments.shards as usize > groups {
        return refuse(format!(
            "--shards {}: the plan has only {groups} groups of round and workload, and a shard takes whole groups: at most --shards {groups}",
            arguments.shards
        ));
    }
    let whole = Plan::new(&experiment, &[], Shard::default());
    // Groups of a work that `exclude` leaves out are empty.
    let is_empty = |shard: &Shard| Plan::new(&experiment, &[], *shard).runs.is_empty();
    if whole.works().len() < experiment.works().len()
        && let Some(empty) = Shard::all(arguments.shards).find(is_empty)
    {
        return refuse(format!(
            "shard {empty} would have no runs, because `exclude` leaves out all runs of a work: choose another number of shards"
        ));
    }
    if arguments.shards >= MAX_ARRAY_SIZE {
        tell!(
            "gclab: note: Slurm takes arrays of fewer than {MAX_ARRAY_SIZE} tasks unless its MaxArraySize is larger: see `scontrol show config`"
        );
    }
    if !experiment.heap.is_empty() {
        tell!(
            "gclab: note: the shards need the same least heaps: the first shard that runs searches for them, and others wait, \
             if all shards share results/minheap; else copy that folder to each machine first"
        );
    }
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| format!("{}: {error}", path_name(path)));
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"));
    let found = program.and_then(|program| {
        let hash = sha256(&program).map_err(|error| format!("{}: {error}", path_name(&program)))?;
        Ok((program, hash, absolute(Path::new("."))?))
    });
    let (program, sha256, directory) = match found {
        Ok(found) => found,
        Err(message) => return refuse(message),
    };
    let folder = arguments.out.clone();
    let job = Job {
        directory,
        program,
        sha256,
        words: words(arguments),
        folder: folder.unwrap_or_else(|| Path::new("results/shards").join(&experiment.name)),
        shards: arguments.shards,
        runs: whole.runs.len(),
        groups,
        made_by: own_command(),
        name: experiment.name,
    };
    print(&job.slurm())
}

/// The arguments of `gclab run`, without shard and folder.
fn words(arguments: &Arguments) -> Vec<String> {
    let mut words = vec![arguments.experiment.display().to_string()];
    if let Some(repeat) = arguments.repeat {
        words.extend(["--repeat".to_owned(), repeat.to_string()]);
    }
    words
}
