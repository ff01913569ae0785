//! Settings: a collector with a value for each swept flag, over several workloads.

use crate::inference::{Ratio, Sample, geometric_mean_of_ratios, log_variance};
use crate::metric::Metric;
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
        self.groups().next().expect("a setting ran somewhere")
    }

    /// All of its configurations.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &'a Group<'a>> {
        self.groups.iter().flatten().copied()
    }

    /// Its collector.
    pub(crate) fn collector(&self) -> &'a str {
        &self.group().configuration.collector
    }

    /// The number of workloads on which it has no figure, or a failed run.
    pub(crate) fn failures(&self, metric: &Metric) -> usize {
        let completes = |group: &&Group<'_>| completes(group, metric);
        self.groups.len() - self.groups.iter().flatten().copied().filter(completes).count()
    }

    /// The figure on each workload; `None` if one is missing or has a failed run.
    fn samples(&self, metric: &Metric) -> Option<Vec<Sample>> {
        let sample = |group: &Option<&Group<'_>>| group.filter(|group| completes(group, metric))?.sample(metric);
        self.groups.iter().map(sample).collect()
    }

    /// The mean of the logarithms of the figure on each workload.
    fn mean_log(&self, metric: &Metric) -> Option<f64> {
        let logs = self.samples(metric)?.into_iter().map(|sample| sample.spread.mean.ln());
        Some(logs.sum::<f64>() / self.groups.len() as f64).filter(|mean| mean.is_finite())
    }

    /// Its figure over that of `base`: the geometric mean over the workloads.
    pub(crate) fn over(&self, base: &Setting<'_>, metric: &Metric) -> Option<Ratio> {
        let (base, new) = (base.samples(metric)?, self.samples(metric)?);
        geometric_mean_of_ratios(&base.iter().zip(&new).collect::<Vec<_>>())
    }

    /// The variance of the logarithm of [`Setting::over`] for one run of each configuration.
    pub(crate) fn variance_over(&self, base: &Setting<'_>, metric: &Metric) -> Option<f64> {
        let all = [base.samples(metric)?, self.samples(metric)?].concat();
        let sum: f64 = all
            .iter()
            .map(|sample| log_variance(&sample.spread))
            .sum::<Option<f64>>()?;
        Some(sum / (self.groups.len() as f64).powi(2))
    }
}

/// Whether all runs of a configuration ended well, and have the figure.
pub(crate) fn completes(group: &Group<'_>, metric: &Metric) -> bool {
    group.failures().is_empty() && group.spread(metric).is_some()
}

/// The setting with the least figure by geometric mean, among those that are complete.
pub(crate) fn least<'s, 'a>(
    settings: impl IntoIterator<Item = &'s Setting<'a>>,
    metric: &Metric,
) -> Option<&'s Setting<'a>>
where
    'a: 's,
{
    // Times of zero have no geometric mean.
    let complete = settings
        .into_iter()
        .filter_map(|setting| Some((setting, setting.mean_log(metric)?)));
    let best = complete.reduce(|best, other| if other.1 < best.1 { other } else { best });
    best.map(|(setting, _)| setting)
}
