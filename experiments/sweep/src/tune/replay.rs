//! Searches in recorded grids: each setting of a grid has runs of a real program, and a search gets
//! them in a random order. So the test is repeatable, and the best setting is known.
//!
//! A search succeeds if its setting is *good*: its interval overlaps that of the best setting, and
//! its mean is at most 5 % worse. Where a few runs were disturbed, the means of a grid are a matter
//! of chance, and so is its best setting. That is measured: the runs of each setting are drawn
//! anew, as many and with replacement, and the setting with the best mean of these runs is the
//! choice that all runs of another recording would make. If that choice is good less often than is
//! demanded of a search, a tenth of the runs cannot do it either, and the goal is not demanded.

use std::fs;
use std::path::Path;

use gclab_report::inference::Spread;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

use super::answer::{Answer, Verdict, answer};
use super::drive;
use super::figures::Goal;
use super::grids::{GRIDS, Grid, Replay};
use super::rules::{Budget, Rules};
use super::search::Search;

/// Searches of each grid, with seeds from 0.
const SEEDS: u64 = 200;

/// The least share of them that must find a good setting, in percent.
const LEAST_SHARE: u64 = 90;

/// Times that the runs of a grid are drawn anew.
const REDRAWS: u64 = 1000;

/// The goals that are not demanded, because all runs of another recording would not tell the best
/// setting either. A few pauses of these short programs are up to fifty times as long as the
/// others, probably because the machine was busy elsewhere. They decide which mean is the least.
const UNKNOWN: [(&str, Goal); 2] = [("message_window", Goal::Pause), ("ghc_message_window", Goal::Pause)];

impl Grid {
    /// A search with a tenth of the runs. Returns the setting that it found, and its runs.
    fn search(&self, goal: Goal, seed: u64) -> (usize, usize) {
        let mut search = Search::new(
            self.space.clone(),
            Rules {
                goal,
                limits: Vec::new(),
                budget: Budget::Runs(self.runs() / 10),
                seed,
            },
        );
        drive(&mut search, &mut Replay::new(self, seed)).expect("a grid does not stop");
        let found = match answer(&search) {
            Answer::Compared(comparison) if comparison.verdict == Verdict::Worse => self.space.default_setting(),
            Answer::Compared(comparison) => {
                let is_less = comparison.ratio.is_none_or(|ratio| ratio.estimate < 1.0);
                if is_less {
                    comparison.setting
                } else {
                    self.space.default_setting()
                }
            }
            Answer::NoOther => self.space.default_setting(),
            other => panic!("{other:?}"),
        };
        (found, search.asked())
    }

    /// The setting with the best mean, if as many runs of each setting are drawn from its runs.
    fn best_of_redraw(&self, goal: Goal, seed: u64) -> usize {
        let mut random = Pcg64::new(u128::from(seed), 1);
        let mut mean = |setting: usize| {
            let values = self.values(setting, goal).expect("the goal is told");
            let drawn = (0..values.len()).map(|_| values[(random.next_u64() % values.len() as u64) as usize]);
            drawn.sum::<f64>() / values.len() as f64
        };
        let means: Vec<f64> = (0..self.space.len()).map(&mut mean).collect();
        let all = 0..means.len();
        all.min_by(|a, b| means[*a].total_cmp(&means[*b])).expect("a default")
    }
}

/// The searches of one grid with one goal.
struct Tried {
    grid: &'static str,
    goal: Goal,
    settings: usize,
    runs: usize,
    /// The most runs of a search.
    most: usize,
    /// The mean of the default over the best one.
    default: f64,
    /// The end of the interval of the best mean, over that mean.
    known_to: f64,
    /// The redraws of all runs, in percent, whose best mean is that of a good setting.
    redrawn: u64,
    /// The searches, in percent, that found a good setting.
    share: u64,
}

impl Tried {
    /// The searches of `grid` for `goal`; none if its runs do not tell that figure.
    fn of(name: &'static str, grid: &Grid, goal: Goal) -> Option<Tried> {
        let default = grid.space.default_setting();
        let settings = 0..grid.space.len();
        let spreads: Vec<Spread> = settings
            .map(|setting| grid.spread(setting, goal))
            .collect::<Option<_>>()?;
        let best = spreads.iter().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let end = best.ci95.expect("several runs").high;
        let is_good: Vec<bool> = spreads
            .iter()
            .map(|one| one.ci95.expect("several runs").low <= end && one.mean <= 1.05 * best.mean)
            .collect();
        let searches: Vec<(usize, usize)> = (0..SEEDS).map(|seed| grid.search(goal, seed)).collect();
        let good = |settings: &mut dyn Iterator<Item = usize>| settings.filter(|found| is_good[*found]).count() as u64;
        let redrawn = good(&mut (0..REDRAWS).map(|seed| grid.best_of_redraw(goal, seed)));
        let found = good(&mut searches.iter().map(|(found, _)| *found));
        Some(Tried {
            grid: name,
            goal,
            settings: grid.space.len(),
            runs: grid.runs(),
            most: searches.iter().map(|(_, asked)| *asked).max().unwrap_or(0),
            default: spreads[default].mean / best.mean,
            known_to: end / best.mean,
            redrawn: 100 * redrawn / REDRAWS,
            share: 100 * found / SEEDS,
        })
    }

    /// Its row of the table in `docs/tuning.md`.
    fn row(&self) -> String {
        let program = match self.grid.split_once('_') {
            Some(("ghc", name)) => format!("{name} under GHC"),
            Some(("ocaml", name)) => format!("{name} under OCaml"),
            _ => self.grid.to_owned(),
        };
        format!(
            "| {program} | {} | {} | {} | {} | {:.2} | {:.1} % | {} % | {} % |\n",
            self.goal.name(),
            self.settings,
            self.runs,
            self.most,
            self.default,
            100.0 * (self.known_to - 1.0),
            self.redrawn,
            self.share
        )
    }
}

/// In a tenth of the runs a search finds a good setting, wherever all runs of another recording
/// would.
/// The table of `docs/tuning.md` is made from these searches; `UPDATE_DOCS=1` writes it there.
#[test]
fn a_tenth_of_the_runs_of_a_recorded_grid_finds_a_good_setting() {
    let goals = [Goal::Time, Goal::Pause, Goal::Memory];
    let tried: Vec<Tried> = GRIDS
        .into_iter()
        .flat_map(|(name, default)| {
            let grid = Grid::read(name, default);
            goals.into_iter().filter_map(move |goal| Tried::of(name, &grid, goal))
        })
        .collect();
    let mut table = String::from(
        "| program | goal | settings | runs | most runs of a search | the default over the best | the best mean is known to | redraws that succeed | searches that succeed |\n|:--|:--|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    tried.iter().for_each(|tried| table.push_str(&tried.row()));
    println!("{table}");
    let unknown = tried.iter().filter(|tried| tried.redrawn < LEAST_SHARE);
    let unknown: Vec<(&str, Goal)> = unknown.map(|tried| (tried.grid, tried.goal)).collect();
    assert_eq!(unknown, UNKNOWN, "{table}");
    for one in &tried {
        let is_demanded = !unknown.contains(&(one.grid, one.goal));
        assert!(one.most * 10 <= one.runs, "{}: too many runs\n{table}", one.grid);
        assert!(!is_demanded || one.share >= LEAST_SHARE, "{}\n{table}", one.grid);
    }
    in_docs(&table);
}

/// Checks that `docs/tuning.md` has the table; `UPDATE_DOCS=1` writes it there.
fn in_docs(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tuning.md");
    let page = fs::read_to_string(&path).expect("the page");
    let (start, end) = ("<!-- grids -->\n", "<!-- end -->");
    let (before, rest) = page.split_once(start).expect("the start of the table");
    let (there, after) = rest.split_once(end).expect("its end");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{start}\n{table}\n{end}{after}")).expect("it can be written");
    } else {
        assert_eq!(
            there.trim(),
            table.trim(),
            "docs/tuning.md is out of date; UPDATE_DOCS=1 renews it"
        );
    }
}
