//! One figure over all workloads: the time of each setting over that of the best setting, as a
//! geometric mean with its interval.
//!
//! The base is the best of many, so it looks a little better than it is. All settings are compared
//! over the same workloads. A setting that fails on one of them has no figure, as a mean over the
//! other workloads would flatter it, and is shown as failing. A workload that no setting completes
//! is left out and named: it would take the figure from all of them.

use super::settings::{Setting, completes, least, settings};
use crate::analysis::places::Places;
use crate::analysis::subject::runs_of;
use crate::chart::{Chart, Forest, ForestRow, Point, Series};
use crate::format::{self, capital, counted, list};
use crate::inference::Ratio;
use crate::metric::Metric;
use crate::power;
use crate::summary::{Summary, WorkloadRuns};
use gclab_results::order::Arrange;

/// The most settings in a chart without a horizontal axis of numbers; the best ones are drawn.
const MOST_ROWS: usize = 16;

/// The figures of all settings over all workloads.
#[derive(Debug)]
pub(crate) struct Overall<'a> {
    /// The number of workloads.
    works: usize,
    /// The titles of the workloads that no setting completes.
    left_out: Vec<String>,
    /// The time that settings are compared by.
    time: &'static Metric,
    /// All settings.
    settings: Vec<Setting<'a>>,
    /// The index of the best setting, which is the base.
    base: usize,
}

/// The figures over the workloads whose time depends on the collector; `None` with fewer than two
/// workloads or settings, and if no setting completes all of them.
pub(crate) fn overall<'a>(summary: &'a Summary<'a>) -> Option<Overall<'a>> {
    let time = summary.time_metric();
    let is_completed = |work: &&WorkloadRuns<'_>| work.groups.iter().any(|group| completes(group, time));
    let (works, left_out): (Vec<&WorkloadRuns<'_>>, Vec<_>) = summary.timed_works().partition(is_completed);
    let settings = settings(summary, &works);
    if works.len() < 2 || settings.len() < 2 {
        return None;
    }
    let best = least(&settings, time)?;
    let base = settings.iter().position(|setting| std::ptr::eq(setting, best))?;
    Some(Overall {
        works: works.len(),
        left_out: left_out.iter().map(|work| work.title.clone()).collect(),
        time,
        settings,
        base,
    })
}

impl<'a> Overall<'a> {
    fn base(&self) -> &Setting<'a> {
        &self.settings[self.base]
    }

    fn ratio(&self, setting: &Setting<'_>) -> Option<Ratio> {
        setting.over(self.base(), self.time)
    }

    fn workloads(&self) -> String {
        match self.works {
            works if !self.left_out.is_empty() => {
                format!("the {works} workloads that any setting completes")
            }
            2 => "both workloads".to_owned(),
            works => format!("all {works} workloads"),
        }
    }

    /// The best collector, and by how much it is better than each other one at its best setting.
    /// Empty with one collector.
    pub(crate) fn sentences(&self, summary: &Summary<'_>) -> Vec<String> {
        let [_, _, ..] = summary.collectors[..] else {
            return Vec::new();
        };
        let of = |collector: &&&str| {
            let mine = self
                .settings
                .iter()
                .filter(|setting| setting.collector() == **collector);
            least(mine, self.time)
        };
        let mut bests: Vec<(&Setting<'_>, Ratio)> = summary
            .collectors
            .iter()
            .filter(|collector| **collector != self.base().collector())
            .filter_map(|collector| of(&collector))
            .filter_map(|setting| Some((setting, self.ratio(setting)?)))
            .collect();
        bests.arrange_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
        let mut sentences = vec![format!(
            "Over {} {} has the least {} time (geometric mean).",
            self.workloads(),
            self.base().label,
            self.time.title
        )];
        sentences.extend(bests.iter().map(|(setting, ratio)| self.against(setting, ratio)));
        let fail: Vec<&str> = summary
            .collectors
            .iter()
            .filter(|collector| of(collector).is_none())
            .copied()
            .collect();
        if !fail.is_empty() {
            let (plural, verb) = if fail.len() > 1 {
                ("have", "settings")
            } else {
                ("has", "setting")
            };
            sentences.push(format!(
                "{} {plural} no {verb} that completes {}.",
                list(&fail),
                self.workloads()
            ));
        }
        if !self.left_out.is_empty() {
            let names: Vec<&str> = self.left_out.iter().map(String::as_str).collect();
            sentences.push(format!("No setting completes {}.", list(&names)));
        }
        vec![sentences.join(" ")]
    }

    fn against(&self, setting: &Setting<'_>, ratio: &Ratio) -> String {
        let said = format!("{} takes {} as long", setting.label, format::ratio(ratio));
        if ratio.differs() == Some(true) {
            return format!("{said}.");
        }
        let variance = setting.variance_over(self.base(), self.time);
        format!("{said}: {}.", power::verdict(variance, Some(ratio)))
    }

    fn title(&self) -> String {
        format!(
            "{} time over {}, relative to {}",
            capital(self.time.title),
            self.workloads(),
            self.base().label
        )
    }

    /// The chart against the swept numbers, if there is one axis and it has numbers; otherwise
    /// `None`.
    pub(crate) fn curve(&self, summary: &Summary<'_>) -> Option<Chart> {
        let [axis] = &summary.axes[..] else { return None };
        let places = Places::new(summary, Some(axis));
        if !places.joined {
            return None;
        }
        let series = summary.collectors.iter().enumerate().map(|(style, collector)| Series {
            style,
            points: self
                .settings
                .iter()
                .filter(|setting| setting.collector() == *collector)
                .map(|setting| self.point(setting, places.of(setting.group())))
                .collect(),
            marks: true,
            joined: true,
            band: true,
            ..Series::default()
        });
        let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
        Some(Chart {
            title: self.title(),
            x_label: places.label.clone(),
            x_log: places.log,
            x_ticks: places.ticks,
            series,
            ..Chart::default()
        })
    }

    fn point(&self, setting: &Setting<'_>, x: f64) -> Point {
        let Some(ratio) = self.ratio(setting) else {
            return Point {
                x,
                tip: format!("{}: does not complete {}", setting.label, self.workloads()),
                subject: runs_of(setting.groups()),
                ..Point::default()
            };
        };
        Point {
            tip: format!("{}: {}", setting.label, format::ratio(&ratio)),
            subject: runs_of(setting.groups()),
            ..Point::estimate(x, ratio.estimate, ratio.ends())
        }
    }

    /// The chart with a row for each setting, the best first.
    pub(crate) fn forest(&self, summary: &Summary<'_>) -> Forest {
        let mut rows: Vec<(&Setting<'_>, Option<Ratio>)> = self
            .settings
            .iter()
            .map(|setting| (setting, self.ratio(setting)))
            .collect();
        // Those that fail come last, those that fail least first.
        let place = |(setting, ratio): &(&Setting<'_>, Option<Ratio>)| match ratio {
            Some(ratio) => (0, ratio.estimate),
            None => (setting.failures(self.time), 0.0),
        };
        rows.arrange_by(|a, b| place(a).partial_cmp(&place(b)).expect("ratios are numbers"));
        let left_out = rows.len().saturating_sub(MOST_ROWS);
        let more = if left_out > 0 {
            format!(" ({} more are in the tables)", counted(left_out, "setting"))
        } else {
            String::new()
        };
        Forest {
            title: format!("{}{more}", self.title()),
            rows: rows
                .iter()
                .take(MOST_ROWS)
                .map(|(setting, ratio)| ForestRow {
                    style: summary.style_of(setting.collector()),
                    label: setting.label.clone(),
                    value: ratio.map(|ratio| (ratio.estimate, ratio.ends())),
                    text: match ratio {
                        Some(ratio) => format::ratio(ratio),
                        None => format!("fails on {} of {}", setting.failures(self.time), self.works),
                    },
                })
                .collect(),
        }
    }
}
