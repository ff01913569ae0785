//! The topics of a report. A topic is one file: its analysis and its section.
//!
//! What was swept determines the question, and the topics that answer it come first: multiples of
//! the least heap (`memory`), limits on pauses (`pause_limits`), parallel collection (`parallel`), a
//! flag with numbers (`knee`), requests (`latency`), and which setting is the fastest (`fastest`).
//! Every answer follows from a [`crate::ranking::Ranking`]: a difference that may be noise is never
//! reported as one. A topic without data has no section.

pub(crate) mod checksums;
mod common;
pub(crate) mod comparison;
mod drift;
mod environment;
mod fastest;
pub(crate) mod history;
mod knee;
mod latency;
mod logs;
mod memory;
mod overhead;
mod panels;
mod parallel;
mod pause_limits;
mod pauses;
pub(crate) mod profiles;
pub(crate) mod reproduction;
mod runs;
mod timeline;

use self::common::Context;
use crate::document::{Document, Place, Section};
use crate::format::counted;
use crate::ranking::{Ranking, Verdict};
use crate::summary::{Group, Summary};
use gclab_results::{ResultsDir, shell_line};

/// A topic's section, if the runs say anything about it.
type Topic = fn(&Context<'_>) -> Option<Section>;

/// The topics of limits, which come first on the page.
const LIMITS: [Topic; 2] = [memory::budgets, pause_limits::section];

/// The topics after those of limits, parallel collection and the fastest setting.
const OTHERS: [Topic; 18] = [
    knee::section,
    latency::section,
    profiles::section,
    runs::configurations,
    memory::least_heaps,
    runs::failed,
    parallel::charts,
    memory::curves,
    panels::section,
    pauses::section,
    overhead::section,
    timeline::section,
    logs::section,
    runs::measures,
    runs::all,
    drift::section,
    environment::section,
    environment::repeat,
];

/// What competes in a folder: its collectors, and its programs by name.
pub fn names(dir: &ResultsDir) -> Vec<String> {
    Summary::of(dir).names
}

/// The report of a folder.
pub fn report(dir: &ResultsDir) -> Document {
    let manifest = dir.manifest();
    let summary = Summary::of(dir);
    let of = Context::new(dir, &summary);
    let (sharing, fastest): (Topic, Topic) = (parallel::verdict, fastest::section);
    // The flag that matters most comes first.
    let flags = match fastest::leading(&summary) {
        Some(_) => [fastest, sharing],
        None => [sharing, fastest],
    };
    let topics = LIMITS.into_iter().chain(flags).chain(OTHERS);
    let sections: Vec<Section> = topics.filter_map(|topic| topic(&of)).collect();
    let cautions = environment::cautions(&of);
    let mut answer: Vec<String> = cautions
        .iter()
        .filter(|caution| caution.starts_with("Wrong results"))
        .cloned()
        .collect();
    // A profile is the answer if nothing else is.
    let is_answer = |section: &&Section| section.place == Place::Answer;
    answer.extend(
        sections
            .iter()
            .filter(is_answer)
            .flat_map(|section| section.text.clone()),
    );
    if answer.is_empty() {
        answer.extend(sections.iter().flat_map(|section| section.text.clone()));
    }
    if answer.is_empty() {
        answer.push(match dir.done() {
            0 => format!("No runs yet ({} planned).", dir.manifest().plan.len()),
            _ if summary.most_runs() == 0 => {
                "No configuration has a run that ended well, so there is no answer yet.".to_owned()
            }
            _ => "The runs have no figure to compare.".to_owned(),
        });
    }
    // What is best within one limit is not best within another.
    let has_limits = memory::is_answer(&summary) || !manifest.pause.is_empty();
    let best = sections
        .iter()
        .filter(|section| is_answer(section) && !has_limits)
        .find_map(|section| section.rankings.first());
    Document {
        name: manifest.name.clone(),
        question: manifest.question.clone(),
        answer,
        best: best.and_then(|ranking| command_of_best(&summary, ranking)),
        facts: facts(&of),
        cautions,
        sections,
        command: shell_line(&manifest.command),
    }
}

/// The command of the best configuration, if one was shown to be the best on all workloads.
fn command_of_best(summary: &Summary<'_>, ranking: &Ranking) -> Option<String> {
    let best = Some(ranking.first()).filter(|first| first.verdict == Verdict::Best)?;
    // A bare name stands for the best of settings that were not told apart.
    let is_it = |group: &&Group<'_>| [&summary.label(group, &[]), &group.name].contains(&&best.label);
    let time = |group: &&Group<'_>| {
        group
            .spread(&ranking.metric)
            .map_or(f64::INFINITY, |spread| spread.center)
    };
    let groups = summary.groups().filter(is_it);
    let group = groups.min_by(|one, other| time(one).total_cmp(&time(other)))?;
    Some(shell_line(&group.ok().next()?.command))
}

fn facts(of: &Context<'_>) -> Vec<String> {
    let (dir, summary) = (of.dir, of.summary);
    let mut facts = vec![
        counted(dir.runs().len(), "run"),
        counted(summary.groups().count(), "configuration"),
    ];
    let others = [
        (dir.profiled().len(), "heap profile"),
        (dir.logged().len(), "event log"),
    ];
    facts.extend(
        others
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| counted(*count, noun)),
    );
    let least = summary
        .groups()
        .map(|group| group.ok().count())
        .filter(|count| *count > 0)
        .min();
    facts.extend(least.map(|least| match summary.most_runs() {
        most if least < most => format!("{least} to {} of each", counted(most, "good run")),
        most => format!("{} of each", counted(most, "good run")),
    }));
    facts.push(format!("seed {}", dir.manifest().seed));
    facts.push(dir.manifest().started.clone());
    if !summary.fixed.is_empty() {
        let fixed: Vec<String> = summary
            .fixed
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        facts.push(format!("in every run: {}", fixed.join(" ")));
    }
    facts.retain(|fact| !fact.is_empty());
    facts
}

#[cfg(test)]
mod tests {
    use crate::tests::synthetic::{Experiment, manifest, runs, small, write};
    use gclab_results::{Configuration, Status};

    /// A configuration's time in seconds in each of three rounds; `None` if it was not planned.
    type Time = fn(&Configuration) -> Option<f64>;

    /// The answer about one program and the settings of a sweep that have a time. Runs without one
    /// have failed.
    fn answer(sweep: &[(&'static str, &[&'static str])], workloads: &[&'static str], time: Time) -> String {
        answer_with(sweep, workloads, time, |_, _| 1.0)
    }

    /// The same with each time multiplied by a factor for its round.
    fn answer_with(
        sweep: &[(&'static str, &[&'static str])],
        workloads: &[&'static str],
        time: Time,
        scatter: fn(&Configuration, u32) -> f64,
    ) -> String {
        let experiment = Experiment {
            collectors: vec!["parallel"],
            workloads: workloads.iter().map(|name| (*name, vec!["14"], 24.0, 4.0)).collect(),
            sweep: sweep.iter().map(|(flag, values)| (*flag, values.to_vec())).collect(),
            ..small()
        };
        let mut manifest = manifest(&experiment);
        let mut runs = runs(&experiment);
        let planned = manifest.plan.iter_mut().chain(runs.iter_mut().map(|run| &mut run.run));
        for run in planned {
            run.configuration.flags.retain(|_, value| value != "default");
        }
        manifest.plan.retain(|run| time(&run.configuration).is_some());
        runs.retain(|run| time(&run.configuration).is_some());
        for run in &mut runs {
            let seconds = time(&run.configuration).expect("a time");
            if seconds.is_infinite() {
                run.outcome = Status::HeapExhausted;
                run.stats = None;
                run.collections = None;
                continue;
            }
            let seconds = seconds * scatter(&run.configuration, run.round) * (1.0 + 0.01 * f64::from(run.round));
            let stats = run.stats.as_mut().expect("a good run");
            stats.total_elapsed_seconds = Some(seconds);
            stats.total_cpu_seconds = Some(seconds);
            for generation in &mut stats.generations {
                generation.par_collections = Some(3);
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        let dir = write(folder.path(), manifest, &runs);
        crate::report(&dir).answer.join(" ")
    }

    const ONE: &[&str] = &["binary_trees"];

    fn flag<'a>(of: &'a Configuration, flag: &str) -> &'a str {
        of.flags.get(flag).map_or("default", String::as_str)
    }

    #[test]
    fn settings_whose_flags_vary_only_together_are_compared() {
        let time: Time = |of| match (flag(of, "A"), flag(of, "F")) {
            ("1m", "2") => Some(1.0),
            ("4m", "4") => Some(1.45),
            _ => None,
        };
        let text = answer(&[("A", &["1m", "4m"]), ("F", &["2", "4"])], ONE, time);
        let expected = "A=1m F=2 is the fastest on binary_trees 14: A=4m F=4 takes 1.45× (1.45–1.45).";
        assert_eq!(text, expected);
    }

    /// The flag with more values has a sentence of its own, but it is not the whole answer.
    #[test]
    fn a_sweep_of_two_flags_with_numbers_names_the_fastest_setting() {
        let time: Time = |of| {
            let area = if flag(of, "A") == "4m" { 1.0 } else { 1.2 };
            Some(if flag(of, "N") == "2" { area } else { 2.0 * area })
        };
        let text = answer(&[("N", &["1", "2"]), ("A", &["1m", "2m", "4m"])], ONE, time);
        assert!(text.starts_with("N=2 A=4m is the fastest on binary_trees 14"), "{text}");
    }

    #[test]
    fn no_setting_completes_all_workloads() {
        let time: Time = |of| match (flag(of, "A"), of.workload.as_str()) {
            ("1m", "binary_trees") | ("4m", "hash_churn") => Some(1.0),
            _ => Some(f64::INFINITY),
        };
        let text = answer(&[("A", &["1m", "4m"])], &["binary_trees", "hash_churn"], time);
        assert_eq!(text, "No setting completes both workloads.");
    }

    #[test]
    fn a_sweep_of_capabilities_is_not_answered_about_sharing() {
        let time: Time = |of| match (flag(of, "N"), flag(of, "qg"), flag(of, "A")) {
            ("1", "default", "default") => Some(1.0),
            ("2", "default", "default") => Some(1.5),
            ("2", "false", "4m") => Some(1.2),
            _ => None,
        };
        let sweep: [(_, &[_]); 3] = [
            ("N", &["1", "2"]),
            ("qg", &["default", "false"]),
            ("A", &["default", "4m"]),
        ];
        let text = answer(&sweep, ONE, time);
        assert!(
            text.starts_with("N=1 is the fastest on binary_trees 14: N=2 qg=false A=4m takes 1.2"),
            "{text}"
        );
        assert!(!text.contains("-qg") && !text.contains("sharing"), "{text}");
    }

    #[test]
    fn a_sweep_of_capabilities_and_of_sharing_is_answered_about_both() {
        let time: Time = |of| {
            Some(match (flag(of, "N"), flag(of, "qg")) {
                ("1", _) => 1.0,
                (_, "false") => 1.3,
                _ => 1.5,
            })
        };
        let text = answer(&[("N", &["1", "2"]), ("qg", &["false", "0"])], ONE, time);
        assert!(
            text.starts_with("N=1 leads on binary_trees 14: N=2 qg=false takes 1.3"),
            "{text}"
        );
        assert!(text.contains("No: without it (-qg) programs are faster."), "{text}");
    }

    /// N matters much, and parallel collection does not.
    #[test]
    fn the_flag_that_matters_more_than_sharing_comes_first() {
        let time: Time = |of| match (flag(of, "N"), flag(of, "qg")) {
            ("1", "false") => None,
            ("1", _) => Some(2.6),
            ("2", _) => Some(1.5),
            _ => Some(1.0),
        };
        let text = answer(&[("N", &["1", "2", "4"]), ("qg", &["default", "false"])], ONE, time);
        assert!(text.starts_with("N=4 leads on binary_trees 14: N=2"), "{text}");
        let sharing = text.find("Parallel collection makes no difference").expect(&text);
        assert!(sharing > 0 && !text.contains("qg is undecided"), "{text}");
    }

    #[test]
    fn an_axis_leads_while_the_other_is_open() {
        let time: Time = |of| Some(if flag(of, "N") == "4" { 1.0 } else { 2.0 });
        let sweep: [(_, &[_]); 2] = [("N", &["1", "4"]), ("A", &["1m", "16m"])];
        let text = answer(&sweep, ONE, time);
        let same = "N=4 leads on binary_trees 14, and A makes no difference (within 5 %): N=1";
        assert!(text.starts_with(same), "{text}");
        // The runs of the larger area scatter by a sixth.
        let scattered = answer_with(&sweep, ONE, time, |of, round| match flag(of, "A") {
            "16m" => [1.0, 1.1, 0.95][round as usize],
            _ => 1.0,
        });
        assert!(
            scattered.starts_with("N=4 leads on binary_trees 14, and A is undecided: N=1"),
            "{scattered}"
        );
    }

    /// "Too noisy way to share collections to tell"
    #[test]
    fn ways_to_share_that_all_share_are_compared() {
        let noisy: Time = |of| Some(if flag(of, "qb") == "0" { 1.0 } else { 1.2 });
        let text = answer(&[("N", &["2"]), ("qb", &["0", "1"])], ONE, noisy);
        assert_eq!(
            text,
            "-qb0 is the fastest way to share collections: -qb1 takes 1.20× (1.20–1.20)."
        );
    }

    /// The two builds of copying cannot be told apart, so neither is the fastest.
    #[test]
    fn a_setting_that_is_not_told_apart_is_not_named() {
        let experiment = Experiment {
            collectors: vec!["copying", "two-space"],
            workloads: vec![("binary_trees", vec!["14"], 24.0, 4.0)],
            sweep: vec![("build", vec!["old", "new"])],
            ..small()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let answer = |name: &str, times: [f64; 4]| {
            let mut runs = runs(&experiment);
            for run in &mut runs {
                let place = 2 * usize::from(run.collector != "copying") + usize::from(flag(run, "build") == "new");
                let seconds = times[place] * (1.0 + 0.01 * f64::from((run.round + place as u32) % 3));
                let stats = run.stats.as_mut().expect("a good run");
                stats.total_elapsed_seconds = Some(seconds);
                stats.total_cpu_seconds = Some(seconds);
            }
            let dir = write(&folder.path().join(name), manifest(&experiment), &runs);
            let document = crate::report(&dir);
            (document.answer.join(" "), document.best)
        };
        let (text, best) = answer("equal", [1.0, 1.001, 1.2, 1.2]);
        assert!(
            text.starts_with("copying is the fastest on binary_trees 14: two-space takes 1.2"),
            "{text}"
        );
        assert!(best.expect(&text).contains("--collector copying +RTS -buildold"));
        let (text, _) = answer("apart", [1.0, 1.1, 1.4, 1.2]);
        let apart = "copying build=old is the fastest on binary_trees 14: two-space build=new takes 1.2";
        assert!(text.starts_with(apart), "{text}");
    }
}
