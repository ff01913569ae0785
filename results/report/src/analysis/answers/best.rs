//! The best configuration of each workload, and by how much it is better.
//!
//! The fastest configuration has the least mean time, and each other collector at *its* best
//! setting has the ratio of its mean time to that: values and ratios are of one kind. Whether a
//! difference means anything follows from the interval of the ratio. Choosing the best of many
//! settings flatters the winner a little; with few runs and many settings the interval is too
//! narrow rather than too wide, which the report says. The leads on several workloads are judged
//! together ([`crate::inference::findings`]), as one in twenty intervals misses by design. A
//! configuration with a failed run cannot be best.

use crate::format::{self, counted, list, mean_and_interval};
use crate::inference::{Ratio, Spread, findings, log_variance, ratio_of_means};
use crate::metric::{self, Metric};
use crate::power;
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_results::order::Arrange;
use std::collections::BTreeMap;

/// The best configurations of one workload.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    /// The workload that is answered for.
    pub(crate) work: &'a WorkloadRuns<'a>,
    /// The configuration with the least mean time; absent in an open loop, where the schedule fixes
    /// the time.
    pub(crate) fastest: Option<Best<'a>>,
    /// The other collectors, each at its best setting, in order of time.
    pub(crate) alternatives: Vec<Alternative<'a>>,
    /// The slowest configuration, if it is another one than these.
    pub(crate) slowest: Option<Alternative<'a>>,
    /// The configurations with the least median of peak memory: the heap's own, or the resident set
    /// where no run has it. Several if their figures read the same.
    pub(crate) least_memory: Vec<Best<'a>>,
    /// The configurations with the least median of the longest pause.
    pub(crate) smallest_pause: Vec<Best<'a>>,
}

/// A configuration that is best by one figure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best<'a> {
    /// The configuration's runs.
    pub(crate) group: &'a Group<'a>,
    /// The figure by which it is best.
    pub(crate) metric: &'static Metric,
    /// The figure over its runs.
    pub(crate) spread: Spread,
}

/// A configuration that is compared with the fastest one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alternative<'a> {
    /// The configuration.
    pub(crate) best: Best<'a>,
    /// Its mean time over that of the fastest.
    pub(crate) ratio: Option<Ratio>,
    /// The sum of the variances of both logarithms.
    variance: Option<f64>,
}

impl Alternative<'_> {
    fn of<'a>(fastest: &Best<'_>, best: Best<'a>) -> Alternative<'a> {
        let variances = log_variance(&fastest.spread).zip(log_variance(&best.spread));
        Alternative {
            best,
            ratio: ratio_of_means(&fastest.spread, &best.spread),
            variance: variances.map(|(a, b)| a + b),
        }
    }

    /// Whether it differs from the fastest by more than noise; `None` with too few runs to say.
    pub(crate) fn differs(&self) -> Option<bool> {
        self.ratio?.differs()
    }

    /// The ratio and the verdict on it if it may be noise, e.g. `1.32× (1.28–1.36)` or
    /// `1.03× (0.95–1.12): cannot tell; ...`.
    pub(crate) fn text(&self) -> String {
        let ratio = format::ratio_or_absent(self.ratio.as_ref());
        match self.differs() {
            Some(true) => ratio,
            _ => format!("{ratio}: {}", self.verdict()),
        }
    }

    fn verdict(&self) -> String {
        power::verdict(self.variance, self.ratio.as_ref())
    }
}

/// The answers for all workloads that have a configuration without failures.
pub(crate) fn answers<'a>(summary: &'a Summary<'a>) -> Vec<Answer<'a>> {
    let works = summary.works.iter();
    works.filter_map(|work| answer(work, summary.time_metric())).collect()
}

fn answer<'a>(work: &'a WorkloadRuns<'a>, time: &'static Metric) -> Option<Answer<'a>> {
    let mut all = measured(work, time);
    if all.is_empty() {
        return None;
    }
    if work.is_open_loop() {
        all.clear();
    }
    all.arrange_by(|a, b| a.spread.mean.total_cmp(&b.spread.mean));
    let fastest = all.first().copied();
    let collector = |best: &Best<'a>| &best.group.configuration.collector;
    let mut bests: Vec<Best<'a>> = Vec::new();
    for &best in &all {
        if bests.iter().all(|other| collector(other) != collector(&best)) {
            bests.push(best);
        }
    }
    let against = |best: &Best<'a>| Some(Alternative::of(&fastest?, *best));
    let is_new = |last: &&Best<'a>| bests.iter().all(|best| !std::ptr::eq(best.group, last.group));
    let memory = measured(work, &metric::PEAK_IN_USE);
    let memory = if memory.is_empty() {
        measured(work, &metric::MAX_RSS)
    } else {
        memory
    };
    Some(Answer {
        work,
        fastest,
        alternatives: bests.iter().skip(1).filter_map(against).collect(),
        slowest: all.last().filter(is_new).and_then(against),
        least_memory: least(memory),
        smallest_pause: least(measured(work, &metric::MAX_PAUSE)),
    })
}

fn measured<'a>(work: &'a WorkloadRuns<'a>, metric: &'static Metric) -> Vec<Best<'a>> {
    let groups = work.groups.iter().filter(|group| group.failures().is_empty());
    groups
        .filter_map(|group| {
            Some(Best {
                group,
                metric,
                spread: group.spread(metric)?,
            })
        })
        .collect()
}

/// The configurations whose median reads the same as the least one.
fn least(all: Vec<Best<'_>>) -> Vec<Best<'_>> {
    let text = |best: &Best<'_>| best.metric.unit.text(best.spread.median);
    let least = all.iter().min_by(|a, b| a.spread.median.total_cmp(&b.spread.median));
    let least = least.map(text);
    all.into_iter().filter(|best| Some(text(best)) == least).collect()
}

/// The answer over all workloads, in a sentence or two; empty if one setting ran whose only figure
/// is its own.
pub(crate) fn headline(summary: &Summary<'_>, answers: &[Answer<'_>]) -> Vec<String> {
    if answers.is_empty() {
        return vec!["No configuration has a run that ended well, so there is no answer yet.".to_owned()];
    }
    let timed: Vec<(&Answer<'_>, &Best<'_>)> = answers
        .iter()
        .filter_map(|answer| Some((answer, answer.fastest.as_ref()?)))
        .collect();
    let contested: Vec<(&Answer<'_>, &Alternative<'_>)> = timed
        .iter()
        .filter_map(|(answer, _)| Some((*answer, answer.alternatives.first()?)))
        .collect();
    let mut sentences = match &contested[..] {
        [] => alone(summary, &timed).into_iter().collect(),
        [(answer, next)] if timed.len() == 1 => vec![duel(summary, answer, next)],
        _ => {
            let leads: Vec<Option<Ratio>> = contested.iter().map(|(_, next)| next.ratio).collect();
            let certain = certain_leads(&leads);
            let mut sentences = wins(&timed, &certain);
            sentences.extend(uncertain(&contested, &certain));
            vec![sentences.join(" ")]
        }
    };
    sentences.extend(without_an_answer(summary, answers));
    sentences
}

/// The most workloads whose figures are in the sentence for one collector.
const FIGURES: usize = 4;

/// The sentence where no two collectors ran the same workload.
fn alone(summary: &Summary<'_>, timed: &[(&Answer<'_>, &Best<'_>)]) -> Option<String> {
    let (_, first) = timed.first()?;
    let workloads = counted(timed.len(), "workload");
    let is_program = first.group.configuration.program.is_some();
    let ran = match &summary.collectors[..] {
        [_] if is_program => format!("{} ran", counted(timed.len(), "program")),
        [name] => format!("One collector ran ({name}), on {workloads}"),
        _ => format!("No two collectors ran the same one of {workloads}"),
    };
    if summary.axes.is_empty() {
        let figures = timed.iter().take(FIGURES).map(|(answer, best)| {
            let few = match best.spread.ci95 {
                Some(_) => "",
                None => " (too few runs for an interval)",
            };
            let mean = mean_and_interval(best.metric, &best.spread);
            format!("{} takes {mean}{few}", answer.work.title)
        });
        let figures: Vec<String> = figures.collect();
        let more = match timed.len().saturating_sub(FIGURES) {
            0 => String::new(),
            more => format!("; {more} more are in the tables"),
        };
        return Some(format!(
            "{ran}, with one setting: nothing is compared. On average {}{more}.",
            figures.join("; ")
        ));
    }
    let settings = timed.iter().map(|(answer, best)| {
        let setting = summary.setting(best.group, &[]);
        let setting = if setting.is_empty() { "the default" } else { &setting };
        let slowest = answer.slowest.as_ref().map(|slowest| {
            format!(
                " ({} takes {})",
                summary.setting(slowest.best.group, &[]),
                slowest.text()
            )
        });
        format!("{setting} on {}{}", answer.work.title, slowest.unwrap_or_default())
    });
    let settings: Vec<String> = settings.collect();
    Some(format!("{ran}. The fastest setting: {}.", settings.join(", ")))
}

/// The workloads of which no configuration ended well, in a sentence.
fn without_an_answer(summary: &Summary<'_>, answers: &[Answer<'_>]) -> Option<String> {
    let is_answered = |work: &WorkloadRuns<'_>| answers.iter().any(|answer| std::ptr::eq(answer.work, work));
    let failed: Vec<String> = summary
        .works
        .iter()
        .filter(|work| !is_answered(work) && work.groups.iter().any(|group| !group.failures().is_empty()))
        .map(|work| {
            let reasons: BTreeMap<_, _> = work.groups.iter().flat_map(|group| group.failures()).collect();
            let reasons: Vec<&str> = reasons.into_keys().collect();
            format!("{} ({})", work.title, reasons.join(", "))
        })
        .collect();
    let names: Vec<&str> = failed.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("No configuration completes {}.", list(&names)))
}

/// The sentence for one workload.
fn duel(summary: &Summary<'_>, answer: &Answer<'_>, next: &Alternative<'_>) -> String {
    let label = |best: &Best<'_>| best.group.label(&summary.axes);
    let fastest = answer.fastest.as_ref().map_or_else(String::new, label);
    format!(
        "{fastest} is the fastest on {}; {} takes {}.",
        answer.work.title,
        label(&next.best),
        next.text()
    )
}

/// Says of each lead whether it is more than noise among all of them: its own interval excludes 1,
/// and it remains when all are judged together. A lead without an interval is never certain.
fn certain_leads(leads: &[Option<Ratio>]) -> Vec<bool> {
    let chance = |lead: &Option<Ratio>| lead.and_then(|ratio| ratio.chance).unwrap_or(1.0);
    let remain = findings(&leads.iter().map(chance).collect::<Vec<_>>()).into_iter();
    let differs = |lead: &Option<Ratio>| lead.and_then(|ratio| ratio.differs()) == Some(true);
    remain
        .zip(leads)
        .map(|(remains, lead)| remains && differs(lead))
        .collect()
}

fn wins(timed: &[(&Answer<'_>, &Best<'_>)], certain: &[bool]) -> Vec<String> {
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, fastest) in timed {
        *wins.entry(&fastest.group.configuration.collector).or_default() += 1;
    }
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    wins.arrange_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let wins: Vec<String> = wins.iter().map(|(name, n)| format!("{name} on {n}")).collect();
    let sure = certain.iter().filter(|certain| **certain).count();
    vec![
        format!(
            "Fastest of {}, each collector at its best setting: {}.",
            counted(timed.len(), "workload"),
            wins.join(", ")
        ),
        format!(
            "The lead over the next collector is more than noise on {sure} of {}.",
            certain.len()
        ),
    ]
}

/// The workloads whose fastest collector is not certain, each with the verdict.
fn uncertain(contested: &[(&Answer<'_>, &Alternative<'_>)], certain: &[bool]) -> Option<String> {
    let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
    let doubtful = contested.iter().zip(certain).filter(|(_, certain)| !**certain);
    for ((answer, next), _) in doubtful {
        let verdict = match next.differs() {
            // It passes by itself.
            Some(true) => format!("may be chance among {} leads", contested.len()),
            _ => next.verdict(),
        };
        match parts.iter_mut().find(|(known, _)| *known == verdict) {
            Some((_, works)) => works.push(&answer.work.title),
            None => parts.push((verdict, vec![&answer.work.title])),
        }
    }
    let parts: Vec<String> = parts
        .iter()
        .map(|(verdict, works)| format!("On {}: {verdict}.", list(works)))
        .collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Interval;

    fn lead(ends: Option<(f64, f64)>, chance: Option<f64>) -> Option<Ratio> {
        Some(Ratio {
            estimate: 1.1,
            ci95: ends.map(|(low, high)| Interval { low, high }),
            runs: 5,
            chance,
        })
    }

    /// Fieller's interval and the chance come from different approximations, so one of them may
    /// say that a lead is certain while the other does not.
    #[test]
    fn a_lead_is_certain_if_its_interval_excludes_one_and_it_remains_among_all() {
        let leads = [
            lead(Some((1.05, 1.2)), Some(1e-4)),
            lead(Some((0.98, 1.2)), Some(1e-4)),
            lead(None, Some(1e-4)),
            lead(Some((1.05, 1.2)), Some(0.5)),
            None,
        ];
        assert_eq!(certain_leads(&leads), [true, false, false, false, false]);
        // By itself a chance of 4 % is enough. Among three others that are chance it is not.
        let narrow = lead(Some((1.01, 1.2)), Some(0.04));
        let chance = lead(Some((0.9, 1.2)), Some(0.6));
        assert_eq!(certain_leads(&[narrow]), [true]);
        assert_eq!(certain_leads(&[narrow, chance, chance, chance]), [false; 4]);
    }
}
