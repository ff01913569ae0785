//! Two collectors, programs or builds of one experiment: settings that they do not share, and means
//! over the workloads.

use super::comparable::{compared, is_mixed, ok_runs, values};
use crate::inference::{Ratio, Sample, geometric_mean_of_ratios};
use crate::metric::Metric;
use crate::summary::{Group, Summary};
use gclab_results::Configuration;
use std::collections::{BTreeMap, BTreeSet};

/// The runs of a folder that are compared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side<'s> {
    /// Those of this collector.
    Collector(&'s str),
    /// Those of this build.
    Build(&'s str),
}

/// A group with the configuration by which it finds its partner.
pub(super) type Candidate<'s, 'a> = (Configuration, &'s Group<'a>);

/// The groups that are compared. Of one `side` only, if there is one; then its collector or build
/// is no part of the configuration.
pub(super) fn candidates<'s, 'a>(summary: &'s Summary<'a>, side: Option<Side<'_>>) -> Vec<Candidate<'s, 'a>> {
    let candidate = |group: &'s Group<'a>| {
        let mut key = group.configuration.clone();
        let is_of_side = match side {
            Some(Side::Collector(collector)) => {
                // A program that does the work of a workload is a rival of collectors.
                key.program = None;
                std::mem::take(&mut key.collector) == collector
            }
            Some(Side::Build(build)) => key.settings.remove("build")? == build,
            None => true,
        };
        is_of_side.then_some((key, group))
    };
    summary.groups().filter_map(candidate).collect()
}

/// At more settings than this no means are made: each takes thousands of resamples.
const MOST_SETTINGS: usize = 64;

/// The geometric mean of the ratios of a figure, over all workloads with one setting.
#[derive(Debug)]
pub(crate) struct Mean {
    /// The setting: a configuration without a workload.
    pub(crate) setting: Configuration,
    /// The figure.
    pub(crate) metric: Metric,
    /// The mean.
    pub(crate) ratio: Ratio,
    /// The number of workloads. Both sides have the figure on each of them.
    pub(crate) workloads: usize,
    /// The greatest ratio, and its workload.
    pub(crate) worst: (f64, String),
}

/// Whether no configuration of one side has a partner on the other.
pub(super) fn have_no_setting_in_common(these: &[Candidate<'_, '_>], others: &[Candidate<'_, '_>]) -> bool {
    let others: BTreeSet<&Configuration> = others.iter().map(|(key, _)| key).collect();
    these.iter().all(|(key, _)| !others.contains(key))
}

/// Leaves out of each configuration the flags that have one value in all configurations of its
/// work. They are the same wherever that work is compared: an OCaml program has no `-A`.
pub(super) fn without_fixed_flags(side: &mut [Candidate<'_, '_>]) {
    let mut swept: BTreeMap<(String, String), BTreeSet<Option<String>>> = BTreeMap::new();
    let names: BTreeSet<String> = side.iter().flat_map(|(key, _)| key.flags.keys().cloned()).collect();
    for (key, _) in side.iter() {
        for name in &names {
            let values = swept.entry((key.work(), name.clone())).or_default();
            values.insert(key.flags.get(name).cloned());
        }
    }
    for (key, _) in side {
        let work = key.work();
        key.flags
            .retain(|name, _| swept[&(work.clone(), name.clone())].len() > 1);
    }
}

/// A workload with the groups of both sides.
type Pair<'p, 'a> = (String, &'p Group<'a>, &'p Group<'a>);

/// The means of each setting that several workloads have.
///
/// # Errors
/// The reason why there are none, if the settings are too many.
pub(super) fn means<'p, 'a: 'p>(
    pairs: impl Iterator<Item = (&'p Configuration, &'p Group<'a>, &'p Group<'a>)>,
) -> Result<Vec<Mean>, String> {
    let mut by_setting: BTreeMap<Configuration, Vec<Pair<'_, '_>>> = BTreeMap::new();
    for (key, base, new) in pairs {
        let setting = Configuration {
            collector: new.configuration.collector.clone(),
            flags: key.flags.clone(),
            settings: key.settings.clone(),
            ..Configuration::default()
        };
        by_setting.entry(setting).or_default().push((key.work(), base, new));
    }
    by_setting.retain(|_, pairs| pairs.len() > 1);
    if by_setting.len() > MOST_SETTINGS {
        return Err(format!(
            "the {} settings have no means over the workloads, since only up to {MOST_SETTINGS} would: narrow the experiment",
            by_setting.len()
        ));
    }
    let means = by_setting
        .iter()
        .flat_map(|(setting, pairs)| of_setting(setting, pairs));
    Ok(means.collect())
}

fn of_setting(setting: &Configuration, pairs: &[Pair<'_, '_>]) -> Vec<Mean> {
    let groups: Vec<&Group<'_>> = pairs.iter().flat_map(|(_, base, new)| [*base, *new]).collect();
    let mean = |metric: &Metric| {
        // The common set: a workload on which one of the two has no good run with the figure is in
        // no mean.
        let of_pair = |(work, base, new): &Pair<'_, '_>| {
            let whole_runs = is_mixed(&[base, new]);
            let sample = |group| Sample::of(values(metric, &ok_runs(group, whole_runs)).into_iter().map(|(_, v)| v));
            Some((work.clone(), sample(base)?, sample(new)?))
        };
        let samples: Vec<(String, Sample, Sample)> = pairs.iter().filter_map(of_pair).collect();
        let both: Vec<(&Sample, &Sample)> = samples.iter().map(|(_, base, new)| (base, new)).collect();
        let ratio = geometric_mean_of_ratios(&both).filter(|_| both.len() > 1)?;
        let ratios = samples
            .iter()
            .map(|(work, base, new)| (new.spread.mean / base.spread.mean, work.clone()));
        Some(Mean {
            setting: setting.clone(),
            metric: *metric,
            ratio,
            workloads: both.len(),
            worst: ratios.max_by(|(one, _), (other, _)| one.total_cmp(other))?,
        })
    };
    compared(&groups).filter_map(mean).collect()
}
