//! Runs grouped by configuration, and configurations by workload. Tables, charts and comparisons
//! are built from these groups.
//!
//! Only successful runs enter statistics; the others are counted by outcome. An *axis* is a flag
//! that differs between configurations, or another setting that does: the build, an environment
//! variable, an argument of a program. Groups are in the order in which readers look for them:
//! workload, axes (numbers by size, other values in the experiment file's order), name.
//!
//! The *name* of a group is what competes: a collector, or a program of the experiment file. The
//! programs of a file compete with each other like collectors, unless the file gives them
//! workloads.

use crate::metric::{self, Metric};
use gclab_core::words::size::read_number;
use gclab_results::inference::{Rounds, Spread};
use gclab_results::{Axis, Configuration, Program, ResultsDir, RunRecord};
use std::collections::{BTreeMap, BTreeSet};

/// All configurations of one results folder.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    /// The flags that differ between configurations, with their values in order.
    pub(crate) axes: Vec<Axis>,
    /// The flags that all configurations share.
    pub(crate) fixed: BTreeMap<String, String>,
    /// The names of the groups, in alphabetical order.
    pub(crate) names: Vec<String>,
    /// The workloads with their configurations.
    pub(crate) works: Vec<Work<'a>>,
}

/// A workload with its arguments, under all its configurations.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    /// Name and arguments, as on a command line.
    pub(crate) title: String,
    /// The configurations that ran it.
    pub(crate) groups: Vec<Group<'a>>,
}

/// The runs of one configuration.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// What competes: the collector, or the program.
    pub(crate) name: String,
    /// The configuration of the runs.
    pub(crate) configuration: Configuration,
    /// Its `-M` as a multiple of the workload's reference minimum, in an experiment with `heap`.
    pub(crate) heap: Option<f64>,
    /// The same as text: the value of the axis [`HEAP`].
    heap_text: Option<String>,
    /// Its runs, in the order in which they ended.
    pub(crate) runs: Vec<&'a RunRecord>,
    /// The figures that its program's `stats` extracts from the output.
    pub(crate) own: Vec<Metric>,
}

/// The axis of multiples of the least heap. It replaces `M`, whose bytes differ from workload to
/// workload.
pub(crate) const HEAP: &str = "heap";

/// The prefix of axes that are arguments of programs.
pub(crate) const ARGS: &str = "args.";

/// The value of an axis that a configuration does not set.
pub(crate) const UNSET: &str = "default";

/// An axis as shown in sentences and labels: a flag is spelled as on a command line.
pub(crate) fn axis_name(axis: &str) -> String {
    if matches!(axis, "build" | "gc" | HEAP) || axis.contains('.') {
        axis.to_owned()
    } else if axis.len() <= LONGEST_SHORT {
        format!("-{axis}")
    } else if axis.starts_with(char::is_uppercase) && !axis.contains('-') {
        format!("-XX:{axis}")
    } else {
        format!("--{}", axis.replace('_', "-"))
    }
}

/// The longest names of flags of one dash: those of the JVM, such as `Xmx`, have three letters.
const LONGEST_SHORT: usize = 3;

impl<'a> Summary<'a> {
    /// Groups the timed runs of a folder. A planned configuration without a run does not appear.
    pub(crate) fn of(dir: &'a ResultsDir) -> Summary<'a> {
        Self::of_runs(dir.runs(), &dir.manifest().sweep, &dir.manifest().programs)
    }

    /// Groups runs; `sweep` has the order of axes, and of values that are not numbers.
    pub(crate) fn of_runs(runs: &'a [RunRecord], sweep: &[Axis], programs: &[Program]) -> Summary<'a> {
        let axes = axes(runs, sweep);
        let mut by_configuration: BTreeMap<&Configuration, Group<'a>> = BTreeMap::new();
        for run in runs {
            let group = by_configuration.entry(&run.configuration);
            group.or_insert_with(|| Group::empty(run)).runs.push(run);
        }
        let mut groups: Vec<Group<'a>> = by_configuration.into_values().collect();
        for group in &mut groups {
            let names: BTreeSet<&String> = group
                .ok()
                .flat_map(|run| run.figures.iter().flatten())
                .map(|(name, _)| name)
                .collect();
            let program = programs
                .iter()
                .find(|one| Some(&one.id) == group.configuration.program.as_ref());
            group.own = names.into_iter().map(|name| Metric::own(name, program)).collect();
        }
        let compete = programs_compete(&groups, programs);
        let title = compete.then(|| {
            let names: BTreeSet<&str> = groups
                .iter()
                .map(|group| group.configuration.workload.as_str())
                .collect();
            crate::format::short_list(&names.into_iter().collect::<Vec<_>>(), 4)
        });
        let mut works: Vec<Work<'a>> = Vec::new();
        for mut group in groups.drain(..) {
            let title = title.clone().unwrap_or_else(|| group.configuration.work());
            if compete {
                group.name.clone_from(&group.configuration.workload);
            }
            match works.iter_mut().find(|work| work.title == title) {
                Some(work) => work.groups.push(group),
                None => works.push(Work {
                    title,
                    groups: vec![group],
                }),
            }
        }
        for work in &mut works {
            work.groups.sort_by_cached_key(|group| {
                let places: Vec<usize> = axes.iter().map(|axis| group.place(axis)).collect();
                (places, group.name.clone())
            });
        }
        let fixed = runs.first().map(settings).unwrap_or_default().into_iter();
        let fixed = fixed.filter(|(name, _)| axes.iter().all(|axis| axis.flag != *name));
        let names: BTreeSet<&String> = works
            .iter()
            .flat_map(|work| &work.groups)
            .map(|group| &group.name)
            .collect();
        Summary {
            fixed: fixed.collect(),
            names: names.into_iter().cloned().collect(),
            axes,
            works,
        }
    }

    /// All configurations, in order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group<'a>> {
        self.works.iter().flat_map(|work| &work.groups)
    }

    /// The workloads whose time depends on the collector. In an open loop the schedule of requests
    /// fixes the time.
    pub(crate) fn timed_works(&self) -> impl Iterator<Item = &Work<'a>> {
        self.works.iter().filter(|work| !work.is_open_loop())
    }

    /// The figure that "fast" refers to: the run's own total time, or wall-clock time if no run has
    /// it.
    pub(crate) fn time_metric(&self) -> &'static Metric {
        if self.has(&metric::TOTAL_ELAPSED) {
            &metric::TOTAL_ELAPSED
        } else {
            &metric::WALL
        }
    }

    /// Whether any successful run has a figure.
    pub(crate) fn has(&self, metric: &Metric) -> bool {
        self.groups().any(|group| group.has(metric))
    }

    /// Whether a flag was swept.
    pub(crate) fn sweeps(&self, flag: &str) -> bool {
        self.axes.iter().any(|axis| axis.flag == flag)
    }

    /// Whether all runs of a workload have the same configuration, so that nothing is compared.
    pub(crate) fn is_alone(&self) -> bool {
        self.works.iter().all(|work| work.groups.len() < 2)
    }

    /// The index of a name, which determines its colour and shape in all charts.
    pub(crate) fn style_of(&self, name: &str) -> usize {
        self.names.iter().position(|other| other == name).unwrap_or(0)
    }

    /// The name and the values of the axes except `left_out`, e.g. `copying A=1m`; the name only if
    /// there are several.
    pub(crate) fn label(&self, group: &Group<'_>, left_out: &[&str]) -> String {
        let mut words = Vec::new();
        if self.names.len() > 1 {
            words.push(group.name.clone());
        }
        let axes = self.axes.iter().map(|axis| axis.flag.as_str());
        let shown = axes.filter(|axis| !left_out.contains(axis) && group.flag(axis) != UNSET);
        words.extend(shown.map(|axis| format!("{axis}={}", group.flag(axis))));
        if words.is_empty() {
            words.push(group.name.clone());
        }
        words.join(" ")
    }

    /// The largest number of successful runs in any configuration.
    pub(crate) fn most_runs(&self) -> usize {
        self.groups().map(|group| group.ok().count()).max().unwrap_or(0)
    }
}

/// Whether the runs are of several programs, each doing work described only by its own name: the
/// experiment compares the programs.
fn programs_compete(groups: &[Group<'_>], programs: &[Program]) -> bool {
    // Two programs with the same command compete, too.
    let mut names = BTreeSet::new();
    let named = groups.iter().all(|group| {
        let Configuration { program, workload, .. } = &group.configuration;
        names.insert(workload);
        let is_it = |one: &Program| Some(&one.id) == program.as_ref() && one.name == *workload;
        programs.iter().any(is_it)
    });
    named && names.len() > 1 && groups.iter().all(|group| group.heap.is_none())
}

/// The checksums and the names that computed them.
type Checksums<'r> = BTreeMap<&'r str, BTreeSet<&'r str>>;

impl<'a> Work<'a> {
    /// Whether requests start at given times, so that the length of a run says nothing.
    pub(crate) fn is_open_loop(&self) -> bool {
        let mut runs = self.groups.iter().flat_map(|group| &group.runs);
        runs.any(|run| {
            run.latency
                .as_ref()
                .is_some_and(|latency| latency.rate_per_second.is_some())
        })
    }

    /// The checksums and the collectors that computed them, if there is more than one checksum: a
    /// collector, or the workload, is wrong. Runs with different arguments may differ, and so may
    /// programs.
    pub(crate) fn disagreement(&self) -> Option<Checksums<'_>> {
        let mut all: BTreeMap<_, Checksums<'_>> = BTreeMap::new();
        for group in &self.groups {
            let Configuration { workload, settings, .. } = &group.configuration;
            let arguments: Vec<_> = settings.iter().filter(|(name, _)| name.starts_with(ARGS)).collect();
            let found = all.entry((workload, arguments)).or_default();
            for run in group.ok() {
                if let Some(checksum) = run.checksum.as_deref() {
                    found
                        .entry(checksum)
                        .or_default()
                        .insert(&group.configuration.collector);
                }
            }
        }
        all.into_values().find(|found| found.len() > 1)
    }
}

impl<'a> Group<'a> {
    /// The configuration of a run, with no runs in it.
    pub(crate) fn empty(run: &RunRecord) -> Group<'a> {
        let configuration = run.configuration.clone();
        let is_nameless = configuration.collector().is_none();
        Group {
            name: if is_nameless {
                configuration.workload.clone()
            } else {
                configuration.collector.clone()
            },
            configuration,
            heap: run.heap_multiple,
            heap_text: run.heap_multiple.map(|multiple| multiple.to_string()),
            runs: Vec::new(),
            own: Vec::new(),
        }
    }

    /// The successful runs.
    pub(crate) fn ok(&self) -> impl Iterator<Item = &'a RunRecord> {
        self.runs.iter().copied().filter(|run| run.outcome.is_ok())
    }

    /// The failed runs, counted by outcome.
    pub(crate) fn failures(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for run in self.runs.iter().filter(|run| !run.outcome.is_ok()) {
            *counts.entry(run.outcome.kind()).or_insert(0) += 1;
        }
        counts
    }

    /// The failures in words, e.g. `2 heap exhausted, 1 timeout`; empty if there are none.
    pub(crate) fn failures_text(&self) -> String {
        let parts: Vec<String> = self.failures().iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        parts.join(", ")
    }

    /// Why the configuration has no figure, in a word or two; the first of several reasons.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        let kind = self.failures().into_keys().next()?;
        Some(if kind == "timeout" && self.heap.is_some() {
            "thrashing"
        } else {
            kind
        })
    }

    /// The values of a figure over the successful runs, each with its round.
    pub(crate) fn values(&self, metric: &Metric) -> Vec<(u32, f64)> {
        let value = |run: &RunRecord| Some((run.round, metric.of(run)?));
        self.ok().filter_map(value).collect()
    }

    /// A figure over the successful runs; `None` if none of them has it.
    pub(crate) fn spread(&self, metric: &Metric) -> Option<Spread> {
        Spread::of(values_of(&self.values(metric)))
    }

    /// Whether any successful run has a figure.
    pub(crate) fn has(&self, metric: &Metric) -> bool {
        self.ok().any(|run| metric.of(run).is_some())
    }

    /// Whether so many of its successful runs were disturbed that their times mean little.
    pub(crate) fn is_disturbed(&self) -> bool {
        are_disturbed(self.ok())
    }

    /// The value of a flag in this configuration, or [`UNSET`].
    pub(crate) fn flag(&self, name: &str) -> &str {
        if name == HEAP {
            return self.heap_text.as_deref().unwrap_or(UNSET);
        }
        let Configuration { flags, settings, .. } = &self.configuration;
        let value = flags.get(name).or_else(|| settings.get(name));
        value.map_or(UNSET, String::as_str)
    }

    fn place(&self, axis: &Axis) -> usize {
        let place = axis.values.iter().position(|value| value == self.flag(&axis.flag));
        place.unwrap_or(axis.values.len())
    }
}

/// The values without their rounds.
pub(crate) fn values_of(rounds: &Rounds) -> impl Iterator<Item = f64> {
    rounds.iter().map(|(_, value)| *value)
}

/// Whether more than a third of some runs were disturbed, so that their times mean little.
pub(crate) fn are_disturbed<'r>(runs: impl Iterator<Item = &'r RunRecord>) -> bool {
    let (disturbed, quiet): (Vec<&RunRecord>, Vec<_>) = runs.partition(|run| !disturbances(run).is_empty());
    2 * disturbed.len() > quiet.len()
}

/// The checks that failed while a run was measured.
pub(crate) fn disturbances(run: &RunRecord) -> &[String] {
    let conditions = run.conditions.as_ref();
    conditions
        .and_then(|conditions| conditions.disturbances.as_deref())
        .unwrap_or_default()
}

/// The flags that limit the heap, one for each runtime. The multiple of the least heap replaces
/// them.
const LIMITS: [&str; 3] = ["M", "Xmx", "address-space"];

/// The flags and other settings of a run, with the multiple of the least heap instead of its limit.
fn settings(run: &RunRecord) -> BTreeMap<String, String> {
    let mut settings = run.configuration.flags.clone();
    settings.extend(run.configuration.settings.clone());
    if let Some(multiple) = run.heap_multiple {
        settings.retain(|name, _| !LIMITS.contains(&name.as_str()));
        settings.insert(HEAP.to_owned(), multiple.to_string());
    }
    settings
}

/// The flags with more than one value: in the order of the sweep, then by name.
pub(crate) fn axes<'r>(runs: impl IntoIterator<Item = &'r RunRecord>, sweep: &[Axis]) -> Vec<Axis> {
    let all: BTreeSet<BTreeMap<String, String>> = runs.into_iter().map(settings).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let mut axes: Vec<Axis> = Vec::new();
    for name in names {
        let value_of = |flags: &BTreeMap<String, String>| flags.get(name).cloned().unwrap_or_else(|| UNSET.to_owned());
        let values: BTreeSet<String> = all.iter().map(value_of).collect();
        if values.len() < 2 {
            continue;
        }
        let mut values: Vec<String> = values.into_iter().collect();
        if values.iter().all(|value| read_number(value).is_some()) {
            let number = |value: &String| read_number(value).unwrap_or(f64::INFINITY);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        } else if let Some(swept) = sweep.iter().find(|axis| axis.flag == *name) {
            values.sort_by_key(|value| swept.values.iter().position(|other| other == value));
        }
        axes.push(Axis {
            flag: name.clone(),
            values,
        });
    }
    axes.sort_by_key(|axis| {
        sweep
            .iter()
            .position(|swept| swept.flag == axis.flag)
            .unwrap_or(sweep.len())
    });
    axes
}

#[cfg(test)]
mod tests {
    use super::axis_name;

    #[test]
    fn an_axis_is_spelled_as_its_runtime_takes_it() {
        let all = [
            "A",
            "qg",
            "nonmoving-gc",
            "Xmx",
            "NewRatio",
            "sizing",
            "membalancer_c",
            "gc",
            "heap",
            "args.n",
        ]
        .map(axis_name);
        let spelled = [
            "-A",
            "-qg",
            "--nonmoving-gc",
            "-Xmx",
            "-XX:NewRatio",
            "--sizing",
            "--membalancer-c",
            "gc",
            "heap",
            "args.n",
        ];
        assert_eq!(all, spelled);
    }
}
