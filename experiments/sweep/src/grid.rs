//! The grid of a sweep as text: a row for each workload and setting, a column for each collector,
//! and in each cell the seconds of one run.

use std::collections::HashMap;
use std::fmt::Write as _;

use gclab_results::{Axis, Configuration};

use crate::experiment::Experiment;
use crate::plan::RunKind;
use crate::runner::progress::Estimator;

/// The most rows: a reader needs no more. The rest is counted.
const MOST_ROWS: usize = 1000;

/// The grid of these runs, each of another configuration.
pub fn grid<'s>(experiment: &Experiment, runs: impl Iterator<Item = &'s RunKind<'s>>, estimator: &Estimator) -> String {
    let axes = experiment.axes();
    let places = Places::of(experiment, &axes);
    let runs: Vec<&RunKind<'_>> = runs.collect();
    // One list for the places of all runs: there may be a hundred thousand.
    let mut all_places = Vec::with_capacity(runs.len() * places.count());
    runs.iter().for_each(|run| places.push(run, &mut all_places));
    let place = |index: &usize| &all_places[index * places.count()..][..places.count()];
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|a, b| place(a).cmp(place(b)));
    let rows = order.chunk_by(|a, b| place(a) == place(b));
    let all = rows.clone().count();
    let rows: Vec<(String, Vec<&RunKind<'_>>)> = rows
        .take(MOST_ROWS)
        .map(|row| row.iter().map(|index| runs[*index]).collect::<Vec<_>>())
        .map(|runs| (row_name(&axes, runs[0]), runs))
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
            let run = runs.iter().find(|run| run.configuration().collector == **collector);
            let cell = match run.map(|run| estimator.seconds(&run.run().planned)) {
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
fn row_name(axes: &[Axis], run: &RunKind<'_>) -> String {
    let Configuration {
        workload,
        args,
        flags,
        settings,
        ..
    } = run.configuration();
    let mut words = vec![workload.clone()];
    words.extend(args.iter().cloned());
    let swept = flags.iter().chain(settings);
    let swept = swept.filter(|(name, _)| axes.iter().any(|axis| axis.flag == **name));
    words.extend(swept.map(|(name, value)| format!("{name}={value}")));
    words.extend(run.heap().map(|multiple| format!("{multiple}×")));
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

    /// The number of places of a run.
    fn count(&self) -> usize {
        self.axes.len() + 2
    }

    /// Adds the place of a run's workload, of its value on each axis, and of its multiple of the
    /// heap.
    fn push(&self, run: &RunKind<'_>, places: &mut Vec<u32>) {
        let of = run.configuration();
        let mut push = |place: Option<u32>| places.push(place.unwrap_or(u32::MAX));
        push(self.works.get(&(of.workload.as_str(), of.args.as_slice())).copied());
        for (name, values) in &self.axes {
            let value = of.flags.get(*name).or_else(|| of.settings.get(*name));
            push(value.and_then(|value| values.get(value.as_str()).copied()));
        }
        let mut heaps = (0..).zip(self.heap);
        push(
            run.heap()
                .and_then(|own| heaps.find(|(_, multiple)| **multiple == own).map(|(place, _)| place)),
        );
    }
}
