//! `gclab plan`: the runs of an experiment file, in their order, each with its id.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use gclab_sweep::minheap::reference;
use gclab_sweep::plan::{Plan, Shard};
use gclab_sweep::registry::Registry;
use gclab_sweep::runner::builds::look_at_builds;
use gclab_sweep::runner::preflight::look_for_clashes;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::spec::MAX_REPEAT;
use gclab_sweep::tell;
use gclab_sweep::text::counted;

use crate::common::{ended_by, print, refuse};
use crate::dry_run::known_minima;
use crate::run_arguments::{self, no_runs};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The experiment file
    experiment: PathBuf,
    /// Print one JSON object; its `runs` have the same keys as in plan.json
    #[arg(long)]
    json: bool,
    /// Number of runs of each configuration, instead of the file's `repeat`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_REPEAT as i64))]
    repeat: Option<u32>,
    /// Only the runs of part I of N
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    shard: Shard,
}

pub(crate) fn plan(own: &Arguments, registry: &Registry) -> ExitCode {
    let arguments = run_arguments::Arguments {
        experiment: Some(own.experiment.clone()),
        repeat: own.repeat,
        shard: own.shard,
        ..run_arguments::Arguments::default()
    };
    let experiment = match arguments.load(registry) {
        Ok(experiment) => experiment,
        Err(refusal) => return refusal,
    };
    for reason in &experiment.left_out {
        tell!("gclab: note: left out of `collectors`: {reason}");
    }
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return refuse(format!("cannot listen for signals: {error}")),
    };
    let looked = look_at_builds(&experiment, &stop).and_then(|()| look_for_clashes(&experiment));
    if let Some(signal) = stop.signal() {
        return ended_by(signal);
    }
    if let Err(problem) = looked {
        return refuse(format!("{}: {problem}", arguments.source()));
    }
    let minima = known_minima(&experiment, &stop);
    if !minima.is_empty()
        && let Err(problem) = reference::check(&experiment, &minima)
    {
        return refuse(format!("{}: {problem}", arguments.source()));
    }
    let plan = Plan::new(&experiment, &minima, own.shard);
    if plan.runs.is_empty() {
        return no_runs(&experiment, &arguments);
    }
    let printed = print(&if own.json {
        plan.json(&experiment)
    } else {
        plan.lines(&experiment)
    });
    if !plan.is_known() {
        tell!(
            "gclab: note: the least heap of {} is not known yet, so neither is -M, nor the ids; `gclab run` finds it first",
            counted(reference::questions(&experiment).len(), "configuration")
        );
    }
    printed
}
