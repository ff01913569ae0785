//! An experiment: its collectors, workloads, programs, flags and profiles, checked. `spec` makes
//! one from a file; `plan` turns it into runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gclab_results as results;

use crate::axes::{ARGS, CHOICES, product};
pub use crate::axes::{Axis, Exclude, Point};
use crate::build::Build;
use crate::program::{Own, Program};
use crate::runtime::Setting;

/// A command of the file, under its collector or runtime, with the runs that it should get: a
/// workload under one collector by one build, or a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The command and its runtime.
    pub program: Arc<Program>,
    /// The name of the work that it does: a workload's, or the program's own.
    pub workload: String,
    /// The arguments of that work, as records have them; none but for a workload.
    pub args: Vec<String>,
    /// Its name among the collectors.
    pub collector: String,
    /// Flags of every run.
    pub flags: Setting,
    /// The axes, in the order of the file: one list for each sweep. The runs are the product of
    /// each list; without a list, the flags alone.
    pub sweeps: Arc<Vec<Vec<Axis>>>,
    /// Its excluded runs.
    pub excludes: Vec<Exclude>,
    /// The values of arguments of a workload that are swept: only points with the same arguments
    /// are for it.
    pub swept_args: BTreeMap<String, String>,
    /// Flags of heap profiles. Each is one more run of each configuration.
    pub profiles: Vec<String>,
    /// Whether each configuration has one more run, with an event log.
    pub eventlog: bool,
}

impl Entry {
    /// This work by `program`, without flags.
    pub(crate) fn new(program: Program, workload: &str, args: &[String], collector: &str) -> Entry {
        Entry {
            program: Arc::new(program),
            workload: workload.to_owned(),
            args: args.to_owned(),
            collector: collector.to_owned(),
            flags: Setting::new(),
            sweeps: Arc::default(),
            excludes: Vec::new(),
            swept_args: BTreeMap::new(),
            profiles: Vec::new(),
            eventlog: false,
        }
    }

    /// The workload with these arguments under this collector, without flags.
    pub fn of_workload(workload: &str, args: &[String], collector: &str) -> Entry {
        let program = Program::of_workload(workload, args, collector, Vec::new(), Own::default());
        Entry::new(program, workload, args, collector)
    }

    /// Whether it is a workload of gclab's.
    pub fn is_own(&self) -> bool {
        self.program.is_own()
    }

    /// The file of the program, as a shell would find it.
    pub fn file(&self) -> Option<PathBuf> {
        self.program.file()
    }

    /// The names that points and excludes choose by.
    pub(crate) fn names(&self) -> Vec<(&'static str, &str)> {
        let mut names = vec![
            ("workload", self.workload.as_str()),
            ("collector", self.collector.as_str()),
        ];
        match &self.program.own {
            None => names.push(("program", self.program.description.name.as_str())),
            Some(own) => names.extend(own.build.iter().map(|build| ("build", build.name.as_str()))),
        }
        names
    }

    /// The points of its sweeps that are for it.
    pub(crate) fn points(&self) -> Vec<Point> {
        let names = self.names();
        let is_mine = |point: &Point| {
            let (other, args) = match &self.program.own {
                None => ("build", true),
                Some(_) => ("program", point.args == self.swept_args),
            };
            args && !point.only.contains_key(other) && names.iter().all(|(choice, name)| point.is_for(choice, name))
        };
        product(&self.flags, &self.sweeps).into_iter().filter(is_mine).collect()
    }
}

/// A checked experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// The file's name without `.toml`.
    pub name: String,
    /// The file, word for word.
    pub text: String,
    /// Whether it is of commands on the command line, without a file.
    pub is_of_commands: bool,
    /// The question that the experiment answers; empty if the file has none.
    pub question: String,
    /// Why each other collector of the program is left out, if the file asks for all.
    pub left_out: Vec<String>,
    /// The workloads, each under each collector, and then the programs.
    pub entries: Vec<Entry>,
    /// Builds of gclab that do the runs of workloads; without any, this one does.
    pub builds: Vec<Arc<Build>>,
    /// The hash of this gclab, if it is known.
    pub executable: Option<String>,
    /// The number of runs of each configuration.
    pub repeat: u32,
    /// The precision at which the experiment is complete, as a share: of the mean time of each
    /// configuration.
    pub precision: Option<f64>,
    /// The seed of the order of runs.
    pub seed: u64,
    /// Time limit of one run.
    pub timeout: Duration,
    /// Whether runs of workloads read their performance counters at each pause.
    pub pause_counters: bool,
    /// Sizes of the heap, in multiples of the reference minimum of each workload; empty if the file
    /// has no `heap`.
    pub heap: Vec<f64>,
    /// The limits on pauses for which the report names a collector, ascending; empty without `pause`.
    pub pause: Vec<Duration>,
}

impl Experiment {
    /// The workloads of gclab's, each under each collector.
    pub fn own(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_own())
    }

    /// The foreign programs.
    pub fn programs(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| !entry.is_own())
    }

    /// The points of all axes. Entries that share their sweeps come once.
    fn swept(&self) -> impl Iterator<Item = (&Entry, &Point)> {
        let mut last = None;
        let entries = self.entries.iter();
        let entries =
            entries.filter(move |entry| last.replace(Arc::as_ptr(&entry.sweeps)) != Some(Arc::as_ptr(&entry.sweeps)));
        entries.flat_map(|entry| {
            let points = entry.sweeps.iter().flatten().flat_map(|axis| &axis.points);
            points.map(move |point| (entry, point))
        })
    }

    /// Every axis that is a setting of runs, with the text of all its values, in the order of the
    /// file: builds, flags, variables of the environment, and arguments of programs.
    pub fn axes(&self) -> Vec<results::Axis> {
        let mut axes = Axes::default();
        for build in &self.builds {
            axes.add("build", &build.name);
        }
        for (entry, point) in self.swept() {
            let words = point
                .words()
                .filter(|(name, _)| !(entry.is_own() && name.starts_with(ARGS)));
            words.for_each(|(name, value)| axes.add(&name, value));
        }
        axes.all
    }

    /// The values of every axis, of settings and of works, by name.
    pub(crate) fn values(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, value) in self.swept().flat_map(|(_, point)| point.words()) {
            if !CHOICES.contains(&name.as_str()) {
                values.entry(name).or_default().insert(value.to_owned());
            }
        }
        values
    }

    /// The works of the file, each once, in its order: workloads with their arguments, then
    /// programs.
    pub fn works(&self) -> Vec<(&str, &[String])> {
        let works = self.entries.iter();
        each_once(works.map(|entry| (entry.workload.as_str(), entry.args.as_slice())))
    }

    /// The collectors of the file, each once, and the names of programs that stand among them.
    pub fn columns(&self) -> Vec<&str> {
        each_once(self.entries.iter().map(|entry| entry.collector.as_str()))
    }

    /// The collectors of workloads, each once.
    pub fn collectors(&self) -> Vec<&str> {
        each_once(self.own().map(|entry| entry.collector.as_str()))
    }
}

fn each_once<T: Ord + Copy>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.filter(|one| seen.insert(*one)).collect()
}

/// Axes and their values, each once.
#[derive(Default)]
struct Axes {
    all: Vec<results::Axis>,
    seen: BTreeSet<(String, String)>,
}

impl Axes {
    fn add(&mut self, name: &str, value: &str) {
        if (CHOICES.contains(&name) && name != "build") || !self.seen.insert((name.to_owned(), value.to_owned())) {
            return;
        }
        let place = self.all.iter().position(|known| known.flag == name);
        let place = place.unwrap_or_else(|| {
            self.all.push(results::Axis {
                flag: name.to_owned(),
                values: Vec::new(),
            });
            self.all.len() - 1
        });
        self.all[place].values.push(value.to_owned());
    }
}
