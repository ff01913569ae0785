//! The grid of a sweep as text: a row for each workload and setting, a column for each collector,
//! and in each cell the seconds of one run.

use std::collections::HashMap;
use std::fmt::Write as _;

use gclab_results::{Axis, Configuration};

use crate::experiment::Experiment;
use crate::run::Run;
use crate::runner::progress::Estimator;

/// Limit on rows: a reader needs no more. The rest is only counted.
const MOST_ROWS: usize = 1000;

/// The grid of these runs, each of another configuration.
pub fn grid(experiment: &Experiment, runs: &[&Run], estimator: &Estimator) -> String {
    let axes = experiment.axes();
    let places = Places::of(experiment, &axes);
    let mut placed: Vec<(Vec<u32>, &Run)> = runs.iter().map(|run| (places.of_run(run), *run)).collect();
    placed.sort_by(|a, b| a.0.cmp(&b.0));
    let rows = placed.chunk_by(|a, b| a.0 == b.0);
    let all = rows.clone().count();
    let rows: Vec<_> = rows
        .take(MOST_ROWS)
        .map(|row| (row_name(&axes, row[0].1), row))
        .collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let columns = experiment.columns();
    let mut text = format!("\n{:width$}", "seconds of one run");
    for collector in &columns {
        let _ = write!(text, "  {collector:>9}");
    }
    text.push('\n');
    for (name, runs) in &rows {
        let _ = write!(text, "{name:width$}");
        for collector in &columns {
            let run = runs.iter().find(|(_, run)| run.planned.collector == **collector);
            let cell = match run.map(|(_, run)| estimator.seconds(&run.planned)) {
                Some(Some(seconds)) => format!("{seconds:.3}"),
                Some(None) => "?".to_owned(),
                None => "–".to_owned(),
            };
            let wide = collector.chars().count().max(9);
            let _ = write!(text, "  {cell:>wide$}");
        }
        text.push('\n');
    }
    if all > rows.len() {
        let _ = writeln!(text, "… and {} more rows; `gclab plan` shows all", all - rows.len());
    }
    text
}

/// The name of a run's row: its work, its values on the axes, and its multiple of the heap.
fn row_name(axes: &[Axis], run: &Run) -> String {
    let Configuration {
        workload,
        args,
        flags,
        settings,
        ..
    } = &run.planned.configuration;
    let mut words = vec![workload.clone()];
    words.extend(args.iter().cloned());
    let swept = flags.iter().chain(settings);
    let swept = swept.filter(|(name, _)| axes.iter().any(|axis| axis.flag == **name));
    words.extend(swept.map(|(name, value)| format!("{name}={value}")));
    words.extend(run.planned.heap_multiple.map(|multiple| format!("{multiple}×")));
    words.join(" ")
}

/// The places of workloads and settings in the file. The order of the plan is random.
struct Places<'e> {
    works: HashMap<(&'e str, &'e [String]), u32>,
    /// Of each axis, its name and the places of its values.
    axes: Vec<(&'e str, HashMap<&'e str, u32>)>,
    heap: &'e [f64],
}

impl<'e> Places<'e> {
    fn of(experiment: &'e Experiment, axes: &'e [Axis]) -> Places<'e> {
        let places = |axis: &'e Axis| axis.values.iter().map(String::as_str).zip(0..).collect();
        Places {
            works: experiment.works().into_iter().zip(0..).collect(),
            axes: axes.iter().map(|axis| (axis.flag.as_str(), places(axis))).collect(),
            heap: &experiment.heap,
        }
    }

    /// The place of a run's workload, of its value on each axis, and of its multiple of the heap.
    fn of_run(&self, run: &Run) -> Vec<u32> {
        let of = &run.planned;
        let mut places = vec![self.works.get(&(of.workload.as_str(), of.args.as_slice())).copied()];
        for (name, values) in &self.axes {
            let value = of.flags.get(*name).or_else(|| of.settings.get(*name));
            places.push(value.and_then(|value| values.get(value.as_str()).copied()));
        }
        let heap = |own| self.heap.iter().position(|multiple| *multiple == own);
        places.push(of.heap_multiple.and_then(heap).map(|place| place as u32));
        places.into_iter().map(|place| place.unwrap_or(u32::MAX)).collect()
    }
}
