//! The search itself, over any function that answers whether a run of a given size completes. Sizes
//! are whole units.
//!
//! It starts at a size that is likely to complete, halves it until one fails, then bisects by
//! geometric means until the bracket is narrower than the tolerance (or one unit, the grain of
//! heaps). So far each size had a single answer. The result is then *accepted*: all of k runs must
//! complete, and so must a run at each of two larger sizes, because completing is not monotone in
//! heap size: a collector with more room collects at other moments, and one of these may be worse.
//! If any of these runs fails, the search continues above the failure.
//!
//! Invariants: a size that is accepted has completed k times and never failed; the size below the
//! bracket has failed, or is 0; `low` grows whenever a size is not accepted, so the search ends. It
//! never asks twice: answers are kept by size. Cost: about log2 of the range, and as much again for
//! the tolerance. The tests below search functions that are monotone, have holes, fail at random,
//! or always fail.

use std::collections::BTreeMap;

/// The settings of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Search {
    /// The first size to try, in units, which is likely to complete.
    pub start: u64,
    /// The largest possible size.
    pub most: u64,
    /// Relative width of the bracket at which the search ends: 0.01 is one percent.
    pub tolerance: f64,
    /// The number of runs that must complete.
    pub runs: u32,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Least {
    /// The smallest accepted size, in units; `None` if not even the largest was accepted.
    pub size: Option<u64>,
    /// The largest size below it that failed; 0 if none did.
    pub too_small: u64,
    /// Sizes that failed although a smaller one had completed: completing is not monotone there, or
    /// not deterministic.
    pub holes: Vec<Hole>,
}

/// A size that failed although a smaller one, or itself, had completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// The size that had completed.
    pub completed: u64,
    /// The size that failed.
    pub failed: u64,
}

/// The answers for one size.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    completed: u32,
    failed: u32,
}

/// The smallest size that completes. `ask` runs one size; its second argument is the number of
/// earlier runs of that size.
///
/// # Errors
/// The first error of `ask`.
pub(super) fn least<E>(search: Search, ask: impl FnMut(u64, u32) -> Result<bool, E>) -> Result<Least, E> {
    let mut known = Answers {
        tallies: BTreeMap::new(),
        ask,
    };
    let mut low = 0;
    let mut holes = Vec::new();
    loop {
        let Some(candidate) = known.narrow(&search, &mut low)? else {
            return Ok(Least {
                size: None,
                too_small: low,
                holes,
            });
        };
        match known.failure(&search, candidate)? {
            None => {
                return Ok(Least {
                    size: Some(candidate),
                    too_small: low,
                    holes,
                });
            }
            Some(failed) => {
                holes.push(Hole {
                    completed: candidate,
                    failed,
                });
                low = failed;
            }
        }
    }
}

/// The two sizes above `size` that must complete before it is accepted: just beyond the tolerance,
/// and a tenth more.
fn points_above(search: &Search, size: u64) -> [u64; 2] {
    let step = ((size as f64 * search.tolerance).ceil() as u64).max(1);
    let near = size.saturating_add(step);
    let far = size.saturating_add((2 * step).max(size.div_ceil(10)));
    [near.min(search.most), far.min(search.most)]
}

struct Answers<A> {
    tallies: BTreeMap<u64, Tally>,
    ask: A,
}

impl<E, A: FnMut(u64, u32) -> Result<bool, E>> Answers<A> {
    fn again(&mut self, size: u64) -> Result<bool, E> {
        let tally = self.tallies.entry(size).or_default();
        let completes = (self.ask)(size, tally.completed + tally.failed)?;
        if completes {
            tally.completed += 1;
        } else {
            tally.failed += 1;
        }
        Ok(completes)
    }

    /// Whether `size` has never failed, and has completed at least `times` times.
    fn completes(&mut self, size: u64, times: u32) -> Result<bool, E> {
        loop {
            let tally = self.tallies.get(&size).copied().unwrap_or_default();
            if tally.failed > 0 {
                return Ok(false);
            }
            if tally.completed >= times {
                return Ok(true);
            }
            self.again(size)?;
        }
    }

    /// Narrows the bracket above `low`, which fails, to the tolerance. Returns its upper end, or
    /// `None` if no size completes; `low` becomes its lower end.
    fn narrow(&mut self, search: &Search, low: &mut u64) -> Result<Option<u64>, E> {
        // A size that completed before, above the last failure.
        let mut high = self
            .tallies
            .range(*low + 1..)
            .find(|(_, tally)| tally.failed == 0 && tally.completed > 0)
            .map(|(size, _)| *size);
        loop {
            let size = match high {
                Some(high) if narrow_enough(search, *low, high) => return Ok(Some(high)),
                Some(high) => between(*low, high),
                None if *low >= search.most => return Ok(None),
                None if *low == 0 => search.start.clamp(1, search.most),
                None => low.saturating_mul(2).min(search.most),
            };
            if self.completes(size, 1)? {
                high = Some(size);
            } else {
                *low = size;
            }
        }
    }

    /// The largest failure among `size` and the points above it; none if `size` is accepted.
    fn failure(&mut self, search: &Search, size: u64) -> Result<Option<u64>, E> {
        if !self.completes(size, search.runs.max(1))? {
            return Ok(Some(size));
        }
        let mut failure = None;
        for point in points_above(search, size) {
            if !self.completes(point, 1)? {
                failure = Some(point);
            }
        }
        Ok(failure)
    }
}

fn narrow_enough(search: &Search, low: u64, high: u64) -> bool {
    high - low <= 1 || low > 0 && high as f64 <= low as f64 * (1.0 + search.tolerance)
}

/// Half of `high`, as long as no size has failed; then the geometric mean. Strictly between the
/// two.
fn between(low: u64, high: u64) -> u64 {
    let middle = if low == 0 {
        high / 2
    } else {
        (low as f64 * high as f64).sqrt() as u64
    };
    middle.clamp(low + 1, high - 1)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    const MOST: u64 = 1 << 20;

    fn search(start: u64, tolerance: f64) -> Search {
        Search {
            start,
            most: MOST,
            tolerance,
            runs: 3,
        }
    }

    /// The result, with every question and its answer.
    fn run(search: Search, mut completes: impl FnMut(u64, u32) -> bool) -> (Least, Vec<(u64, bool)>) {
        let mut asked = Vec::new();
        let found = least(search, |size, attempt| {
            let before = asked.iter().filter(|(other, _)| *other == size).count();
            assert_eq!(attempt as usize, before, "attempts are counted by size");
            assert!((1..=search.most).contains(&size), "{size}");
            let yes = completes(size, attempt);
            asked.push((size, yes));
            Ok::<_, Infallible>(yes)
        });
        (found.unwrap(), asked)
    }

    #[test]
    fn finds_the_size_in_few_questions() {
        let (found, asked) = run(search(100, 0.01), |size, _| size >= 37);
        assert_eq!(
            found,
            Least {
                size: Some(37),
                too_small: 36,
                holes: vec![]
            }
        );
        // 100, 50, 25, 35, 41, 37, 36; two more of 37; 38 and 41 (known).
        assert_eq!(asked.len(), 10, "{asked:?}");
    }

    #[test]
    fn goes_up_when_the_start_is_too_small() {
        let (found, _) = run(search(10, 0.01), |size, _| size >= 1000);
        let size = found.size.unwrap();
        assert!((1000..=1010).contains(&size), "{size}");
    }

    #[test]
    fn what_never_completes_is_not_found() {
        let (found, asked) = run(search(100, 0.01), |_, _| false);
        assert_eq!((found.size, found.too_small), (None, MOST));
        assert!(asked.len() < 20, "{asked:?}");
    }

    #[test]
    fn what_always_completes_needs_one_unit() {
        assert_eq!(run(search(100, 0.01), |_, _| true).0.size, Some(1));
    }

    #[test]
    fn a_hole_just_above_sends_the_search_above_it() {
        let (found, _) = run(search(64, 0.01), |size, _| size >= 20 && size != 21);
        assert_eq!(found.size, Some(22));
        assert_eq!(
            found.holes,
            [Hole {
                completed: 20,
                failed: 21
            }]
        );
        assert_eq!(found.too_small, 21);
    }

    #[test]
    fn what_completes_only_now_and_then_is_not_accepted() {
        // Below 50 the second run fails.
        let (found, _) = run(search(64, 0.01), |size, attempt| {
            size >= 50 || size >= 30 && attempt != 1
        });
        assert_eq!(found.size, Some(50));
        assert!(!found.holes.is_empty() && found.holes.iter().all(|hole| hole.completed == hole.failed));
    }

    #[test]
    fn an_error_ends_it_at_once() {
        let asked = Cell::new(0);
        let found = least(search(64, 0.01), |size, _| {
            asked.set(asked.get() + 1);
            if size < 20 { Err("crash") } else { Ok(true) }
        });
        assert_eq!((found, asked.get()), (Err("crash"), 3));
    }

    proptest! {
        #[test]
        fn what_is_monotone_is_found_within_the_tolerance(
            least in 1..MOST, start in 1..MOST, tolerance in prop::sample::select(vec![0.0, 0.01, 0.1])
        ) {
            let search = search(start, tolerance);
            let (found, asked) = run(search, |size, _| size >= least);
            let size = found.size.unwrap();
            prop_assert!(found.too_small < least && least <= size);
            prop_assert!(size - found.too_small <= 1 || size as f64 <= found.too_small as f64 * (1.0 + tolerance));
            prop_assert!(found.holes.is_empty());
            // Twenty steps between the ends of the range, as many for the tolerance, and the
            // acceptance.
            prop_assert!(asked.len() <= 50, "{} questions", asked.len());
            prop_assert_eq!(asked.iter().filter(|(other, _)| *other == size).count(), 3);
        }

        /// For any set of sizes that complete, and any luck: an accepted size has completed three
        /// times and never failed, and so have both sizes above it.
        #[test]
        fn what_is_accepted_was_never_seen_to_fail(
            holes in prop::collection::vec(1..2000_u64, 0..60),
            always in 1..3000_u64,
            start in 1..4000_u64,
            luck in prop::collection::vec(any::<bool>(), 1..50),
        ) {
            let search = search(start, 0.01);
            let (found, asked) = run(search, |size, attempt| {
                size >= always || !holes.contains(&size) && luck[(size as usize * 7 + attempt as usize) % luck.len()]
            });
            let size = found.size.expect("the largest always complete");
            let answers = |of: u64| asked.iter().filter(move |(other, _)| *other == of).map(|(_, yes)| *yes);
            prop_assert_eq!(answers(size).count(), 3);
            prop_assert!(answers(size).all(|yes| yes));
            for above in points_above(&search, size) {
                prop_assert!(answers(above).count() > 0 && answers(above).all(|yes| yes));
            }
            prop_assert!(found.too_small == 0 || answers(found.too_small).any(|yes| !yes));
            prop_assert!(size <= always.max(1) + always / 50 + 1, "{size}, though from {always} on all complete");
        }
    }
}
