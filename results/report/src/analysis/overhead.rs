//! The lower bound of the cost of garbage collection (LBO): for each workload, what each
//! configuration costs over the least cost of the program alone that any of them shows.
//!
//! Two costs: elapsed time, in which a parallel or concurrent collector hides work, and CPU time.
//! A configuration takes part in a cost if all its runs ended well and have its two figures. (A
//! JVM tells the elapsed time of collections only.) The formula and its source are in
//! `crate::inference::lower_bound_overheads`; `docs/measures.md` has the blind spots.

use crate::analysis::places::Places;
use crate::analysis::subject::runs_of;
use crate::chart::{Chart, Point, Series};
use crate::format;
use crate::inference::{Cost, Costs, Overheads, Ratio, lower_bound_overheads};
use crate::metric::{self, Metric};
use crate::run::Run;
use crate::summary::{Group, Summary, WorkloadRuns};

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
    /// The configurations that take part in a cost.
    pub(crate) groups: Vec<&'a Group<'a>>,
    /// The overheads by each cost, in the order of [`COSTS`]; `None` with less than two
    /// configurations.
    by_cost: [Option<CostOverheads>; COSTS.len()],
}

/// The overheads by one cost.
#[derive(Debug)]
struct CostOverheads {
    /// The configurations that take part, as places in [`WorkOverheads::groups`].
    members: Vec<usize>,
    /// Their overheads, in this order.
    overheads: Overheads,
}

impl WorkOverheads<'_> {
    /// The configuration whose cost without collections is the baseline of a cost, and that cost.
    pub(crate) fn baseline(&self, cost: usize) -> Option<(&Group<'_>, f64)> {
        let CostOverheads { members, overheads } = self.by_cost[cost].as_ref()?;
        Some((self.groups[members[overheads.baseline]], overheads.cost))
    }

    /// The overhead of a configuration by a cost, if it takes part.
    pub(crate) fn overhead(&self, cost: usize, group: usize) -> Option<&Ratio> {
        let CostOverheads { members, overheads } = self.by_cost[cost].as_ref()?;
        let place = members.iter().position(|member| *member == group)?;
        Some(&overheads.overheads[place])
    }
}

/// The overheads of the workloads of which two or more configurations take part.
pub(crate) fn overheads<'a>(summary: &'a Summary<'a>) -> Vec<WorkOverheads<'a>> {
    summary.timed_works().filter_map(of_work).collect()
}

fn of_work<'a>(work: &'a WorkloadRuns<'a>) -> Option<WorkOverheads<'a>> {
    let has_cost = |group: &&Group<'_>| COSTS.iter().any(|cost| costs_of(group, cost).is_some());
    let ended_well = work.groups.iter().filter(|group| group.failures().is_empty());
    let groups: Vec<_> = ended_well.filter(has_cost).collect();
    let by_cost = COSTS.map(|cost| by_cost(&groups, &cost));
    by_cost
        .iter()
        .any(Option::is_some)
        .then_some(WorkOverheads { work, groups, by_cost })
}

/// The overheads by a cost, if two or more of `groups` have it.
fn by_cost(groups: &[&Group<'_>], cost: &(&str, Metric, Metric)) -> Option<CostOverheads> {
    let costs: Vec<_> = groups.iter().map(|group| costs_of(group, cost)).collect();
    let members: Vec<usize> = (0..groups.len()).filter(|&index| costs[index].is_some()).collect();
    if members.len() < 2 {
        return None;
    }
    let costs: Vec<Costs> = costs.into_iter().flatten().collect();
    let overheads = lower_bound_overheads(&costs)?;
    Some(CostOverheads { members, overheads })
}

/// The cost of each run of a configuration, if all of them have its figures.
fn costs_of(group: &Group<'_>, (_, total, collections): &(&str, Metric, Metric)) -> Option<Costs> {
    let of_run = |run: &Run| {
        Some(Cost {
            total: total.of(run)?,
            collections: collections.of(run)?,
        })
    };
    Costs::of(group.ok().map(of_run).collect::<Option<Vec<_>>>()?)
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
                let ratio = of.overhead(cost, index)?;
                Some(Point {
                    tip: format!("{}: {}", group.label(&summary.axes), format::ratio(ratio)),
                    subject: runs_of([*group]),
                    ..Point::estimate(places.of(group), ratio.estimate, ratio.ends())
                })
            };
            Series {
                style,
                points: mine.filter_map(point).collect(),
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
    let costs = COSTS.iter().enumerate();
    costs
        .filter(|(cost, _)| of.by_cost[*cost].is_some())
        .map(chart)
        .collect()
}
