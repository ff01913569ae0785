//! Searches of programs whose times are known, without a process.

use super::answer::{Answer, Comparison, Interval, Verdict, answer};
use super::contestant::{Contestant, Fate, Measured};
use super::figures::{Figures, Goal};
use super::rules::{Budget, Rules};
use super::search::{PILOT, Search};
use super::space::{Axis, Space};
use super::{Source, drive};

/// A program with two flags of five values each; the default is the first of both.
struct Program {
    /// The mean time with these values.
    time: fn(&[usize]) -> f64,
    /// The runs lie this share below and above the mean, in eleven steps.
    scatter: f64,
    /// The value of the first flag with which each run after the third one fails.
    failing: Option<usize>,
    points: Vec<Vec<usize>>,
}

impl Source for Program {
    type Stopped = std::convert::Infallible;

    fn run(&mut self, setting: usize, number: usize) -> Result<Measured, Self::Stopped> {
        let point = &self.points[setting];
        if number > 2 && self.failing == Some(point[0]) {
            return Ok(Measured::Failed("it fails".to_owned()));
        }
        let step = (number * 7 + number * number + setting * 3) % 11;
        Ok(Measured::Ran(Figures {
            time: (self.time)(point) * (1.0 + self.scatter * (step as f64 - 5.0) / 5.0),
            ..Figures::default()
        }))
    }
}

/// The search of such a program, over.
fn searched(time: fn(&[usize]) -> f64, scatter: f64, failing: Option<usize>) -> Search {
    let axis = |key: &str| Axis {
        key: key.to_owned(),
        values: (0..5).map(|value| (value > 0).then(|| value.to_string())).collect(),
        ordered: true,
    };
    let space = Space::new(vec![axis("A"), axis("F")], |_, _| true);
    let mut program = Program {
        time,
        scatter,
        failing,
        points: (0..space.len()).map(|setting| space.point(setting).to_vec()).collect(),
    };
    let mut search = Search::new(
        space,
        Rules {
            goal: Goal::Time,
            limits: Vec::new(),
            budget: Budget::Runs(80),
            seed: 1,
        },
    );
    drive(&mut search, &mut program).expect("it does not stop");
    search
}

fn compared(search: &Search) -> Comparison {
    match answer(search) {
        Answer::Compared(comparison) => comparison,
        other => panic!("{other:?}"),
    }
}

/// Steps of `A` save 5 % each, and `F` does nothing: the best `A` is found although no setting has
/// more than a few runs.
#[test]
fn the_flag_that_matters_is_found() {
    let search = searched(|point| 1.0 - 0.05 * point[0] as f64, 0.03, None);
    let found = compared(&search);
    assert_eq!(found.verdict, Verdict::Better);
    assert_eq!(search.space().point(found.setting)[0], 4);
    assert_eq!(found.verdict.more_runs(), None);
    assert!(search.asked() <= 80, "{} runs", search.asked());
}

#[test]
fn a_setting_that_is_far_worse_gets_few_runs_and_the_default_is_never_out() {
    let search = searched(|point| if point[1] == 0 { 1.0 } else { 3.0 }, 0.01, None);
    let default = search.space().default_setting();
    for (setting, contestant) in search.contestants().iter().enumerate() {
        if search.space().point(setting)[1] > 0 {
            assert!(contestant.race.len() <= 2, "{contestant:?}");
            assert_ne!(contestant.fate, Fate::Racing, "{contestant:?}");
        }
    }
    let out = search.contestants().iter();
    assert!(out.filter(|one| matches!(one.fate, Fate::Worse { .. })).count() > 2);
    let of_default = &search.contestants()[default];
    assert_eq!(of_default.fate, Fate::Racing);
    assert!(of_default.race.len() > PILOT && of_default.confirmation.len() == 8);
}

/// A setting leaves the race by an interval alone: what is set aside has an interval above the
/// leader's. Where runs scatter more than the settings differ, none is, and settings with few runs
/// wait in the race.
#[test]
fn settings_are_set_aside_by_intervals() {
    let aside = |search: &Search| -> Vec<Interval> {
        let fates = search.contestants().iter().map(|one| &one.fate);
        let ratio = |fate: &Fate| match fate {
            Fate::SetAside { ratio, .. } => Some(*ratio),
            _ => None,
        };
        fates.filter_map(ratio).collect()
    };
    let steps = searched(|point| 1.0 + 0.1 * point[0] as f64, 0.02, None);
    let ratios = aside(&steps);
    assert!(
        !ratios.is_empty() && ratios.iter().all(|ratio| ratio.low > 1.0),
        "{ratios:?}"
    );
    let noise = searched(|_| 1.0, 0.3, None);
    assert_eq!(aside(&noise), []);
    let waits = |one: &&Contestant| one.fate == Fate::Racing && one.race.len() < 3;
    assert!(
        noise.contestants().iter().filter(waits).count() > 2,
        "{:?}",
        noise.contestants()
    );
}

/// The fastest settings fail in their fourth run: no fifth run is asked for.
#[test]
fn a_setting_that_fails_is_not_asked_again() {
    let search = searched(|point| 1.0 - 0.05 * point[0] as f64, 0.01, Some(4));
    let all = search.contestants().iter();
    let failed: Vec<_> = all.filter(|one| matches!(one.fate, Fate::Failed(_))).collect();
    assert!(!failed.is_empty());
    assert!(failed.iter().all(|one| one.asked == 4), "{failed:?}");
}

/// Flags without an effect: with steady runs they are as good, and with runs that scatter it is
/// unclear, and more runs would decide.
#[test]
fn an_answer_is_unclear_where_runs_scatter() {
    let steady = compared(&searched(|_| 1.0, 0.01, None));
    assert_eq!((steady.verdict, steady.verdict.more_runs()), (Verdict::AsGood, None));
    let scattered = compared(&searched(|_| 1.0, 0.2, None));
    let Verdict::Unclear(Some(more)) = scattered.verdict else {
        panic!("{scattered:?}");
    };
    assert!((50..2000).contains(&more), "{more}");
    assert!(!scattered.verdict.prefers_the_setting());
}
