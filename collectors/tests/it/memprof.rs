//! Memprof under every collector: unbiased estimates, and the lifetime of each sampled closure.

use crate::basics::config;
use gclab_collectors::{Compacting, Copying, Immix, MarkSweep, Ocaml, Parallel, TwoSpace};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::{Compact, Config, FromGeneration};
use gclab_core::cost_centre;
use gclab_core::mutator::{Allocation, MemprofError, MutByteArray, Mutator, MutatorKind, Request, Tracker};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Totals over a tracker's calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    minor: u64,
    major: u64,
    samples: u64,
    promoted: u64,
    died_young: u64,
    died_old: u64,
}

/// A tracker that adds up totals. Its values are sizes.
#[derive(Clone, Default)]
struct Adds(Arc<Mutex<Sums>>, Arc<Mutex<Vec<Allocation>>>);

impl Adds {
    fn sums(&self) -> Sums {
        *self.0.lock().expect("sound")
    }

    fn add(&self, change: impl FnOnce(&mut Sums)) {
        change(&mut self.0.lock().expect("sound"));
    }
}

impl Tracker for Adds {
    type Minor = usize;
    type Major = usize;

    fn alloc_minor(&mut self, allocation: &Allocation) -> Option<usize> {
        self.add(|sums| {
            sums.minor += 1;
            sums.samples += u64::from(allocation.n_samples);
        });
        self.1.lock().expect("sound").push(allocation.clone());
        Some(allocation.size.0)
    }

    fn alloc_major(&mut self, allocation: &Allocation) -> Option<usize> {
        self.add(|sums| {
            sums.major += 1;
            sums.samples += u64::from(allocation.n_samples);
        });
        Some(allocation.size.0)
    }

    fn promote(&mut self, value: usize) -> Option<usize> {
        self.add(|sums| sums.promoted += 1);
        Some(value)
    }

    fn dealloc_minor(&mut self, _: usize) {
        self.add(|sums| sums.died_young += 1);
    }

    fn dealloc_major(&mut self, _: usize) {
        self.add(|sums| sums.died_old += 1);
    }
}

/// Allocates arrays of several sizes, large ones rarely, up to `words` words. Returns the words
/// allocated.
fn allocate<M: MutatorKind>(m: &mut Mutator<'_, M>, words: u64) -> u64 {
    let mut allocated = 0;
    let mut round = 0_usize;
    while allocated < words {
        let payload = if round.is_multiple_of(1000) {
            500
        } else {
            1 + round * 7 % 37
        };
        m.alloc_mut_bytes(8 * payload);
        allocated += payload as u64 + 2;
        round += 1;
    }
    allocated
}

/// Samples about `words` words at `rate`, and checks that the number of samples is within the
/// limits of chance.
fn estimate<C: Collector>(words: u64, rate: f64) {
    let world = World::new::<C>(&config::<C>(256 << 10)).expect("a small heap");
    let adds = Adds::default();
    let allocated = world.enter(|m| {
        m.start_memprof(rate, 0, adds.clone()).expect("not started");
        let allocated = allocate(m, words);
        m.stop_memprof().expect("started");
        allocated
    });
    let words = allocated.expect("room enough") as f64;
    let samples = adds.sums().samples as f64;
    let deviation = (samples - words * rate) / (words * rate * (1.0 - rate)).sqrt();
    assert!(
        deviation.abs() < 3.5,
        "{} at {rate}: {samples} samples of {words} words, {deviation} standard deviations",
        C::DESCRIPTION.name
    );
}

#[test]
fn estimates_have_no_bias() {
    for rate in [1e-4, 1e-3, 1e-2] {
        estimate::<Copying>(10_000_000, rate);
        estimate::<MarkSweep>(10_000_000, rate);
        estimate::<Ocaml>(10_000_000, rate);
    }
    estimate::<Ocaml>(1_000_000, 0.3);
    for rate in [1e-2, 0.3] {
        estimate::<Immix>(1_000_000, rate);
    }
}

/// Keeps ten of a hundred arrays, with everything sampled; the others die.
fn live_and_die<C: Collector>(config: &Config) {
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    let adds = Adds::default();
    let ran = world.enter(|m| {
        m.start_memprof(1.0, 0, adds.clone()).expect("not started");
        m.frame(|m, [kept]| {
            let kept = kept.put(m.alloc_array::<MutByteArray>(10, |_| None));
            for number in 0..100 {
                let (view, array) = m.with_view(|m| m.alloc_mut_bytes(8 * (1 + number % 5)));
                if number % 10 == 0 {
                    kept.get(view).set(view, number / 10, Some(array));
                }
            }
            m.alloc_mut_bytes(8 * 1000);
            // Twice, for collectors in which closures age.
            m.collect(Request::Full);
            m.collect(Request::Full);
            let sums = adds.sums();
            // The array of pointers has 12 words; the others have 3 to 7, and 1002.
            assert_eq!((sums.minor, sums.major, sums.samples), (101, 1, 12 + 500 + 1002));
            assert_eq!(sums.died_young + sums.died_old, 91, "{sums:?}");
            let in_place = config.generations == 1 || C::DESCRIPTION.generations.1 == 1;
            assert!(in_place || sums.promoted >= 11, "{sums:?}");
        });
        m.collect(Request::Full);
        let sums = adds.sums();
        assert_eq!(sums.died_young + sums.died_old, 102, "{sums:?}");
        m.stop_memprof().expect("started");
        assert_eq!(Arc::strong_count(&adds.0), 1, "the tracker is dropped");
        allocate(m, 1000);
        m.collect(Request::Full);
        assert_eq!(adds.sums(), sums);
    });
    ran.expect("room enough");
}

under_every_collector! {
    fn every_sampled_closure_lives_and_dies_once<C>() {
        live_and_die::<C>(&config::<C>(16 << 10));
    }

    fn every_sampled_closure_lives_and_dies_once_with_a_collection_at_each_allocation<C>() {
        live_and_die::<C>(&Config { stress: Some(1), ..config::<C>(16 << 10) });
    }

    fn all_words_are_sampled_at_a_rate_of_1<C>() {
        let (world, adds) = (World::new::<C>(&config::<C>(64 << 10)).expect("a small heap"), Adds::default());
        let ran = world.enter(|m| {
            allocate(m, 10_000);
            m.start_memprof(1.0, 0, adds.clone()).expect("not started");
            let words = allocate(m, 100_000);
            m.stop_memprof().expect("started");
            assert_eq!(adds.sums().samples, words);
        });
        ran.expect("room enough");
    }
}

#[test]
fn refusals_name_the_reason() {
    let world = World::new::<Copying>(&config::<Copying>(64 << 10)).expect("a small heap");
    let ran = world.enter(|m| {
        assert_eq!(m.stop_memprof(), Err(MemprofError::NotStarted));
        for rate in [-0.1, 1.1, f64::INFINITY] {
            assert_eq!(m.start_memprof(rate, 0, Adds::default()), Err(MemprofError::Rate(rate)));
        }
        assert!(m.start_memprof(f64::NAN, 0, Adds::default()).is_err());
        m.start_memprof(0.0, 0, Adds::default()).expect("not started");
        let error = m.start_memprof(0.5, 0, Adds::default()).expect_err("started");
        assert_eq!(
            error.to_string(),
            "memprof is already sampling: stop it before starting it again"
        );
        m.stop_memprof().expect("started");
    });
    ran.expect("room enough");
}

#[test]
fn a_closure_whose_initialiser_panics_is_not_followed() {
    let world = World::new::<Copying>(&config::<Copying>(64 << 10)).expect("a small heap");
    let adds = Adds::default();
    let ran = world.enter(|m| {
        m.start_memprof(1.0, 0, adds.clone()).expect("not started");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            m.alloc_bytes_with(80, |_, _| panic!("an initialiser"));
        }));
        assert!(panicked.is_err());
        m.collect(Request::Full);
        // The words sampled for that closure go to the next four.
        for _ in 0..10 {
            m.alloc_bytes(&[1; 8]);
        }
        m.stop_memprof().expect("started");
    });
    ran.expect("room enough");
    let allocations = adds.1.lock().expect("sound");
    let sizes: Vec<_> = allocations.iter().map(|allocation| allocation.size.0).collect();
    assert_eq!(sizes, [2; 6]);
}

/// Panics at the allocation with this number.
struct Panics(u64, Adds);

impl Tracker for Panics {
    type Minor = usize;
    type Major = usize;
    fn alloc_minor(&mut self, allocation: &Allocation) -> Option<usize> {
        let value = self.1.alloc_minor(allocation);
        assert!(self.1.sums().minor != self.0, "on purpose");
        value
    }
    fn alloc_major(&mut self, allocation: &Allocation) -> Option<usize> {
        self.1.alloc_major(allocation)
    }
    fn promote(&mut self, value: usize) -> Option<usize> {
        self.1.promote(value)
    }
    fn dealloc_minor(&mut self, value: usize) {
        self.1.dealloc_minor(value);
    }
    fn dealloc_major(&mut self, value: usize) {
        self.1.dealloc_major(value);
    }
}

under_every_collector! {
    fn a_panic_of_a_tracker_comes_out_of_the_allocation_and_the_rest_comes_later<C>() {
        let world = World::new::<C>(&config::<C>(64 << 10)).expect("a small heap");
        let adds = Adds::default();
        let ran = world.enter(|m| {
            m.start_memprof(1.0, 0, Panics(3, adds.clone())).expect("not started");
            (0..10).for_each(|_| _ = m.alloc_bytes(&[1; 8]));
            assert!(catch_unwind(AssertUnwindSafe(|| m.collect(Request::Full))).is_err());
            assert_eq!(adds.sums().minor, 3);
            m.collect(Request::Full);
            m.stop_memprof().expect("started");
        });
        ran.expect("room enough");
        // The third one had no value, so its death is not reported.
        let sums = adds.sums();
        assert_eq!((sums.minor, sums.died_young, sums.died_old), (10, 9, 0), "{}", C::DESCRIPTION.name);
    }
}

/// Many closures are sampled, and half of them die when they are old.
fn half_dies<C: Collector>(config: &Config) {
    const COUNT: usize = 3000;
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    let adds = Adds::default();
    let ran = world.enter(|m| {
        m.start_memprof(1.0, 0, adds.clone()).expect("not started");
        m.frame(|m, [kept]| {
            let kept = kept.put(m.alloc_array::<MutByteArray>(COUNT, |_| None));
            for number in 0..COUNT {
                let (view, array) = m.with_view(|m| m.alloc_mut_bytes(8 * (1 + number % 9)));
                kept.get(view).set(view, number, Some(array));
            }
            m.collect(Request::Full);
            m.collect(Request::Full);
            for number in (0..COUNT).step_by(2) {
                kept.get(m).set(m, number, None);
            }
            m.collect(Request::Full);
            let sums = adds.sums();
            let expected = Sums {
                minor: COUNT as u64,
                major: 1,
                promoted: if config.generations == 1 { 0 } else { COUNT as u64 },
                ..sums
            };
            assert_eq!(sums, expected);
            assert_eq!(sums.died_young + sums.died_old, COUNT as u64 / 2, "{sums:?}");
        });
        m.collect(Request::Full);
        let sums = adds.sums();
        assert_eq!(sums.died_young + sums.died_old, 1 + COUNT as u64, "{sums:?}");
    });
    ran.expect("room enough");
    let shared = world
        .finish()
        .collections
        .iter()
        .any(|collection| collection.threads() > 1);
    assert!(shared || config.gc_threads == 1, "no collection was shared");
}

#[test]
fn sampled_closures_are_followed_with_any_number_of_gc_threads_and_when_compacted() {
    for gc_threads in [1, 2, 4] {
        let config = Config {
            gc_threads,
            load_balance: Some(FromGeneration::From(0)),
            parallel_gc: FromGeneration::From(0),
            ..config::<Parallel>(64 << 10)
        };
        half_dies::<Parallel>(&config);
        half_dies::<Compacting>(&Config {
            compact: Compact::Always,
            ..config.clone()
        });
        half_dies::<TwoSpace>(&Config {
            generations: 1,
            ..config
        });
    }
}

#[test]
fn all_threads_are_sampled() {
    let config = Config {
        capabilities: 3,
        ..config::<Parallel>(64 << 10)
    };
    let (world, adds) = (World::new::<Parallel>(&config).expect("a small heap"), Adds::default());
    let started = world.enter(|m| m.start_memprof(1.0, 0, adds.clone()));
    started.expect("room enough").expect("not started");
    let words: u64 = std::thread::scope(|scope| {
        let thread = |_| scope.spawn(|| world.enter(|m| allocate(m, 100_000)).expect("room enough"));
        let threads: Vec<_> = (0..3).map(thread).collect();
        threads.into_iter().map(|thread| thread.join().expect("sound")).sum()
    });
    let stopped = world.enter(|m| {
        // The next collection follows what a finished session reserved last.
        m.collect(Request::Full);
        m.stop_memprof()
    });
    stopped.expect("room enough").expect("started");
    assert_eq!(adds.sums().samples, words);
}

#[test]
fn allocations_have_their_cost_centres() {
    let world = World::new::<Copying>(&config::<Copying>(64 << 10)).expect("a small heap");
    let adds = Adds::default();
    let ran = world.enter(|m| {
        m.start_memprof(1.0, 1, adds.clone()).expect("not started");
        m.cost_centre(cost_centre!("outer"), |m| {
            m.alloc_bytes(&[1; 8]);
            m.cost_centre(cost_centre!("inner"), |m| {
                m.alloc_bytes(&[1; 8]);
            });
        });
        m.stop_memprof().expect("started");
    });
    ran.expect("room enough");
    let allocations = adds.1.lock().expect("sound");
    let labels: Vec<Vec<_>> = allocations
        .iter()
        .map(|allocation| allocation.callstack.iter().map(|centre| centre.label).collect())
        .collect();
    assert_eq!(labels, [["outer"], ["inner"]]);
}
