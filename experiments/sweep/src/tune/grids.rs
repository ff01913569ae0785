//! Recorded grids: the runs of a real program under each setting of a grid.
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
use gclab_report::inference::Spread;
use gclab_results::ResultsDir;
use rand_pcg::Pcg64;

use super::Source;
use super::contestant::Measured;
use super::figures::{Figures, Goal};
use super::source::figures_of;
use super::space::{Axis, Space};
use crate::plan::shuffle;

/// The grids, and the default setting of each: the flags that its runtime has if none is given.
pub(super) const GRIDS: [(&str, &str); 6] = [
    ("gcbench", "collector=copying A=4m F=2"),
    ("message_window", "collector=copying A=4m F=2"),
    ("hash_churn", "collector=copying A=4m F=2"),
    ("ghc_gcbench", "A=1m F=2 c=false"),
    ("ghc_message_window", "A=1m F=2 c=false"),
    ("ocaml_gcbench", "s=256k o=80"),
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
pub(super) struct Grid {
    /// The settings.
    pub(super) space: Space,
    /// The runs of each setting of the space.
    runs: Vec<Vec<Measured>>,
}

impl Grid {
    /// Reads a grid: a line for each setting, its flags, a colon, and its runs as
    /// `microseconds/microseconds of the longest pause/KiB`, or `-` for a run that failed.
    pub(super) fn read(name: &str, default: &str) -> Grid {
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

    /// The number of all runs.
    pub(super) fn runs(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// All runs of a setting.
    pub(super) fn spread(&self, setting: usize, goal: Goal) -> Option<Spread> {
        Spread::of(self.values(setting, goal)?)
    }

    /// The figure of all runs of a setting; `None` if one does not tell it.
    pub(super) fn values(&self, setting: usize, goal: Goal) -> Option<Vec<f64>> {
        let of = |run: &Measured| match run {
            Measured::Ran(figures) => goal.of(figures),
            _ => None,
        };
        self.runs[setting].iter().map(of).collect()
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
pub(super) struct Replay<'g> {
    grid: &'g Grid,
    order: Vec<Vec<usize>>,
}

impl<'g> Replay<'g> {
    /// The runs in the order of `seed`.
    pub(super) fn new(grid: &'g Grid, seed: u64) -> Replay<'g> {
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

/// The text of a grid from a folder of results.
fn condensed(folder: &Path, default: &Flags) -> String {
    let results = ResultsDir::open(folder).expect("a folder of results");
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
