//! When did a figure change? Many results folders in the order of time, configuration by
//! configuration: the changes, and whether the last folder is worse than those before it.
//!
//! A folder is one point of a history: the geometric mean of its runs. The method is that of
//! [`crate::inference::levels`]. A figure has changes only if they remain when all figures are
//! judged together ([`crate::inference::findings`]), and each change is at least the threshold. So
//! it is with the verdicts on the last folder.
//!
//! Records of an older gclab have no phases. If only some folders of a configuration have phases,
//! its figures are those of whole runs in all of them.

use super::comparable::{OkRuns, compared, facts, is_mixed, ok_runs, outcome_change, values};
use super::verdict::{Verdict, is_within_a_megablock, judge_figure};
use crate::folder::Results;
use crate::inference::{Change, Levels, POINTS_FOR_CHANGES, Point, changes, findings, large, last_change, levels};
use crate::metric::Metric;
use crate::summary::{Group, Summary};
use gclab_results::order::Arrange;
use gclab_results::{Configuration, Manifest};
use std::collections::{BTreeMap, BTreeSet};

/// The order of the folders of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By the start of the experiments; folders that started at the same time as they were given.
    Time,
    /// As they were given.
    Given,
}

/// A history of folders.
#[derive(Debug)]
pub struct History {
    /// The smallest change that counts, as a share: 0.03 is 3 %.
    pub(crate) threshold: f64,
    /// The order of the folders.
    pub(crate) order: Order,
    /// The folders in this order.
    pub(crate) folders: Vec<Folder>,
    /// The configurations that at least two folders have.
    pub(crate) rows: Vec<HistoryRow>,
    /// Reasons why the folders may not be comparable.
    pub(crate) cautions: Vec<String>,
    /// The number of figures of the last folder that were judged together.
    pub(crate) judged: usize,
    /// Of these, the figures that would be called changed by themselves, but not among the others.
    pub(crate) taken_back: usize,
    /// The number of figures that have enough folders to look for changes.
    pub(crate) looked_at: usize,
    /// Whether configurations without a change are left out of tables.
    pub(crate) only_changed: bool,
}

/// A folder of a history.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Its path.
    pub(crate) path: String,
    /// The start of its experiment: UTC, RFC 3339.
    pub(crate) started: String,
    /// The commit of its build in eight digits, with a plus sign if there were other changes; empty
    /// if unknown.
    pub(crate) commit: String,
    /// The number of its runs that ended well.
    pub(crate) runs: usize,
}

/// The history of a configuration.
#[derive(Debug)]
pub(crate) struct HistoryRow {
    /// The configuration.
    pub(crate) configuration: Configuration,
    /// Its figures.
    pub(crate) series: Vec<Series>,
    /// A change of outcomes or checksums in the last folder, against the folder before it that has
    /// the configuration.
    pub(crate) note: Option<String>,
    /// The verdict on the outcomes of the last folder, if they overrule the figures.
    pub(crate) outcome: Option<Verdict>,
}

/// The history of a figure of a configuration.
#[derive(Debug)]
pub(crate) struct Series {
    /// The figure.
    pub(crate) metric: Metric,
    /// The geometric mean of each folder; absent where a folder has none.
    pub(crate) means: Vec<Option<f64>>,
    /// The changes.
    pub(crate) changes: Vec<Step>,
    /// The last folder against its level; absent if it does not have the figure.
    pub(crate) last: Option<Last>,
}

/// A change of a figure.
#[derive(Debug)]
pub(crate) struct Step {
    /// The first folder after the change.
    pub(crate) folder: usize,
    /// The levels before and after it.
    pub(crate) change: Change,
}

/// The last folder against the level before it.
#[derive(Debug)]
pub(crate) struct Last {
    /// The change.
    pub(crate) change: Change,
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// A reason for the verdict that the interval does not show.
    pub(crate) remark: Option<String>,
}

impl Step {
    /// Whether the figure grew. For all figures that are compared, less is better.
    pub(crate) fn is_worse(&self) -> bool {
        self.change.ratio() > 1.0
    }
}

impl HistoryRow {
    /// Whether anything of the configuration changed, in the history or in the last folder.
    pub(crate) fn has_changed(&self) -> bool {
        let in_figures = self.series.iter().any(|series| {
            let last = series.last.as_ref();
            !series.changes.is_empty() || last.is_some_and(|last| last.verdict.is_change())
        });
        in_figures || self.outcome.is_some_and(Verdict::is_change)
    }

    /// The verdicts on the last folder.
    fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let figures = self.series.iter().filter_map(|series| series.last.as_ref());
        figures.map(|last| last.verdict).chain(self.outcome)
    }
}

impl History {
    /// Whether no two folders have a configuration in common that was run.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the last folder is worse than those before it.
    pub fn regressed(&self) -> bool {
        self.count(Verdict::Worse) > 0
    }

    /// Leaves configurations without a change out of tables; counts have them nevertheless.
    #[must_use]
    pub fn only_changed(self, only_changed: bool) -> History {
        History { only_changed, ..self }
    }

    /// The number of figures and outcomes of the last folder with a verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        let verdicts = self.rows.iter().flat_map(HistoryRow::verdicts);
        verdicts.filter(|found| *found == verdict).count()
    }

    /// The rows of tables.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &HistoryRow> {
        self.rows.iter().filter(|row| !self.only_changed || row.has_changed())
    }

    /// All changes, with the configuration and the figure of each.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&HistoryRow, &Series, &Step)> {
        let series = self
            .rows
            .iter()
            .flat_map(|row| row.series.iter().map(move |series| (row, series)));
        series.flat_map(|(row, series)| series.changes.iter().map(move |step| (row, series, step)))
    }

    /// The figures of the last folder.
    pub(crate) fn last(&self) -> impl Iterator<Item = (&HistoryRow, &Series, &Last)> {
        let series = self
            .rows
            .iter()
            .flat_map(|row| row.series.iter().map(move |series| (row, series)));
        series.filter_map(|(row, series)| Some((row, series, series.last.as_ref()?)))
    }
}

/// The history of these folders; `threshold` is a share (0.03 for 3 %), not below 0.
pub fn history(mut dirs: Vec<Results>, order: Order, threshold: f64) -> History {
    if order == Order::Time {
        dirs.arrange_by(|one, other| one.manifest().started.cmp(&other.manifest().started));
    }
    let summaries: Vec<Summary<'_>> = dirs.iter().map(Summary::of).collect();
    let groups: Vec<Groups<'_, '_>> = summaries.iter().map(by_configuration).collect();
    let mut found: Vec<Found> = configurations(&summaries)
        .into_iter()
        .map(|configuration| row(configuration, &groups))
        .collect();
    let looked_at = keep_findings(&mut found);
    let mut rows: Vec<HistoryRow> = found.into_iter().map(|found| found.judged(threshold)).collect();
    let (judged, taken_back) = judge_together(&mut rows);
    History {
        threshold,
        order,
        folders: dirs.iter().map(folder).collect(),
        cautions: cautions(&dirs),
        rows,
        judged,
        taken_back,
        looked_at,
        only_changed: false,
    }
}

fn folder(dir: &Results) -> Folder {
    let manifest = dir.manifest();
    Folder {
        path: dir.path().display().to_string(),
        started: manifest.started.clone(),
        commit: commit(manifest),
        runs: dir.runs().iter().filter(|run| run.outcome().is_ok()).count(),
    }
}

fn commit(manifest: &Manifest) -> String {
    let changed = if manifest.build.git_dirty == Some(true) {
        "+"
    } else {
        ""
    };
    let commit = manifest.build.git_commit.as_deref();
    commit.map_or_else(String::new, |commit| {
        format!("{}{changed}", commit.chars().take(8).collect::<String>())
    })
}

/// The configurations that at least two folders ran, in the order of the folder that has them
/// first.
fn configurations(summaries: &[Summary<'_>]) -> Vec<Configuration> {
    let (mut once, mut twice, mut order) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for group in summaries.iter().flat_map(Summary::groups) {
        if once.insert(&group.configuration) {
            order.push(&group.configuration);
        } else {
            twice.insert(&group.configuration);
        }
    }
    order.retain(|configuration| twice.contains(configuration));
    order.into_iter().cloned().collect()
}

/// A configuration before its figures are judged.
struct Found {
    configuration: Configuration,
    series: Vec<FoundSeries>,
    note: Option<String>,
    outcome: Option<Verdict>,
}

/// A figure before it is judged.
struct FoundSeries {
    metric: Metric,
    /// The points, each with its folder.
    points: Vec<(usize, Point)>,
    folders: usize,
    levels: Option<Levels>,
}

/// The groups of a folder by their configurations.
type Groups<'s, 'a> = BTreeMap<&'s Configuration, &'s Group<'a>>;

fn by_configuration<'s, 'a>(summary: &'s Summary<'a>) -> Groups<'s, 'a> {
    summary.groups().map(|group| (&group.configuration, group)).collect()
}

fn row(configuration: Configuration, folders: &[Groups<'_, '_>]) -> Found {
    let groups: Vec<Option<&Group<'_>>> = folders.iter().map(|of| of.get(&configuration).copied()).collect();
    let there: Vec<&Group<'_>> = groups.iter().flatten().copied().collect();
    let whole_runs = is_mixed(&there);
    let runs: Vec<_> = groups
        .iter()
        .map(|group| group.map(|group| ok_runs(group, whole_runs)))
        .collect();
    let series = compared(&there).filter_map(|metric| {
        let point = |runs: &Option<OkRuns<'_>>| {
            let values: Vec<f64> = values(metric, runs.as_ref()?)
                .into_iter()
                .map(|(_, value)| value)
                .collect();
            Point::of(&values)
        };
        let points: Vec<(usize, Point)> = runs
            .iter()
            .enumerate()
            .filter_map(|(folder, runs)| Some((folder, point(runs)?)))
            .collect();
        let only: Vec<Point> = points.iter().map(|(_, point)| *point).collect();
        (points.len() > 1).then(|| FoundSeries {
            metric: *metric,
            levels: levels(&only),
            points,
            folders: runs.len(),
        })
    });
    let series = series.collect();
    let last = groups.last().copied().flatten();
    let before = groups.iter().rev().skip(1).find_map(|group| *group);
    let (note, outcome) = before
        .zip(last)
        .map_or((None, None), |(before, last)| outcome_change(before, last));
    Found {
        configuration,
        series,
        note,
        outcome,
    }
}

/// Judges the changes of all figures together, and discards those that may be chance. Returns the
/// number of figures that have enough folders.
fn keep_findings(found: &mut [Found]) -> usize {
    let all = |found: &Found| -> Vec<f64> {
        let levels = found.series.iter().filter_map(|series| series.levels.as_ref());
        levels.map(|levels| levels.chance).collect()
    };
    let chances: Vec<f64> = found.iter().flat_map(all).collect();
    let mut remains = findings(&chances).into_iter();
    let series = || found.iter().flat_map(|found| &found.series);
    let looked_at = series()
        .filter(|series| series.points.len() >= POINTS_FOR_CHANGES)
        .count();
    for series in found.iter_mut().flat_map(|found| &mut found.series) {
        if series.levels.is_some() && remains.next() == Some(false) {
            series.levels = None;
        }
    }
    looked_at
}

impl Found {
    fn judged(self, threshold: f64) -> HistoryRow {
        let series = self.series.into_iter().map(|series| series.judged(threshold));
        HistoryRow {
            configuration: self.configuration,
            series: series.collect(),
            note: self.note,
            outcome: self.outcome,
        }
    }
}

impl FoundSeries {
    fn judged(self, threshold: f64) -> Series {
        let points: Vec<Point> = self.points.iter().map(|(_, point)| *point).collect();
        let starts = self.levels.map_or_else(Vec::new, |levels| levels.starts);
        let starts = large(&points, &starts, threshold);
        let steps = changes(&points, &starts).into_iter();
        let steps = steps.filter(|(_, change)| !is_within_a_megablock(&self.metric, change));
        let mut means = vec![None; self.folders];
        self.points
            .iter()
            .for_each(|(folder, point)| means[*folder] = Some(point.mean()));
        let is_last = self.points.last().is_some_and(|(folder, _)| folder + 1 == self.folders);
        let last = last_change(&points, &starts).filter(|_| is_last);
        Series {
            changes: steps
                .map(|(at, change)| Step {
                    folder: self.points[at].0,
                    change,
                })
                .collect(),
            means,
            last: last.map(|change| {
                let (verdict, remark) = judge_figure(&self.metric, &change, threshold);
                Last {
                    change,
                    verdict,
                    remark,
                }
            }),
            metric: self.metric,
        }
    }
}

/// Takes verdicts on the last folder back that may be chance among all figures. Returns the number
/// of figures that were judged together, and of those that were taken back.
fn judge_together(rows: &mut [HistoryRow]) -> (usize, usize) {
    let lasts = rows
        .iter_mut()
        .flat_map(|row| row.series.iter_mut().filter_map(|series| series.last.as_mut()));
    let judged: Vec<(f64, &mut Last)> = lasts.filter_map(|last| Some((last.change.chance()?, last))).collect();
    let chances: Vec<f64> = judged.iter().map(|(chance, _)| *chance).collect();
    let mut taken_back = 0;
    for ((_, last), remains) in judged.into_iter().zip(findings(&chances)) {
        if !remains && last.verdict.is_change() {
            last.verdict = Verdict::Unclear;
            last.remark = Some(format!("may be chance among {} figures", chances.len()));
            taken_back += 1;
        }
    }
    (chances.len(), taken_back)
}

/// One caution for each change of a fact: `folder 3: the kernel is ..., it was ...`.
fn cautions(dirs: &[Results]) -> Vec<String> {
    let mut cautions = Vec::new();
    for (number, pair) in (2..).zip(dirs.windows(2)) {
        for ((name, was), (_, is)) in facts(pair[0].manifest()).into_iter().zip(facts(pair[1].manifest())) {
            if was != is {
                cautions.push(format!("from folder {number} on the {name} is {is}; it was {was}"));
            }
        }
    }
    cautions
}
