//! Searches in recorded grids: each setting of a grid has runs of a real program, and a search gets
//! them in a random order. So the test is repeatable, and the best setting is known.
//!
//! `tests/grids` has the grids with their experiment files. To record them anew, from the root of
//! the checkout:
//!
//!     gclab run experiments/sweep/tests/grids/NAME.experiment --out DIR/NAME
//!     GCLAB_GRIDS=DIR cargo test -p gclab-sweep recorded

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gclab_core::words::size::read_number;
use gclab_inference::Spread;
use gclab_results::ResultsDir;
use rand_pcg::Pcg64;

use super::answer::{Answer, Verdict, answer};
use super::contestant::Measured;
use super::figures::{Figures, Goal};
use super::rules::{Budget, Rules};
use super::search::Search;
use super::source::figures_of;
use super::space::{Axis, Space};
use super::{Source, drive};
use crate::plan::shuffle;

/// The grids, and the default setting of each: the flags that its runtime has if none is given.
const GRIDS: [(&str, &str); 6] = [
    ("gcbench", "collector=copying A=4m F=2"),
    ("message_window", "collector=copying A=4m F=2"),
    ("hash_churn", "collector=copying A=4m F=2"),
    ("ghc_gcbench", "A=1m F=2 c=false"),
    ("ghc_message_window", "A=1m F=2 c=false"),
    ("ocaml_gcbench", "s=256k o=80"),
];

/// Searches of each grid, with seeds from 0.
const SEEDS: u64 = 200;

/// The least share of them that must find a good setting, in percent.
const LEAST_SHARE: usize = 90;

/// The interval of a mean reaches this far up at most, for a goal to be demanded: a best mean that
/// is known less well than the 5 % of the target says nothing about a search.
const KNOWN_WELL: f64 = 1.05;

/// The goals that are not demanded, because even all runs do not tell the best mean so well.
const UNKNOWN: [(&str, Goal); 3] = [
    ("message_window", Goal::Pause),
    ("ghc_message_window", Goal::Time),
    ("ghc_message_window", Goal::Pause),
];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/grids").join(name)
}

/// A setting by its flags.
type Flags = BTreeMap<String, String>;

fn flags(text: &str) -> Flags {
    let pair = |word: &str| {
        let (key, value) = word.split_once('=').expect("key=value");
        (key.to_owned(), value.to_owned())
    };
    text.split_whitespace().map(pair).collect()
}

/// A recorded grid.
struct Grid {
    space: Space,
    /// The runs of each setting of the space.
    runs: Vec<Vec<Measured>>,
}

impl Grid {
    /// Reads a grid: a line for each setting, its flags, a colon, and its runs as
    /// `microseconds/microseconds of the longest pause/KiB`, or `-` for a run that failed.
    fn read(name: &str, default: &str) -> Grid {
        let text = fs::read_to_string(file(&format!("{name}.grid"))).expect("a grid");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let recorded: BTreeMap<Flags, Vec<Measured>> = lines
            .map(|line| {
                let (setting, runs) = line.split_once(": ").expect("a setting");
                (flags(setting), runs.split(' ').map(run).collect())
            })
            .collect();
        let default = flags(default);
        assert!(recorded.contains_key(&default), "{name} has no runs of its default");
        let axes: Vec<Axis> = default.keys().map(|key| axis(key, &default, &recorded)).collect();
        let of_point = |axes: &[Axis], point: &[usize]| -> Flags {
            let value = |(axis, at): (&Axis, &usize)| {
                let text = axis.values[*at].as_ref().unwrap_or(&default[&axis.key]);
                (axis.key.clone(), text.clone())
            };
            axes.iter().zip(point).map(value).collect()
        };
        let space = Space::new(axes, |axes, point| recorded.contains_key(&of_point(axes, point)));
        assert_eq!(space.len(), recorded.len());
        let runs = (0..space.len()).map(|setting| recorded[&of_point(space.axes(), space.point(setting))].clone());
        Grid {
            runs: runs.collect(),
            space,
        }
    }

    fn runs(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// All runs of a setting.
    fn spread(&self, setting: usize, goal: Goal) -> Option<Spread> {
        let values = self.runs[setting].iter().map(|run| match run {
            Measured::Ran(figures) => goal.of(figures),
            _ => None,
        });
        Spread::of(values.collect::<Option<Vec<f64>>>()?)
    }

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
}

fn run(text: &str) -> Measured {
    if text == "-" {
        return Measured::Failed("it failed".to_owned());
    }
    let figures: Vec<Option<f64>> = text.split('/').map(|number| number.parse().ok()).collect();
    let [Some(time), pause, memory] = figures[..] else {
        panic!("{text}: no run");
    };
    Measured::Ran(Figures {
        time: time * 1e-6,
        pause: pause.map(|pause| pause * 1e-6),
        memory: memory.map(|memory| memory * 1024.0),
        energy: None,
    })
}

fn axis(key: &str, default: &Flags, recorded: &BTreeMap<Flags, Vec<Measured>>) -> Axis {
    let values: BTreeSet<&String> = recorded.keys().map(|flags| &flags[key]).collect();
    let mut values: Vec<&String> = values.into_iter().collect();
    let ordered = values.iter().all(|value| read_number(value).is_some());
    values.sort_by(|a, b| read_number(a).unwrap_or(0.0).total_cmp(&read_number(b).unwrap_or(0.0)));
    let absent = |value: &String| Some(value.clone()).filter(|value| *value != default[key]);
    Axis {
        key: key.to_owned(),
        values: values.into_iter().map(absent).collect(),
        ordered,
    }
}

/// The runs of a grid, those of each setting in a random order, each once.
struct Replay<'g> {
    grid: &'g Grid,
    order: Vec<Vec<usize>>,
}

impl<'g> Replay<'g> {
    fn new(grid: &'g Grid, seed: u64) -> Replay<'g> {
        let order = |setting: usize| {
            let mut order: Vec<usize> = (0..grid.runs[setting].len()).collect();
            shuffle(&mut order, &mut Pcg64::new(u128::from(seed), setting as u128));
            order
        };
        Replay {
            grid,
            order: (0..grid.space.len()).map(order).collect(),
        }
    }
}

impl Source for Replay<'_> {
    type Stopped = std::convert::Infallible;

    fn run(&mut self, setting: usize, number: usize) -> Result<Measured, Self::Stopped> {
        let at = self.order[setting].get(number);
        Ok(at.map_or(Measured::NoMore, |at| self.grid.runs[setting][*at].clone()))
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
    /// The end of the interval of the best mean, over that mean.
    known_to: f64,
    /// The mean of the default over the best one.
    default: f64,
    /// The searches, in percent, that found a setting whose interval overlaps that of the best one,
    /// and whose mean is at most 5 % worse.
    share: usize,
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
        let (mut good, mut most) = (0, 0);
        for seed in 0..SEEDS {
            let (found, asked) = grid.search(goal, seed);
            most = most.max(asked);
            let found = &spreads[found];
            let overlaps = found.ci95.expect("several runs").low <= end;
            good += usize::from(overlaps && found.mean <= 1.05 * best.mean);
        }
        Some(Tried {
            grid: name,
            goal,
            settings: grid.space.len(),
            runs: grid.runs(),
            most,
            known_to: end / best.mean,
            default: spreads[default].mean / best.mean,
            share: 100 * good / SEEDS as usize,
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
            "| {program} | {} | {} | {} | {} | {:.2} | {:.1} % | {} % |\n",
            self.goal.name(),
            self.settings,
            self.runs,
            self.most,
            self.default,
            100.0 * (self.known_to - 1.0),
            self.share
        )
    }
}

/// In a tenth of the runs a search finds a good setting, wherever the runs tell which is the best.
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
        "| program | goal | settings | runs | most runs of a search | the default over the best | the best mean is known to | searches that succeed |\n|:--|:--|--:|--:|--:|--:|--:|--:|\n",
    );
    tried.iter().for_each(|tried| table.push_str(&tried.row()));
    println!("{table}");
    let unknown = tried.iter().filter(|tried| tried.known_to > KNOWN_WELL);
    let unknown: Vec<(&str, Goal)> = unknown.map(|tried| (tried.grid, tried.goal)).collect();
    assert_eq!(unknown, UNKNOWN, "{table}");
    assert!(tried.len() - unknown.len() >= 8, "{table}");
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

/// The text of a grid from a folder of results.
fn condensed(folder: &Path, default: &Flags) -> String {
    let results = ResultsDir::open_totals(folder).expect("a folder of results");
    let mut settings: BTreeMap<Flags, Vec<String>> = BTreeMap::new();
    for record in results.runs() {
        let mut setting = default.clone();
        setting.extend(record.flags.clone());
        if setting.contains_key("collector") {
            setting.insert("collector".to_owned(), record.collector.clone());
        }
        let number = |value: Option<f64>, unit: f64| {
            value.map_or_else(|| "?".to_owned(), |value| format!("{:.0}", value / unit))
        };
        let run = figures_of(record).ok().map_or_else(
            || "-".to_owned(),
            |figures| {
                let time = number(Some(figures.time), 1e-6);
                format!(
                    "{time}/{}/{}",
                    number(figures.pause, 1e-6),
                    number(figures.memory, 1024.0)
                )
            },
        );
        settings.entry(setting).or_default().push(run);
    }
    let mut text = format!(
        "# {}\n# A setting, and its runs: microseconds, microseconds of the longest pause, KiB of the peak.\n",
        results.manifest().machine.cpu.as_deref().unwrap_or("unknown processor"),
    );
    for (setting, runs) in settings {
        let words: Vec<String> = setting.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let _ = writeln!(text, "{}: {}", words.join(" "), runs.join(" "));
    }
    text
}

/// With `GCLAB_GRIDS=DIR`, writes the grids anew from the folders of their results in DIR.
#[test]
fn recorded_grids_come_from_folders_of_results() {
    let Some(folder) = std::env::var_os("GCLAB_GRIDS").map(PathBuf::from) else {
        return;
    };
    for (name, default) in GRIDS {
        let text = condensed(&folder.join(name), &flags(default));
        fs::write(file(&format!("{name}.grid")), text).expect("the grid can be written");
    }
}
