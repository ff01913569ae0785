//! When did a figure change? Many results folders in order of time, configuration by configuration:
//! the changes, and whether the last folder is worse than those before it.
//!
//! A folder is one point of a history: the geometric mean of its runs. The method is that of
//! [`gclab_results::inference::levels`]. A change counts only if it survives when all figures are judged
//! together ([`gclab_results::inference::findings`]) and reaches the threshold. The same holds for the
//! verdicts on the last folder.

use super::comparison::{compared, facts, outcome_change, verdict_cell};
use crate::document::{Cell, Column, Document, Look, Part, Place, Section, Table};
use crate::format::{self, ABSENT, counted, percent};
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, values_of};
use crate::verdict::{Verdict, judge};
use gclab_results::inference::{
    Effect, Levels, POINTS_FOR_CHANGES, Point, changes, findings, large, last_change, levels,
};
use gclab_results::{Configuration, Manifest, ResultsDir};
use serde::Serialize;
use std::collections::BTreeMap;

/// A history of folders.
#[derive(Debug, Serialize)]
pub struct History {
    /// The smallest change that counts, as a share: 0.03 is 3 %.
    pub threshold: f64,
    /// Whether the last folder is worse than those before it.
    pub regressed: bool,
    /// The folders, in order.
    pub folders: Vec<Folder>,
    /// The configurations that at least two folders have.
    pub configurations: Vec<Row>,
    /// Reasons why the folders may not be comparable.
    pub cautions: Vec<String>,
    /// The number of figures that were judged together.
    pub judged_together: usize,
}

/// A folder of a history.
#[derive(Debug, Serialize)]
pub struct Folder {
    /// Its path.
    pub folder: String,
    /// When its experiment started: UTC, RFC 3339.
    pub started: String,
    /// The commit of its build in eight digits, with a plus sign if there were uncommitted changes;
    /// empty if unknown.
    pub commit: String,
    /// How many of its runs ended well.
    pub good_runs: usize,
}

/// The history of a configuration.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The configuration.
    pub name: String,
    /// A change of outcomes or checksums in the last folder, against the previous folder that has
    /// the configuration.
    pub note: Option<String>,
    /// The verdict on the outcomes of the last folder, if they overrule the figures.
    pub outcome: Option<Verdict>,
    /// Its figures.
    pub figures: Vec<Series>,
}

/// The history of a figure of a configuration.
#[derive(Debug, Serialize)]
pub struct Series {
    /// The figure.
    #[serde(rename = "figure", serialize_with = "metric::key")]
    pub(crate) metric: Metric,
    /// The geometric mean of each folder; absent if the folder has none.
    pub means: Vec<Option<f64>>,
    /// The changes, each with the number of its first folder, from 1.
    pub changes: Vec<(usize, Effect)>,
    /// The last folder against its level; absent if it lacks the figure.
    pub last: Option<Last>,
}

/// The last folder against the level before it.
#[derive(Debug, Serialize)]
pub struct Last {
    /// The verdict.
    pub verdict: Verdict,
    /// The effect.
    #[serde(flatten)]
    pub effect: Effect,
}

/// The history of these folders, in the given order; `threshold` is a share (0.03 for 3 %), not
/// below 0.
pub fn history(dirs: &[ResultsDir], threshold: f64) -> History {
    let summaries: Vec<Summary<'_>> = dirs.iter().map(Summary::of).collect();
    let mut seen: BTreeMap<&Configuration, usize> = BTreeMap::new();
    let mut order: Vec<&Configuration> = Vec::new();
    for group in summaries.iter().flat_map(Summary::groups) {
        let count = seen.entry(&group.configuration).or_default();
        *count += 1;
        if *count == 2 {
            order.push(&group.configuration);
        }
    }
    let mut found: Vec<Found> = order
        .into_iter()
        .map(|configuration| Found::of(configuration, &summaries))
        .collect();
    let looked_at = keep_findings(&mut found);
    let mut rows: Vec<Row> = found.into_iter().map(|found| found.judged(threshold)).collect();
    let judged = judge_together(&mut rows);
    let mut history = History {
        threshold,
        regressed: false,
        folders: dirs.iter().map(folder).collect(),
        configurations: rows,
        cautions: cautions(dirs),
        judged_together: judged.max(looked_at),
    };
    history.regressed = history.count(Verdict::Worse) > 0;
    if looked_at == 0 {
        history
            .cautions
            .push(format!("changes within the history need {POINTS_FOR_CHANGES} folders"));
    }
    history
}

fn folder(dir: &ResultsDir) -> Folder {
    Folder {
        folder: dir.name(),
        started: dir.manifest().started.clone(),
        commit: commit(dir.manifest()),
        good_runs: dir.runs().iter().filter(|run| run.outcome.is_ok()).count(),
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

/// A configuration before its figures are judged.
struct Found {
    name: String,
    note: Option<String>,
    outcome: Option<Verdict>,
    series: Vec<FoundSeries>,
}

/// A figure before it is judged.
struct FoundSeries {
    metric: Metric,
    /// The points, each with its folder.
    points: Vec<(usize, Point)>,
    folders: usize,
    levels: Option<Levels>,
    /// Whether it is a time, and the last folder or the one before it was disturbed.
    is_disturbed: bool,
}

impl Found {
    fn of(configuration: &Configuration, summaries: &[Summary<'_>]) -> Found {
        let find =
            |summary: &Summary<'_>, of: &Configuration| summary.groups().position(|group| group.configuration == *of);
        let groups: Vec<Option<&Group<'_>>> = summaries
            .iter()
            .map(|summary| summary.groups().nth(find(summary, configuration)?))
            .collect();
        let there: Vec<&Group<'_>> = groups.iter().flatten().copied().collect();
        let before = groups.iter().rev().skip(1).find_map(|group| *group);
        let last = groups.last().copied().flatten();
        let is_disturbed = last.into_iter().chain(before).any(Group::is_disturbed);
        let series = compared(&there).into_iter().filter_map(|metric| {
            let point =
                |group: &Option<&Group<'_>>| Point::of(&values_of(&(*group)?.values(&metric)).collect::<Vec<_>>());
            let points = groups
                .iter()
                .enumerate()
                .filter_map(|(folder, group)| Some((folder, point(group)?)));
            let points: Vec<(usize, Point)> = points.collect();
            let only: Vec<Point> = points.iter().map(|(_, point)| *point).collect();
            (points.len() > 1).then(|| FoundSeries {
                metric,
                levels: levels(&only),
                points,
                folders: groups.len(),
                is_disturbed: is_disturbed && metric.is_time(),
            })
        });
        let series = series.collect();
        let (note, outcome) = before
            .zip(last)
            .map_or((None, None), |(before, last)| outcome_change(before, last));
        Found {
            name: configuration.to_string(),
            note,
            outcome,
            series,
        }
    }

    fn judged(self, threshold: f64) -> Row {
        Row {
            name: self.name,
            note: self.note,
            outcome: self.outcome,
            figures: self.series.into_iter().map(|series| series.judged(threshold)).collect(),
        }
    }
}

/// Judges the changes of all figures together, and discards those that may be chance. Returns the
/// number of figures that have enough folders.
fn keep_findings(found: &mut [Found]) -> usize {
    let all = || found.iter().flat_map(|found| &found.series);
    let chances: Vec<f64> = all()
        .filter_map(|series| Some(series.levels.as_ref()?.chance))
        .collect();
    let looked_at = all().filter(|series| series.points.len() >= POINTS_FOR_CHANGES).count();
    let mut remains = findings(&chances).into_iter();
    for series in found.iter_mut().flat_map(|found| &mut found.series) {
        if series.levels.is_some() && remains.next() == Some(false) {
            series.levels = None;
        }
    }
    looked_at
}

impl FoundSeries {
    fn judged(self, threshold: f64) -> Series {
        let points: Vec<Point> = self.points.iter().map(|(_, point)| *point).collect();
        let starts = self.levels.map_or_else(Vec::new, |levels| levels.starts);
        let starts = large(&points, &starts, threshold);
        let steps = changes(&points, &starts).into_iter();
        let mut means = vec![None; self.folders];
        self.points
            .iter()
            .for_each(|(folder, point)| means[*folder] = Some(point.mean()));
        let is_last = self.points.last().is_some_and(|(folder, _)| folder + 1 == self.folders);
        let last = last_change(&points, &starts).filter(|_| is_last);
        Series {
            changes: steps.map(|(at, effect)| (self.points[at].0 + 1, effect)).collect(),
            means,
            last: last.map(|effect| Last {
                verdict: match judge(&self.metric, &effect, threshold) {
                    verdict if verdict.is_change() && self.is_disturbed => Verdict::Disturbed,
                    verdict => verdict,
                },
                effect,
            }),
            metric: self.metric,
        }
    }
}

/// Withdraws verdicts on the last folder that may be chance among all figures. Returns the number
/// of figures that were judged together.
fn judge_together(rows: &mut [Row]) -> usize {
    let lasts = rows
        .iter_mut()
        .flat_map(|row| row.figures.iter_mut().filter_map(|series| series.last.as_mut()));
    let judged: Vec<(f64, &mut Last)> = lasts.filter_map(|last| Some((last.effect.chance()?, last))).collect();
    let chances: Vec<f64> = judged.iter().map(|(chance, _)| *chance).collect();
    for ((_, last), remains) in judged.into_iter().zip(findings(&chances)) {
        if !remains && last.verdict.is_change() {
            last.verdict = Verdict::Unclear;
        }
    }
    chances.len()
}

/// One caution for each change of a fact.
fn cautions(dirs: &[ResultsDir]) -> Vec<String> {
    let mut cautions = Vec::new();
    for (number, pair) in (2..).zip(dirs.windows(2)) {
        let facts = facts(pair[0].manifest()).into_iter().zip(facts(pair[1].manifest()));
        let differ = facts.filter(|(was, is)| was != is);
        cautions.extend(
            differ.map(|((name, was), (_, is))| format!("folder {number} and later: the {name} is {is}; it was {was}")),
        );
    }
    cautions
}

impl Row {
    /// Whether anything of the configuration changed, in the history or in the last folder.
    fn has_changed(&self) -> bool {
        let is_change = |last: &Last| last.verdict.is_change();
        let in_figures = self
            .figures
            .iter()
            .any(|series| !series.changes.is_empty() || series.last.as_ref().is_some_and(is_change));
        in_figures || self.outcome.is_some_and(Verdict::is_change)
    }
}

impl History {
    /// Whether no two folders share a configuration that was run.
    pub fn is_empty(&self) -> bool {
        self.configurations.is_empty()
    }

    /// The number of figures and outcomes of the last folder with a verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        let figures = self.last().map(|(.., last)| last.verdict);
        let outcomes = self.configurations.iter().filter_map(|row| row.outcome);
        figures.chain(outcomes).filter(|found| *found == verdict).count()
    }

    fn series(&self) -> impl Iterator<Item = (&Row, &Series)> {
        self.configurations
            .iter()
            .flat_map(|row| row.figures.iter().map(move |series| (row, series)))
    }

    /// The figures of the last folder.
    fn last(&self) -> impl Iterator<Item = (&Row, &Series, &Last)> {
        self.series()
            .filter_map(|(row, series)| Some((row, series, series.last.as_ref()?)))
    }

    /// All changes, with the configuration and the figure of each.
    fn changes(&self) -> impl Iterator<Item = (&Row, &Series, usize, &Effect)> {
        self.series().flat_map(|(row, series)| {
            series
                .changes
                .iter()
                .map(move |(folder, effect)| (row, series, *folder, effect))
        })
    }

    /// A folder by number, with its commit if that is known.
    fn name(&self, number: usize) -> String {
        match self.folders[number - 1].commit.as_str() {
            "" => number.to_string(),
            commit => format!("{number} ({commit})"),
        }
    }

    /// The answer in a sentence or two.
    fn answer(&self) -> Vec<String> {
        let last = self.name(self.folders.len());
        let disturbed = match self.count(Verdict::Disturbed) {
            0 => String::new(),
            count => format!("{count} disturbed by other programs, "),
        };
        let counts = format!(
            "{disturbed}{} better, {} the same within ±{}, {} unclear",
            self.count(Verdict::Better),
            self.count(Verdict::Same),
            percent(self.threshold),
            self.count(Verdict::Unclear) + self.count(Verdict::TooNoisy)
        );
        let worse = self.last().filter(|(.., last)| last.verdict == Verdict::Worse);
        let largest = worse.max_by(|(.., a), (.., b)| a.effect.ratio().total_cmp(&b.effect.ratio()));
        let mut answer = vec![match (self.count(Verdict::Worse), largest) {
            (0, _) => format!("The last folder, {last}, was not shown to be worse: {counts}."),
            (n, None) => format!(
                "The last folder, {last}, is worse in {}; {counts}.",
                counted(n, "outcome")
            ),
            (n, Some((row, series, last_effect))) => format!(
                "The last folder, {last}, is worse in {}, most in {}: {} {}; {counts}.",
                counted(n, "figure"),
                row.name,
                series.metric.title,
                format::effect(&last_effect.effect)
            ),
        }];
        let up = self.changes().filter(|(.., effect)| effect.ratio() > 1.0).count();
        let all = self.changes().count();
        if all > 0 {
            answer.push(format!(
                "The history has {}: {up} to the worse, {} to the better.",
                counted(all, "change"),
                all - up
            ));
        }
        answer
    }

    /// The document; with `all`, it includes configurations without a change.
    pub fn document(&self, all: bool) -> Document {
        let mut sections = Vec::new();
        let changes: Vec<Vec<Cell>> = self
            .changes()
            .map(|(row, series, folder, effect)| {
                let direction = if effect.ratio() > 1.0 {
                    Verdict::Worse
                } else {
                    Verdict::Better
                };
                let mut cells = vec![
                    Cell::text(&row.name),
                    verdict_cell(direction),
                    Cell::text(series.metric.heading()),
                ];
                cells.extend(effect_cells(series, effect));
                cells.push(Cell::text(self.name(folder)));
                cells
            })
            .collect();
        let titles = |last: &str| {
            let words = ["configuration", "verdict", "figure"].map(Column::words).into_iter();
            let figures = ["after/before", "before", "after"].map(Column::figures).into_iter();
            words.chain(figures).chain([Column::words(last)]).collect::<Vec<_>>()
        };
        let last = |changed: bool| -> Vec<Vec<Cell>> {
            let shown = self.last().filter(|(.., last)| !changed || last.verdict.is_change());
            shown
                .map(|(row, series, last)| {
                    let mut cells = vec![
                        Cell::text(&row.name),
                        verdict_cell(last.verdict),
                        Cell::text(series.metric.heading()),
                    ];
                    cells.extend(effect_cells(series, &last.effect));
                    cells.push(Cell::text(""));
                    cells
                })
                .collect()
        };
        let mut table = |title, place, columns: Vec<Column>, rows: Vec<Vec<Cell>>| {
            if !rows.is_empty() {
                let table = Table {
                    columns,
                    rows,
                    look: Look::Answers,
                    runs: None,
                };
                sections.push(Section {
                    title,
                    place,
                    parts: vec![Part::Table(table)],
                    ..Section::default()
                });
            }
        };
        table("The last folder", Place::Answer, titles(""), last(!all));
        table("Changes in the history", Place::Answer, titles("first folder"), changes);
        let columns = ["number", "started", "commit", "folder", "good runs"]
            .map(Column::words)
            .to_vec();
        table(
            "Folders",
            Place::Table,
            columns,
            (1..)
                .zip(&self.folders)
                .map(|(number, folder)| folder.cells(number))
                .collect(),
        );
        let notes = self
            .configurations
            .iter()
            .filter_map(|row| Some(format!("{}: {}.", row.name, row.note.as_ref()?)));
        let mut parts: Vec<Part> = notes.map(Part::Paragraph).collect();
        for row in self.configurations.iter().filter(|row| all || row.has_changed()) {
            parts.extend([Part::Heading(row.name.clone()), Part::Table(self.course(row))]);
        }
        if !parts.is_empty() {
            sections.push(Section {
                title: "Figures of each folder",
                place: Place::Detail,
                parts,
                ..Section::default()
            });
        }
        Document {
            name: "history".to_owned(),
            answer: self.answer(),
            facts: vec![
                counted(self.folders.len(), "folder"),
                format!("threshold {}", percent(self.threshold)),
                format!(
                    "{} figures were judged together (Benjamini and Hochberg)",
                    self.judged_together
                ),
            ],
            cautions: self.cautions.clone(),
            sections,
            ..Document::default()
        }
    }

    /// A row for each folder with the figures of a configuration; ▲ marks the first folder after a
    /// worsening, ▼ the first after an improvement.
    fn course(&self, row: &Row) -> Table {
        let mut columns = vec![Column::words("folder")];
        columns.extend(row.figures.iter().map(|series| Column::metric(&series.metric)));
        let cell = |series: &Series, number: usize| {
            let step = series.changes.iter().find(|(first, _)| *first == number);
            let mark = step.map_or("", |(_, effect)| if effect.ratio() > 1.0 { "▲ " } else { "▼ " });
            let mean = series.means[number - 1];
            mean.map_or_else(Cell::absent, |mean| {
                Cell::number(format!("{mark}{}", series.metric.unit.text(mean)), mean)
            })
        };
        let rows = (1..=self.folders.len()).map(|number| {
            let mut cells = vec![Cell::word(self.name(number))];
            cells.extend(row.figures.iter().map(|series| cell(series, number)));
            cells
        });
        Table {
            rows: rows.collect(),
            columns,
            ..Table::default()
        }
    }
}

impl Folder {
    fn cells(&self, number: usize) -> Vec<Cell> {
        let known = |text: &str| Cell::text(if text.is_empty() { ABSENT } else { text });
        vec![
            Cell::word(number.to_string()),
            known(&self.started),
            known(&self.commit),
            Cell::text(&self.folder),
            Cell::word(self.good_runs.to_string()),
        ]
    }
}

fn effect_cells(series: &Series, effect: &Effect) -> [Cell; 3] {
    let value = |value: f64| Cell::figure(&series.metric, Some(value));
    [Cell::effect(Some(effect)), value(effect.base), value(effect.new)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::synthetic::{manifest, small, small_runs, write};
    use gclab_results::Conditions;

    /// The second of two folders takes 1.3 times as long.
    #[test]
    fn a_disturbed_folder_is_not_called_worse() {
        let scratch = tempfile::tempdir().expect("a folder");
        let mut folders = ["a", "b"].map(|name| (name, small_runs()));
        for run in &mut folders[1].1 {
            if let Some(stats) = &mut run.stats {
                for seconds in [&mut stats.total_elapsed_seconds, &mut stats.total_cpu_seconds] {
                    *seconds = seconds.map(|seconds| 1.3 * seconds);
                }
            }
        }
        let mut verdict = |disturbed: bool| {
            for run in &mut folders[1].1 {
                run.conditions = disturbed.then(|| Conditions {
                    disturbances: Some(vec!["other programs".to_owned()]),
                    ..Conditions::default()
                });
            }
            let dirs = folders.each_ref().map(|(name, runs)| {
                let path = scratch.path().join(format!("{name}{disturbed}"));
                write(&path, manifest(&small()), runs)
            });
            let history = history(&dirs, 0.03);
            (history.regressed, history.answer().remove(0))
        };
        let (worse, said) = verdict(false);
        assert!(worse, "{said}");
        let (worse, said) = verdict(true);
        assert!(!worse && said.contains("disturbed by other programs"), "{said}");
    }
}
