//! The time profile of a run (`-p`): samples of the stacks of cost centres, at each tick of the
//! timer, and GHC's report of them (`.prof`).
//!
//! A sample counts a *tick* for the stack of each thread that runs the program at that moment.
//! Collections, censuses and blocked threads have none, as in GHC's report. Entries and allocation
//! are counted, not sampled.

mod text;

use gclab_core::mutator::MutatorKind;
use gclab_core::profile::{CostCentre, StackCosts, StackId};
use gclab_core::timer::Timer;
use gclab_core::world::World;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use text::{CentreRow, Name, StackRow, Sum};

pub use text::Head;

/// One sample: the stack of a thread that runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSample {
    /// The number of the sample among all ticks, from 1.
    pub tick: u64,
    /// The number of the thread's capability.
    pub capability: usize,
    /// Its stack of cost centres.
    pub stack: StackId,
}

/// A function that receives samples.
type Follower = Box<dyn FnMut(TimeSample) + Send>;

/// Takes the samples of a run. Clones share their state.
#[derive(Clone, Default)]
pub struct TimeProfiler(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    /// Ticks of the timer so far.
    now: u64,
    /// Ticks by the number of the stack.
    ticks: Vec<u64>,
    followers: Vec<Follower>,
}

impl fmt::Debug for TimeProfiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeProfiler({} ticks)", self.lock().now)
    }
}

impl TimeProfiler {
    /// From now on `follower` receives each sample, on the timer's thread: for an event log.
    pub fn follow(&self, follower: impl FnMut(TimeSample) + Send + 'static) {
        self.lock().followers.push(Box::new(follower));
    }

    /// Lets `timer` sample the threads of `world` at each tick.
    pub fn sample<'a, M: MutatorKind>(&self, timer: &mut Timer<'a>, world: &'a World<M>) {
        let profiler = self.clone();
        timer.every(timer.tick(), move || {
            let inner = &mut *profiler.lock();
            inner.now += 1;
            world.sample_stacks(|capability, stack| inner.count(capability, stack));
        });
    }

    /// The profile: the samples, with the costs that the heap has counted.
    pub fn finish(&self, tick: Duration, capabilities: u32, costs: Vec<StackCosts>) -> TimeProfile {
        TimeProfile {
            tick,
            capabilities,
            ticks: std::mem::take(&mut self.lock().ticks),
            costs,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // A panic leaves at most a sample uncounted.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn count(&mut self, capability: usize, stack: StackId) {
        let number = stack.0 as usize;
        if number >= self.ticks.len() {
            self.ticks.resize(number + 1, 0);
        }
        self.ticks[number] += 1;
        let tick = self.now;
        let sample = TimeSample {
            tick,
            capability,
            stack,
        };
        self.followers.iter_mut().for_each(|follower| follower(sample));
    }
}

/// The time profile of a finished run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeProfile {
    /// The time between two samples.
    pub tick: Duration,
    /// Number of capabilities.
    pub capabilities: u32,
    /// Samples by stack number; trailing stacks may be missing.
    pub ticks: Vec<u64>,
    /// The costs of all stacks, in the order of their numbers. A stack has a higher number than the
    /// one that it was entered from; the first is [`StackId::MAIN`].
    pub costs: Vec<StackCosts>,
}

impl TimeProfile {
    fn own(&self, costs: &StackCosts) -> Sum {
        Sum {
            ticks: self.ticks.get(costs.stack.0 as usize).copied().unwrap_or(0),
            bytes: costs.bytes,
        }
    }

    /// The report, as GHC writes it to a `.prof` file; `verbose` (`-P`) adds ticks and bytes.
    pub fn report(&self, head: Head<'_>, verbose: bool) -> String {
        let mut all = Sum::default();
        self.costs.iter().for_each(|costs| all.add(self.own(costs)));
        let parts = [
            text::head(head, self.tick, self.capabilities, all),
            text::centres(&self.centres(all), all, verbose),
            text::tree(&self.tree(), all, verbose),
        ];
        parts.concat()
    }

    /// The cost centres that took more than a hundredth of time or allocation, whatever stack they
    /// were in.
    fn centres(&self, all: Sum) -> Vec<CentreRow> {
        let mut places: HashMap<Option<CostCentre>, usize> = HashMap::new();
        let mut centres: Vec<CentreRow> = Vec::new();
        for costs in &self.costs {
            let centre = costs.inner.map(|(centre, _)| centre);
            let place = *places.entry(centre).or_insert_with(|| {
                centres.push(CentreRow {
                    name: name_of(centre),
                    own: Sum::default(),
                });
                centres.len() - 1
            });
            centres[place].own.add(self.own(costs));
        }
        centres.retain(|row| row.own.ticks > all.ticks / 100 || row.own.bytes > all.bytes / 100);
        centres.sort_by_key(|row| std::cmp::Reverse((row.own.ticks, row.own.bytes)));
        centres
    }

    /// Each stack below the one that it was entered from: children by name, those of one name by
    /// number, the last first.
    fn tree(&self) -> Vec<StackRow> {
        let mut inherited: Vec<Sum> = self.costs.iter().map(|costs| self.own(costs)).collect();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.costs.len()];
        for (at, costs) in self.costs.iter().enumerate().rev() {
            if let Some((_, outer)) = costs.inner {
                let sum = inherited[at];
                inherited[outer.0 as usize].add(sum);
                children[outer.0 as usize].push(at);
            }
        }
        let mut rows = Vec::new();
        // Pushed last to first, so that they are popped in order.
        let mut open: Vec<(usize, usize)> = self.costs.first().map(|_| (0, 0)).into_iter().collect();
        while let Some((at, depth)) = open.pop() {
            let costs = &self.costs[at];
            let mut name = name_of(costs.inner.map(|(centre, _)| centre));
            name[0].insert_str(0, &" ".repeat(depth));
            rows.push(StackRow {
                name,
                number: costs.stack.0,
                entries: costs.entries,
                own: self.own(costs),
                inherited: inherited[at],
            });
            let label = |at: &usize| self.costs[*at].inner.map_or("", |(centre, _)| centre.label);
            children[at].sort_by(|a, b| label(b).cmp(label(a)).then(a.cmp(b)));
            open.extend(children[at].iter().map(|child| (*child, depth + 1)));
        }
        rows
    }
}

/// The name of a cost centre in a report.
fn name_of(centre: Option<CostCentre>) -> Name {
    match centre {
        None => ["MAIN", "MAIN", "<built-in>"].map(str::to_owned),
        Some(centre) => [
            centre.label.to_owned(),
            centre.module.to_owned(),
            format!("{}:{}", centre.file, centre.line),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn centre(label: &'static str) -> CostCentre {
        CostCentre {
            label,
            module: "m",
            file: "m.rs",
            line: 7,
        }
    }

    /// MAIN enters f and g, and f enters g.
    fn profile() -> TimeProfile {
        let [f, g] = ["f", "g"].map(centre);
        let costs = |stack, inner: Option<(CostCentre, u32)>, entries, bytes| StackCosts {
            stack: StackId(stack),
            inner: inner.map(|(centre, outer)| (centre, StackId(outer))),
            entries,
            bytes,
        };
        TimeProfile {
            tick: Duration::from_millis(1),
            capabilities: 2,
            ticks: vec![0, 10, 25],
            costs: vec![
                costs(0, None, 0, 8),
                costs(1, Some((g, 0)), 1, 392),
                costs(2, Some((f, 0)), 2, 400),
                costs(3, Some((g, 2)), 3, 1200),
            ],
        }
    }

    #[test]
    fn costs_are_inherited_and_centres_add_up_over_stacks() {
        let report = profile().report(
            Head {
                date: "today",
                job: "job",
            },
            true,
        );
        let expected = "\ttoday Time and Allocation Profiling Report  (Final)

\t   job

\ttotal time  =        0.02 secs   (35 ticks @ 1000 us, 2 processors)
\ttotal alloc =       2,000 bytes  (excludes profiling overheads)

COST CENTRE MODULE    SRC     %time %alloc  ticks     bytes

f           m         m.rs:7   71.4   20.0     25       400
g           m         m.rs:7   28.6   79.6     10      1592


                                                  individual      inherited
COST CENTRE MODULE  SRC        no.     entries  %time %alloc   %time %alloc  ticks     bytes

MAIN        MAIN    <built-in>   0           0    0.0    0.4   100.0  100.0      0         8
 f          m       m.rs:7       2           2   71.4   20.0    71.4   80.0     25       400
  g         m       m.rs:7       3           3    0.0   60.0     0.0   60.0      0      1200
 g          m       m.rs:7       1           1   28.6   19.6    28.6   19.6     10       392
";
        assert_eq!(report, expected);
    }
}
