//! Settings: a collector with a value for each swept flag, over several workloads.

use crate::maths::{Ratio, Spread, geometric_mean_of_ratios};
use crate::metric::Metric;
use crate::power::log_variance;
use crate::summary::{Group, Summary, WorkloadRuns};

/// A setting and its configurations on all workloads.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    /// The collector and the values of the swept flags, e.g. `copying A=1m`.
    pub(crate) label: String,
    /// The configuration on each workload, in their order; absent where it did not run.
    groups: Vec<Option<&'a Group<'a>>>,
}

/// The settings of these workloads, in the order of the summary.
pub(crate) fn settings<'a>(summary: &Summary<'a>, works: &[&'a WorkloadRuns<'a>]) -> Vec<Setting<'a>> {
    let mut all: Vec<Setting<'a>> = Vec::new();
    for (place, work) in works.iter().enumerate() {
        for group in &work.groups {
            let label = group.label(&summary.axes);
            let at = all
                .iter()
                .position(|setting| setting.label == label)
                .unwrap_or_else(|| {
                    all.push(Setting {
                        label,
                        groups: vec![None; works.len()],
                    });
                    all.len() - 1
                });
            all[at].groups[place] = Some(group);
        }
    }
    all
}

impl<'a> Setting<'a> {
    /// One of its configurations; they differ in the workload alone.
    pub(crate) fn group(&self) -> &'a Group<'a> {
        self.groups.iter().flatten().next().expect("a setting ran somewhere")
    }

    /// Its collector.
    pub(crate) fn collector(&self) -> &'a str {
        &self.group().configuration.collector
    }

    /// Whether all its runs on all workloads ended well and have the figure.
    pub(crate) fn is_complete(&self, metric: &Metric) -> bool {
        self.spreads(metric).is_some()
    }

    /// The figure on each workload; `None` if one is missing or has a failed run.
    fn spreads(&self, metric: &Metric) -> Option<Vec<Spread>> {
        let spread = |group: &Option<&Group<'_>>| group.filter(|group| group.failures().is_empty())?.spread(metric);
        self.groups.iter().map(spread).collect()
    }

    /// Its figure over that of `base`: the geometric mean over the workloads.
    pub(crate) fn over(&self, base: &Setting<'_>, metric: &Metric) -> Option<Ratio> {
        let pairs: Vec<(Spread, Spread)> = base.spreads(metric)?.into_iter().zip(self.spreads(metric)?).collect();
        geometric_mean_of_ratios(&pairs)
    }

    /// The variance of the logarithm of [`Setting::over`] for one run of each configuration.
    pub(crate) fn variance_over(&self, base: &Setting<'_>, metric: &Metric) -> Option<f64> {
        let all: Vec<Spread> = [base.spreads(metric)?, self.spreads(metric)?].concat();
        let sum: f64 = all.iter().map(log_variance).sum::<Option<f64>>()?;
        Some(sum / (self.groups.len() as f64).powi(2))
    }
}

/// The setting with the least figure by geometric mean, among those that are complete.
pub(crate) fn least<'s, 'a>(
    settings: impl IntoIterator<Item = &'s Setting<'a>>,
    metric: &Metric,
) -> Option<&'s Setting<'a>>
where
    'a: 's,
{
    let mut complete = settings.into_iter().filter(|setting| setting.is_complete(metric));
    let first = complete.next()?;
    let time = |setting: &Setting<'_>| {
        setting
            .over(first, metric)
            .map_or(f64::INFINITY, |ratio| ratio.estimate)
    };
    let mut best = (first, 1.0);
    for setting in complete {
        let ratio = time(setting);
        if ratio < best.1 {
            best = (setting, ratio);
        }
    }
    // Times of zero have no ratio.
    first.over(first, metric).map(|_| best.0)
}
