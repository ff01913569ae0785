//! Rules for heap profiles and time profiles.

use std::collections::HashSet;

use crate::event::Event;
use crate::header::Header;
use crate::kinds::number::*;
use crate::value::Value;

/// Limit on cost centres remembered.
const MOST: usize = 1 << 20;

/// The state of the profile.
#[derive(Debug, Default)]
pub(super) struct Profile {
    begun: bool,
    in_sample: bool,
    /// Whether samples have an end event. GHC 8.4 and older write none.
    samples_end: bool,
    /// The last tick of a time profile; `None` before it begins.
    tick: Option<u64>,
    cost_centres: HashSet<u32>,
}

/// The rule broken, and how.
type Broken = Option<(&'static str, String)>;

impl Profile {
    /// The state at the start of a log with this header.
    pub(super) fn before(header: &Header) -> Self {
        Profile {
            samples_end: header.numbered(HEAP_PROF_SAMPLE_END).is_some(),
            ..Profile::default()
        }
    }

    /// Checks an event.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Broken {
        let broken = |rule, text: &str| Some((rule, text.to_owned()));
        match event.known() {
            HEAP_PROF_BEGIN => self.begun = true,
            HEAP_PROF_COST_CENTRE => {
                let [id] = event.numbers();
                if self.cost_centres.len() < MOST {
                    self.cost_centres.extend(id.map(|id| id as u32));
                }
            }
            HEAP_PROF_SAMPLE_BEGIN | HEAP_BIO_PROF_SAMPLE_BEGIN => {
                let open = std::mem::replace(&mut self.in_sample, true);
                if !self.begun {
                    return broken("samples follow HEAP_PROF_BEGIN", "a sample without HEAP_PROF_BEGIN");
                }
                if open && self.samples_end {
                    return broken(
                        "every sample ends before the next one",
                        "a sample begins before the previous one has ended",
                    );
                }
            }
            HEAP_PROF_SAMPLE_END => {
                let open = std::mem::take(&mut self.in_sample);
                if !open {
                    return broken(
                        "samples begin before they end",
                        "HEAP_PROF_SAMPLE_END outside of a sample",
                    );
                }
            }
            HEAP_PROF_SAMPLE_STRING | HEAP_PROF_SAMPLE_COST_CENTRE if !self.in_sample => {
                return broken("bands lie within a sample", "a band outside of a sample");
            }
            HEAP_PROF_SAMPLE_COST_CENTRE => return self.stack(event),
            PROF_BEGIN => self.tick = Some(0),
            PROF_SAMPLE_COST_CENTRE => return self.time_sample(event).or_else(|| self.stack(event)),
            _ => {}
        }
        None
    }

    /// Samples of a time profile come after its beginning, and ticks do not run backwards.
    fn time_sample(&mut self, event: &Event<'_>) -> Broken {
        let Some(last) = self.tick else {
            let text = "a sample of a time profile without PROF_BEGIN".to_owned();
            return Some(("samples of a time profile follow PROF_BEGIN", text));
        };
        let [_, Some(tick)] = event.numbers() else { return None };
        self.tick = Some(tick.max(last));
        let text = || format!("tick {tick} comes after tick {last}");
        (tick < last).then(|| ("ticks of a time profile do not run backwards", text()))
    }

    /// The cost centres of a stack are declared before it.
    fn stack(&self, event: &Event<'_>) -> Broken {
        let ids = event.fields().find_map(|(_, value)| match value {
            Value::Ids(ids) => Some(ids),
            _ => None,
        })?;
        let mut ids = ids.iter().map(|id| u32::from_be_bytes(*id));
        let unknown = ids.find(|id| !self.cost_centres.contains(id) && self.cost_centres.len() < MOST)?;
        let text = format!("cost centre {unknown} in a stack was not defined");
        Some(("cost centres are defined first", text))
    }
}
