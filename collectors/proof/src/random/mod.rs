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
//! Programs run in a child process ([`child`]), so a collector that panics, or crashes by a signal,
//! fails like any other, and its program is shrunk ([`shrink`]).
//!
//! The programs are the same each time. `GCLAB_RANDOM_SECONDS` sets a running time instead of their
//! number, and `GCLAB_RANDOM_SEED` a different first seed. With `GCLAB_RANDOM_PROTECT` the heaps
//! protect freed memory (`-DP`).

mod account;
mod child;
mod compare;
mod difference;
mod end;
mod finalisers;
mod generate;
mod heap;
mod interpret;
mod model;
mod numbers;
mod owners;
pub mod program;
mod real;
mod regressions;
mod replay;
mod shapes;
mod shrink;
mod table;
mod threads;
mod weak;

use child::Task;
pub(crate) use child::in_child;
pub(crate) use difference::panics_in_collections_speak;
use gclab_core::collector::Collector;
use numbers::Numbers;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
pub use replay::replay;
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

/// The kinds of programs.
trait Kind {
    const NAME: &'static str;

    /// The most candidates that shrinking runs.
    const CANDIDATES: u32;

    /// Programs of up to `length` operations.
    fn programs(length: usize) -> impl Strategy<Value = Numbers>;

    /// Runs a program under `C`. Returns the number of operations, or the fault in words.
    fn outcome<C: Collector>(program: &Numbers) -> Result<u64, String>;

    /// Puts a program into words.
    fn print<C: Collector>(program: &Numbers) -> String;
}

/// Programs of one thread.
struct OneThread;

impl Kind for OneThread {
    const NAME: &'static str = "one thread";
    const CANDIDATES: u32 = 2000;

    fn programs(length: usize) -> impl Strategy<Value = Numbers> {
        generate::programs(length)
    }

    fn outcome<C: Collector>(program: &Numbers) -> Result<u64, String> {
        interpret::outcome::<C>(&generate::decode_program(program))
    }

    fn print<C: Collector>(program: &Numbers) -> String {
        replay::test::<C>(&generate::decode_program(program))
    }
}

/// Programs of several threads.
struct Threads;

impl Kind for Threads {
    const NAME: &'static str = "threads";
    // A program that fails may pass the next time.
    const CANDIDATES: u32 = 300;

    fn programs(length: usize) -> impl Strategy<Value = Numbers> {
        threads::programs(length / 4)
    }

    fn outcome<C: Collector>(program: &Numbers) -> Result<u64, String> {
        threads::outcome::<C>(&threads::decode_threads(program))
    }

    fn print<C: Collector>(program: &Numbers) -> String {
        format!("{:?}", threads::decode_threads(program))
    }
}

/// The programs that follow from `seed`.
fn programs<K: Kind>(seed: u64) -> impl Iterator<Item = Numbers> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = K::programs(LENGTHS[seed as usize % LENGTHS.len()]);
    std::iter::repeat_with(move || strategy.new_tree(&mut runner).expect("all are legal").current())
}

/// Runs `cases` programs of one thread that follow from `seed`, in a child process: the test's own
/// executable, which runs the test that calls this function. Returns the number of operations done.
///
/// # Errors
/// The first program that fails and its fault, shrunk if `shrink`.
pub fn search_for<C: Collector>(seed: u64, cases: u32, shrink: bool) -> Result<u64, String> {
    search::<C, OneThread>(seed, cases, shrink)
}

fn search<C: Collector, K: Kind>(seed: u64, cases: u32, shrink: bool) -> Result<u64, String> {
    if is_child::<C, K>() {
        return Ok(0);
    }
    let ended = child::run(&owner::<C, K>(), &Task::Search { seed, cases })?;
    let Some(mut fault) = ended.fault else {
        return Ok(ended.ops);
    };
    let mut program = programs::<K>(seed).nth(ended.case).expect("there is no last one");
    if shrink {
        let fault_of = |program: &Numbers| child::run(&owner::<C, K>(), &Task::Run(program.clone())).ok()?.fault;
        (program, fault) = shrink::smallest(program, fault, K::CANDIDATES, fault_of);
    }
    Err(format!("seed {seed}: {fault}\n{}", K::print::<C>(&program)))
}

/// Names a search for its child processes.
fn owner<C: Collector, K: Kind>() -> String {
    format!("{} {}", K::NAME, std::any::type_name::<C>())
}

/// Whether this process is a child. A child for `C` and `K` does its task and ends.
fn is_child<C: Collector, K: Kind>() -> bool {
    let Some(task) = child::task(&owner::<C, K>()) else {
        return child::is_child();
    };
    child::end_with(|| {
        child::begin(0);
        match task {
            Task::Search { seed, cases } => {
                let numbered = programs::<K>(seed).enumerate().take(cases as usize);
                let outcomes = numbered.map(|(case, program)| {
                    child::begin(case);
                    K::outcome::<C>(&program)
                });
                outcomes.sum()
            }
            Task::Run(program) => K::outcome::<C>(&program),
            Task::Regression(number) => interpret::outcome::<C>(&regressions::programs()[number].1),
            Task::Work => unreachable!("it is for another owner"),
        }
    })
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
    if is_child::<C, OneThread>() {
        return Ok(());
    }
    let name = C::DESCRIPTION.name;
    for (number, (what, program)) in regressions::programs().iter().enumerate() {
        if let Some(fault) = child::run(&owner::<C, OneThread>(), &Task::Regression(number))?.fault {
            let program = replay::test::<C>(program);
            return Err(format!(
                "{name}: the program that once failed because {what}: {fault}\n{program}"
            ));
        }
    }
    go_on::<C, OneThread>(time, (CASES, BATCH), "")
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
    if is_child::<C, Threads>() {
        return Ok(());
    }
    go_on::<C, Threads>(time, (CASES_IN_THREADS, BATCH_IN_THREADS), " of several threads")
}

fn go_on<C: Collector, K: Kind>(time: Option<Duration>, (cases, batch): (u32, u32), of: &str) -> Result<(), String> {
    let name = C::DESCRIPTION.name;
    let seed = environment("GCLAB_RANDOM_SEED").unwrap_or(1);
    let search = |seed, cases| search::<C, K>(seed, cases, true).map_err(|why| format!("{name}: {why}"));
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
/// # The memory rule
/// Some heaps have a limit (`-M`) of 2 to 5 MiB. A collector may report such a heap as exhausted when
/// live data and the request come to a tenth of the memory that it can use: the limit less a megablock,
/// since blocks come in whole ones, and less the chunks of 32 KiB that copying may have open, four for
/// each generation and GC thread. Side tables, mark stacks and blocks that the collector holds back
/// are part of what it can use.
///
/// # Panics
/// If a program fails, with the program and its fault.
pub fn random_programs<C: Collector>() {
    let time = environment("GCLAB_RANDOM_SECONDS").map(|seconds| Duration::from_secs(seconds) / 2);
    if let Err(why) = hunt::<C>(time).and_then(|()| hunt_in_threads::<C>(time)) {
        panic!("{why}");
    }
}
