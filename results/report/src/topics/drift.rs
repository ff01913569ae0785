//! Did the machine hold still? Drift over the time of an experiment, and runs that stand apart.
//!
//! The figure is a run's time over the geometric mean of its configuration. Open-loop runs have
//! none, because a schedule fixes their time. No statistic excludes runs because of what is found
//! here.

use super::common::Context;
use crate::chart::{Chart, Point, Series, Subject, linear_ticks};
use crate::document::{Cell, Column, Part, Section, Table};
use crate::format::{self, counted};
use crate::metric::{self, Metric};
use crate::summary::Summary;
use gclab_results::RunRecord;
use gclab_results::inference::{Drift, RUNS_FOR_OUTLIERS, Trend, outliers};

/// A change from the first run to the last that is worth a caution.
const WORTH_A_WORD: f64 = 0.01;

/// Limit on the points of the chart. Runs that share one are shown by their median.
const POINTS: usize = 400;

/// Limit on the outliers that a page lists.
const LISTED: usize = 100;

/// The figures of a run that may explain why it is an outlier.
const CLUES: [Metric; 3] = [metric::LOAD, metric::INVOLUNTARY, metric::MAJOR_FAULTS];

/// The style of the line at 1: grey.
const NO_CHANGE: usize = 6;

/// The runs of a folder against their order.
struct Steadiness<'a> {
    drift: Option<Drift>,
    /// The outliers: each with its setting, and its time over the median.
    strange: Vec<(&'a RunRecord, String, f64)>,
    /// The runs in order, with their time over the mean of their configuration.
    residuals: Vec<(&'a RunRecord, String, f64)>,
}

/// The steadiness of the timed runs; `None` without a run that has a time.
fn steadiness<'a>(summary: &Summary<'a>) -> Option<Steadiness<'a>> {
    let time = summary.time_metric();
    let mut trend = Trend::default();
    let (mut strange, mut residuals) = (Vec::new(), Vec::new());
    for work in summary.timed_works() {
        for group in &work.groups {
            let label = format!("{}, {}", work.title, summary.label(group, &[]));
            let runs: Vec<(&RunRecord, f64)> = group.ok().filter_map(|run| Some((run, time.of(run)?))).collect();
            for (place, ratio) in outliers(runs.iter().map(|(_, value)| *value).collect()) {
                strange.push((runs[place].0, label.clone(), ratio));
            }
            let placed: Vec<(f64, f64)> = runs
                .iter()
                .map(|(run, value)| (f64::from(run.position), *value))
                .collect();
            if let Some(mean) = trend.add(&placed) {
                residuals.extend(runs.iter().map(|(run, value)| (*run, label.clone(), value / mean)));
            }
        }
    }
    strange.sort_by_key(|(run, ..)| run.position);
    residuals.sort_by_key(|(run, ..)| run.position);
    (!residuals.is_empty()).then(|| Steadiness {
        drift: trend.drift(),
        strange,
        residuals,
    })
}

/// `1.030× (1.010–1.050)`.
fn words(drift: &Drift) -> String {
    format!("{:.3}× ({:.3}–{:.3})", drift.change, drift.ci95.low, drift.ci95.high)
}

/// A caution, if the drift exceeds noise and is worth mentioning.
pub(super) fn caution(summary: &Summary<'_>) -> Option<String> {
    let drift = steadiness(summary)?.drift.filter(Drift::is_certain)?;
    let is_large = (drift.change - 1.0).abs() >= WORTH_A_WORD;
    is_large.then(|| {
        format!(
            "The machine drifted: the last runs took {} as long as the first ones. The shuffled order spreads this over all \
             configurations, so it favours none.",
            words(&drift)
        )
    })
}

/// The section, if there are enough runs for either question.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let found = steadiness(summary)?;
    if found.drift.is_none() && summary.most_runs() < RUNS_FOR_OUTLIERS {
        return None;
    }
    let mut parts = vec![Part::Paragraph(found.sentence())];
    if found.drift.is_some() {
        parts.push(Part::Charts(vec![found.chart(summary.time_metric())]));
    }
    if !found.strange.is_empty() {
        parts.push(Part::Table(found.table()));
        parts.push(Part::Note(
            "A run stands apart if its time is 5 % and six standard deviations away from the median of its configuration \
             (the deviation by the median absolute deviation). All statistics contain it."
                .to_owned(),
        ));
    }
    Some(Section {
        title: "Did the machine hold still?",
        parts,
        ..Section::default()
    })
}

impl Steadiness<'_> {
    fn sentence(&self) -> String {
        let drift = match &self.drift {
            Some(drift) => format!(
                "At the end a run took {} as long as at the beginning: {}.",
                words(drift),
                if drift.is_certain() {
                    "more than noise"
                } else {
                    "this may be noise"
                }
            ),
            None => "The runs are too few to show a drift.".to_owned(),
        };
        let all = counted(self.residuals.len(), "run");
        match self.strange.len() {
            0 => format!("{drift} None of {all} stands apart."),
            1 => format!("{drift} 1 of {all} stands apart from the others of its configuration."),
            n => format!("{drift} {n} of {all} stand apart from the others of their configurations."),
        }
    }

    /// The residuals against the order of runs.
    fn chart(&self, time: &Metric) -> Chart {
        let point = |runs: &[(&RunRecord, String, f64)]| {
            let mut values: Vec<f64> = runs.iter().map(|(.., ratio)| *ratio).collect();
            values.sort_by(f64::total_cmp);
            let (run, label, _) = &runs[0];
            let median = values[values.len() / 2];
            let (tip, subject) = match runs.len() {
                1 => (format!("{label}: {median:.3}×"), Subject::Run(run.position)),
                n => (format!("{n} runs from {}: {median:.3}×", run.position), Subject::None),
            };
            Point {
                tip,
                subject,
                ..Point::at(f64::from(run.position), median)
            }
        };
        let bucket = self.residuals.len().div_ceil(POINTS).max(1);
        let last = self.residuals.last().map_or(0, |(run, ..)| run.position);
        let first = self.residuals.first().map_or(0, |(run, ..)| run.position);
        let ticks = linear_ticks(f64::from(last), 5)
            .into_iter()
            .filter(|tick| *tick <= f64::from(last));
        Chart {
            title: format!(
                "{} time over the mean of its configuration",
                format::capital(time.title)
            ),
            x_label: "place in the order of runs".to_owned(),
            x_ticks: ticks.map(|tick| (tick, format::number(tick))).collect(),
            y_fit: true,
            wide: true,
            series: vec![
                Series {
                    style: NO_CHANGE,
                    points: [first, last].map(|at| Point::at(f64::from(at), 1.0)).to_vec(),
                    joined: true,
                    ..Series::default()
                },
                Series {
                    points: self.residuals.chunks(bucket).map(point).collect(),
                    marks: true,
                    ..Series::default()
                },
            ],
            ..Chart::default()
        }
    }

    fn table(&self) -> Table {
        let mut columns = ["order", "round", "configuration"].map(Column::words).to_vec();
        columns.push(Column::figures("time over the median"));
        columns.extend(CLUES.iter().map(Column::metric));
        let row = |(run, label, ratio): &(&RunRecord, String, f64)| {
            let mut cells = vec![
                Cell::word(run.position.to_string()),
                Cell::word(run.round.to_string()),
                Cell::text(label),
                Cell::number(format!("{ratio:.2}×"), *ratio),
            ];
            cells.extend(CLUES.iter().map(|metric| Cell::figure(metric, metric.of(run))));
            cells
        };
        Table {
            rows: self.strange.iter().take(LISTED).map(row).collect(),
            columns,
            ..Table::default()
        }
    }
}
