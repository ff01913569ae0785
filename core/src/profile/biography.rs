//! Biographies: when closures were used, as far as it matters to censuses.
//!
//! A census belongs to the *era* that it ends; eras are numbered from 1. GHC's terms for a closure
//! at the census of era `t`, created in era `c`, last used in era `l`:
//!
//! * *lag*: it has not been used yet, and will be;
//! * *use*: it was used before (`l` = `t`, or earlier), and unless `l` = `t` will be used again;
//! * *drag*: it was used, in an earlier era, and will not be used again;
//! * *void*: it has not been used, and never will be.
//!
//! Only uses of data are followed ([`crate::closure::Kind::is_data`]): variables, arrays, byte
//! arrays and records are *inherently used*, as in GHC.
//!
//! A census alone cannot tell lag from void, or use from drag: they differ in later events. GHC
//! looks at each closure once more when it is dead, which each of its collectors must do. Here the
//! answer is recorded when it becomes known. A closure's first use in era `u` says that the
//! censuses from `c` to `u` - 1 saw it lagging, or, if it was used before, that those from `l` + 1
//! to `u` - 1 saw it in use. Whatever is left at the end was void or dragged. So dead closures
//! never need to be found.
//!
//! Memory: 16 bytes for each era, for each pair of an info table and a stack of cost centres that
//! was used.

use super::cost_centre::StackId;
use super::side_word::SideWord;
use crate::closure::TypeInfo;
use crate::words::Words;
use std::collections::HashMap;

/// The known past of all closures with one info table that were allocated by one stack.
#[derive(Debug, Clone)]
pub struct Spans {
    /// The closures' info table.
    pub info: &'static TypeInfo,
    /// The stack that allocated them.
    pub stack: StackId,
    /// By era: words of closures that had not been used at its census and were used later.
    pub lag: Vec<u64>,
    /// By era: words of closures that were used before it, not in it, and again after it.
    pub used_again: Vec<u64>,
}

/// Differences by era: the sum of spans that begin there less those that end there.
#[derive(Debug, Default)]
struct Differences(Vec<i64>);

impl Differences {
    /// Adds `words` to the eras `from` to `to` - 1.
    fn add(&mut self, from: u64, to: u64, words: i64) {
        if from < to {
            let last = to as usize;
            if self.0.len() <= last {
                self.0.resize(last + 1, 0);
            }
            self.0[from as usize] += words;
            self.0[last] -= words;
        }
    }

    fn sums(&self) -> Vec<u64> {
        let sum = self.0.iter().scan(0, |sum, difference| {
            *sum += difference;
            Some(*sum as u64)
        });
        sum.collect()
    }
}

/// The part of the past that is known.
#[derive(Debug, Default)]
pub struct Biographies(HashMap<(usize, StackId), Uses>);

#[derive(Debug)]
struct Uses {
    info: &'static TypeInfo,
    lag: Differences,
    used_again: Differences,
}

impl Biographies {
    /// Notes the first use in `era` of a closure of `words` words, after censuses that did not know
    /// of the later use. `before` is its side word before this use.
    pub(super) fn used(&mut self, info: &'static TypeInfo, words: Words, before: SideWord, era: u64) {
        let known = self
            .0
            .entry((std::ptr::from_ref(info).addr(), before.stack()))
            .or_insert_with(|| Uses {
                info,
                lag: Differences::default(),
                used_again: Differences::default(),
            });
        let words = words.0 as i64;
        let spans = match before.last_used() {
            None => &mut known.lag,
            Some(_) => &mut known.used_again,
        };
        let end = era + u64::from(mutant!("profiles/lag-too-long"));
        spans.add(before.unexplained_since(), end, words);
    }

    /// The known spans, one for each info table and stack.
    pub(super) fn spans(&self) -> Vec<Spans> {
        let spans = self.0.iter().map(|((_, stack), known)| Spans {
            info: known.info,
            stack: *stack,
            lag: known.lag.sums(),
            used_again: known.used_again.sums(),
        });
        spans.collect()
    }
}
