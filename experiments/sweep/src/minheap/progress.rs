//! The progress of a search: one changing line on a terminal, elsewhere a line for each probe.

use gclab_results::{Configuration, RunRecord, Status, printable};
use indicatif::ProgressBar;

use crate::runner::progress::bar;
use crate::text::mebibytes;

/// Shows the progress of all searches of a command.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    /// The number of searches that are done, and of all.
    searches: (usize, usize),
    probes: usize,
    probe: String,
}

impl Progress {
    /// Begins `searches` searches.
    pub fn begin(searches: usize) -> Progress {
        Progress {
            bar: bar(0, searches),
            searches: (0, searches),
            probes: 0,
            probe: String::new(),
        }
    }

    /// Shows that a probe begins.
    pub(super) fn start(&mut self, question: &Configuration, heap: Option<u64>) {
        self.probe = format!(
            "{} {}",
            printable(&question.to_string()),
            match heap {
                Some(heap) => format!("with {}", mebibytes(heap)),
                None if question.program.is_some() => "without a limit".to_owned(),
                None => "without -M".to_owned(),
            }
        );
        if let Some(bar) = &self.bar {
            bar.set_message(format!("probe {}: {}", self.probes + 1, self.probe));
        }
    }

    /// Shows that the probe has ended.
    pub(super) fn finish(&mut self, probe: &RunRecord) {
        self.probes += 1;
        if self.bar.is_none() {
            let (done, all) = self.searches;
            tell!(
                "[{}/{all}] {}: {} {:.2} s",
                (done + 1).min(all),
                self.probe,
                outcome(&probe.outcome),
                probe.wall_seconds.unwrap_or(0.0)
            );
        }
    }

    /// Shows that a search has ended.
    pub fn found(&mut self) {
        self.searches.0 += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// The number of probes that were run; those read from disk do not count.
    pub fn probes(&self) -> usize {
        self.probes
    }

    /// Removes the line.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// An outcome as searches call it: a timeout is thrashing.
pub fn outcome(status: &Status) -> String {
    match status {
        Status::Timeout => "thrashing".to_owned(),
        other => other.to_string(),
    }
}
