//! The biographical profile (`-hb`): how much of the heap has not been used yet, is in use, will
//! not be used again, or is never used.
//!
//! A census counts the closures that roots keep alive, by what can be seen then: not used yet, used
//! since the previous census, used earlier. The difference between lag and void, and between use
//! and drag, is known only later. Mutators record it ([`gclab_core::profile::Biographies`]), and at
//! the end of the run the two are combined:
//!
//! | band | is |
//! |---|---|
//! | `VOID` | not used yet, less the bytes noted to lag |
//! | `LAG` | the bytes noted to lag |
//! | `USE` | used since the census before, and the bytes noted to be used again |
//! | `INHERENT_USE` | variables, arrays, byte arrays, records: not followed |
//! | `DRAG` | used earlier, less the bytes noted to be used again |
//!
//! Targets of weak handles count too: a program may get them back and use them.
//!
//! Counts are kept for each pair of an info table and a stack of cost centres, since `-hbdrag -hc`
//! asks whose closures drag. That is 40 bytes for each pair and each census that saw it.

use super::bands::{Bands, NONE};
use crate::traverse::{Traversal, Visit};
use gclab_core::closure::TypeInfo;
use gclab_core::config::Breakdown;
use gclab_core::profile::{Eras, StackId};
use gclab_core::world::Stopped;
use std::collections::HashMap;

/// The bands of `-hb`, in GHC's order.
const BIOGRAPHY_BANDS: [&str; 5] = ["VOID", "LAG", "USE", "INHERENT_USE", "DRAG"];

/// The counts that one census can see, in words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    not_used: u64,
    used_since: u64,
    used_before: u64,
    inherent: u64,
}

/// Closures counted together: those of one info table (by address) allocated by one stack.
type Group = (usize, StackId);

/// The counts of a group, in the order of eras. An era without such closures has no entry.
#[derive(Debug)]
struct History {
    info: &'static TypeInfo,
    stack: StackId,
    seen: Vec<(u64, Seen)>,
}

/// A biographical profile being taken.
#[derive(Debug, Default)]
pub(super) struct Biography {
    /// The index of each group in `histories`.
    groups: HashMap<Group, usize>,
    histories: Vec<History>,
    /// The era that each census ended.
    ended: Vec<u64>,
    /// The right to end eras, from the first census on.
    eras: Option<Eras>,
}

impl Biography {
    /// Takes the right to end the eras of this heap, if not held already. Returns false if another
    /// biography of the heap is being taken.
    pub(super) fn begin(&mut self, stopped: &Stopped<'_>) -> bool {
        self.eras = self.eras.take().or_else(|| stopped.eras());
        self.eras.is_some()
    }

    /// Counts the closures, and begins another era. Counts nothing without the right to do so.
    pub(super) fn census(&mut self, stopped: &Stopped<'_>, traversal: &mut Traversal, bands: &mut Bands) {
        if !self.begin(stopped) {
            return;
        }
        let Some(eras) = &mut self.eras else { return };
        let side_words = eras.side_words();
        let era = side_words.era();
        let (groups, histories) = (&mut self.groups, &mut self.histories);
        let mut now = vec![Seen::default(); histories.len()];
        let mut last: (Option<Group>, usize) = (None, 0);
        let roots = stopped.root_closures().into_iter().chain(stopped.weak_closures());
        traversal.each(roots, |closure| {
            if bands.of_closure(closure, Some(side_words)) == NONE {
                return Visit::Descend(());
            }
            let (info, word) = (closure.info(), side_words.get(closure.addr()));
            let group = (std::ptr::from_ref(info).addr(), word.stack());
            // Neighbours are often of one group.
            if last.0 != Some(group) {
                let place = *groups.entry(group).or_insert_with(|| {
                    histories.push(History {
                        info,
                        stack: word.stack(),
                        seen: Vec::new(),
                    });
                    now.push(Seen::default());
                    histories.len() - 1
                });
                last = (Some(group), place);
            }
            let seen = &mut now[last.1];
            let place = match word.last_used() {
                _ if !info.kind.is_data() => &mut seen.inherent,
                None => &mut seen.not_used,
                Some(last) if last == era => &mut seen.used_since,
                Some(_) => &mut seen.used_before,
            };
            *place += closure.words().0 as u64;
            Visit::Descend(())
        });
        for (history, seen) in histories.iter_mut().zip(now) {
            if seen != Seen::default() {
                history.seen.push((era, seen));
            }
        }
        self.ended.push(era);
        stopped.end_era(eras);
    }

    /// Bytes by band at each census, in order. Bands are made by `breakdown`, from closures whose
    /// biography band is in `only`. With a breakdown other than by biography, a band may have
    /// several entries.
    pub(super) fn bands(&self, bands: &mut Bands, breakdown: Breakdown, only: &[String]) -> Vec<Vec<(String, u64)>> {
        let Some(side_words) = self.eras.as_ref().map(Eras::side_words) else {
            return Vec::new();
        };
        let spans: HashMap<Group, _> = side_words
            .spans()
            .into_iter()
            .map(|span| ((std::ptr::from_ref(span.info).addr(), span.stack), span))
            .collect();
        let at = |era: u64, words: &[u64]| words.get(era as usize).copied().unwrap_or(0);
        let takes = |band: &str| only.is_empty() || only.iter().any(|name| name.eq_ignore_ascii_case(band));
        let taken = || BIOGRAPHY_BANDS.iter().enumerate().filter(|(_, band)| takes(band));
        let of_era = |era: u64| {
            let mut sums: Vec<(String, u64)> = Vec::new();
            if breakdown == Breakdown::Biography {
                // All bands in their order, empty ones too.
                sums.extend(taken().map(|(_, band)| ((*band).to_owned(), 0)));
            }
            for History { info, stack, seen } in &self.histories {
                let Ok(place) = seen.binary_search_by(|(other, _)| other.cmp(&era)) else {
                    continue;
                };
                let seen = seen[place].1;
                let group = (std::ptr::from_ref(*info).addr(), *stack);
                let (lag, again) = spans
                    .get(&group)
                    .map_or((0, 0), |span| (at(era, &span.lag), at(era, &span.used_again)));
                let words = [
                    seen.not_used - lag,
                    lag,
                    seen.used_since + again,
                    seen.inherent,
                    seen.used_before - again,
                ];
                for (at, (number, _)) in taken().enumerate() {
                    let bytes = words[number] * 8;
                    match breakdown {
                        Breakdown::Biography => sums[at].1 += bytes,
                        _ => sums.push((bands.name_of(info, *stack, side_words).to_owned(), bytes)),
                    }
                }
            }
            sums
        };
        self.ended.iter().copied().map(of_era).collect()
    }
}
