//! Random programs under every collector, against a plain Rust heap.
//!
//! Each program runs on two heaps under a collector, with flags drawn at random and the checker on, and on a reference
//! ([`model`]) that never frees anything. After each collection that the program asks for, and at the end of each stay,
//! everything reachable is compared ([`compare`]). A failure is shrunk and printed as a short program.
//!
//! `cargo test` runs the same bounded share each time. `.ci/long-random` runs for as long as told: it sets
//! `GCLAB_RANDOM_SECONDS` (for all collectors), `GCLAB_RANDOM_SEED` and `GCLAB_RANDOM_COLLECTOR` (one alone).

mod compare;
mod heap;
mod interpret;
mod model;
mod program;
mod regressions;
mod shapes;

use gclab_collectors::All;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use heap::Difference;
use program::{Program, programs};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

/// Programs of the bounded share, for each collector: some seconds in the dev profile.
const CASES: u32 = 400;

/// Most operations of a program, by the seed modulo as many lengths.
const LENGTHS: [usize; 3] = [2000, 400, 100];

/// Programs between two looks at the clock.
const BATCH: u32 = 64;

/// Runs `program` under `C`; gives the number of operations, or says what went wrong.
pub fn outcome<C: Collector>(program: &Program) -> Result<u64, String> {
    quietly(|| catch_unwind(AssertUnwindSafe(|| interpret::run::<C>(program)))).map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let difference = payload.downcast_ref::<Difference>().map(|difference| &difference.0);
    let text = difference.or(payload.downcast_ref::<String>()).map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
        .to_owned()
}

/// Runs `cases` programs that follow from `seed`; gives the operations done, or the first program that fails, shrunk if
/// `shrink`.
pub fn search_for<C: Collector>(seed: u64, cases: u32, shrink: bool) -> Result<u64, String> {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: if shrink { 20_000 } else { 0 },
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let length = LENGTHS[seed as usize % LENGTHS.len()];
    let ops = Cell::new(0);
    let result = TestRunner::new_with_rng(config, rng).run(&programs(length), |program| {
        let done = outcome::<C>(&program).map_err(TestCaseError::fail)?;
        ops.set(ops.get() + done);
        Ok(())
    });
    match result {
        Ok(()) => Ok(ops.get()),
        Err(TestError::Fail(why, program)) => Err(format!("seed {seed}: {why}{program:?}")),
        Err(TestError::Abort(why)) => Err(format!("seed {seed}: {why}")),
    }
}

thread_local! {
    /// Whether panics of this thread are printed: shrinking makes hundreds, of which the last is reported.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// `work`, of whose panics nothing is printed.
fn quietly<R>(work: impl FnOnce() -> R) -> R {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
    QUIET.set(true);
    let result = work();
    QUIET.set(false);
    result
}

fn environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value} is not a number")),
    )
}

/// Searches for failures under one collector: for so long, or through the bounded share.
struct Hunt(Option<Duration>);
impl CollectorVisitor for Hunt {
    type Output = Result<(), String>;
    fn visit<C: Collector>(self) -> Result<(), String> {
        let name = C::DESCRIPTION.name;
        let seed = environment("GCLAB_RANDOM_SEED").unwrap_or(1);
        let search = |seed, cases| search_for::<C>(seed, cases, true).map_err(|why| format!("{name}: {why}"));
        let Some(time) = self.0 else {
            println!("{name}: {CASES} programs, {} operations", search(seed, CASES)?);
            return Ok(());
        };
        let (start, mut ops, mut batches) = (Instant::now(), 0, 0u64);
        while start.elapsed() < time {
            ops += search(seed + batches, BATCH)?;
            batches += 1;
            if batches.is_multiple_of(100) {
                println!("{name}: {} programs, {ops} operations", batches * u64::from(BATCH));
            }
        }
        let (programs, last) = (batches * u64::from(BATCH), seed + batches - 1);
        println!("{name}: {programs} programs, {ops} operations without a difference (seeds {seed} to {last})");
        Ok(())
    }
}

#[test]
fn random_programs_agree_with_a_plain_heap() {
    let only = std::env::var("GCLAB_RANDOM_COLLECTOR").unwrap_or_default();
    let mut names: Vec<&str> = All::descriptions().iter().map(|description| description.name).collect();
    names.retain(|name| only.is_empty() || only == *name);
    let time = environment("GCLAB_RANDOM_SECONDS").map(|all| Duration::from_secs(all) / names.len().max(1) as u32);
    let failures: Vec<String> = names
        .into_iter()
        .filter_map(|name| All::with(name, Hunt(time)).expect("listed").err())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
