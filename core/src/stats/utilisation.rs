//! The utilisation of the mutator in windows of any length.
//!
//! **Terms.** The utilisation of a window is the share of it in which the mutator could run. The
//! *minimum mutator utilisation* MMU(w) is the least one over all windows of length w (Cheng and
//! Blelloch, "A parallel, real-time garbage collector", PLDI 2001). It can rise and fall with w.
//! Its *bound* BMU(w) is the least MMU of all windows of length w and longer, so it never falls
//! (Sachindran, Moss and Berger, "MC²: high-performance garbage collection for memory-constrained
//! environments", OOPSLA 2004).
//!
//! **MMU.** A window with the most time in pauses begins where a pause begins or ends where one
//! ends, or else touches an end of the span. So two windows for each pause are enough.
//!
//! **BMU.** A window longer than w with the largest share of pauses begins where a pause begins and
//! ends where one ends: these are the local minima of the utilisation. There are too many of them
//! to look at each. Dinkelbach's method ("On nonlinear fractional programming", Management Science
//! 1967) finds the largest share: take a share λ, find the window in which the time in pauses
//! exceeds λ times its length by the most, and take its share as the next λ, until no window
//! exceeds it. Each step is one pass over the pauses, in whole numbers, and a few steps suffice.
//!
//! **Cost.** 24 bytes for each pause; for each window length, linear time in the number of pauses.

/// The longest span, in nanoseconds: 146 years. Products of two such times fit into an `i128`.
const LONGEST_NS: u64 = 1 << 62;

/// The pauses of a span of time, prepared for utilisation queries.
#[derive(Clone, Debug)]
pub struct Utilisation {
    /// The length of the span. Its beginning is 0 here.
    span_ns: u64,
    pauses: Vec<Stop>,
}

/// A pause that overlaps no other.
#[derive(Clone, Copy, Debug)]
struct Stop {
    start: u64,
    end: u64,
    /// The time in pauses before it.
    before: u64,
}

/// A window: the time in pauses, and its length.
#[derive(Clone, Copy, Debug)]
struct Window {
    paused: u64,
    length: u64,
}

impl Window {
    fn utilisation(self) -> f64 {
        (self.length - self.paused) as f64 / self.length as f64
    }
}

impl Utilisation {
    /// The utilisation between two moments, with these pauses, each with its begin and its end. The
    /// pauses may have any order and may overlap. `None` if there is no time between the two
    /// moments, or more than 146 years.
    pub fn of(pauses: impl IntoIterator<Item = (u64, u64)>, (from_ns, to_ns): (u64, u64)) -> Option<Utilisation> {
        let span_ns = to_ns
            .checked_sub(from_ns)
            .filter(|span| (1..=LONGEST_NS).contains(span))?;
        let within = |moment: u64| moment.clamp(from_ns, to_ns) - from_ns;
        let mut spans: Vec<(u64, u64)> = pauses
            .into_iter()
            .map(|(start, end)| (within(start), within(end)))
            .filter(|(start, end)| start < end)
            .collect();
        spans.sort_unstable();
        let mut pauses: Vec<Stop> = Vec::new();
        for (start, end) in spans {
            match pauses.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                last => {
                    let before = last.map_or(0, |last| last.before + last.end - last.start);
                    pauses.push(Stop { start, end, before });
                }
            }
        }
        Some(Utilisation { span_ns, pauses })
    }

    /// The length of the span, in nanoseconds.
    pub fn span_ns(&self) -> u64 {
        self.span_ns
    }

    /// The longest stretch without the mutator, in nanoseconds: the longest window whose MMU is 0.
    pub fn longest_ns(&self) -> u64 {
        let lengths = self.pauses.iter().map(|pause| pause.end - pause.start);
        lengths.max().unwrap_or(0)
    }

    /// The minimum mutator utilisation, MMU: the least share, 0 to 1, of a window of `window_ns`
    /// nanoseconds in which the mutator could run. `None` if no such window fits into the span.
    pub fn least(&self, window_ns: u64) -> Option<f64> {
        Some(self.worst(window_ns)?.utilisation())
    }

    /// The bounded mutator utilisation, BMU: the least share, 0 to 1, of a window of `window_ns`
    /// nanoseconds or more in which the mutator could run. `None` if no such window fits.
    pub fn bound(&self, window_ns: u64) -> Option<f64> {
        let mut worst = self.worst(window_ns)?;
        while let Some(next) = self.worse(window_ns, worst) {
            worst = next;
        }
        Some(worst.utilisation())
    }

    /// The window of a length with the most time in pauses.
    fn worst(&self, length: u64) -> Option<Window> {
        let last_start = self.span_ns.checked_sub(length).filter(|_| length > 0)?;
        let starts = self.pauses.iter().map(|pause| pause.start);
        let ends = self.pauses.iter().map(|pause| pause.end.saturating_sub(length));
        let paused = self
            .most_paused(starts.map(|start| start.min(last_start)), length)
            .max(self.most_paused(ends, length));
        Some(Window { paused, length })
    }

    /// The most time in pauses of the windows of a length that begin at these ascending moments.
    fn most_paused(&self, starts: impl Iterator<Item = u64>, length: u64) -> u64 {
        let (mut before_start, mut before_end) = (Cursor::new(self), Cursor::new(self));
        let paused = starts.map(|start| before_end.paused(start + length) - before_start.paused(start));
        paused.max().unwrap_or(0)
    }

    /// The window from the start of a pause to the end of one, of `least_ns` or longer, in which
    /// the time in pauses exceeds the share of `than` by the most. `None` if none exceeds it.
    fn worse(&self, least_ns: u64, than: Window) -> Option<Window> {
        // The excess of a window is high(end) - low(start), times the length of `than`.
        let scaled = |paused: u64, at: u64| {
            i128::from(paused) * i128::from(than.length) - i128::from(at) * i128::from(than.paused)
        };
        let mut starts = self.pauses.iter().peekable();
        let mut lowest: Option<(i128, &Stop)> = None;
        let mut most: Option<(i128, Window)> = None;
        for last in &self.pauses {
            while let Some(first) = starts.next_if(|first| first.start.saturating_add(least_ns) <= last.end) {
                let low = scaled(first.before, first.start);
                if lowest.is_none_or(|(lowest, _)| low < lowest) {
                    lowest = Some((low, first));
                }
            }
            let Some((low, first)) = lowest else { continue };
            let paused = last.before + (last.end - last.start);
            let excess = scaled(paused, last.end) - low;
            if excess > most.map_or(0, |(most, _)| most) {
                let window = Window {
                    paused: paused - first.before,
                    length: last.end - first.start,
                };
                most = Some((excess, window));
            }
        }
        most.map(|(_, window)| window)
    }
}

/// Answers for ascending moments how much time in pauses lies before each.
struct Cursor<'u> {
    pauses: &'u [Stop],
    /// The number of pauses that begin before the last moment.
    begun: usize,
}

impl<'u> Cursor<'u> {
    fn new(utilisation: &'u Utilisation) -> Self {
        Cursor {
            pauses: &utilisation.pauses,
            begun: 0,
        }
    }

    fn paused(&mut self, moment: u64) -> u64 {
        while self.pauses.get(self.begun).is_some_and(|pause| pause.start < moment) {
            self.begun += 1;
        }
        let last = self.begun.checked_sub(1).map(|last| self.pauses[last]);
        last.map_or(0, |last| last.before + last.end.min(moment) - last.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pauses: &[(u64, u64)], span: (u64, u64)) -> Utilisation {
        Utilisation::of(pauses.iter().copied(), span).expect("a span")
    }

    /// Numbers below a bound, the same in every run of the test.
    struct Draw(u64);

    impl Draw {
        fn below(&mut self, bound: u64) -> u64 {
            let step = 6_364_136_223_846_793_005;
            self.0 = self.0.wrapping_mul(step).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    #[test]
    fn the_least_share_rises_and_falls_and_its_bound_never_falls() {
        // The textbook example: two pauses of ten, a hundred apart.
        let two = of(&[(100, 110), (210, 220)], (0, 1000));
        let near = |share: Option<f64>, expected: f64| share.is_some_and(|share| (share - expected).abs() < 5e-4);
        assert!(near(two.least(110), 0.909) && near(two.least(120), 0.833));
        assert!(near(two.bound(110), 0.833) && near(two.bound(120), 0.833));
        assert!(near(two.least(1000), 0.98) && near(two.bound(1000), 0.98));
        assert_eq!(
            (two.least(10), two.bound(10), two.longest_ns()),
            (Some(0.0), Some(0.0), 10)
        );
        assert_eq!((two.least(0), two.least(1001), two.bound(1001)), (None, None, None));
    }

    #[test]
    fn pauses_may_overlap_reach_out_and_come_in_any_order() {
        let wild = of(
            &[
                (70, 90),
                (72, 75),
                (0, 15),
                (80, 200),
                (12, 20),
                (40, 40),
                (300, 400),
                (55, 50),
            ],
            (10, 110),
        );
        let plain = of(&[(10, 20), (70, 110)], (10, 110));
        for window in 1..=100 {
            assert_eq!(wild.least(window), plain.least(window), "{window}");
            assert_eq!(wild.bound(window), plain.bound(window), "{window}");
        }
        assert_eq!((wild.span_ns(), wild.longest_ns()), (100, 40));
        let ends = [(5, 5), (6, 5), (0, u64::MAX)];
        assert!(ends.into_iter().all(|span| Utilisation::of([(1, 2)], span).is_none()));
        let none = of(&[], (5, 15));
        assert_eq!((none.least(10), none.bound(1)), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn the_longest_times_do_not_overflow() {
        let most = LONGEST_NS;
        let long = of(&[(0, most / 2 - 5), (most / 2 + 5, most)], (0, most));
        let share = long.bound(most - 3).expect("it fits");
        assert!((0.0..1e-15).contains(&share), "{share}");
    }

    /// The definitions: every window that begins and ends at a whole nanosecond.
    #[test]
    fn the_least_share_and_its_bound_are_their_definitions() {
        let mut draw = Draw(11);
        for _ in 0..400 {
            let (mut at, mut all) = (0, Vec::new());
            for _ in 0..draw.below(9) {
                let start = at + draw.below(9);
                at = start + draw.below(7);
                all.push((start, at));
            }
            let end = at + 1 + draw.below(5);
            let some = of(&all, (0, end));
            let stopped = |t: u64| all.iter().any(|&(start, end)| (start..end).contains(&t));
            let mut least_of_longer = f64::INFINITY;
            for window in (1..=end).rev() {
                let paused = |from: u64| (from..from + window).filter(|&t| stopped(t)).count() as u64;
                let worst = (0..=end - window).map(paused).max().expect("a window");
                let least = (window - worst) as f64 / window as f64;
                least_of_longer = least.min(least_of_longer);
                assert_eq!(some.least(window), Some(least), "{all:?} {window}");
                assert_eq!(some.bound(window), Some(least_of_longer), "{all:?} {window}");
            }
        }
    }
}
