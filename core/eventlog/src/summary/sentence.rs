//! A summary in a few sentences.

use super::data::{Stops, Summary};

/// The smallest share of the run at which stopping the capabilities is worth a sentence.
const SLOW_TO_STOP: f64 = 0.05;

impl Summary {
    /// The elapsed time: of the run, or up to the last event of a log that does not tell its end.
    pub fn elapsed_ns(&self) -> u64 {
        self.total_ns.unwrap_or(self.last_ns)
    }

    /// What several capabilities did, the shares of collections and mutator, and what stands out:
    /// sparks, time to stop, and a heap profile whose censuses lie within the collections. Figures
    /// of a damaged log are lower bounds.
    pub fn sentences(&self) -> Vec<String> {
        let total = self.elapsed_ns() as f64;
        let share = |ns: u64| format!("{:.1} %", 100.0 * ns as f64 / total.max(1.0));
        let least = if self.damaged { "at least " } else { "" };
        let mut sentences = Vec::new();
        let time = format!("{least}{:.3} s", total / 1e9);
        // Unknown if the log has no threads, or is damaged.
        if let Some(mutator_ns) = self.mutator_ns {
            let ran = self.caps.iter().map(|cap| cap.ran_ns as f64 / total.max(1.0));
            let looks = self.looks.map_or(0, |looks| looks.total_ns());
            let stopped = self.gc_ns.unwrap_or(0).saturating_add(looks) as f64;
            match &self.caps[..] {
                // Some time passes before and after its thread runs.
                [only] if only.ran_ns < mutator_ns / 2 => sentences.push(format!(
                    "The capability ran the program for {} and waited for {}.",
                    share(only.ran_ns),
                    share(mutator_ns - only.ran_ns)
                )),
                [_, _, ..] => {
                    let waited = ran.clone().map(|ran| (1.0 - stopped / total.max(1.0) - ran).max(0.0));
                    sentences.push(format!(
                        "The capabilities ran the program for {} and waited for {}.",
                        shares(ran),
                        shares(waited)
                    ));
                }
                _ => {}
            }
        }
        let mutator = self
            .mutator_ns
            .map_or_else(String::new, |ns| format!(", mutator {}", share(ns)));
        sentences.push(match (self.gc_ns, self.pauses.count()) {
            (Some(gc), count) if count > 0 => format!(
                "GC {}{mutator} of {time}: {count} {}, the longest {:.3} ms.",
                share(gc),
                if count == 1 { "pause" } else { "pauses" },
                self.pauses.longest_ns() as f64 / 1e6
            ),
            (Some(_), _) => format!("No collection in {time}."),
            (None, _) => format!("The log does not record collections; the run takes {time}."),
        });
        if let Some(Stops { total_ns, .. }) = self.time_to_stop
            && total_ns as f64 > SLOW_TO_STOP * total
            && self.capabilities.is_some_and(|count| count > 1)
        {
            sentences.push(format!(
                "Stopping the capabilities for them takes {}, which counts as mutator time.",
                share(total_ns)
            ));
        }
        if let Some(sparks) = self.sparks.filter(|sparks| sparks.total() > 0) {
            let fates = [
                (sparks.converted, "converted"),
                (sparks.overflowed, "overflowed"),
                (sparks.dud, "dud"),
                (sparks.gcd, "GC'd"),
                (sparks.fizzled, "fizzled"),
            ];
            let fates = fates.iter().filter(|(count, _)| *count > 0);
            let fates: Vec<String> = fates.map(|(count, fate)| format!("{count} {fate}")).collect();
            sentences.push(format!("{least}{} sparks: {}.", sparks.total(), fates.join(", ")));
        }
        if self.has_profile && self.looks.is_none() {
            sentences.push("The run made a heap profile, whose censuses slow it down: measure without -h.".to_owned());
        }
        sentences
    }
}

/// The shares of two capabilities, or the range of more.
fn shares(all: impl Iterator<Item = f64>) -> String {
    let mut all: Vec<f64> = all.map(|share| 100.0 * share).collect();
    match &all[..] {
        [one, other] => format!("{one:.0} % and {other:.0} %"),
        _ => {
            all.sort_by(f64::total_cmp);
            format!("{:.0} to {:.0} %", all[0], all[all.len() - 1])
        }
    }
}
