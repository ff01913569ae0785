//! Runs grouped by configuration, and configurations by workload. Tables, charts and comparisons
//! are made of these groups.
//!
//! Only runs that ended well enter statistics; the others are counted by outcome. An *axis* is a
//! flag that differs between configurations, or another setting that does: the build, a variable of
//! the environment, an argument of a program. Groups stand in the order in which a reader looks for
//! them: workload, axes (numbers by size, other values in the experiment file's order), collector.

use crate::folder::Results;
use crate::inference::{Sample, Spread};
use crate::metric::{self, Metric};
use crate::run::{Run, Shared, each_facts};
use gclab_core::words::size::read_number;
use gclab_results::order::Arrange;
use gclab_results::{Axis, Configuration};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// All configurations of one results folder.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    /// The flags that differ between configurations, with their values in order.
    pub(crate) axes: Vec<Axis>,
    /// The flags that all configurations share.
    pub(crate) fixed: BTreeMap<String, String>,
    /// The collectors, in alphabetical order.
    pub(crate) collectors: Vec<&'a str>,
    /// The workloads with their configurations.
    pub(crate) works: Vec<WorkloadRuns<'a>>,
}

/// A workload with its arguments, under all its configurations.
#[derive(Debug)]
pub(crate) struct WorkloadRuns<'a> {
    /// Name and arguments, as on a command line.
    pub(crate) title: String,
    /// The configurations that ran it.
    pub(crate) groups: Vec<Group<'a>>,
}

/// The runs of one configuration.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// The configuration of the runs.
    pub(crate) configuration: Configuration,
    /// Its `-M` as a multiple of the workload's reference minimum, in an experiment with `heap`.
    pub(crate) heap: Option<f64>,
    /// The same as text, which is the value of the axis [`HEAP`].
    heap_text: Option<String>,
    /// Its runs, in the order in which they ended.
    pub(crate) runs: Vec<&'a Run>,
}

/// The axis of multiples of the least heap. It takes the place of `M`, whose bytes differ from
/// workload to workload.
pub(crate) const HEAP: &str = "heap";

/// The prefix of axes that are arguments of programs.
pub(crate) const ARGS: &str = "args.";

/// An axis as sentences and labels name it: a flag has its dash.
pub(crate) fn axis_name(axis: &str) -> String {
    if axis == "build" || axis.contains('.') {
        axis.to_owned()
    } else {
        format!("-{axis}")
    }
}

/// The value of an axis that a configuration does not set.
pub(crate) const UNSET: &str = "default";

impl<'a> Summary<'a> {
    /// Groups the runs of a folder. A planned configuration without a run does not appear.
    pub(crate) fn of(dir: &'a Results) -> Summary<'a> {
        Self::of_runs(dir.runs(), &dir.manifest().sweep)
    }

    /// Groups runs; `sweep` has the order of axes, and of values that are not numbers.
    pub(crate) fn of_runs(runs: &'a [Run], sweep: &[Axis]) -> Summary<'a> {
        let axes = axes(runs, sweep);
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut by_configuration: BTreeMap<&Configuration, usize> = BTreeMap::new();
        let mut by_facts: HashMap<*const Shared, usize> = HashMap::new();
        let mut counts: HashMap<*const Shared, usize> = HashMap::new();
        for run in runs {
            *counts.entry(Arc::as_ptr(&run.facts.shared)).or_default() += 1;
        }
        for run in runs {
            let facts = Arc::as_ptr(&run.facts.shared);
            let at = *by_facts.entry(facts).or_insert_with(|| {
                let at = *by_configuration.entry(&run.configuration).or_insert_with(|| {
                    groups.push(Group::empty(run));
                    groups.len() - 1
                });
                groups[at].runs.reserve_exact(counts[&facts]);
                at
            });
            groups[at].runs.push(run);
        }
        groups.arrange_by(|one, other| one.configuration.cmp(&other.configuration));
        let mut works: Vec<WorkloadRuns<'a>> = Vec::new();
        for group in groups {
            let title = group.configuration.work();
            match works.iter_mut().find(|work| work.title == title) {
                Some(work) => work.groups.push(group),
                None => works.push(WorkloadRuns {
                    title,
                    groups: vec![group],
                }),
            }
        }
        for work in &mut works {
            work.groups.sort_by_cached_key(|group| {
                let places: Vec<usize> = axes.iter().map(|axis| group.place(axis)).collect();
                (places, group.configuration.collector.clone())
            });
        }
        let fixed = runs.first().map(|run| settings(run)).unwrap_or_default();
        let fixed = fixed
            .into_iter()
            .filter(|(name, _)| axes.iter().all(|axis| axis.flag != *name))
            .collect();
        let collectors: BTreeSet<&str> = each_facts(runs)
            .map(|run| run.configuration.collector.as_str())
            .collect();
        Summary {
            axes,
            fixed,
            collectors: collectors.into_iter().collect(),
            works,
        }
    }

    /// All configurations, in order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group<'a>> {
        self.works.iter().flat_map(|work| &work.groups)
    }

    /// The workloads whose time depends on the collector. In an open loop the schedule of requests
    /// fixes the time.
    pub(crate) fn timed_works(&self) -> impl Iterator<Item = &WorkloadRuns<'a>> {
        self.works.iter().filter(|work| !work.is_open_loop())
    }

    /// The figure that "fast" refers to: the run's own total time, or the wall clock where no run
    /// has it.
    pub(crate) fn time_metric(&self) -> &'static Metric {
        let has_total = self
            .groups()
            .any(|group| group.spread(&metric::TOTAL_ELAPSED).is_some());
        if has_total {
            &metric::TOTAL_ELAPSED
        } else {
            &metric::WALL
        }
    }

    /// Whether a flag was swept.
    pub(crate) fn sweeps(&self, flag: &str) -> bool {
        self.axes.iter().any(|axis| axis.flag == flag)
    }

    /// The place of a collector among all of them, which is its colour and shape in all charts.
    pub(crate) fn style_of(&self, collector: &str) -> usize {
        self.collectors.iter().position(|name| *name == collector).unwrap_or(0)
    }

    /// The swept flags that the group sets, `left_out` apart, e.g. `N=2 A=4m`; the collector comes
    /// first if there are several.
    pub(crate) fn setting(&self, group: &Group<'_>, left_out: &[&str]) -> String {
        let mut words = Vec::new();
        if self.collectors.len() > 1 {
            words.push(group.configuration.collector.clone());
        }
        let flags = self.axes.iter().map(|axis| axis.flag.as_str());
        let set = flags.filter(|flag| !left_out.contains(flag) && group.flag(flag) != UNSET);
        words.extend(set.map(|flag| format!("{flag}={}", group.flag(flag))));
        words.join(" ")
    }

    /// The greatest number of runs that ended well in any configuration.
    pub(crate) fn most_runs(&self) -> usize {
        self.groups().map(|group| group.ok().count()).max().unwrap_or(0)
    }

    /// The least number of runs that ended well, of the configurations that have any.
    pub(crate) fn least_runs(&self) -> usize {
        let counts = self.groups().map(|group| group.ok().count());
        counts.filter(|count| *count > 0).min().unwrap_or(0)
    }
}

/// The collectors that computed each checksum.
type Checksums<'r> = BTreeMap<&'r str, BTreeSet<&'r str>>;

impl<'a> WorkloadRuns<'a> {
    /// Whether requests start at given times, so that the length of a run says nothing.
    pub(crate) fn is_open_loop(&self) -> bool {
        let mut runs = self.groups.iter().flat_map(|group| &group.runs);
        runs.any(|run| run.kind().rate_per_second.is_some())
    }

    /// The checksums and the collectors that computed them, when there is more than one checksum: a
    /// collector, or the workload, is wrong. Runs with different arguments of a program may differ.
    pub(crate) fn disagreement(&self) -> Option<Checksums<'_>> {
        let mut all: BTreeMap<_, Checksums<'_>> = BTreeMap::new();
        for group in &self.groups {
            let found = all.entry(group.arguments()).or_default();
            for run in group.ok() {
                if let Some(checksum) = run.checksum() {
                    found.entry(checksum).or_default().insert(&run.configuration.collector);
                }
            }
        }
        all.into_values().find(|found| found.len() > 1)
    }
}

impl<'a> Group<'a> {
    /// The configuration of a run, with no runs in it.
    pub(crate) fn empty(run: &Shared) -> Group<'a> {
        Group {
            configuration: run.configuration.clone(),
            heap: run.heap_multiple,
            heap_text: run.heap_multiple.map(|multiple| multiple.to_string()),
            runs: Vec::new(),
        }
    }

    /// The runs that ended well.
    pub(crate) fn ok(&self) -> impl Iterator<Item = &'a Run> {
        self.runs.iter().copied().filter(|run| run.outcome().is_ok())
    }

    /// The runs that did not end well, counted by outcome.
    pub(crate) fn failures(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for run in self.runs.iter().filter(|run| !run.outcome().is_ok()) {
            *counts.entry(run.outcome().kind()).or_insert(0) += 1;
        }
        counts
    }

    /// The failures in words, e.g. `2 heap exhausted, 1 timeout`; empty without any.
    pub(crate) fn failures_text(&self) -> String {
        let parts: Vec<String> = self.failures().iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        parts.join(", ")
    }

    /// A figure over the runs that ended well; `None` when none of them has it.
    pub(crate) fn spread(&self, metric: &Metric) -> Option<Spread> {
        Spread::of(self.ok().filter_map(|run| metric.of(run)))
    }

    /// The same with the values of the runs.
    pub(crate) fn sample(&self, metric: &Metric) -> Option<Sample> {
        Sample::of(self.ok().filter_map(|run| metric.of(run)))
    }

    /// The value of a flag in this configuration, or [`UNSET`].
    pub(crate) fn flag(&self, name: &str) -> &str {
        if name == HEAP {
            return self.heap_text.as_deref().unwrap_or(UNSET);
        }
        let Configuration { flags, settings, .. } = &self.configuration;
        flags
            .get(name)
            .or_else(|| settings.get(name))
            .map_or(UNSET, String::as_str)
    }

    /// The arguments of a program that were swept, with their values.
    fn arguments(&self) -> Vec<(&str, &str)> {
        let settings = self.configuration.settings.iter();
        let settings = settings.filter(|(name, _)| name.starts_with(ARGS));
        settings.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The collector and the axes' values, e.g. `copying A=1m n=0`.
    pub(crate) fn label(&self, axes: &[Axis]) -> String {
        let mut words = vec![self.configuration.collector.clone()];
        words.extend(
            axes.iter()
                .map(|axis| format!("{}={}", axis.flag, self.flag(&axis.flag))),
        );
        words.join(" ")
    }

    /// The pauses in the measured phase of each run that ended well, sorted, in nanoseconds. A
    /// pause is the time to stop the threads and to collect.
    pub(crate) fn pauses_of_runs(&self) -> Vec<Vec<u64>> {
        let with_statistics = self.ok().filter(|run| run.kind().has_phases.is_some());
        with_statistics.map(|run| run.single_pauses().to_vec()).collect()
    }

    fn place(&self, axis: &Axis) -> usize {
        axis.values
            .iter()
            .position(|value| value == self.flag(&axis.flag))
            .unwrap_or(axis.values.len())
    }
}

/// The flags that limit the heap, each of another runtime: the multiple of the least heap stands in
/// their place.
const LIMITS: [&str; 3] = ["M", "Xmx", "address-space"];

/// The flags and other settings of a run, with the multiple of the least heap in the place of its
/// limit.
fn settings(run: &Shared) -> BTreeMap<String, String> {
    let mut settings = run.configuration.flags.clone();
    settings.extend(run.configuration.settings.clone());
    if let Some(multiple) = run.heap_multiple {
        LIMITS.iter().for_each(|limit| {
            settings.remove(*limit);
        });
        settings.insert(HEAP.to_owned(), multiple.to_string());
    }
    settings
}

/// The flags with more than one value: in the order of the sweep, then by name.
pub(crate) fn axes<'r>(runs: impl IntoIterator<Item = &'r Run>, sweep: &[Axis]) -> Vec<Axis> {
    let mut seen: HashSet<*const Shared> = HashSet::new();
    let different = runs
        .into_iter()
        .filter(|run| seen.insert(Arc::as_ptr(&run.facts.shared)));
    let all: Vec<BTreeMap<String, String>> = different.map(|run| settings(run)).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let mut axes: Vec<Axis> = Vec::new();
    for name in names {
        let value_of = |flags: &BTreeMap<String, String>| flags.get(name).cloned().unwrap_or_else(|| UNSET.to_owned());
        let values: BTreeSet<String> = all.iter().map(value_of).collect();
        if values.len() > 1 {
            let swept = sweep.iter().find(|axis| axis.flag == *name);
            let place = |value: &String| {
                let at = swept.and_then(|axis| axis.values.iter().position(|v| v == value));
                (read_number(value), at)
            };
            let mut values: Vec<String> = values.into_iter().collect();
            let all_numbers = values.iter().all(|v| read_number(v).is_some());
            values.arrange_by(|a, b| {
                let ((na, pa), (nb, pb)) = (place(a), place(b));
                if all_numbers {
                    na.partial_cmp(&nb).expect("sizes are not NaN")
                } else {
                    pa.cmp(&pb)
                }
            });
            axes.push(Axis {
                flag: name.clone(),
                values,
            });
        }
    }
    axes.arrange_by_key(|axis| sweep.iter().position(|s| s.flag == axis.flag).unwrap_or(sweep.len()));
    axes
}
