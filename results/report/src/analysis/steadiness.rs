//! Did the machine hold still? Drift over the time of an experiment, and runs that stand apart.
//!
//! The figure is the time of a run over the geometric mean of its configuration. Runs of an open
//! loop have none: a schedule fixes their time. Nothing is left out of any statistic for what is
//! found here.

use crate::chart::{Chart, Point, Series, Subject, linear_ticks};
use crate::folder::MOST_LISTED;
use crate::format;
use crate::inference::{Drift, Trend, outliers};
use crate::metric::Metric;
use crate::run::Run;
use crate::summary::{Group, Summary};
use gclab_results::order::Arrange;

/// A change from the first run to the last that is worth a caution.
const WORTH_A_WORD: f64 = 0.01;

/// The most points with a mark. Of several runs that share one, it is the median; then each run is
/// a small dot, too.
const POINTS: usize = 120;

/// The most dots of single runs.
const DOTS: usize = MOST_LISTED;

/// The style of the dots of single runs: light blue.
const EVERY_RUN: usize = 5;

/// The style of the line at 0: grey.
const NO_CHANGE: usize = 6;

/// The runs of a folder against their order.
#[derive(Debug)]
pub(crate) struct Steadiness<'a> {
    /// The configurations, each with the geometric mean of its times, where it has two.
    groups: Vec<(&'a Group<'a>, Option<f64>)>,
    /// The drift, where there are enough runs.
    pub(crate) drift: Option<Drift>,
    /// The runs that stand apart.
    pub(crate) strange: Vec<Strange<'a>>,
    /// The number of runs that were looked at.
    pub(crate) looked_at: usize,
    /// The time that is looked at.
    pub(crate) time: &'static Metric,
}

/// The time of a run over the mean of its configuration: 16 bytes, as there may be millions.
#[derive(Debug, Clone, Copy)]
struct Residual {
    position: u32,
    /// The number of its configuration.
    configuration: u32,
    /// The difference from 1, in percent.
    percent: f64,
}

/// A run that stands apart from the others of its configuration.
#[derive(Debug)]
pub(crate) struct Strange<'a> {
    /// The run.
    pub(crate) run: &'a Run,
    /// The workload and its setting.
    pub(crate) label: String,
    /// Its time over the median of its configuration.
    pub(crate) ratio: f64,
}

/// The steadiness of the timed runs; `None` without a run that has a time.
pub(crate) fn steadiness<'a>(summary: &'a Summary<'a>) -> Option<Steadiness<'a>> {
    let time = summary.time_metric();
    let mut trend = Trend::default();
    let mut found = Steadiness {
        groups: Vec::new(),
        drift: None,
        strange: Vec::new(),
        looked_at: 0,
        time,
    };
    for group in summary.timed_works().flat_map(|work| &work.groups) {
        let label = label(summary, group);
        let runs = || group.ok().filter_map(|run| Some((run, time.of(run)?)));
        let mut apart = outliers(runs().map(|(_, value)| value).collect())
            .into_iter()
            .peekable();
        for (index, (run, _)) in runs().enumerate() {
            let label = || label.clone();
            let strange = apart.next_if(|(number, _)| *number == index);
            found.strange.extend(strange.map(|(_, ratio)| Strange {
                run,
                label: label(),
                ratio,
            }));
        }
        let mut placed: Vec<(f64, f64)> = Vec::with_capacity(group.runs.len());
        placed.extend(runs().map(|(run, value)| (f64::from(run.position), value)));
        found.looked_at += placed.len();
        found.groups.push((group, trend.add(&placed)));
    }
    found.drift = trend.drift();
    found.strange.arrange_by_key(|strange| strange.run.position);
    (found.looked_at > 0).then_some(found)
}

/// The workload and the setting of a configuration.
fn label(summary: &Summary<'_>, group: &Group<'_>) -> String {
    format!("{}, {}", group.configuration.work(), group.label(&summary.axes))
}

impl Steadiness<'_> {
    /// The drift in words, if it is more than noise and worth a word.
    pub(crate) fn caution(&self) -> Option<String> {
        let drift = self.drift.as_ref().filter(|drift| drift.is_certain())?;
        if (drift.change - 1.0).abs() < WORTH_A_WORD {
            return None;
        }
        let (verb, percent) = if drift.change > 1.0 {
            ("longer", drift.change - 1.0)
        } else {
            ("less", 1.0 - drift.change)
        };
        Some(format!(
            "The machine drifted: the last runs took {:.1} % {verb} than the first ones ({}). The shuffled order spreads \
             this over all configurations, so it favours none, but all intervals are wider.",
            percent * 100.0,
            self.words(drift)
        ))
    }

    /// The change with its interval, e.g. `1.03× (1.01–1.05)`.
    pub(crate) fn words(&self, drift: &Drift) -> String {
        format!("{:.3}× ({:.3}–{:.3})", drift.change, drift.ci95.low, drift.ci95.high)
    }

    /// The runs that have a residual, in the order of the plan.
    fn residuals(&self) -> Vec<Residual> {
        let counts = self.groups.iter().map(|(group, _)| group.ok().count());
        let mut residuals = Vec::with_capacity(counts.sum());
        for (configuration, (group, mean)) in (0..).zip(&self.groups) {
            let residual = |run: &Run| {
                Some(Residual {
                    position: run.position,
                    configuration,
                    percent: (self.time.of(run)? / (*mean)? - 1.0) * 100.0,
                })
            };
            residuals.extend(group.ok().filter_map(residual));
        }
        residuals.sort_unstable_by_key(|residual| residual.position);
        residuals
    }

    /// The residuals against the order of runs; `None` without a drift.
    pub(crate) fn chart(&self, summary: &Summary<'_>) -> Option<Chart> {
        self.drift.as_ref()?;
        let known = self.residuals();
        let point = |runs: &[Residual]| self.point(summary, runs);
        let bucket = known.len().div_ceil(POINTS).max(1);
        let points: Vec<Point> = known.chunks(bucket).map(point).collect();
        let step = known.len().div_ceil(DOTS).max(1);
        let every = known.chunks(1).step_by(step);
        let every = every.map(point).filter(|_| bucket > 1).collect();
        let (first, last) = (known.first()?.position, known.last()?.position);
        let line = [first, last].map(|position| Point {
            x: f64::from(position),
            y: Some((0.0, 0.0, 0.0)),
            ..Point::default()
        });
        let ticks = linear_ticks(f64::from(last), 5).into_iter();
        Some(Chart {
            title: format!(
                "{} time over the mean of its configuration, %",
                format::capital(self.time.title)
            ),
            x_label: "place in the order of runs".to_owned(),
            x_ticks: ticks
                .filter(|tick| *tick <= f64::from(last))
                .map(|tick| (tick, format::number(tick)))
                .collect(),
            y_mirrored: true,
            series: vec![
                Series {
                    style: NO_CHANGE,
                    points: line.to_vec(),
                    joined: true,
                    ..Series::default()
                },
                Series {
                    style: EVERY_RUN,
                    points: every,
                    cloud: true,
                    ..Series::default()
                },
                Series {
                    points,
                    joined: bucket > 1,
                    marks: true,
                    ..Series::default()
                },
            ],
            ..Chart::default()
        })
    }

    /// The point of some neighbouring runs.
    fn point(&self, summary: &Summary<'_>, runs: &[Residual]) -> Point {
        let mut values: Vec<f64> = runs.iter().map(|run| run.percent).collect();
        values.sort_by(f64::total_cmp);
        let median = values[values.len() / 2];
        let Residual {
            position,
            configuration,
            ..
        } = runs[0];
        let tip = match runs.len() {
            1 => {
                let (group, _) = self.groups[configuration as usize];
                format!("run {position}, {}: {median:+.1} %", label(summary, group))
            }
            n => format!("{n} runs from {position} on: {median:+.1} %"),
        };
        Point {
            x: f64::from(position),
            y: Some((median, median, median)),
            tip,
            subject: if runs.len() == 1 {
                Subject::Run(position)
            } else {
                Subject::None
            },
            ..Point::default()
        }
    }
}
