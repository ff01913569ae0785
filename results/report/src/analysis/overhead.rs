//! The lower bound of the cost of garbage collection (LBO): for each workload, what each
//! configuration costs over the least cost of the program alone that any of them shows.
//!
//! Two costs: elapsed time, in which a parallel or concurrent collector hides work, and CPU time.
//! A configuration takes part if all its runs ended well and have both figures. The formula and its
//! source are in `gclab_inference::lower_bound_overheads`; `docs/measures.md` has the blind spots.

use crate::analysis::places::Places;
use crate::analysis::subject::runs_of;
use crate::chart::{Chart, Point, Series};
use crate::format;
use crate::metric::{self, Metric};
use crate::run::Run;
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_inference::{Cost, Overheads, Ratio, lower_bound_overheads};

/// The costs: a name, the whole, and the part in collections.
pub(crate) const COSTS: [(&str, Metric, Metric); 2] = [
    ("elapsed time", metric::TOTAL_ELAPSED, metric::GC_ELAPSED),
    ("CPU time", metric::TOTAL_CPU, metric::GC_CPU),
];

/// The overheads of the configurations of one workload.
#[derive(Debug)]
pub(crate) struct WorkOverheads<'a> {
    /// The workload.
    pub(crate) work: &'a WorkloadRuns<'a>,
    /// The configurations that take part.
    pub(crate) groups: Vec<&'a Group<'a>>,
    /// The overheads by each cost, in the order of [`COSTS`] and of the configurations.
    pub(crate) by_cost: Vec<Overheads>,
}

impl WorkOverheads<'_> {
    /// The configuration whose cost without collections is the baseline of a cost, and that cost.
    pub(crate) fn baseline(&self, cost: usize) -> (&Group<'_>, f64) {
        let overheads = &self.by_cost[cost];
        (self.groups[overheads.baseline], overheads.cost)
    }

    /// The overhead of a configuration by a cost.
    pub(crate) fn overhead(&self, cost: usize, group: usize) -> &Ratio {
        &self.by_cost[cost].overheads[group]
    }
}

/// The overheads of the workloads of which two or more configurations take part.
pub(crate) fn overheads<'a>(summary: &'a Summary<'a>) -> Vec<WorkOverheads<'a>> {
    summary.timed_works().filter_map(of_work).collect()
}

fn of_work<'a>(work: &'a WorkloadRuns<'a>) -> Option<WorkOverheads<'a>> {
    let mut groups = Vec::new();
    let mut costs: [Vec<Vec<Cost>>; 2] = Default::default();
    for group in work.groups.iter().filter(|group| group.failures().is_empty()) {
        let of_cost = |(_, total, collections): &(&str, Metric, Metric)| -> Option<Vec<Cost>> {
            let of_run = |run: &Run| {
                Some(Cost {
                    total: total.of(run)?,
                    collections: collections.of(run)?,
                })
            };
            group
                .ok()
                .map(of_run)
                .collect::<Option<Vec<_>>>()
                .filter(|runs| !runs.is_empty())
        };
        let [Some(elapsed), Some(cpu)] = [of_cost(&COSTS[0]), of_cost(&COSTS[1])] else {
            continue;
        };
        groups.push(group);
        costs[0].push(elapsed);
        costs[1].push(cpu);
    }
    if groups.len() < 2 {
        return None;
    }
    let by_cost = costs
        .iter()
        .map(|costs| lower_bound_overheads(costs))
        .collect::<Option<_>>()?;
    Some(WorkOverheads { work, groups, by_cost })
}

/// A chart for each cost against the swept flag; none if several flags were swept, as the table
/// then reads better.
pub(crate) fn charts(summary: &Summary<'_>, of: &WorkOverheads<'_>) -> Vec<Chart> {
    let [axis] = &summary.axes[..] else { return Vec::new() };
    let places = Places::new(summary, Some(axis));
    let chart = |(cost, (name, ..)): (usize, &(&str, Metric, Metric))| {
        let series = summary.collectors.iter().enumerate().map(|(style, collector)| {
            let mine = of.groups.iter().enumerate();
            let mine = mine.filter(|(_, group)| group.configuration.collector == *collector);
            let point = |(index, group): (usize, &&Group<'_>)| {
                let ratio = of.overhead(cost, index);
                Point {
                    tip: format!("{}: {}", group.label(&summary.axes), format::ratio(ratio)),
                    subject: runs_of([*group]),
                    ..Point::estimate(places.of(group), ratio.estimate, ratio.ends())
                }
            };
            Series {
                style,
                points: mine.map(point).collect(),
                marks: true,
                joined: places.joined,
                band: places.joined,
                ..Series::default()
            }
        });
        Chart {
            title: format!("Lower-bound overhead, {name}"),
            about: of.work.title.clone(),
            x_label: places.label.clone(),
            x_log: places.log,
            x_ticks: places.ticks.clone(),
            series: series.filter(|series| !series.points.is_empty()).collect(),
            ..Chart::default()
        }
    };
    COSTS.iter().enumerate().map(chart).collect()
}
