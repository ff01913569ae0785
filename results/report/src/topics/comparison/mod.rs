//! Is the new one slower? Compares two results folders, configuration by configuration; or two
//! collectors, builds or programs, at the settings that both ran with.
//!
//! Runs are compared in pairs if the rounds of both sides were interleaved in time; within one
//! folder they always are. Folders measured one after another differ more than their runs do, which
//! widens their intervals: by the scatter of a history of folders, or otherwise by a fixed factor.
//!
//! One in twenty intervals misses by design. So all figures are judged together: of those called
//! better or worse, at most one in twenty is expected to be chance
//! ([`gclab_results::inference::findings`]).

mod document;

use crate::format::counted;
use crate::metric::{self, COMPARED, Metric, PAR_GCS};
use crate::ranking::contradicts;
use crate::summary::{Group, Summary, values_of};
use crate::verdict::{Verdict, judge, more_and_less};
use gclab_results::inference::{Effect, Order, Point, RUNS_FOR_INTERVAL, Rounds, findings, scatter};
use gclab_results::{Configuration, Manifest, ResultsDir, RunRecord};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

pub(super) use document::verdict_cell;

/// The comparison of two folders, or of two sides of folders.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The smallest change that counts, as a share: 0.03 is 3 %.
    pub threshold: f64,
    /// Whether the new side is worse in any configuration.
    pub regressed: bool,
    /// The order in which the sides were measured.
    pub order: Order,
    /// What is compared, if not the folders themselves: the names of the base and of the new side.
    pub sides: Option<(String, String)>,
    /// The configurations on both sides.
    pub configurations: Vec<Row>,
    /// The means over the workloads, for collectors, builds or programs.
    pub means: Vec<Mean>,
    /// Configurations only in the base.
    pub only_base: Vec<String>,
    /// Configurations only on the new side.
    pub only_new: Vec<String>,
    /// What readers must know: another machine, another build profile, the order in time.
    pub cautions: Vec<String>,
    /// The number of figures that were judged together.
    pub judged_together: usize,
    /// How many of these would be called changed on their own, but not among the others.
    pub taken_back: usize,
}

/// The comparison of one configuration.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The configuration.
    pub name: String,
    /// The same for other programs.
    #[serde(flatten, serialize_with = "parts_of")]
    pub(crate) configuration: Configuration,
    /// The verdict on the configuration.
    pub verdict: Verdict,
    /// A change of outcomes or checksums, which overrules all figures.
    pub note: Option<String>,
    /// The figures on both sides.
    pub figures: Vec<Figure>,
}

/// The comparison of one figure of one configuration.
#[derive(Debug, Serialize)]
pub struct Figure {
    /// The figure.
    #[serde(rename = "figure", serialize_with = "metric::key")]
    pub(crate) metric: Metric,
    /// The verdict.
    pub verdict: Verdict,
    /// A reason for the verdict that the interval does not show.
    pub remark: Option<String>,
    /// The effect; absent if a value is 0.
    #[serde(flatten)]
    pub effect: Option<Effect>,
    /// The means of both sides, if there is no effect.
    #[serde(flatten)]
    pub means: Option<Means>,
}

/// The arithmetic means of a figure that has no ratio.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Means {
    /// The mean of the base.
    pub base: f64,
    /// The mean of the new side.
    pub new: f64,
}

/// The geometric mean of the ratios of a figure over all workloads with one setting.
#[derive(Debug, Serialize)]
pub struct Mean {
    /// The setting.
    pub setting: String,
    /// The figure.
    #[serde(rename = "figure", serialize_with = "metric::key")]
    pub(crate) metric: Metric,
    /// The number of workloads. Both sides have the figure on each of them.
    pub workloads: usize,
    /// The mean.
    #[serde(flatten)]
    pub effect: Effect,
}

/// The parts of a configuration that programs look for.
fn parts_of<S: serde::Serializer>(of: &Configuration, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut map = serializer.serialize_map(Some(5))?;
    map.serialize_entry("workload", &of.workload)?;
    map.serialize_entry("args", &of.args)?;
    map.serialize_entry("collector", &of.collector)?;
    map.serialize_entry("flags", &of.flags)?;
    map.serialize_entry("settings", &of.settings)?;
    map.end()
}

/// A side of a comparison within folders.
#[derive(Debug, Clone, Copy)]
pub enum Side<'a> {
    /// The runs of this collector or program.
    Collector(&'a str),
    /// The runs of this build.
    Build(&'a str),
}

impl<'a> Side<'a> {
    fn name(self) -> &'a str {
        match self {
            Side::Collector(name) | Side::Build(name) => name,
        }
    }
}

/// A group with the configuration by which it finds its partner.
type Candidate<'s, 'a> = (Configuration, &'s Group<'a>);

/// The groups of a folder to compare: only those of one `side`, if given, whose collector or build
/// is then not part of the configuration.
fn candidates<'s, 'a>(summary: &'s Summary<'a>, side: Option<Side<'_>>) -> Vec<Candidate<'s, 'a>> {
    let candidate = |group: &'s Group<'a>| {
        let mut key = group.configuration.clone();
        let is_of_side = match side {
            Some(Side::Collector(name)) => {
                // A program that does the work of a workload competes with collectors.
                key.program = None;
                key.collector.clear();
                if key.workload == group.name {
                    key.workload.clear();
                }
                group.name == name
            }
            Some(Side::Build(build)) => key.settings.remove("build")? == build,
            None => true,
        };
        is_of_side.then_some((key, group))
    };
    summary.groups().filter_map(candidate).collect()
}

/// Removes from each configuration the flags that have the same value in all configurations of its
/// workload. They do not distinguish anything there: an OCaml program has no `-A`.
fn without_fixed_flags(side: &mut [Candidate<'_, '_>]) {
    let mut values: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut works: BTreeMap<String, usize> = BTreeMap::new();
    for (key, _) in side.iter() {
        *works.entry(key.work()).or_default() += 1;
        for (name, value) in &key.flags {
            values
                .entry((key.work(), name.clone()))
                .or_default()
                .insert(value.clone());
            *counts.entry((key.work(), name.clone())).or_default() += 1;
        }
    }
    for (key, _) in side {
        let work = key.work();
        key.flags.retain(|name, _| {
            let of = (work.clone(), name.clone());
            values[&of].len() > 1 || counts[&of] < works[&work]
        });
    }
}

/// Compares two folders; `threshold` is a share (0.03 for 3 %), not below 0. With `sides` it
/// compares the runs of one collector or build in `base` with another's in `new`, at the settings
/// that both have; the two folders may be the same. `history` has folders of the same kind, whose
/// scatter widens the intervals of folders that were measured one after another.
pub fn compare(
    base: &ResultsDir,
    new: &ResultsDir,
    threshold: f64,
    sides: Option<(Side<'_>, Side<'_>)>,
    history: &[ResultsDir],
) -> Comparison {
    let (base_summary, new_summary) = (Summary::of(base), Summary::of(new));
    let past: Vec<Summary<'_>> = history.iter().map(Summary::of).collect();
    let mut of_base = candidates(&base_summary, sides.map(|sides| sides.0));
    let mut of_new = candidates(&new_summary, sides.map(|sides| sides.1));
    let mut cautions = differences(base.manifest(), new.manifest());
    let has_partner =
        |(key, _): &Candidate<'_, '_>, others: &[Candidate<'_, '_>]| others.iter().any(|(other, _)| other == key);
    if sides.is_some() && !of_base.iter().any(|one| has_partner(one, &of_new)) {
        without_fixed_flags(&mut of_base);
        without_fixed_flags(&mut of_new);
        if of_base.iter().any(|one| has_partner(one, &of_new)) {
            cautions
                .push("the two have no flags in common: each is compared with the flags that its runs have".to_owned());
        }
    }
    let order = order(base, new);
    let of = Sides {
        threshold,
        order,
        past: &past,
        history: history.len(),
        named: sides.is_some(),
    };
    let partners: BTreeMap<&Configuration, &Group<'_>> = of_new.iter().map(|(key, group)| (key, *group)).collect();
    let pairs: Vec<(&Configuration, &Group<'_>, &Group<'_>)> = of_base
        .iter()
        .filter_map(|(key, base)| Some((key, *base, *partners.get(key)?)))
        .collect();
    let mut rows: Vec<Row> = pairs.iter().map(|(_, base, new)| of.row(base, new)).collect();
    let (judged_together, taken_back) = judge_together(&mut rows);
    let is_compared = rows.iter().any(|row| row.verdict != Verdict::Identical);
    if order == Order::Sequential && is_compared {
        cautions.push(of.caution(base, new));
    }
    let alone = |these: &[Candidate<'_, '_>], others: &[Candidate<'_, '_>]| -> Vec<String> {
        let alone = these.iter().filter(|one| !has_partner(one, others));
        alone.map(|(_, group)| group.configuration.to_string()).collect()
    };
    Comparison {
        threshold,
        regressed: rows.iter().any(|row| row.verdict == Verdict::Worse),
        order,
        sides: sides.map(|(base, new)| (base.name().to_owned(), new.name().to_owned())),
        only_base: alone(&of_base, &of_new),
        only_new: alone(&of_new, &of_base),
        means: sides.map_or_else(Vec::new, |_| of.means(&pairs)),
        configurations: rows,
        cautions,
        judged_together,
        taken_back,
    }
}

/// The order of two folders in time: interleaved if each round of both started before the next
/// round of either, and each folder started before the other's last run. Timestamps are whole
/// seconds, so runs in the same second have no order.
fn order(base: &ResultsDir, new: &ResultsDir) -> Order {
    if base.path() == new.path() {
        return Order::Interleaved;
    }
    let mut rounds: BTreeMap<u32, (Option<String>, Option<String>)> = BTreeMap::new();
    let runs = base
        .runs()
        .iter()
        .map(|run| (0, run))
        .chain(new.runs().iter().map(|run| (1, run)));
    let mut seen: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
    for (side, run) in runs {
        let Some(started) = run.started.clone() else {
            return Order::Sequential;
        };
        seen.entry(run.round).or_default()[side] = true;
        let (first, last) = rounds.entry(run.round).or_default();
        if first.as_ref().is_none_or(|first| started < *first) {
            *first = Some(started.clone());
        }
        if last.as_ref().is_none_or(|last| started > *last) {
            *last = Some(started);
        }
    }
    let ends = |dir: &ResultsDir| {
        let stamps = || dir.runs().iter().map(|run| run.started.clone());
        (stamps().min(), stamps().max())
    };
    let ((first_base, last_base), (first_new, last_new)) = (ends(base), ends(new));
    let overlap = first_base < last_new && first_new < last_base;
    let shared = seen.values().all(|sides| *sides == [true, true]);
    let spans: Vec<_> = rounds.into_values().collect();
    let alternate = spans.len() > 1 && spans.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    if shared && alternate && overlap {
        Order::Interleaved
    } else {
        Order::Sequential
    }
}

/// The facts about a folder that can make its figures differ from another folder's, with their
/// names. (Not the commit, which is what most comparisons are about.)
pub(super) fn facts(manifest: &Manifest) -> [(&'static str, String); 5] {
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let (machine, build) = (&manifest.machine, &manifest.build);
    let counted = manifest.pause_counters == Some(true);
    [
        ("processor", or_unknown(&machine.cpu)),
        ("kernel", or_unknown(&machine.kernel)),
        ("build profile", or_unknown(&build.profile)),
        ("rustc", or_unknown(&build.rustc)),
        ("key pause_counters", counted.to_string()),
    ]
}

fn differences(base: &Manifest, new: &Manifest) -> Vec<String> {
    let pairs = facts(base)
        .into_iter()
        .zip(facts(new))
        .filter(|(base, new)| base != new);
    pairs
        .map(|((name, base), (_, new))| format!("the {name} differs: {base} in the base, {new} in the new one"))
        .collect()
}

/// The figures to judge. If collections were parallel they include their elapsed time, which can
/// grow while the CPU time stays the same.
pub(super) fn compared(groups: &[&Group<'_>]) -> Vec<Metric> {
    let is_parallel = groups
        .iter()
        .any(|group| group.spread(&PAR_GCS).is_some_and(|spread| spread.max > 0.0));
    let known = COMPARED.iter().chain(is_parallel.then_some(&metric::GC_ELAPSED));
    let mut all: Vec<Metric> = known.copied().collect();
    for own in groups.iter().flat_map(|group| &group.own) {
        if !all.contains(own) {
            all.push(*own);
        }
    }
    all
}

/// A change of outcomes or checksums, which overrules every figure.
pub(super) fn outcome_change(base: &Group<'_>, new: &Group<'_>) -> (Option<String>, Option<Verdict>) {
    let checksums =
        |group: &Group<'_>| -> BTreeSet<String> { group.ok().filter_map(|run| run.checksum.clone()).collect() };
    let (sum_base, sum_new) = (checksums(base), checksums(new));
    if !sum_base.is_empty()
        && !sum_new.is_empty()
        && sum_base != sum_new
        && base.configuration.workload == new.configuration.workload
    {
        let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(", ");
        return (
            Some(format!("checksum was {}, is {}", list(sum_base), list(sum_new))),
            Some(Verdict::Worse),
        );
    }
    let share = |group: &Group<'_>| group.failures().values().sum::<usize>() as f64 / group.runs.len() as f64;
    let (share_base, share_new) = (share(base), share(new));
    let of = |group: &Group<'_>| match group.failures_text() {
        text if text.is_empty() => "no failures".to_owned(),
        text => format!("{text} of {}", group.runs.len()),
    };
    let note = (share_base > 0.0 || share_new > 0.0).then(|| format!("was {}, is {}", of(base), of(new)));
    let verdict = if share_new > share_base {
        Some(Verdict::Worse)
    } else if share_new < share_base && share_new == 0.0 {
        Some(Verdict::Better)
    } else if share_new == 1.0 {
        Some(Verdict::Same)
    } else {
        None
    };
    (note, verdict)
}

/// How two sides are compared.
struct Sides<'p> {
    threshold: f64,
    order: Order,
    past: &'p [Summary<'p>],
    history: usize,
    named: bool,
}

impl Sides<'_> {
    fn row(&self, base: &Group<'_>, new: &Group<'_>) -> Row {
        let mut figures: Vec<Figure> = compared(&[base, new])
            .into_iter()
            .filter_map(|metric| self.figure(metric, base, new))
            .collect();
        disturb(&mut figures, base, new);
        let (note, outcome) = outcome_change(base, new);
        let verdict = if is_identical(base, new) {
            figures.iter_mut().for_each(|figure| figure.verdict = Verdict::Same);
            Verdict::Identical
        } else {
            outcome.unwrap_or_else(|| Verdict::of_all(figures.iter().map(|figure| figure.verdict)))
        };
        Row {
            name: self.name(base, new),
            configuration: new.configuration.clone(),
            verdict,
            note,
            figures,
        }
    }

    /// The configuration, with both sides where they differ.
    fn name(&self, base: &Group<'_>, new: &Group<'_>) -> String {
        let (base, new) = (&base.configuration, &new.configuration);
        let mut shown = new.clone();
        let build = |of: &Configuration| of.settings.get("build").cloned();
        if build(base) != build(new) {
            let over = format!(
                "{} over {}",
                build(new).unwrap_or_default(),
                build(base).unwrap_or_default()
            );
            shown.settings.insert("build".to_owned(), over);
        } else if base.collector != new.collector {
            shown.collector = format!("{} over {}", new.collector, base.collector);
        } else if base.workload != new.workload {
            shown.workload = format!("{} over {}", new.workload, base.workload);
        }
        shown.to_string()
    }

    fn figure(&self, metric: Metric, base: &Group<'_>, new: &Group<'_>) -> Option<Figure> {
        let (values_base, values_new) = (base.values(&metric), new.values(&metric));
        if values_base.is_empty() || values_new.is_empty() {
            return None;
        }
        let effect = self.effect(&metric, base, new);
        let verdict = match &effect {
            Some(effect) => judge(&metric, effect, self.threshold),
            None => from_zero(&metric, &values_base, &values_new),
        };
        let no_ratio = verdict == Verdict::Unclear && effect.is_none();
        let mean = |of: &Rounds| values_of(of).sum::<f64>() / of.len() as f64;
        let means = Means {
            base: mean(&values_base),
            new: mean(&values_new),
        };
        Some(Figure {
            metric,
            verdict,
            remark: no_ratio.then(|| NO_RATIO.to_owned()),
            effect,
            means: Some(means).filter(|_| effect.is_none()),
        })
    }

    /// The effect, with the scatter of folders unless the runs were interleaved.
    fn effect(&self, metric: &Metric, base: &Group<'_>, new: &Group<'_>) -> Option<Effect> {
        let effect = Effect::of(&base.values(metric), &new.values(metric), self.order)?;
        Some(match self.order {
            Order::Interleaved => effect,
            Order::Sequential => effect.with_scatter(self.scatter(metric, &new.configuration)),
        })
    }

    /// The scatter of the past folders in a figure of a configuration.
    fn scatter(&self, metric: &Metric, configuration: &Configuration) -> Option<(f64, f64)> {
        let point = |summary: &Summary<'_>| {
            let group = summary.groups().find(|group| group.configuration == *configuration)?;
            Point::of(&values_of(&group.values(metric)).collect::<Vec<_>>())
        };
        scatter(&self.past.iter().filter_map(point).collect::<Vec<_>>())
    }

    /// The geometric means over the workloads, for each setting that several of them have.
    fn means(&self, pairs: &[(&Configuration, &Group<'_>, &Group<'_>)]) -> Vec<Mean> {
        let mut by_setting: BTreeMap<Configuration, Vec<(&Group<'_>, &Group<'_>)>> = BTreeMap::new();
        for (key, base, new) in pairs {
            let setting = Configuration {
                flags: key.flags.clone(),
                settings: key.settings.clone(),
                ..Configuration::default()
            };
            by_setting.entry(setting).or_default().push((base, new));
        }
        let mut means = Vec::new();
        for (setting, pairs) in by_setting.iter().filter(|(_, pairs)| self.named && pairs.len() > 1) {
            let groups: Vec<&Group<'_>> = pairs.iter().flat_map(|(base, new)| [*base, *new]).collect();
            for metric in compared(&groups) {
                let effects: Vec<Effect> = pairs
                    .iter()
                    .filter_map(|(base, new)| self.effect(&metric, base, new))
                    .collect();
                let Some(effect) = Effect::mean(&effects).filter(|_| effects.len() > 1) else {
                    continue;
                };
                let all = setting.flags.iter().chain(&setting.settings);
                let words: Vec<String> = all.map(|(name, value)| format!("{name}={value}")).collect();
                means.push(Mean {
                    setting: words.join(" "),
                    metric,
                    workloads: effects.len(),
                    effect,
                });
            }
        }
        means
    }

    /// What readers must know about folders measured one after another.
    fn caution(&self, base: &ResultsDir, new: &ResultsDir) -> String {
        let begin = "The folders were measured one after the other";
        if self.history > 2 {
            return format!(
                "{begin}; the scatter of {} of the history widens the intervals.",
                counted(self.history, "folder")
            );
        }
        let names = (base.manifest().name == new.manifest().name).then_some("");
        format!(
            "{begin}{}: folders of one build differ by more than their runs do, so the intervals are twice as wide as the \
             runs alone would have them. Builds or programs in one experiment are measured side by side; `--history` \
             measures the scatter of folders.",
            names.unwrap_or(" and are of two experiments")
        )
    }
}

/// Why a figure is not judged.
const NO_RATIO: &str = "some values are 0 or less, so there is no ratio";

/// The verdict on a figure that has no ratio because some runs have 0: a program's own figure
/// changed if all runs of one side have 0 and none of the other.
fn from_zero(metric: &Metric, base: &Rounds, new: &Rounds) -> Verdict {
    let is_zero = |side: &Rounds| values_of(side).all(|value| value == 0.0);
    let is_positive = |side: &Rounds| values_of(side).all(|value| value > 0.0);
    let are_enough = metric.is_own() && base.len().min(new.len()) >= RUNS_FOR_INTERVAL;
    let (more, less) = more_and_less(metric);
    match (is_zero(base), is_zero(new)) {
        (true, true) => Verdict::Same,
        (true, false) if are_enough && is_positive(new) => more,
        (false, true) if are_enough && is_positive(base) => less,
        _ => Verdict::Unclear,
    }
}

/// Times of disturbed runs are called the same or nothing, and a total time is not called changed if
/// the CPU time contradicts it.
fn disturb(figures: &mut [Figure], base: &Group<'_>, new: &Group<'_>) {
    let cpu = figures
        .iter()
        .find(|figure| figure.metric == metric::TOTAL_CPU)
        .and_then(|figure| figure.effect);
    for figure in figures
        .iter_mut()
        .filter(|figure| figure.verdict != Verdict::Same && figure.metric.is_time())
    {
        if base.is_disturbed() || new.is_disturbed() {
            figure.verdict = Verdict::Disturbed;
            figure.remark = Some("more than a third of the runs were disturbed".to_owned());
        } else if figure.verdict.is_change()
            && figure.metric.is_elapsed()
            && cpu.is_some_and(|cpu| contradicts(&cpu, [base, new].into_iter()))
        {
            figure.verdict = Verdict::Disturbed;
            figure.remark = Some("the CPU time did not change".to_owned());
        }
    }
}

/// Whether both have the same runs: a copy of a folder, or the folder itself.
fn is_identical(base: &Group<'_>, new: &Group<'_>) -> bool {
    by_round(base) == by_round(new)
}

fn by_round<'a>(group: &Group<'a>) -> Vec<&'a RunRecord> {
    let mut runs = group.runs.clone();
    runs.sort_by_key(|run| (run.round, run.position));
    runs
}

/// Withdraws changes that may be chance among all figures. Returns the number of figures that were
/// judged together, and of those whose change was withdrawn.
fn judge_together(rows: &mut [Row]) -> (usize, usize) {
    let chance = |figure: &Figure| figure.effect.as_ref().and_then(Effect::chance);
    let compared = || |row: &&mut Row| row.verdict != Verdict::Identical;
    let chances: Vec<f64> = rows
        .iter_mut()
        .filter(compared())
        .flat_map(|row| row.figures.iter().filter_map(chance).collect::<Vec<_>>())
        .collect();
    let mut remain = findings(&chances).into_iter();
    let mut taken_back = 0;
    for row in rows.iter_mut().filter(compared()) {
        let is_overruled = row.verdict != Verdict::of_all(row.figures.iter().map(|figure| figure.verdict));
        for figure in row.figures.iter_mut().filter(|figure| chance(figure).is_some()) {
            if remain.next() == Some(false) && figure.verdict.is_change() {
                figure.verdict = Verdict::Unclear;
                figure.remark = Some(format!("may be chance among {} figures", chances.len()));
                taken_back += 1;
            }
        }
        if !is_overruled {
            row.verdict = Verdict::of_all(row.figures.iter().map(|figure| figure.verdict));
        }
    }
    (chances.len(), taken_back)
}

impl Comparison {
    /// Whether the two share no configuration that was run.
    pub fn is_empty(&self) -> bool {
        self.configurations.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::synthetic::{manifest, runs, small, write};
    use std::path::Path;

    /// A folder whose rounds began at these seconds.
    fn folder(parent: &Path, name: &str, seconds: [u32; 3]) -> ResultsDir {
        let mut runs = runs(&small());
        for run in &mut runs {
            run.started = Some(format!("2026-01-31T12:00:{:02}Z", seconds[run.round as usize]));
        }
        write(&parent.join(name), manifest(&small()), &runs)
    }

    /// Folders with the same runs: if they were measured one after another, intervals are wider.
    #[test]
    fn the_intervals_of_folders_have_the_scatter_of_folders() {
        let parent = tempfile::tempdir().expect("a folder");
        let of = |name: &str, seconds| folder(parent.path(), name, seconds);
        let base = of("base", [1, 3, 5]);
        let compare = |new: &ResultsDir| compare(&base, new, 0.03, None, &[]);
        let [between, after] = [of("between", [2, 4, 6]), of("after", [7, 8, 9])].map(|new| compare(&new));
        let said = "so the intervals are twice as wide as the runs alone would have them";
        assert!(
            after.cautions.iter().any(|caution| caution.contains(said)),
            "{:?}",
            after.cautions
        );
        assert!(
            !between.cautions.iter().any(|caution| caution.contains(said)),
            "{:?}",
            between.cautions
        );
        let figure = |of: &Comparison| {
            let figures = of.configurations.iter().flat_map(|row| &row.figures);
            let mut totals = figures.filter(|figure| figure.metric == metric::TOTAL_ELAPSED);
            totals.find_map(|figure| figure.effect?.visible()).expect("an interval")
        };
        let unpaired = |dir: &ResultsDir| {
            let summary = Summary::of(dir);
            let group = summary
                .groups()
                .find(|group| group.has(&metric::TOTAL_ELAPSED) && group.failures().is_empty());
            let values = group.expect("a group").values(&metric::TOTAL_ELAPSED);
            let alone = Effect::of(&values, &values, Order::Sequential).and_then(|effect| effect.visible());
            alone.expect("an interval")
        };
        let ratio = figure(&after).ln_1p() / unpaired(&base).ln_1p();
        assert!((ratio - 2.0).abs() < 1e-6, "{ratio}");
    }

    /// The peak halves, and the time of disturbed runs doubles.
    #[test]
    fn times_that_are_not_judged_are_told_beside_what_is() {
        let parent = tempfile::tempdir().expect("a folder");
        let of = |name: &str, factor: f64| {
            let mut runs = runs(&small());
            for run in &mut runs {
                let seconds = factor * (1.0 + 0.01 * f64::from(run.round));
                let stats = run.stats.as_mut().expect("a good run");
                stats.total_elapsed_seconds = Some(seconds);
                stats.peak_in_use_bytes = Some((64.0 / factor) as u64 * (1 << 20));
                run.conditions = Some(gclab_results::Conditions {
                    disturbances: Some(vec!["other programs".to_owned()]),
                    ..Default::default()
                });
            }
            write(&parent.path().join(name), manifest(&small()), &runs)
        };
        let answer = compare(&of("base", 1.0), &of("new", 2.0), 0.03, None, &[])
            .answer()
            .join(" ");
        let said = "of these, other programs disturbed the times, which are not judged.";
        assert!(answer.starts_with("Better in") && answer.contains(said), "{answer}");
    }

    /// The times scatter by a tenth, and nothing else changes.
    #[test]
    fn what_disturbed_runs_leave_open_is_disturbed() {
        let parent = tempfile::tempdir().expect("a folder");
        let of = |name: &str, times: [f64; 3]| {
            let mut runs = runs(&small());
            for run in &mut runs {
                let seconds = times[run.round as usize];
                run.stats.as_mut().expect("a good run").total_elapsed_seconds = Some(seconds);
                run.conditions = Some(gclab_results::Conditions {
                    disturbances: Some(vec!["other programs".to_owned()]),
                    ..Default::default()
                });
            }
            write(&parent.path().join(name), manifest(&small()), &runs)
        };
        let (base, new) = (of("base", [1.0, 1.1, 1.0]), of("new", [1.0, 0.9, 1.1]));
        let answer = compare(&base, &new, 0.03, None, &[]).answer().join(" ");
        assert!(answer.starts_with("Disturbed in"), "{answer}");
        assert!(answer.contains("Stop other programs and repeat."), "{answer}");
    }

    #[test]
    fn folders_that_share_a_second_are_not_interleaved() {
        let parent = tempfile::tempdir().expect("a folder");
        let of = |name: &str, seconds| folder(parent.path(), name, seconds);
        let base = of("base", [1, 3, 5]);
        assert_eq!(order(&base, &base), Order::Interleaved);
        assert_eq!(order(&base, &of("between", [2, 4, 6])), Order::Interleaved);
        assert_eq!(order(&base, &of("after", [5, 6, 7])), Order::Sequential);
        let [one, other] = ["one", "other"].map(|name| of(name, [1; 3]));
        assert_eq!(order(&one, &other), Order::Sequential);
    }

    /// The bound holds for the figure that it names, in every configuration.
    #[test]
    fn the_smallest_visible_change_is_that_of_the_figure_named() {
        let parent = tempfile::tempdir().expect("a folder");
        let of = |name: &str, totals: [f64; 3]| {
            let mut runs = runs(&small());
            for run in &mut runs {
                let round = run.round as usize;
                let stats = run.stats.as_mut().expect("a good run");
                stats.total_elapsed_seconds = Some(totals[round]);
            }
            write(&parent.path().join(name), manifest(&small()), &runs)
        };
        let comparison = compare(&of("a", [1.0, 1.1, 1.0]), &of("b", [1.0, 0.9, 1.1]), 0.03, None, &[]);
        let total = |row: &Row| {
            let figure = row.figures.iter().find(|figure| figure.metric == metric::TOTAL_ELAPSED);
            figure.expect("a total").effect.and_then(|effect| effect.visible())
        };
        let widest = comparison.configurations.iter().filter_map(total).fold(0.0, f64::max);
        let answer = comparison.answer().join(" ");
        let bound = crate::format::percent(widest);
        assert!(
            answer.contains(&format!("changes of total below {bound} would not")),
            "{answer}"
        );
    }

    /// It has no ratio, but is a change all the same; one that some runs lack may be chance.
    #[test]
    fn an_own_figure_that_all_runs_of_one_side_have_is_a_change() {
        let parent = tempfile::tempdir().expect("a folder");
        let of = |name: &str, second: u32, errors: [f64; 3]| {
            let mut runs = runs(&small());
            for run in &mut runs {
                run.started = Some(format!("2026-01-31T12:00:{second:02}Z"));
                run.figures = Some([("errors".to_owned(), errors[run.round as usize])].into());
            }
            write(&parent.path().join(name), manifest(&small()), &runs)
        };
        let none = of("none", 1, [0.0; 3]);
        let five = of("five", 2, [5.0; 3]);
        let some = of("some", 3, [0.0, 5.0, 5.0]);
        let compare = |base: &ResultsDir, new: &ResultsDir| {
            let comparison = compare(base, new, 0.03, None, &[]);
            let figures = &comparison.configurations[0].figures;
            let errors = figures.iter().find(|figure| figure.metric.title == "errors");
            let verdict = errors.expect("the figure").verdict;
            (
                verdict,
                comparison.regressed,
                comparison.answer().join(" ") + &crate::terminal(&comparison.document(true), true),
            )
        };
        let (verdict, regressed, text) = compare(&none, &five);
        assert_eq!((verdict, regressed), (Verdict::Worse, true), "{text}");
        assert!(text.contains("errors 0 → 5"), "{text}");
        assert_eq!(compare(&five, &none).0, Verdict::Better);
        let (verdict, regressed, text) = compare(&none, &some);
        assert_eq!((verdict, regressed), (Verdict::Unclear, false), "{text}");
        assert!(text.contains("0 → 3.3"), "{text}");
        assert_eq!(compare(&none, &of("zero", 4, [0.0; 3])).0, Verdict::Same);
        let (verdict, _, text) = compare(&five, &of("below", 5, [-1.0, -2.0, -3.0]));
        assert!(verdict == Verdict::Unclear && text.contains("5 → -2"), "{text}");
        assert!(text.contains("some values are 0 or less"), "{text}");
    }
}
