//! The limits of the machine: rates that bound any collector, measured between collections.
//!
//! * M: bytes a second that are copied from one range to another, in order.
//! * G: cache lines a second that are read and written at random, with the addresses known 128
//!   accesses ahead and prefetched.
//! * L: seconds for one load whose address is the result of the load before.
//!
//! Pages are like the heap's: huge ones where the system provides them. The ranges are larger than
//! the caches, so a probe also leaves the caches cold for the collection after it.

use gclab_core::memory::Reservation;
use gclab_core::words::Bytes;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A cache line of 64 bytes.
const LINE_WORDS: usize = 8;

/// Accesses between a prefetch and its use. Above this distance the rate hardly rises.
const AHEAD: usize = 128;

/// The rates measured at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// M, in bytes per second.
    pub copy: f64,
    /// G, in lines per second.
    pub lines: f64,
    /// L, in seconds per load.
    pub miss: f64,
}

/// Memory to probe.
pub(crate) struct Machine {
    from: Range,
    to: Range,
    /// Lines to touch, in order.
    touched: Vec<u32>,
    /// The position in the chain of dependent loads.
    at: usize,
    steps: usize,
}

/// A range of committed memory.
struct Range(Reservation);

impl Range {
    fn new(size: Bytes) -> Range {
        let mut reservation = Reservation::new(size, None, true).expect("address space for a bench");
        reservation.commit(Bytes(0), size).expect("memory for a bench");
        Range(reservation)
    }

    fn words(&mut self) -> &mut [u64] {
        // SAFETY: all of the reservation was committed, reads as zeros at first, and belongs to
        // this range alone.
        unsafe { std::slice::from_raw_parts_mut(self.0.base().as_mut_ptr(), self.0.size().0 / 8) }
    }
}

/// SplitMix64: the next number, from 0 to `below` - 1.
pub(crate) fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((u128::from(z ^ (z >> 31)) * below as u128) >> 64) as usize
}

/// The numbers below `n` in random order.
pub(crate) fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut state = seed;
    for i in (1..n).rev() {
        order.swap(i, random(&mut state, i + 1));
    }
    order
}

impl Machine {
    /// Two ranges of `size` (a multiple of 2 MiB).
    pub(crate) fn new(size: Bytes) -> Machine {
        let (mut from, mut to) = (Range::new(size), Range::new(size));
        to.words().fill(1);
        let lines = size.0 / 8 / LINE_WORDS;
        // The first word of each line names the next: one cycle through all of them.
        let order = shuffled(lines, 7);
        let words = from.words();
        for (i, &line) in order.iter().enumerate() {
            words[line as usize * LINE_WORDS] = u64::from(order[(i + 1) % lines]);
        }
        let accesses = lines.min(2_000_000);
        let mut state = 5;
        let touched = (0..accesses + AHEAD)
            .map(|_| random(&mut state, lines) as u32)
            .collect();
        Machine {
            from,
            to,
            touched,
            at: 0,
            steps: accesses / 10,
        }
    }

    /// Measures all three once.
    pub(crate) fn probe(&mut self) -> Rates {
        let (from, to) = (self.from.words(), self.to.words());
        let copied = timed(|| to.copy_from_slice(from));
        let accesses = self.touched.len() - AHEAD;
        let gathered = timed(|| {
            for i in 0..accesses {
                prefetch_to_write(&from[self.touched[i + AHEAD] as usize * LINE_WORDS]);
                // The second word: the first one is the chain's.
                from[self.touched[i] as usize * LINE_WORDS + 1] += 1;
            }
        });
        let chased = timed(|| {
            for _ in 0..self.steps {
                self.at = from[self.at * LINE_WORDS] as usize;
            }
            black_box(self.at);
        });
        Rates {
            copy: size_of_val(from) as f64 / copied.as_secs_f64(),
            lines: accesses as f64 / gathered.as_secs_f64(),
            miss: chased.as_secs_f64() / self.steps as f64,
        }
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

#[inline(always)]
fn prefetch_to_write(word: &u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program can see. (The intrinsic becomes a prefetch
    // for reading unless the build names a processor.)
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) word, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}
