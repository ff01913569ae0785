//! The HTML report: what the template is given, and the template.

use super::figures::{MOST_PANELS, by_other_axes, panels, split_axes, style_of};
use super::{
    Answer, Best, answers, cautions, environment, headline, pause_rows, pauses, shell_line,
    time_metric, with_range,
};
use crate::chart::swatch;
use crate::folder::ResultsDir;
use crate::manifest::Axis;
use crate::maths::{Ratio, Spread};
use crate::metric::{self, Metric, Unit};
use crate::record::RunRecord;
use crate::summary::{Group, Summary, Work};
use crate::table::runs_text;
use minijinja::{Environment, UndefinedBehavior, Value, context};

const TEMPLATE: &str = include_str!("../../templates/report.html");

/// Figures of the table of single runs, beside the words.
const RAW: &[Metric] = &[
    metric::GC_ELAPSED,
    metric::MUT_ELAPSED,
    metric::TOTAL_ELAPSED,
    metric::WALL,
    metric::USER,
    metric::SYSTEM,
    metric::PEAK_IN_USE,
    metric::MAX_RSS,
    metric::MAX_LIVE,
    metric::MAX_PAUSE,
    metric::GCS,
    metric::MAJOR_GCS,
    metric::COPIED,
    metric::ALLOCATED,
    metric::LOAD,
    metric::INVOLUNTARY,
];

/// The report of these folders as one HTML file.
///
/// # Panics
/// When the template that is part of this crate is wrong; tests render every part of it.
pub fn html(dirs: &[ResultsDir]) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // The name's ending switches escaping on.
    environment
        .add_template("report.html", TEMPLATE)
        .expect("the template parses");
    let template = environment
        .get_template("report.html")
        .expect("it was just added");
    let folders: Vec<Value> = dirs.iter().map(folder).collect();
    let names: Vec<&str> = dirs
        .iter()
        .map(|dir| dir.manifest().name.as_str())
        .collect();
    let page = template.render(
        context! { title => names.join(", "), folders, version => env!("CARGO_PKG_VERSION") },
    );
    page.unwrap_or_else(|e| panic!("the template does not render: {e:#}"))
}

/// A table cell: text, what stands small below it, and the number to sort by.
struct Cell {
    text: String,
    more: String,
    sort: Option<f64>,
    failed: bool,
}

impl Cell {
    fn word(text: impl Into<String>) -> Cell {
        let text = text.into();
        Cell {
            sort: crate::summary::number(&text),
            text,
            more: String::new(),
            failed: false,
        }
    }

    fn number(text: String, sort: f64) -> Cell {
        Cell {
            text,
            more: String::new(),
            sort: Some(sort),
            failed: false,
        }
    }

    /// The median, and below it the range of the runs.
    fn spread(metric: &Metric, spread: &Spread) -> Cell {
        let text = with_range(metric, spread);
        let (median, range) = text.split_once(' ').unwrap_or((&text, ""));
        Cell {
            text: median.to_owned(),
            more: range.to_owned(),
            sort: Some(spread.median),
            failed: false,
        }
    }

    fn missing() -> Cell {
        Cell::word("–")
    }
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Value {
        context! { text => cell.text, more => cell.more, sort => cell.sort, failed => cell.failed }
    }
}

fn folder(dir: &ResultsDir) -> Value {
    let manifest = dir.manifest();
    let summary = Summary::of(dir);
    let answers = answers(&summary);
    let configurations = summary.groups().count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut facts = vec![
        count(dir.runs().len(), "run"),
        count(configurations, "configuration"),
    ];
    facts.push(format!("seed {}", manifest.seed));
    facts.extend(Some(manifest.started.clone()).filter(|s| !s.is_empty()));
    let fixed: Vec<String> = summary
        .fixed
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let legend: Vec<Value> = summary
        .collectors
        .iter()
        .map(|&name| context! { name, swatch => Value::from_safe_string(swatch(style_of(&summary, name))) })
        .collect();
    let works: Vec<Value> = summary
        .works
        .iter()
        .map(|work| work_view(&summary, work))
        .collect();
    context! {
        name => manifest.name.as_str(),
        question => manifest.question.as_deref(),
        facts,
        fixed => fixed.join(", "),
        cautions => cautions(dir, &summary),
        headline => headline(&answers),
        time_name => time_metric(&summary).title,
        answers => answers.iter().map(|answer| answer_view(&summary, answer)).collect::<Vec<_>>(),
        several_collectors => summary.collectors.len() > 1,
        legend,
        works,
        failed => failed_runs(dir, &summary),
        configurations => configuration_table(&summary),
        raw => raw_table(dir, &summary),
        environment => environment(dir),
        command => shell_line(&manifest.command),
        experiment => manifest.experiment.as_str(),
        seed => manifest.seed,
        repeat => manifest.repeat,
        plan => plan_table(dir, &summary),
    }
}

fn answer_view(summary: &Summary<'_>, answer: &Answer<'_>) -> Value {
    let best = |best: &Best<'_>| {
        context! {
            label => best.group.label(&summary.axes),
            value => format!("{} {}", with_range(best.metric, &best.spread), best.metric.unit.name()),
        }
    };
    let rivals: Vec<Value> = answer
        .rivals
        .iter()
        .map(|rival| {
            context! {
                label => rival.best.group.label(&summary.axes),
                value => rival.ratio.map_or("–".to_owned(), |ratio| ratio_text(&ratio)),
                noise => rival.differs() == Some(false),
            }
        })
        .collect();
    context! {
        work => answer.work.title.as_str(),
        fastest => best(&answer.fastest),
        rivals,
        slowest => answer.slowest.as_ref().map(|(slowest, times)| context! {
            label => slowest.group.label(&summary.axes),
            value => format!("{times:.2}×"),
        }),
        leanest => answer.leanest.as_ref().map(best),
        smoothest => answer.smoothest.as_ref().map(best),
    }
}

/// `1.32× (1.28–1.36)`.
fn ratio_text(ratio: &Ratio) -> String {
    match ratio.ci95 {
        Some(ci) => format!("{:.2}× ({:.2}–{:.2})", ratio.estimate, ci.low, ci.high),
        None => format!("{:.2}× (no interval)", ratio.estimate),
    }
}

fn work_view(summary: &Summary<'_>, work: &Work<'_>) -> Value {
    let (rows, all_panels) = panels(summary, work);
    let rows: Vec<Value> = rows
        .iter()
        .map(|panel| {
            let charts = panel
                .charts
                .iter()
                .map(|chart| Value::from_safe_string(chart.svg()));
            context! { heading => panel.heading.as_str(), charts => charts.collect::<Vec<_>>() }
        })
        .collect();
    let pause_rows = pause_rows(work);
    let (distributions, distributions_left_out) = distributions(summary, work, &pause_rows);
    context! {
        title => work.title.as_str(),
        panels => rows,
        panels_left_out => all_panels.saturating_sub(MOST_PANELS),
        distributions,
        distributions_left_out,
        pauses => pause_table(summary, &pause_rows),
    }
}

/// A chart of pauses for each value of the main axis, at the first values of the others; and how many settings are left out.
fn distributions(
    summary: &Summary<'_>,
    work: &Work<'_>,
    rows: &[pauses::PauseRow<'_>],
) -> (Vec<Value>, usize) {
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let (_, others) = split_axes(summary);
    let first = by_other_axes(work, &others)
        .into_iter()
        .next()
        .map_or(Vec::new(), |(_, groups)| groups);
    let settings: Vec<(String, Vec<&pauses::PauseRow<'_>>)> = by_other_axes(work, &axes)
        .into_iter()
        .map(|(heading, groups)| {
            let of_setting = rows
                .iter()
                .filter(|row| groups.iter().any(|group| std::ptr::eq(*group, row.group)));
            (heading, of_setting.collect::<Vec<_>>())
        })
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    let all = settings.len();
    let in_first =
        |row: &&pauses::PauseRow<'_>| first.iter().any(|group| std::ptr::eq(*group, row.group));
    let settings: Vec<_> = settings
        .into_iter()
        .filter(|(_, rows)| rows.iter().any(in_first))
        .collect();
    // Evenly over the sweep, its ends included.
    let shown = settings.len().min(MOST_PANELS);
    let chosen = (0..shown).map(|i| {
        if shown > 1 {
            i * (settings.len() - 1) / (shown - 1)
        } else {
            0
        }
    });
    let charts = chosen.map(|i| {
        let (heading, rows) = &settings[i];
        let title = if heading.is_empty() {
            "Pauses, ms".to_owned()
        } else {
            format!("Pauses, ms: {heading}")
        };
        Value::from_safe_string(pauses::distribution(&title, summary, rows).svg())
    });
    let charts: Vec<Value> = charts.collect();
    let left_out = all - charts.len();
    (charts, left_out)
}

fn pause_table(summary: &Summary<'_>, rows: &[pauses::PauseRow<'_>]) -> Value {
    let mut header = words(summary);
    header.push("pauses".to_owned());
    header.extend(pauses::PERCENTILES.iter().map(|p| {
        if *p == 50.0 {
            "median ms".to_owned()
        } else {
            format!("{p}% ms")
        }
    }));
    header.push("longest ms".to_owned());
    let body: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| {
            let mut cells = word_cells(summary, row.group);
            cells.push(Cell::number(row.count.to_string(), row.count as f64));
            cells.extend(
                row.percentiles
                    .iter()
                    .map(|p| p.map_or_else(Cell::missing, milliseconds)),
            );
            cells.push(
                row.longest
                    .map_or_else(Cell::missing, |s| Cell::spread(&metric::MAX_PAUSE, &s)),
            );
            cells
        })
        .collect();
    table(header, body, summary.axes.len() + 1)
}

fn milliseconds(nanoseconds: u64) -> Cell {
    let seconds = nanoseconds as f64 * 1e-9;
    Cell::number(Unit::Milliseconds.text(seconds), seconds)
}

/// The columns that say which configuration a row is about: the axes and the collector.
fn words(summary: &Summary<'_>) -> Vec<String> {
    let mut header: Vec<String> = summary.axes.iter().map(|axis| axis.flag.clone()).collect();
    header.push("collector".to_owned());
    header
}

fn word_cells(summary: &Summary<'_>, group: &Group<'_>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = summary
        .axes
        .iter()
        .map(|axis| Cell::word(group.flag(&axis.flag)))
        .collect();
    cells.push(Cell::word(&group.configuration.collector));
    cells
}

fn table(header: Vec<String>, rows: Vec<Vec<Cell>>, words: usize) -> Value {
    let rows: Vec<Vec<Value>> = rows
        .into_iter()
        .map(|row| row.into_iter().map(Value::from).collect())
        .collect();
    context! { header, rows, words }
}

fn configuration_table(summary: &Summary<'_>) -> Value {
    let has = |m: &&Metric| summary.groups().any(|group| group.spread(m).is_some());
    let columns: Vec<&Metric> = metric::TABLE.iter().filter(has).collect();
    let time = time_metric(summary);
    let mut header = vec!["workload".to_owned()];
    header.extend(words(summary));
    header.push("runs".to_owned());
    header.extend(columns.iter().map(|m| m.heading()));
    header.push(format!("mean {}, 95 %", time.heading()));
    let rows = summary.works.iter().flat_map(|work| {
        let columns = &columns;
        work.groups.iter().map(move |group| {
            let mut cells = vec![Cell::word(&work.title)];
            cells.extend(word_cells(summary, group));
            cells.push(Cell {
                failed: !group.failures().is_empty(),
                ..Cell::word(runs_text(group))
            });
            cells.extend(columns.iter().map(|m| {
                group
                    .spread(m)
                    .map_or_else(Cell::missing, |s| Cell::spread(m, &s))
            }));
            let interval = group.spread(time).and_then(|s| Some((s.mean, s.ci95?)));
            cells.push(interval.map_or_else(Cell::missing, |(mean, ci)| {
                let text = |value| time.unit.text(value);
                let more = format!("({}–{})", text(ci.low), text(ci.high));
                Cell {
                    more,
                    ..Cell::number(text(mean), mean)
                }
            }));
            cells
        })
    });
    let rows = rows.collect();
    table(header, rows, summary.axes.len() + 3)
}

fn run_words(summary: &Summary<'_>, run: &RunRecord) -> Vec<Cell> {
    let mut cells = vec![
        Cell::word(run.position.to_string()),
        Cell::word(run.round.to_string()),
    ];
    let configuration = run.configuration();
    cells.push(Cell::word(configuration.work()));
    let group = Group {
        configuration,
        runs: Vec::new(),
    };
    cells.extend(word_cells(summary, &group));
    cells
}

fn run_header(summary: &Summary<'_>) -> Vec<String> {
    let mut header: Vec<String> = ["order", "round", "workload"].map(str::to_owned).to_vec();
    header.extend(words(summary));
    header
}

fn raw_table(dir: &ResultsDir, summary: &Summary<'_>) -> Value {
    let columns: Vec<&Metric> = RAW
        .iter()
        .filter(|m| dir.runs().iter().any(|run| (m.of)(run).is_some()))
        .collect();
    let mut header = run_header(summary);
    header.extend(["outcome".to_owned(), "checksum".to_owned()]);
    header.extend(columns.iter().map(|m| m.heading()));
    let rows = dir.runs().iter().map(|run| {
        let mut cells = run_words(summary, run);
        cells.push(Cell {
            failed: !run.outcome.is_ok(),
            ..Cell::word(run.outcome.to_string())
        });
        cells.push(Cell::word(
            run.checksum.clone().unwrap_or_else(|| "–".to_owned()),
        ));
        cells.extend(columns.iter().map(|m| {
            let value = (m.of)(run).filter(|v| v.is_finite());
            value.map_or_else(Cell::missing, |value| {
                Cell::number(m.unit.text(value), value)
            })
        }));
        cells
    });
    table(header, rows.collect(), summary.axes.len() + 6)
}

fn failed_runs(dir: &ResultsDir, summary: &Summary<'_>) -> Vec<Value> {
    let failed = dir.runs().iter().filter(|run| !run.outcome.is_ok());
    failed
        .map(|run| {
            let group = Group { configuration: run.configuration(), runs: Vec::new() };
            context! {
                work => run.configuration().work(),
                label => group.label(&summary.axes),
                outcome => run.outcome.to_string(),
                round => run.round,
                after => run.wall_seconds.filter(|s| s.is_finite()).map(|s| metric::WALL.unit.text_with_unit(s)),
                stderr => run.stderr_tail.as_deref(),
                command => shell_line(&run.command),
            }
        })
        .collect()
}

fn plan_table(dir: &ResultsDir, summary: &Summary<'_>) -> Value {
    let mut header = run_header(summary);
    header.push("id".to_owned());
    let rows = dir.manifest().plan.iter().map(|planned| {
        let run = RunRecord::planned(planned, dir.manifest().seed);
        let mut cells = run_words(summary, &run);
        cells.push(Cell {
            sort: None,
            ..Cell::word(&planned.id)
        });
        cells
    });
    table(header, rows.collect(), summary.axes.len() + 5)
}
