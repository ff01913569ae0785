//! The heap profile in a log, in bounded memory.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::data::{Census, HeapProfile};
use super::marks::cut;
use crate::event::Event;
use crate::header::Header;
use crate::kind::breakdown_text;
use crate::kinds::number::*;
use crate::value::Value;

/// Limit on bands with their own names.
const NAMED: usize = 15;

/// Limit on names, and on cost centres, kept. The bytes of further ones go to the rest.
const MOST_NAMES: usize = 1 << 14;

/// Limit on figures kept: 4 MiB. Beyond that every second census is left out.
const MOST_FIGURES: usize = 1 << 18;

/// The band of all names beyond the limit.
const REST: u32 = u32::MAX;

/// A census: its time, and bands with their bytes.
type Counted = (u64, Vec<(u32, u64)>);

/// The bands and censuses so far.
#[derive(Debug, Default)]
pub(super) struct Bands {
    breakdown: Option<&'static str>,
    centres: HashMap<u32, String>,
    names: HashMap<String, u32>,
    censuses: Vec<Counted>,
    open: Option<Counted>,
    /// Whether censuses have an end event. In GHC 8.4 and older a census ends where the next one
    /// begins.
    censuses_end: bool,
    seen: u64,
    figures: usize,
    /// One in 2 to this power is kept.
    thinned: u32,
}

impl Bands {
    /// The bands at the start of a log with this header.
    pub(super) fn before(header: &Header) -> Self {
        Bands {
            censuses_end: header.numbered(HEAP_PROF_SAMPLE_END).is_some(),
            ..Bands::default()
        }
    }

    #[cold]
    pub(super) fn event(&mut self, event: &Event<'_>, number: u16, time: u64) {
        match number {
            HEAP_PROF_BEGIN => {
                let [_, _, breakdown] = event.numbers();
                self.breakdown = breakdown.and_then(breakdown_text);
            }
            HEAP_PROF_COST_CENTRE => self.centre(event),
            HEAP_PROF_SAMPLE_BEGIN => self.begin(time),
            HEAP_BIO_PROF_SAMPLE_BEGIN => {
                let [_, at] = event.numbers();
                self.begin(at.map_or(time, |at| at.min(time)));
            }
            HEAP_PROF_SAMPLE_STRING | HEAP_PROF_SAMPLE_COST_CENTRE => {
                let [_, Some(bytes)] = event.numbers() else { return };
                let name = match event.fields().nth(2) {
                    Some((_, Value::Text(label))) => cut(label),
                    Some((_, Value::Ids(stack))) => self.stack(stack),
                    _ => return,
                };
                self.count(name, bytes);
            }
            HEAP_PROF_SAMPLE_END => self.end(),
            _ => {}
        }
    }

    fn centre(&mut self, event: &Event<'_>) {
        let [Some(id)] = event.numbers() else { return };
        if let Some((_, Value::Text(label))) = event.fields().nth(1)
            && self.centres.len() < MOST_NAMES
        {
            self.centres.insert(id as u32, cut(label));
        }
    }

    /// A stack of cost centres as in `.hp` files: the innermost first.
    fn stack(&self, stack: &[[u8; 4]]) -> String {
        if stack.is_empty() {
            return "MAIN".to_owned();
        }
        let label = |id: &[u8; 4]| {
            let id = u32::from_be_bytes(*id);
            self.centres.get(&id).map_or("?", String::as_str)
        };
        cut(stack.iter().map(label).collect::<Vec<_>>().join("/").as_bytes())
    }

    fn begin(&mut self, at: u64) {
        if !self.censuses_end {
            self.end();
        }
        let is_kept = self.seen.is_multiple_of(1 << self.thinned);
        self.open = is_kept.then(|| (at, Vec::new()));
        self.seen += 1;
    }

    fn count(&mut self, name: String, bytes: u64) {
        let Some((_, census)) = &mut self.open else { return };
        let next = self.names.len();
        let band = match self.names.get(&name) {
            Some(band) => *band,
            None if next < MOST_NAMES => {
                self.names.insert(name, next as u32);
                next as u32
            }
            None => REST,
        };
        // Only a hostile log names its bands so often in one census.
        let is_full = self.figures + census.len() >= 2 * MOST_FIGURES;
        match census.last_mut() {
            Some((last, sum)) if *last == band => *sum = sum.saturating_add(bytes),
            _ if is_full => {}
            _ => census.push((band, bytes)),
        }
    }

    fn end(&mut self) {
        let Some(census) = self.open.take() else { return };
        self.figures += census.1.len() + 1;
        self.censuses.push(census);
        if self.figures > MOST_FIGURES {
            self.thinned = (self.thinned + 1).min(62);
            let mut place = 0;
            self.censuses.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.figures = self.censuses.iter().map(|(_, census)| census.len() + 1).sum();
        }
    }

    /// The profile, if there was a census. One that the log cuts off is left out. `damaged`: the
    /// log lost its end.
    pub(super) fn finish(mut self, damaged: bool) -> Option<HeapProfile> {
        if !self.censuses_end && !damaged {
            self.end();
        }
        if self.censuses.is_empty() {
            return None;
        }
        self.censuses.sort_by_key(|(at, _)| *at);
        let mut totals = vec![0_u64; self.names.len()];
        let mut rest = 0_u64;
        for (band, bytes) in self.censuses.iter().flat_map(|(_, census)| census) {
            let total = totals.get_mut(*band as usize).unwrap_or(&mut rest);
            *total = total.saturating_add(*bytes);
        }
        let mut names: Vec<(String, u32)> = self.names.into_iter().collect();
        names.sort_by_key(|(name, band)| (Reverse(totals[*band as usize]), name.clone()));
        let others = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        let mut places = vec![names.len(); totals.len()];
        for (place, (_, band)) in names.iter().enumerate() {
            places[*band as usize] = place;
        }
        let mut bands: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        let has_rest = others > 0 || rest > 0;
        let width = bands.len() + usize::from(has_rest);
        let censuses = self.censuses.into_iter().map(|(at, census)| {
            let mut bytes = vec![0_u64; width];
            for (band, more) in census {
                let place = places.get(band as usize).copied().unwrap_or(width - 1);
                bytes[place] = bytes[place].saturating_add(more);
            }
            Census { at, bytes }
        });
        let censuses = censuses.collect();
        if has_rest {
            bands.push("OTHER".to_owned());
        }
        Some(HeapProfile {
            breakdown: self.breakdown,
            bands,
            others,
            censuses,
            one_in: 1 << self.thinned,
        })
    }
}
