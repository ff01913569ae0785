//! `server T R N RATE`: requests that make garbage and share a large cache, with recorded
//! latencies.
//!
//! The cache is an array of N slots; key k of K = 4 N belongs in slot k mod N. It starts with the
//! keys 0 to N - 1. An entry {key, value} has a value of 1000 bytes, all key mod 256. Request r (of
//! R) draws from the state mix(r): key = draw mod (1 + draw mod K), so that small keys are more
//! popular. Then it makes a list of 500 cells {next, value = draw} and looks the key up. If another
//! key is in its slot, an entry is made and stored there. The answer is the sum of the list's
//! values + key + the first and the last byte of the key's value. It does not depend on the
//! contents of the cache, so the checksum, the sum of all answers, depends neither on T nor on the
//! order of the threads.
//!
//! T threads take requests in order. With RATE (requests a second) the loop is open: request r is
//! due r / RATE seconds after the first, does not start earlier, and its latency counts from then.
//! With RATE 0 the loop is closed. [`Latency`] defines these terms. Threads wait outside the heap.
//! A thread with less than 200 µs to wait yields the processor repeatedly: a sleep would take
//! longer, and the delay would be blamed on the collector. So with an open loop the mutator's CPU
//! time means nothing, and elapsed time is set by the schedule.
//!
//! Live: N entries of 24 bytes, N values of 1016 bytes, and the array; for each thread inside the
//! world a list of 24-byte cells. The cache makes old objects point to young ones, at random.
//! Set-up fills the cache; the requests are the measured phase.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::cost_centre;
use gclab_core::mutator::{ByteArray, Gc, Handle, MutArray, Mutator, MutatorKind, NoGc, OptionRoot, Root};
use gclab_core::world::World;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{
    ArgSpec, Args, Latency, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription, mix, threads,
};

/// Keys for each slot of the cache.
const KEYS: u64 = 4;

/// Bytes of a value.
const VALUE: usize = 1000;

/// Number of cells that a request makes.
const CELLS: u64 = 500;

/// A sleeping thread may wake this late: Linux's default timer slack (50 µs) plus some for the
/// scheduler.
const SLEEP: Duration = Duration::from_micros(200);

/// Time for threads to start before the first request of an open loop; a few threads need far less.
const STARTING: Duration = Duration::from_millis(20);

/// An entry of the cache.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Entry {
    key: u64,
    value: Ptr<ByteArray>,
}

/// A cell of the list that a request makes.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Cell {
    next: Option<Ptr<Cell>>,
    value: u64,
}

/// Requests to a shared cache. Keeps the latencies of its last run.
#[derive(Debug, Default)]
pub struct Server {
    latency: Mutex<Option<Latency>>,
}

impl Workload for Server {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "server",
        summary: "requests that share a large cache, the latency of each recorded",
        args: &[
            ArgSpec::number("T", "threads", 2, 1..=threads::MOST),
            ArgSpec::number("R", "requests", 100_000, 0..=1 << 40),
            ArgSpec::number("N", "slots of the cache", 50_000, 1..=1 << 36),
            ArgSpec::number(
                "RATE",
                "requests a second; 0: each starts after the one before it",
                100_000,
                0..=1_000_000_000,
            ),
        ],
        checksum: Some(3_036_325_327_466_997_197),
        test: TestSize {
            args: &["4", "2000", "100", "0"],
            checksum: Some(9_083_900_621_349_153_110),
        },
        bench: &["2", "2000", "2000", "0"],
        stress: StressSize {
            args: &["3", "20", "5", "0"],
            every: 7,
            parallel: &["4", "300", "100", "0"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (threads, rate) = (args.number("T"), args.number("RATE"));
        let slots = args.number("N");
        let cache = world.enter(|m| {
            m.frame(|m, [cache]| {
                let cache = cache.put(m.alloc_array::<Entry>(slots as usize, |_| None));
                for key in 0..slots {
                    store(m, &cache, key);
                }
                m.handle(cache.get(m))
            })
        })?;
        let schedule = Schedule::new(args.number("R"), (rate > 0).then_some(rate));
        let served =
            world.measure(|| threads::enter_each(world, threads, |m, _| serve(m, &cache, slots, &schedule)))??;
        let mut latency = schedule.latency();
        let mut sum = 0_u64;
        for (answers, latencies) in served {
            sum = sum.wrapping_add(answers);
            latency.add(&latencies);
        }
        *self.latency.lock().unwrap_or_else(PoisonError::into_inner) = Some(latency);
        Ok(sum)
    }

    fn latency(&self) -> Option<Latency> {
        self.latency.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Hands out requests, with their intended starts.
#[derive(Debug)]
struct Schedule {
    /// The origin of a closed loop's starts.
    made: Instant,
    first: Instant,
    requests: u64,
    rate: Option<u64>,
    next: AtomicU64,
}

impl Schedule {
    /// A schedule whose first request starts after [`STARTING`].
    fn new(requests: u64, rate: Option<u64>) -> Self {
        let made = Instant::now();
        Schedule {
            made,
            first: made + STARTING,
            requests,
            rate,
            next: AtomicU64::new(0),
        }
    }

    /// An empty record of latencies.
    fn latency(&self) -> Latency {
        match self.rate {
            Some(_) => Latency::new(self.rate),
            None => Latency::closed(self.requests),
        }
    }

    /// The next request and, in an open loop, its intended start.
    #[inline]
    fn take(&self) -> Option<(u64, Option<Instant>)> {
        // Relaxed: only the number is shared.
        let request = self.next.fetch_add(1, Ordering::Relaxed);
        let start =
            |rate| self.first + Duration::from_nanos((u128::from(request) * 1_000_000_000 / u128::from(rate)) as u64);
        (request < self.requests).then(|| (request, self.rate.map(start)))
    }
}

/// Answers requests until there are none left. Returns the sum of the answers, and their latencies.
fn serve<M: MutatorKind>(
    m: &mut Mutator<'_, M>,
    cache: &Handle<MutArray<Entry>>,
    slots: u64,
    schedule: &Schedule,
) -> (u64, Latency) {
    m.frame(|m, [slot, list]| {
        let cache = slot.put(cache.open(m));
        let list = list.put_option(m, None);
        let mut latency = schedule.latency();
        let mut sum = 0_u64;
        while let Some((request, due)) = schedule.take() {
            if let Some(due) = due {
                wait(m, due);
            }
            let start = due.unwrap_or_else(Instant::now);
            let answer = m.cost_centre(cost_centre!("answer"), |m| answer(m, &cache, slots, request, &list));
            sum = sum.wrapping_add(answer);
            let taken = start.elapsed();
            match due {
                Some(_) => latency.record(taken),
                None => latency.record_from(start.duration_since(schedule.made), taken),
            }
        }
        (sum, latency)
    })
}

/// Waits until `start`, if that is not past. Collections do not wait for the thread.
fn wait<M: MutatorKind>(m: &mut Mutator<'_, M>, start: Instant) {
    if start <= Instant::now() {
        return;
    }
    m.blocking(|| {
        loop {
            match start.checked_duration_since(Instant::now()) {
                None | Some(Duration::ZERO) => return,
                Some(left) if left > SLEEP => std::thread::sleep(left - SLEEP),
                Some(_) => std::thread::yield_now(),
            }
        }
    });
}

/// Answers one request.
#[inline]
fn answer<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    cache: &Root<'_, 'h, MutArray<Entry>>,
    slots: u64,
    request: u64,
    list: &OptionRoot<'_, 'h, Cell>,
) -> u64 {
    let mut rng = SplitMix64::new(mix(request));
    let popular = 1 + rng.below(KEYS * slots);
    let key = rng.below(popular);
    list.set(m, None);
    for _ in 0..CELLS {
        let value = rng.draw();
        let (m, cell) = m.alloc_with(|m| Cell::new(list.get(m), value));
        list.set(m, Some(cell));
    }
    let cached = cache.get(m).get(m, (key % slots) as usize);
    let value = match cached.filter(|entry| entry.key(m) == key) {
        Some(entry) => ends(entry.value(m)),
        None => ends(store(m, cache, key)),
    };
    values(m, list.get(m)).wrapping_add(key + value)
}

/// Makes the entry of `key`, puts it into its slot, and returns its value.
fn store<'m, 'h, M: MutatorKind>(
    m: &'m mut Mutator<'h, M>,
    cache: &Root<'_, 'h, MutArray<Entry>>,
    key: u64,
) -> Gc<'m, 'h, ByteArray> {
    m.frame(|m, [value]| {
        m.cost_centre(cost_centre!("cache"), |m| {
            let value = value.put(m.alloc_bytes_filled(VALUE, key as u8));
            let (m, entry) = m.alloc_with(|m| Entry::new(key, value.get(m)));
            let cache = cache.get(m);
            cache.set(m, (key % cache.len() as u64) as usize, Some(entry));
            value.get(m)
        })
    })
}

/// The sum of a value's first and last byte.
#[inline]
fn ends(value: Gc<'_, '_, ByteArray>) -> u64 {
    let value = value.as_slice();
    u64::from(value[0]) + u64::from(value[value.len() - 1])
}

/// The sum of the values in a list.
#[inline]
fn values<'h, M: MutatorKind>(m: &NoGc<'h, M>, mut list: Option<Gc<'_, 'h, Cell>>) -> u64 {
    let mut sum = 0_u64;
    while let Some(cell) = list {
        sum = sum.wrapping_add(cell.value(m));
        list = cell.next(m);
    }
    sum
}
