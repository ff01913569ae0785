//! The samples of a time profile (`-p`), by the innermost cost centre of their stacks.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::data::{Interval, TimeSamples};
use crate::event::Event;
use crate::kinds::number::{HEAP_PROF_COST_CENTRE, PROF_BEGIN, PROF_SAMPLE_COST_CENTRE};
use crate::value::Value;

/// Limit on cost centres told apart. Samples of further ones are counted without a name.
const MOST: usize = 1 << 14;

/// Longest name, in characters: a hostile log may have many long ones.
const LONGEST: usize = 120;

/// The samples so far.
#[derive(Debug, Default)]
pub(super) struct Samples {
    tick_ns: Option<u64>,
    count: u64,
    /// By cost centre number; 0 is `MAIN`, since GHC numbers from 1.
    by_centre: HashMap<u32, u64>,
    names: HashMap<u32, String>,
}

/// The number of the empty stack.
const MAIN: u32 = 0;

impl Samples {
    #[cold]
    pub(super) fn event(&mut self, event: &Event<'_>, number: u16, interval: Interval) {
        match number {
            PROF_BEGIN => [self.tick_ns] = event.numbers(),
            HEAP_PROF_COST_CENTRE => {
                let [Some(id)] = event.numbers() else { return };
                if let Some((_, Value::Text(label))) = event.fields().nth(1)
                    && self.names.len() < MOST
                {
                    let label = String::from_utf8_lossy(label).chars().take(LONGEST).collect();
                    self.names.insert(id as u32, label);
                }
            }
            PROF_SAMPLE_COST_CENTRE if interval.contains(event.time()) => {
                let Some((_, Value::Ids(stack))) = event.fields().nth(2) else {
                    return;
                };
                self.count += 1;
                let innermost = stack.first().map_or(MAIN, |id| u32::from_be_bytes(*id));
                if self.by_centre.len() < MOST || self.by_centre.contains_key(&innermost) {
                    *self.by_centre.entry(innermost).or_insert(0) += 1;
                }
            }
            _ => {}
        }
    }

    /// The samples; `None` if the log has no time profile.
    pub(super) fn finish(self) -> Option<TimeSamples> {
        if self.count == 0 && self.tick_ns.is_none() {
            return None;
        }
        // Cost centres of the same name are one.
        let mut named: HashMap<String, u64> = HashMap::new();
        for (id, count) in self.by_centre {
            let unknown = || if id == MAIN { "MAIN" } else { "?" }.to_owned();
            let name = self.names.get(&id).cloned().unwrap_or_else(unknown);
            *named.entry(name).or_insert(0) += count;
        }
        let mut centres: Vec<(String, u64)> = named.into_iter().collect();
        centres.sort_by_key(|(name, count)| (Reverse(*count), name.clone()));
        Some(TimeSamples {
            tick_ns: self.tick_ns,
            count: self.count,
            centres,
        })
    }
}
