//! `gclab tune`: which flags for this program?
//!
//! - `figures`: the figures of a run, goals and limits;
//! - `space`: the settings that a search may try;
//! - `search`: which runs to do next; `answer`: the conclusion;
//! - `offer`: the space of a program, from the adapter of its runtime.
//!
//! [`Tuning`] is the strategy: the runs of a search, with their records in a results folder. The
//! folder's plan has every run that the search could ask for; when the search is over, the plan
//! becomes the list of the runs that were done.

pub mod answer;
pub mod figures;
pub mod offer;
pub mod search;
pub mod space;

use std::collections::{BTreeSet, VecDeque};

use gclab_core::words::size::read_number;
use gclab_results::{PlannedRun, ResultsDir, RunRecord};

use crate::run::Run;
use crate::runner::Strategy;
use crate::text::{counted, ends};
use figures::Figures;
use offer::Offer;
use search::{MOST_RUNS, Search};

/// All runs that a search in `offer` could ask for: runs of one setting stand together.
pub fn plan(offer: &Offer) -> Vec<Run> {
    let mut plan = Vec::new();
    for combination in &offer.combinations {
        for round in 0..MOST_RUNS {
            plan.push(Run::new(combination, round as u32, plan.len() as u32));
        }
    }
    plan
}

/// The runs of a search.
#[derive(Debug)]
pub struct Tuning<'t> {
    search: &'t mut Search,
    plan: &'t [Run],
    /// The settings whose runs come next.
    batch: VecDeque<usize>,
    /// The setting of the run that is under way.
    running: usize,
    /// The runs that were done, in their order.
    pub done: Vec<PlannedRun>,
}

impl<'t> Tuning<'t> {
    /// The runs that `search` asks for, of [`plan`].
    pub fn new(search: &'t mut Search, plan: &'t [Run]) -> Tuning<'t> {
        Tuning {
            search,
            plan,
            batch: VecDeque::new(),
            running: 0,
            done: Vec::new(),
        }
    }

    /// Asks the search for its next runs. Returns whether there are any.
    fn fetch(&mut self) -> bool {
        let asked = self.search.asked();
        self.batch = self.search.next_batch().into();
        if !self.batch.is_empty() {
            let settings: BTreeSet<&usize> = self.batch.iter().collect();
            tell!(
                "{}: {} of {}, after {asked}",
                self.search.part(),
                counted(self.batch.len(), "run"),
                counted(settings.len(), "setting"),
            );
        }
        !self.batch.is_empty()
    }
}

impl Strategy for Tuning<'_> {
    fn next(&mut self, done: &ResultsDir) -> Option<Run> {
        loop {
            let Some(setting) = self.batch.pop_front() else {
                if self.fetch() {
                    continue;
                }
                return None;
            };
            let Some(number) = self.search.next_run(setting) else {
                continue;
            };
            let mut run = self.plan[setting * MOST_RUNS + number].clone();
            // Drift shows in the order in which runs were done.
            run.planned.position = self.done.len() as u32;
            self.done.push(run.planned.clone());
            match done.runs().iter().find(|known| known.id == run.planned.id) {
                Some(known) => self.search.tell(setting, figures_of(known)),
                None => {
                    self.running = setting;
                    return Some(run);
                }
            }
        }
    }

    fn ended(&mut self, record: &RunRecord) {
        self.search.tell(self.running, figures_of(record));
    }
}

/// The figures of a run: the time of the measured phase, or of the whole process if the program
/// reports no phases; the peak of the heap for gclab, GHC and OCaml, and the largest resident set for
/// others; whichever of the two is there.
///
/// # Errors
/// The reason why the run failed.
pub fn figures_of(record: &RunRecord) -> Result<Figures, String> {
    if !record.outcome.is_ok() {
        let tail = record.stderr_tail.as_deref().unwrap_or_default();
        return Err(format!("{}{}", record.outcome, ends(tail)));
    }
    let stats = record.stats.as_ref();
    let measured = stats
        .and_then(|stats| stats.phases.as_ref())
        .and_then(|phases| phases.measured.total_elapsed_seconds);
    let longest = stats.and_then(|stats| {
        let pauses = stats.pauses.as_ref();
        let of_all = pauses.map(|pauses| pauses.max_ns.unwrap_or(0) as f64 / 1e9);
        // GHC reports the longest pause of each generation.
        let generations = stats.generations.iter().filter_map(|of| of.max_pause_seconds);
        of_all.or_else(|| generations.reduce(f64::max))
    });
    let heap = stats.and_then(|stats| stats.peak_in_use_bytes);
    let resident = record.max_rss_bytes;
    let memory = match record.runtime.as_deref() {
        None | Some("ghc") => heap.or(resident),
        // Small programs have no figure of their resident set, and the heap is without its young part.
        Some("ocaml") => heap.map(|heap| heap + young_of_ocaml(record)).or(resident),
        _ => resident.or(heap),
    };
    Ok(Figures {
        time: measured.or(record.wall_seconds).ok_or("its record has no time")?,
        pause: longest,
        memory: memory.map(|bytes| bytes as f64),
        disturbed: record
            .conditions
            .as_ref()
            .is_some_and(|during| during.disturbances.is_some()),
    })
}

/// The minor heap of a program of OCaml, in bytes.
fn young_of_ocaml(record: &RunRecord) -> u64 {
    let words = record.flags.get("s").and_then(|words| read_number(words));
    8 * words.map_or(OCAML_MINOR_WORDS, |words| words as u64)
}

/// OCaml's default of `s`.
const OCAML_MINOR_WORDS: u64 = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use gclab_results::RunStats;

    #[test]
    fn memory_is_the_figure_that_a_record_has() {
        let of = |runtime: &str, s: Option<&str>, heap: Option<u64>, max_rss_bytes: Option<u64>| {
            let mut record = RunRecord {
                wall_seconds: Some(1.0),
                max_rss_bytes,
                stats: Some(RunStats {
                    peak_in_use_bytes: heap,
                    ..RunStats::default()
                }),
                ..RunRecord::default()
            };
            record.run.runtime = Some(runtime.to_owned());
            let flags = s.map(|s| ("s".to_owned(), s.to_owned()));
            record.run.configuration.flags.extend(flags);
            figures_of(&record).expect("a good run").memory
        };
        let mib = |count: u64| Some((count << 20) as f64);
        assert_eq!(of("ocaml", None, Some(1 << 20), None), mib(3), "with 256k words");
        assert_eq!(of("ocaml", Some("1m"), Some(1 << 20), Some(1 << 30)), mib(9));
        assert_eq!(of("ocaml", None, None, Some(5 << 20)), mib(5));
        assert_eq!(of("jvm", None, Some(1 << 20), Some(5 << 20)), mib(5));
        assert_eq!(of("jvm", None, Some(1 << 20), None), mib(1));
    }
}
