//! Random programs under a collector, against a plain Rust heap.
//!
//! Each program runs on two heaps under a collector, with flags drawn at random and the checker on,
//! and on a reference ([`model`]) that never frees anything. All reachable data are compared
//! ([`compare`]) after each collection that the program asks for, and whenever it leaves a heap. A
//! failure is shrunk and printed as a test to paste ([`replay()`]).
//!
//! A program of several threads ([`threads`]) is several programs in one heap, each with its own
//! reference, and a [`table`] that they share.
//!
//! The programs are the same each time. `GCLAB_RANDOM_SECONDS` sets a running time instead of their
//! number, and `GCLAB_RANDOM_SEED` a different first seed. With `GCLAB_RANDOM_PROTECT` the heaps
//! protect freed memory (`-DP`); a stale access then ends the process, and no program is shrunk.

mod account;
mod compare;
mod difference;
mod end;
mod finalisers;
mod generate;
mod heap;
mod interpret;
mod model;
mod owners;
pub mod program;
mod real;
mod regressions;
mod replay;
mod shapes;
mod table;
mod threads;
mod weak;

use difference::testing;
use gclab_core::collector::Collector;
use generate::programs;
use interpret::outcome;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
pub use replay::replay;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Programs for each collector. With these `.ci/mutants` catches every fault; `.ci/long-random` runs
/// many more.
const CASES: u32 = 100;

/// Limit on a program's operations, chosen by the seed.
const LENGTHS: [usize; 3] = [2000, 400, 100];

/// Programs between two looks at the clock.
const BATCH: u32 = 64;

/// As [`CASES`], for programs of several threads: these are shorter, but their threads wait for each
/// other.
const CASES_IN_THREADS: u32 = 20;

/// Programs of several threads between two looks at the clock.
const BATCH_IN_THREADS: u32 = 16;

/// Runs `cases` programs that follow from `seed`. Returns the number of operations done.
///
/// # Errors
/// The first program that fails and its fault, shrunk if `shrink`.
pub fn search_for<C: Collector>(seed: u64, cases: u32, shrink: bool) -> Result<u64, String> {
    let length = LENGTHS[seed as usize % LENGTHS.len()];
    let iterations = if shrink { 20_000 } else { 0 };
    search(
        seed,
        cases,
        iterations,
        programs(length),
        outcome::<C>,
        replay::test::<C>,
    )
}

/// Runs `cases` of `programs` that follow from `seed`. `print` prints the program that fails.
fn search<P: Clone + std::fmt::Debug + Send + Sync + 'static>(
    seed: u64,
    cases: u32,
    max_shrink_iters: u32,
    programs: impl Strategy<Value = P>,
    outcome: impl Fn(&P) -> Result<u64, String>,
    print: fn(&P) -> String,
) -> Result<u64, String> {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let ops = Cell::new(0);
    let result = TestRunner::new_with_rng(config, rng).run(&programs, |program| {
        let copy = program.clone();
        let words = move || format!("seed {seed}, not shrunk\n{}", print(&copy));
        let done = testing(words, || outcome(&program)).map_err(TestCaseError::fail)?;
        ops.set(ops.get() + done);
        Ok(())
    });
    match result {
        Ok(()) => Ok(ops.get()),
        Err(TestError::Fail(why, program)) => Err(format!("seed {seed}: {why}\n{}", print(&program))),
        Err(TestError::Abort(why)) => Err(format!("seed {seed}: {why}")),
    }
}

fn environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value} is not a number")),
    )
}

/// Runs programs that failed once, and then random ones: a fixed number, or for as long as
/// `time`. They start from the seed in `GCLAB_RANDOM_SEED`, or 1. Prints the numbers of programs
/// and operations.
///
/// # Errors
/// The first program that fails, shrunk, and its fault.
///
/// # Panics
/// If `GCLAB_RANDOM_SEED` is set and is not a number.
pub fn hunt<C: Collector>(time: Option<Duration>) -> Result<(), String> {
    let name = C::DESCRIPTION.name;
    for (fault, program) in regressions::programs() {
        let copy = program.clone();
        testing(move || replay::test::<C>(&copy), || outcome::<C>(&program))
            .map_err(|why| format!("{name}: {fault}: {why}\n{}", replay::test::<C>(&program)))?;
    }
    go_on::<C>(time, (CASES, BATCH), "", |seed, cases| {
        search_for::<C>(seed, cases, true)
    })
}

/// As [`hunt`], for programs of several threads in one heap. Such a program depends on the order in
/// which its threads run. So a program that fails may pass the next time, and is shrunk only as far
/// as it keeps failing.
///
/// # Errors
/// As [`hunt`].
///
/// # Panics
/// As [`hunt`].
pub fn hunt_in_threads<C: Collector>(time: Option<Duration>) -> Result<(), String> {
    go_on::<C>(
        time,
        (CASES_IN_THREADS, BATCH_IN_THREADS),
        " of several threads",
        |seed, cases| {
            let length = LENGTHS[seed as usize % LENGTHS.len()] / 4;
            search(
                seed,
                cases,
                300,
                threads::programs(length),
                threads::outcome::<C>,
                |program| format!("{program:?}"),
            )
        },
    )
}

fn go_on<C: Collector>(
    time: Option<Duration>,
    (cases, batch): (u32, u32),
    of: &str,
    search: impl Fn(u64, u32) -> Result<u64, String>,
) -> Result<(), String> {
    let name = C::DESCRIPTION.name;
    let seed = environment("GCLAB_RANDOM_SEED").unwrap_or(1);
    let search = |seed, cases| search(seed, cases).map_err(|why| format!("{name}: {why}"));
    let Some(time) = time else {
        println!("{name}: {cases} programs{of}, {} operations", search(seed, cases)?);
        return Ok(());
    };
    let (start, mut ops, mut batches) = (Instant::now(), 0, 0u64);
    while start.elapsed() < time {
        ops += search(seed + batches, batch)?;
        batches += 1;
        if batches.is_multiple_of(100) {
            println!("{name}: {} programs{of}, {ops} operations", batches * u64::from(batch));
        }
    }
    let (programs, last) = (batches * u64::from(batch), (seed + batches).saturating_sub(1));
    println!("{name}: {programs} programs{of}, {ops} operations without a difference (seeds {seed} to {last})");
    Ok(())
}

/// Tests one collector by [`hunt`] and [`hunt_in_threads`]: a fixed number of programs, or each for
/// half of `GCLAB_RANDOM_SECONDS`.
///
/// # Panics
/// If a program fails, with the program and its fault.
pub fn random_programs<C: Collector>() {
    let time = environment("GCLAB_RANDOM_SECONDS").map(|seconds| Duration::from_secs(seconds) / 2);
    if let Err(why) = hunt::<C>(time).and_then(|()| hunt_in_threads::<C>(time)) {
        panic!("{why}");
    }
}
