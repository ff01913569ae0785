//! Which contender is best, and by how much: the one ranking behind every answer of a report.
//!
//! A contender is a setting with one configuration for each ranked workload. The best has the
//! lowest geometric mean, and each other one has its effect against the best: paired by rounds, as
//! all configurations of an experiment run in shuffled rounds. The best is called so only if every
//! other contender was shown to be worse: a lead that may be noise is not a lead. Choosing the best
//! of many flatters it a little.

use crate::format::{self, short_list};
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, Work, are_disturbed};
use gclab_results::inference::{Effect, Order, RUNS_FOR_INTERVAL, Spread, findings};
use serde::Serialize;

/// Two figures that differ by less count as equal.
pub(crate) const NEAR: f64 = 0.05;

/// Maximum number of names in a sentence.
const NAMES: usize = 3;

/// A setting, with its configuration on each workload; absent where it did not run.
#[derive(Debug, Clone)]
pub(crate) struct Contender<'a> {
    /// The name in sentences and tables.
    pub(crate) label: String,
    /// The configurations, in the order of the workloads.
    pub(crate) groups: Vec<Option<&'a Group<'a>>>,
}

/// Contenders by a figure for which less is better.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Ranking {
    /// The figure.
    #[serde(serialize_with = "metric::key")]
    pub(crate) metric: Metric,
    /// The contenders, best first; those that fail come last.
    pub(crate) ranks: Vec<Rank>,
    /// The number of workloads.
    pub(crate) works: usize,
}

/// A contender in a ranking.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Rank {
    /// The name.
    pub(crate) label: String,
    /// The index among the given contenders.
    #[serde(skip)]
    pub(crate) place: usize,
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// The figure over the runs, if there is one workload.
    pub(crate) spread: Option<Spread>,
    /// The effect against the best; absent for the best itself, for failures and for figures of 0.
    pub(crate) effect: Option<Effect>,
    /// The workloads on which it has no figure, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) failures: Vec<(String, &'static str)>,
}

/// The verdict on a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// All others were shown to be worse.
    Best,
    /// As good as the best, within [`NEAR`].
    Tied,
    /// Shown to be worse than the best.
    Worse,
    /// These runs cannot tell it from the best.
    Unclear,
    /// It was not shown to be as good, but other programs disturbed its runs or the best's.
    Disturbed,
    /// The interval is too wide for any statement.
    TooNoisy,
    /// It does not complete all workloads.
    Fails,
}

impl Verdict {
    /// The verdict in a word or two, for tables.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Best => "best",
            Verdict::Tied => "as good",
            Verdict::Worse => "worse",
            Verdict::Unclear => "cannot tell",
            Verdict::Disturbed => "disturbed",
            Verdict::TooNoisy => "too noisy",
            Verdict::Fails => "fails",
        }
    }
}

/// The contenders of these workloads, by label, in the order of the summary.
pub(crate) fn contenders<'a>(
    works: &[&'a Work<'a>],
    label: impl Fn(&Group<'_>) -> Option<String>,
) -> Vec<Contender<'a>> {
    let mut all: Vec<Contender<'a>> = Vec::new();
    for (place, work) in works.iter().enumerate() {
        for group in &work.groups {
            let Some(label) = label(group) else { continue };
            let at = all.iter().position(|one| one.label == label).unwrap_or_else(|| {
                all.push(Contender {
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

/// The settings of a summary as contenders.
pub(crate) fn settings<'a>(summary: &Summary<'_>, works: &[&'a Work<'a>]) -> Vec<Contender<'a>> {
    contenders(works, |group| Some(summary.label(group, &[])))
}

impl<'a> Contender<'a> {
    /// Its configurations.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &'a Group<'a>> {
        self.groups.iter().flatten().copied()
    }

    /// One of its configurations; they differ only in the workload.
    pub(crate) fn group(&self) -> &'a Group<'a> {
        self.groups().next().expect("a contender ran somewhere")
    }

    /// Whether so many of its runs were disturbed, over all workloads, that their times mean little.
    fn is_disturbed(&self) -> bool {
        are_disturbed(self.groups().flat_map(Group::ok))
    }

    /// The values of a figure on each workload; `None` if one is missing or has a failed run.
    fn samples(&self, metric: &Metric) -> Option<Vec<Vec<(u32, f64)>>> {
        let complete = |group: &Option<&Group<'_>>| {
            let values = group.filter(|group| group.failures().is_empty())?.values(metric);
            (!values.is_empty()).then_some(values)
        };
        self.groups.iter().map(complete).collect()
    }

    /// The workloads on which it has no figure, by index, each with the reason.
    fn failures(&self, metric: &Metric) -> Vec<(usize, &'static str)> {
        let reason = |group: &Option<&Group<'_>>| match group {
            None => Some("not run"),
            Some(group) if group.failures().is_empty() && group.has(metric) => None,
            Some(group) => Some(group.failure().unwrap_or("no figure")),
        };
        let all = self.groups.iter().enumerate();
        all.filter_map(|(place, group)| Some((place, reason(group)?))).collect()
    }

    /// Its figure over `base`'s: the geometric mean over the workloads.
    pub(crate) fn over(&self, base: &Contender<'_>, metric: &Metric) -> Option<Effect> {
        let (base, new) = (base.samples(metric)?, self.samples(metric)?);
        let effects = base
            .iter()
            .zip(&new)
            .map(|(base, new)| Effect::of(base, new, Order::Interleaved));
        Effect::mean(&effects.collect::<Option<Vec<_>>>()?)
    }
}

impl Ranking {
    /// Ranks contenders; `None` if no contender completes all workloads, whose titles are `works`.
    pub(crate) fn of(metric: &Metric, contenders: &[Contender<'_>], works: &[&Work<'_>]) -> Option<Ranking> {
        let center = |contender: &Contender<'_>| -> Option<f64> {
            let samples = contender.samples(metric)?;
            let logs = samples.iter().map(|sample| {
                let values = crate::summary::values_of(sample);
                Some(Spread::of(values)?.center.ln())
            });
            Some(logs.sum::<Option<f64>>()? / samples.len() as f64)
        };
        let mut complete: Vec<(usize, f64)> = contenders
            .iter()
            .enumerate()
            .filter_map(|(place, one)| Some((place, center(one)?)))
            .collect();
        complete.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, least) = *complete.first()?;
        let rank = |(place, center): &(usize, f64)| {
            let contender = &contenders[*place];
            let effect = contender.over(&contenders[best], metric).filter(|_| *place != best);
            let spread = match &contender.groups[..] {
                [Some(only)] => only.spread(metric),
                _ => None,
            };
            let verdict = match &effect {
                None if *center == least => Verdict::Tied,
                None => Verdict::Unclear,
                Some(effect) if metric.is_same(effect) => Verdict::Tied,
                Some(effect) => judged(metric, effect, contender, &contenders[best]),
            };
            Rank {
                label: contender.label.clone(),
                place: *place,
                verdict,
                spread,
                effect,
                failures: Vec::new(),
            }
        };
        let mut ranks: Vec<Rank> = complete.iter().map(rank).collect();
        let mut failing: Vec<Rank> = Vec::new();
        for (place, contender) in contenders.iter().enumerate() {
            let failures = contender.failures(metric);
            if !failures.is_empty() {
                failing.push(Rank {
                    label: contender.label.clone(),
                    place,
                    verdict: Verdict::Fails,
                    spread: None,
                    effect: None,
                    failures: failures
                        .into_iter()
                        .map(|(work, why)| (works[work].title.clone(), why))
                        .collect(),
                });
            }
        }
        failing.sort_by_key(|rank| rank.failures.len());
        ranks.extend(failing);
        let mut ranking = Ranking {
            metric: *metric,
            ranks,
            works: works.len(),
        };
        ranking.name_best();
        Some(ranking)
    }

    /// The first contender is the best if all others are worse or fail; otherwise it shares the
    /// verdict of [`Ranking::open`].
    fn name_best(&mut self) {
        self.ranks[0].verdict = self.open().map_or(Verdict::Best, |open| open.verdict);
    }

    /// A contender that keeps the first from being the best: one that is not certain to be as good.
    pub(crate) fn open(&self) -> Option<&Rank> {
        let open = || {
            let others = self.ranks[1..].iter();
            others.filter(|one| !matches!(one.verdict, Verdict::Worse | Verdict::Fails))
        };
        open()
            .find(|one| one.verdict != Verdict::Tied)
            .or_else(|| open().next())
    }

    /// The first contender, and those that are certain to be as good.
    pub(crate) fn tied(&self) -> Vec<&str> {
        let tied = self.ranks[1..].iter().filter(|one| one.verdict == Verdict::Tied);
        let all = std::iter::once(self.first()).chain(tied);
        all.map(|one| one.label.as_str()).collect()
    }

    /// The best contender by the figure, whether or not the lead is more than noise.
    pub(crate) fn first(&self) -> &Rank {
        &self.ranks[0]
    }

    /// The contender that was shown to be best, if any was.
    pub(crate) fn best(&self) -> Option<&Rank> {
        Some(self.first()).filter(|first| first.verdict == Verdict::Best)
    }

    /// The contenders that were not shown to be worse than the first, with it.
    pub(crate) fn leaders(&self) -> impl Iterator<Item = &Rank> {
        let open = self.ranks.iter();
        open.filter(|rank| !matches!(rank.verdict, Verdict::Worse | Verdict::Fails))
    }

    /// Whether all contenders are the same within [`NEAR`].
    pub(crate) fn is_flat(&self) -> bool {
        self.ranks.iter().all(|rank| rank.verdict == Verdict::Tied)
    }

    /// The rank of a contender, by its index among those given.
    pub(crate) fn of_place(&self, place: usize) -> Option<&Rank> {
        self.ranks.iter().find(|rank| rank.place == place)
    }

    /// The answer in a sentence: `scope` says where (` over both programs`), and `word` what the
    /// best is (`fastest`).
    pub(crate) fn sentence(&self, word: &str, scope: &str) -> String {
        let first = self.first();
        let others: Vec<&Rank> = self.ranks[1..]
            .iter()
            .filter(|one| one.verdict != Verdict::Fails)
            .collect();
        let Some(next) = others.first() else {
            return match self.ranks.len() {
                1 => format!("Only {} was measured{scope}.", first.label),
                _ => format!("Only {} completes{scope}.", first.label),
            };
        };
        let takes = |rank: &Rank| rank.takes();
        if let Some(best) = self.best() {
            return format!("{} is the {word}{scope}: {} {}.", best.label, next.label, takes(next));
        }
        let open = self.open().expect("another leads too, or the first is the best");
        let tied = self.tied();
        let (tie, scope) = match tied.len() {
            1 => (String::new(), scope),
            _ => {
                let names = short_list(&tied, NAMES);
                (format!("{names} tie{scope} (within {}).", format::percent(NEAR)), "")
            }
        };
        let worse = others.iter().find(|one| one.verdict == Verdict::Worse);
        let rest = worse.map_or_else(String::new, |one| format!(" {} {}.", one.label, takes(one)));
        let text = match open.verdict {
            Verdict::Tied => String::new(),
            Verdict::Disturbed => format!(" Disturbed{scope}: {}", open.disturbed(&open.label, &first.label)),
            Verdict::TooNoisy => {
                let apart = self.leaders().filter(|one| one.verdict != Verdict::Tied);
                let apart: Vec<&str> = apart.map(|one| one.label.as_str()).collect();
                format!(
                    " Too noisy{scope} to tell {} apart: {}.",
                    short_list(&apart, NAMES),
                    open.effect
                        .as_ref()
                        .map_or_else(String::new, |effect| format::advice(effect, NEAR))
                )
            }
            _ => {
                let size = open
                    .effect
                    .as_ref()
                    .map_or_else(String::new, |effect| format!(" {}", format::effect(effect)));
                let few = open
                    .effect
                    .as_ref()
                    .is_none_or(|effect| effect.runs < RUNS_FOR_INTERVAL);
                let advice = open
                    .effect
                    .as_ref()
                    .map_or_else(String::new, |effect| format::advice(effect, NEAR));
                match few {
                    true => format!(
                        " Not decided{scope}: {} took least, {}{size}; intervals need {RUNS_FOR_INTERVAL} runs of each.",
                        first.label, open.label
                    ),
                    false => format!(
                        " Not decided{scope}: {} against {}{size}; {advice}.",
                        open.label, first.label
                    ),
                }
            }
        };
        format!("{tie}{text}{rest}").trim_start().to_owned()
    }

    /// The answer in a few words, for a table: the best with its figure, how many tie, or that no
    /// difference was shown.
    pub(crate) fn words(&self) -> String {
        let figure = |rank: &Rank| {
            let spread = rank.spread.as_ref();
            spread.map_or_else(String::new, |spread| self.metric.unit.text_with_unit(spread.center))
        };
        let first = self.first();
        let tied = self.tied();
        match first.verdict {
            Verdict::Best => format!("{} {}", first.label, figure(first)),
            _ if tied.len() > 2 => format!("{} settings tie at {}", tied.len(), figure(first)),
            _ if tied.len() > 1 => format!("{} tie at {}", format::list(&tied), figure(first)),
            Verdict::Disturbed => "disturbed".to_owned(),
            Verdict::TooNoisy => "too noisy".to_owned(),
            _ => "no difference shown".to_owned(),
        }
    }
}

impl Rank {
    /// How it compares with the best: `takes 1.32× (1.28–1.36)`.
    pub(crate) fn takes(&self) -> String {
        match &self.effect {
            Some(effect) if effect.is_too_noisy() => "is too noisy to tell".to_owned(),
            Some(effect) => format!("takes {}", format::effect(effect)),
            None => self.verdict.word().to_owned(),
        }
    }

    /// What a disturbed comparison shows, and what to do.
    pub(crate) fn disturbed(&self, label: &str, best: &str) -> String {
        let shown = match &self.effect {
            Some(effect) if !effect.is_too_noisy() => {
                format!("{label} takes {} as long as {best}, but", format::effect(effect))
            }
            _ => format!("{label} and {best} cannot be told apart, since"),
        };
        format!("{shown} other programs ran meanwhile. Stop them and repeat.")
    }
}

/// The verdict that an effect against the best allows.
fn judge(effect: &Effect) -> Verdict {
    if effect.differs() {
        Verdict::Worse
    } else if effect.is_within(NEAR) {
        Verdict::Tied
    } else if effect.is_too_noisy() {
        Verdict::TooNoisy
    } else {
        Verdict::Unclear
    }
}

/// The verdict on a figure. As in a comparison of folders, times may be called the same, but nothing
/// else, if many runs of a side were disturbed; nor is an elapsed time called worse if the CPU time
/// contradicts it.
fn judged(metric: &Metric, effect: &Effect, contender: &Contender<'_>, best: &Contender<'_>) -> Verdict {
    let groups = || contender.groups().chain(best.groups());
    let cpu = contender.over(best, &metric::TOTAL_CPU);
    let is_contradicted = || metric.is_elapsed() && cpu.is_some_and(|cpu| contradicts(&cpu, groups()));
    match judge(effect) {
        Verdict::Tied => Verdict::Tied,
        _ if metric.is_time() && (contender.is_disturbed() || best.is_disturbed()) => Verdict::Disturbed,
        Verdict::Worse if is_contradicted() => Verdict::Disturbed,
        verdict => verdict,
    }
}

/// Whether an unchanged CPU time contradicts a changed elapsed time: in single-threaded programs
/// that hardly wait, both measure the same work.
pub(crate) fn contradicts<'g, 'a: 'g>(cpu: &Effect, groups: impl Iterator<Item = &'g Group<'a>>) -> bool {
    let is_busy = |group: &Group<'_>| {
        let center = |metric: &Metric| group.spread(metric).map(|spread| spread.center);
        let share = center(&metric::TOTAL_CPU).zip(center(&metric::TOTAL_ELAPSED));
        share.is_some_and(|(cpu, elapsed)| (0.6..=1.1).contains(&(cpu / elapsed)))
    };
    cpu.is_within(NEAR) && groups.into_iter().all(is_busy)
}

/// Judges the rankings of several workloads together: of the contenders called worse, at most one
/// in twenty is expected to be chance.
pub(crate) fn judge_together<'r>(rankings: impl Iterator<Item = &'r mut Ranking>) {
    let mut rankings: Vec<&mut Ranking> = rankings.collect();
    let chance = |rank: &Rank| rank.effect.as_ref().and_then(Effect::chance);
    let chances: Vec<f64> = rankings
        .iter()
        .flat_map(|ranking| ranking.ranks.iter().filter_map(chance))
        .collect();
    let mut remain = findings(&chances).into_iter();
    for ranking in &mut rankings {
        for rank in ranking.ranks.iter_mut().filter(|rank| chance(rank).is_some()) {
            if remain.next() == Some(false) && rank.verdict == Verdict::Worse {
                rank.verdict = Verdict::Unclear;
            }
        }
        ranking.name_best();
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::synthetic::{Experiment, manifest, runs, small, small_runs, write};
    use gclab_results::Conditions;

    /// The answer of a report on collectors with these names, and all that a terminal shows of it;
    /// each collector has its times in three rounds.
    fn answer(times: &[(&'static str, [f64; 3])], disturbed: bool) -> [String; 2] {
        let folder = tempfile::tempdir().expect("a folder");
        let experiment = Experiment {
            collectors: times.iter().map(|(name, _)| *name).collect(),
            workloads: vec![("binary_trees", vec!["14"], 24.0, 4.0)],
            sweep: Vec::new(),
            ..small()
        };
        let mut runs = runs(&experiment);
        for run in &mut runs {
            let (_, times) = times
                .iter()
                .find(|(name, _)| *name == run.collector)
                .expect("its times");
            let time = times[run.round as usize];
            let stats = run.stats.as_mut().expect("a good run");
            stats.total_elapsed_seconds = Some(time);
            stats.total_cpu_seconds = None;
            run.conditions = disturbed.then(|| Conditions {
                disturbances: Some(vec!["other programs".to_owned()]),
                ..Conditions::default()
            });
        }
        let dir = write(folder.path(), manifest(&experiment), &runs);
        let document = crate::report(&dir);
        [document.answer.join(" "), crate::terminal(&document, true)]
    }

    /// Only contenders certain to be as good tie, in both sentence and table.
    #[test]
    fn a_setting_that_cannot_be_told_does_not_tie() {
        let times = [
            ("copying", [1.0; 3]),
            ("two-space", [1.0, 1.01, 1.0]),
            ("compacting", [1.0, 1.08, 1.0]),
        ];
        let [text, all] = answer(&times[..2], false);
        assert!(
            text.starts_with("copying and two-space tie on binary_trees 14 (within 5 %)."),
            "{text}"
        );
        assert!(!text.contains("Not decided"), "{text}");
        assert!(all.contains("copying and two-space tie at"), "{all}");
        let [text, all] = answer(&times, false);
        let both = "copying and two-space tie on binary_trees 14 (within 5 %). Not decided: compacting against copying";
        assert!(text.starts_with(both), "{text}");
        assert!(
            all.contains("copying and two-space tie at") && !all.contains("3 settings tie"),
            "{all}"
        );
    }

    /// What is not shown to be the same is disturbed, and the first sentence says what to do.
    #[test]
    fn disturbed_runs_are_told_first() {
        let times = [("copying", [1.0; 3]), ("two-space", [1.0, 1.08, 1.0])];
        let [text, _] = answer(&times, true);
        let expected = "Disturbed on binary_trees 14: two-space takes 1.03× (0.9";
        assert!(
            text.starts_with(expected) && text.contains("Stop them and repeat."),
            "{text}"
        );
        assert!(!text.contains("Not decided"), "{text}");
        let [noisy, all] = answer(&[("copying", [1.0; 3]), ("two-space", [1.46, 1.73, 2.05])], true);
        let expected = "Disturbed on binary_trees 14: two-space and copying cannot be told apart, since other programs ran meanwhile.";
        assert!(
            noisy.starts_with(expected) && !all.contains("takes too noisy"),
            "{noisy}"
        );
        let [same, _] = answer(&[("copying", [1.0; 3]), ("two-space", [1.0, 1.01, 1.0])], true);
        assert!(same.starts_with("copying and two-space tie"), "{same}");
    }

    /// The interval excludes 1, but extends from 1.1 to 2.6: the report says only that.
    #[test]
    fn an_effect_that_is_too_noisy_has_no_sentence() {
        let [text, all] = answer(&[("copying", [1.0; 3]), ("two-space", [1.46, 1.73, 2.05])], false);
        assert!(
            text.contains("Too noisy on binary_trees 14 to tell copying and two-space apart"),
            "{text}"
        );
        assert!(!all.contains("takes too noisy"), "{all}");
        let [text, all] = answer(&[("copying", [1.0; 3]), ("two-space", [5.0, 7.0, 9.8])], false);
        let expected = "copying is the fastest on binary_trees 14: two-space takes at least 3.0";
        assert!(text.starts_with(expected), "{text}");
        assert!(!all.contains("(3.0"), "no end that means nothing: {all}");
    }

    /// Of a side's runs on three workloads, those on one were disturbed: a third, and not more.
    #[test]
    fn all_runs_of_a_side_count_together() {
        let experiment = Experiment {
            workloads: ["binary_trees", "gcbench", "hash_churn"]
                .map(|name| (name, vec!["14"], 24.0, 4.0))
                .to_vec(),
            sweep: Vec::new(),
            ..small()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let answer = |name: &str, disturbed: &[&str]| {
            let mut runs = runs(&experiment);
            for run in runs.iter_mut().filter(|run| disturbed.contains(&&*run.workload)) {
                run.conditions = Some(Conditions {
                    disturbances: Some(vec!["other programs".to_owned()]),
                    ..Conditions::default()
                });
            }
            let dir = write(&folder.path().join(name), manifest(&experiment), &runs);
            crate::report(&dir).answer.join(" ")
        };
        let quiet = answer("none", &[]);
        assert!(quiet.contains(" is the fastest over all 3 workloads"), "{quiet}");
        assert_eq!(answer("one", &["gcbench"]), quiet);
        let two = answer("two", &["gcbench", "hash_churn"]);
        assert!(two.starts_with("Disturbed over all 3 workloads"), "{two}");
    }

    /// Every run was disturbed, so nothing is called worse, whatever the CPU time, and no command
    /// is shown as the best one's.
    #[test]
    fn no_disturbed_run_is_called_worse() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut runs = small_runs();
        let answer = |runs: &[gclab_results::RunRecord], name: &str| {
            let dir = write(&folder.path().join(name), manifest(&small()), runs);
            let document = crate::report(&dir);
            (document.answer.join(" "), document.best)
        };
        let (quiet, best) = answer(&runs, "quiet");
        let (fastest, _) = quiet.split_once(" is the fastest").expect(&quiet);
        let (best, name) = (best.expect(&quiet), fastest.split(' ').next().expect("a name"));
        assert!(best.contains(&format!("--collector {name}")), "{best}: {quiet}");
        for run in &mut runs {
            run.conditions = Some(Conditions {
                disturbances: Some(vec!["other programs".to_owned()]),
                ..Conditions::default()
            });
        }
        let (disturbed, best) = answer(&runs, "disturbed");
        assert_eq!(best, None);
        assert!(disturbed.starts_with("Disturbed"), "{disturbed}");
        assert!(!disturbed.contains("is the fastest"), "{disturbed}");
    }
}
