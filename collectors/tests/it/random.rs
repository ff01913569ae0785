//! Random programs under every collector in the registry.
//!
//! `cargo test` runs the same programs each time. `.ci/long-random` runs for a given time. It sets
//! `GCLAB_RANDOM_SECONDS` (for all collectors), `GCLAB_RANDOM_SEED` and `GCLAB_RANDOM_COLLECTOR`
//! (to run a single collector).

use gclab_collectors::All;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use std::thread;
use std::time::Duration;

/// Searches for failures under one collector: for a given time or a fixed number of programs, with
/// several threads or one.
struct Hunt(Option<Duration>, bool);
impl CollectorVisitor for Hunt {
    type Output = Result<(), String>;
    fn visit<C: Collector>(self) -> Result<(), String> {
        if self.1 {
            gclab_proof::hunt_in_threads::<C>(self.0)
        } else {
            gclab_proof::hunt::<C>(self.0)
        }
    }
}

fn hunt(in_threads: bool) {
    let only = std::env::var("GCLAB_RANDOM_COLLECTOR").unwrap_or_default();
    let mut names: Vec<&str> = All::descriptions().iter().map(|description| description.name).collect();
    names.retain(|name| only.is_empty() || only == *name);
    let seconds = std::env::var("GCLAB_RANDOM_SECONDS").ok();
    let seconds = seconds.map(|text| {
        text.parse()
            .unwrap_or_else(|_| panic!("GCLAB_RANDOM_SECONDS={text} is not a number"))
    });
    let time = seconds.map(|all| Duration::from_secs(all) / names.len().max(1) as u32);
    let search = |name| All::with(name, Hunt(time, in_threads)).expect("listed").err();
    let failures: Vec<String> = if time.is_some() {
        names.into_iter().filter_map(search).collect()
    } else {
        // The collectors run in parallel: this is the longest test.
        thread::scope(|s| {
            // A search runs its thread's test in a child process.
            let thread = || thread::Builder::new().name(thread::current().name().expect("a test").to_owned());
            let spawn = |name| thread().spawn_scoped(s, move || search(name)).expect("a thread");
            let searches: Vec<_> = names.into_iter().map(spawn).collect();
            let ended = searches
                .into_iter()
                .map(|search| search.join().expect("faults are returned"));
            ended.flatten().collect()
        })
    };
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn random_programs_agree_with_a_plain_heap() {
    hunt(false);
}

#[test]
fn random_programs_of_threads_agree_with_plain_heaps() {
    hunt(true);
}
