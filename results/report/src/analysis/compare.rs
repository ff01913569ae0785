//! Is the new one slower? Compares two results folders, configuration by configuration; or two
//! collectors, by the settings that both were run at.
//!
//! A change counts only if it is large enough (the threshold) *and* the interval of the ratio
//! excludes 1: either condition alone raises false alarms. A figure is the *same* if its interval
//! of 90 % lies within the threshold on both sides of 1 (two one-sided tests of 5 % each:
//! Schuirmann, 1987). Everything else is *unclear*: more runs are needed, and each unclear figure
//! says how many would probably decide.
//!
//! One in twenty intervals misses by design. So all figures are judged together: those called
//! better or worse are expected to have at most one false one in twenty
//! ([`crate::inference::findings`]). A figure that passes by itself, but not among the others, is
//! unclear.
//!
//! Records of an older gclab have no phases, so their times are those of whole runs. If only one
//! side of a configuration has phases, the figures of both sides are those of whole runs.

use super::comparable::{OkRuns, compared, facts, is_mixed, ok_runs, outcome_change, values};
use super::rivals::{self, Candidate, Mean, Side, candidates};
use super::verdict::{Verdict, judge_figure};
use crate::folder::Results;
use crate::inference::{Change, findings};
use crate::metric::Metric;
use crate::run::Run;
use crate::summary::{Group, Summary};
use gclab_results::Configuration;
use gclab_results::order::Arrange;
use std::collections::{BTreeMap, BTreeSet};

/// The comparison of two folders.
#[derive(Debug)]
pub struct Comparison {
    /// The smallest change that counts, as a share: 0.03 is 3 %.
    pub(crate) threshold: f64,
    /// The configurations that both folders have.
    pub(crate) rows: Vec<Row>,
    /// Configurations that only the base has.
    pub(crate) only_base: Vec<Configuration>,
    /// Configurations that only the new folder has.
    pub(crate) only_new: Vec<Configuration>,
    /// Reasons why the two may not be comparable: another machine, another build profile.
    pub(crate) cautions: Vec<String>,
    /// The collector of the base, if collectors are compared; the rows then have that of the new
    /// one.
    pub(crate) against: Option<String>,
    /// Whether that is a build, and not a collector.
    pub(crate) of_builds: bool,
    /// Of rivals: the mean of each figure over the workloads, at each setting that several have.
    pub(crate) means: Vec<Mean>,
    /// The number of figures that were judged together.
    pub(crate) judged: usize,
    /// Of these, the figures that would be called changed by themselves, but not among the others.
    pub(crate) taken_back: usize,
    /// Whether figures that are the same or unclear are left out of tables.
    pub(crate) only_changed: bool,
}

/// The comparison of one configuration.
#[derive(Debug)]
pub(crate) struct Row {
    /// The configuration that is compared.
    pub(crate) configuration: Configuration,
    /// The figures that both folders have, judged.
    pub(crate) figures: Vec<Figure>,
    /// Changes that overrule all figures: failures, or another checksum.
    pub(crate) note: Option<String>,
    /// The verdict on the outcomes, if they overrule the figures.
    pub(crate) outcome: Option<Verdict>,
    /// The verdict on the configuration.
    pub(crate) verdict: Verdict,
    /// Whether the figures are those of whole runs because some of the runs have no phases.
    whole_runs: bool,
}

/// The comparison of one figure of one configuration.
#[derive(Debug)]
pub(crate) struct Figure {
    /// The figure that is compared.
    pub(crate) metric: Metric,
    /// The change; absent where a value is 0.
    pub(crate) change: Option<Change>,
    /// The verdict on the figure.
    pub(crate) verdict: Verdict,
    /// A reason for the verdict that the interval does not show.
    pub(crate) remark: Option<String>,
    /// For an unclear figure, the number of runs of each sample with which four of five experiments
    /// would decide; absent if it cannot be said, or is beyond reason.
    pub(crate) runs_to_decide: Option<usize>,
}

impl Comparison {
    /// Whether the two have no configuration in common that was run.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether any configuration got worse.
    pub fn regressed(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Verdict::Worse)
    }

    /// Leaves figures that are the same or unclear out of tables; counts have them nevertheless.
    #[must_use]
    pub fn only_changed(self, only_changed: bool) -> Comparison {
        Comparison { only_changed, ..self }
    }

    /// The rows of tables.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Row> {
        self.rows
            .iter()
            .filter(|row| !self.only_changed || row.verdict.is_change())
    }

    /// The figures of a row of a table.
    pub(crate) fn figures<'r>(&self, row: &'r Row) -> impl Iterator<Item = &'r Figure> + use<'r> {
        let all = !self.only_changed;
        row.figures
            .iter()
            .filter(move |figure| all || figure.verdict.is_change())
    }

    /// The number of figures and outcomes with a verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        let figures = self
            .rows
            .iter()
            .flat_map(|row| &row.figures)
            .map(|figure| figure.verdict);
        let outcomes = self.rows.iter().filter_map(|row| row.outcome);
        figures.chain(outcomes).filter(|found| *found == verdict).count()
    }

    /// The number of configurations with a verdict.
    pub(crate) fn configurations(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// The changes that would have been seen, of the unclear figures: the median and the greatest,
    /// as shares, and the fewest runs. `None` without an unclear figure that has enough runs.
    pub(crate) fn visible(&self) -> Option<(f64, f64, usize)> {
        let changes: Vec<&Change> = self.unclear().filter_map(|figure| figure.change.as_ref()).collect();
        let mut visible: Vec<f64> = changes.iter().filter_map(|change| change.visible()).collect();
        visible.sort_by(f64::total_cmp);
        let runs = changes.iter().map(|change| change.runs).min()?;
        let at_least = |share: f64| share.max(self.threshold);
        Some((
            at_least(*visible.get(visible.len() / 2)?),
            at_least(*visible.last()?),
            runs,
        ))
    }
}

impl Comparison {
    fn unclear(&self) -> impl Iterator<Item = &Figure> {
        let figures = self.rows.iter().flat_map(|row| &row.figures);
        figures.filter(|figure| figure.verdict == Verdict::Unclear)
    }

    /// The runs of each sample beyond those that are there which would decide the unclear figures:
    /// for half of those that can be decided and for all of them, and their number. `None` without
    /// such a figure.
    pub(crate) fn more_runs(&self) -> Option<(usize, usize, usize)> {
        let mut more: Vec<usize> = self.unclear().filter_map(Figure::more_runs).collect();
        more.sort_unstable();
        Some((*more.get(more.len() / 2)?, *more.last()?, more.len()))
    }
}

impl Figure {
    /// The runs of each sample beyond those that are there which would probably decide.
    pub(crate) fn more_runs(&self) -> Option<usize> {
        let runs = self.change.as_ref()?.runs;
        Some(self.runs_to_decide?.saturating_sub(runs).max(1))
    }
}

/// Two collectors that are compared with each other.
#[derive(Debug, Clone, Copy)]
pub struct Rivals<'a> {
    /// The collector whose figures are judged.
    pub collector: &'a str,
    /// The collector that it is compared with.
    pub against: &'a str,
}

/// Compares two folders; `threshold` is a share (0.03 for 3 %), not below 0. With `rivals` it
/// compares the runs of one collector in `new` with those of another one in `base` at the same
/// settings; the two folders may then be one.
pub fn compare(base: &Results, new: &Results, threshold: f64, rivals: Option<Rivals<'_>>) -> Comparison {
    let sides = rivals.map(|rivals| (Side::Collector(rivals.against), Side::Collector(rivals.collector)));
    compare_sides(base, new, threshold, sides, rivals.map(|rivals| rivals.against))
}

/// Compares two builds that an experiment names: the runs of `build` in `new` with those of
/// `against` in `base` at the same settings. The two folders may be one.
pub fn compare_builds(base: &Results, new: &Results, threshold: f64, build: &str, against: &str) -> Comparison {
    let sides = (Side::Build(against), Side::Build(build));
    compare_sides(base, new, threshold, Some(sides), Some(against))
}

fn compare_sides(
    base: &Results,
    new: &Results,
    threshold: f64,
    sides: Option<(Side<'_>, Side<'_>)>,
    against: Option<&str>,
) -> Comparison {
    let (base_summary, new_summary) = (Summary::of(base), Summary::of(new));
    let mut of_base = candidates(&base_summary, sides.map(|sides| sides.0));
    let mut of_new = candidates(&new_summary, sides.map(|sides| sides.1));
    let other_flags = sides.is_some() && rivals::have_no_setting_in_common(&of_base, &of_new);
    if other_flags {
        rivals::without_fixed_flags(&mut of_base);
        rivals::without_fixed_flags(&mut of_new);
    }
    let new_groups: BTreeMap<&Configuration, &Group<'_>> = of_new.iter().map(|(key, group)| (key, *group)).collect();
    let mut rows: Vec<Row> = of_base
        .iter()
        .filter_map(|(key, group)| Some(row(group, new_groups.get(key)?, threshold)))
        .collect();
    let pairs = of_base
        .iter()
        .filter_map(|(key, base)| Some((key, *base, *new_groups.get(key)?)));
    let means = sides.map(|_| rivals::means(pairs));
    let (judged, taken_back) = judge_together(&mut rows);
    let mut cautions = cautions(base, new);
    cautions.extend(caution_of_whole_runs(&rows));
    cautions.extend(caution_of_counters(base, new, &rows));
    cautions.extend(means.as_ref().and_then(|means| means.as_ref().err().cloned()));
    if other_flags && !rows.is_empty() {
        cautions.push("the two have no flags in common: each is compared with the flags that its runs have".to_owned());
    }
    Comparison {
        threshold,
        rows,
        only_base: only_in(&of_base, &of_new),
        only_new: only_in(&of_new, &of_base),
        cautions,
        against: against.map(str::to_owned),
        of_builds: matches!(sides, Some((Side::Build(_), _))),
        means: means.and_then(Result::ok).unwrap_or_default(),
        judged,
        taken_back,
        only_changed: false,
    }
}

/// Takes changes back that may be chance among all figures. Returns the number of figures that were
/// judged together, and of those whose change was taken back.
fn judge_together(rows: &mut [Row]) -> (usize, usize) {
    let compared = || |row: &&mut Row| row.verdict != Verdict::Identical;
    let chance = |figure: &Figure| figure.change.as_ref().and_then(Change::chance);
    let chances: Vec<f64> = rows
        .iter_mut()
        .filter(compared())
        .flat_map(|row| row.figures.iter().filter_map(chance).collect::<Vec<_>>())
        .collect();
    let mut remains = findings(&chances).into_iter();
    let mut taken_back = 0;
    for row in rows.iter_mut().filter(compared()) {
        for figure in row.figures.iter_mut().filter(|figure| chance(figure).is_some()) {
            if remains.next() == Some(false) && figure.verdict.is_change() {
                figure.verdict = Verdict::Unclear;
                figure.remark = Some(format!("may be chance among {} figures", chances.len()));
                taken_back += 1;
            }
        }
        if row.outcome.is_none() {
            row.verdict = Verdict::of_all(row.figures.iter().map(|figure| figure.verdict));
        }
    }
    (chances.len(), taken_back)
}

/// The configurations without a partner, sorted.
fn only_in(these: &[Candidate<'_, '_>], others: &[Candidate<'_, '_>]) -> Vec<Configuration> {
    let partners: BTreeSet<&Configuration> = others.iter().map(|(key, _)| key).collect();
    let alone = these.iter().filter(|(key, _)| !partners.contains(key));
    let mut alone: Vec<Configuration> = alone.map(|(_, group)| group.configuration.clone()).collect();
    alone.sort();
    alone
}

fn row(base: &Group<'_>, new: &Group<'_>, threshold: f64) -> Row {
    let whole_runs = is_mixed(&[base, new]);
    let (base_runs, new_runs) = (ok_runs(base, whole_runs), ok_runs(new, whole_runs));
    let mut figures: Vec<Figure> = compared(&[base, new])
        .filter_map(|metric| figure(metric, &base_runs, &new_runs, threshold))
        .collect();
    let (note, outcome) = outcome_change(base, new);
    let verdict = if is_identical(base, new) {
        figures.iter_mut().for_each(|figure| figure.verdict = Verdict::Same);
        Verdict::Identical
    } else {
        outcome.unwrap_or_else(|| Verdict::of_all(figures.iter().map(|figure| figure.verdict)))
    };
    Row {
        configuration: new.configuration.clone(),
        figures,
        note,
        outcome,
        verdict,
        whole_runs,
    }
}

/// Whether both have the same runs: a copy of a folder, or the folder itself.
fn is_identical(base: &Group<'_>, new: &Group<'_>) -> bool {
    let (base, new) = (by_round(base), by_round(new));
    base.len() == new.len() && base.iter().zip(new).all(|(one, other)| one.is_same(other))
}

fn by_round<'a>(group: &Group<'a>) -> Vec<&'a Run> {
    let mut runs = group.runs.clone();
    runs.arrange_by_key(|run| (run.round, run.position));
    runs
}

fn figure(metric: &Metric, base: &OkRuns<'_>, new: &OkRuns<'_>, threshold: f64) -> Option<Figure> {
    let (base, new) = (values(metric, base), values(metric, new));
    if base.is_empty() || new.is_empty() {
        return None;
    }
    let change = Change::of(&base, &new);
    let (verdict, remark) = match &change {
        Some(change) => judge_figure(metric, change, threshold),
        None if base.iter().chain(&new).all(|(_, value)| *value == 0.0) => (Verdict::Same, None),
        None => (Verdict::Unclear, None),
    };
    let unclear = change.as_ref().filter(|_| verdict == Verdict::Unclear);
    let runs_to_decide = unclear.and_then(|change| change.runs_to_decide(threshold));
    Some(Figure {
        metric: *metric,
        change,
        verdict,
        remark,
        runs_to_decide,
    })
}

/// A caution if figures are those of whole runs because some runs have no phases.
fn caution_of_whole_runs(rows: &[Row]) -> Option<String> {
    let count = rows.iter().filter(|row| row.whole_runs).count();
    (count > 0).then(|| {
        format!(
            "the times, pauses, allocation and copying of {count} of {} configurations are those of whole runs, with \
             set-up and exit: some of their runs, of a program or of an older gclab, have no phases",
            rows.len()
        )
    })
}

/// A caution if a side of some rows read counters at its pauses and the other, a program, did not.
fn caution_of_counters(base: &Results, new: &Results, rows: &[Row]) -> Option<String> {
    let reads = |dir: &Results| dir.manifest().pause_counters == Some(true);
    let is_one_sided = reads(base) && reads(new) && rows.iter().any(|row| row.whole_runs);
    is_one_sided.then(|| {
        "workloads read counters at each pause, which takes time (the key pause_counters), and programs do not"
            .to_owned()
    })
}

fn cautions(base: &Results, new: &Results) -> Vec<String> {
    let pairs = facts(base.manifest()).into_iter().zip(facts(new.manifest()));
    let differ = pairs.filter(|(base, new)| base != new);
    differ
        .map(|((name, base), (_, new))| format!("the {name} differs: {base} in the base, {new} in the new one"))
        .collect()
}
