//! What the user sees of a search: on a terminal one line that changes, elsewhere a line for each probe.

use std::io::IsTerminal;

use gclab_results::{Configuration, Probe, Status};
use indicatif::{ProgressBar, ProgressStyle};

use super::size;
use crate::runner::progress::TICK;

/// The line.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Searches done, and all of them.
    searches: (usize, usize),
    probes: usize,
    what: String,
}

impl Progress {
    /// Begins; `searches` are to be done.
    pub fn begin(searches: usize) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}").expect("a template of known keys");
            let bar = ProgressBar::new(searches as u64).with_style(style);
            bar.enable_steady_tick(TICK);
            bar
        });
        Progress {
            bar,
            searches: (0, searches),
            probes: 0,
            what: String::new(),
        }
    }

    /// A probe begins.
    pub fn start(&mut self, question: &Configuration, heap: Option<u64>) {
        self.what = format!(
            "{question} {}",
            heap.map_or_else(|| "without -M".into(), |heap| format!("with {}", size(heap)))
        );
        if let Some(bar) = &self.bar {
            bar.set_message(format!("probe {}: {}", self.probes + 1, self.what));
        }
    }

    /// The probe has ended.
    pub fn finish(&mut self, probe: &Probe) {
        self.probes += 1;
        if self.bar.is_none() {
            let (done, all) = self.searches;
            tell!(
                "[{}/{all}] {}: {} {:.2} s",
                (done + 1).min(all),
                self.what,
                outcome(&probe.outcome),
                probe.wall_seconds.unwrap_or(0.0)
            );
        }
    }

    /// A search has ended.
    pub fn found(&mut self) {
        self.searches.0 += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Probes that were run, not read.
    pub fn probes(&self) -> usize {
        self.probes
    }

    /// The line goes away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// An outcome in the words of a search.
pub fn outcome(status: &Status) -> String {
    match status {
        Status::Timeout => "thrashing".to_owned(),
        other => other.to_string(),
    }
}
