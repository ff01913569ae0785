//! Samples of the stacks of cost centres, and the costs that mutators count.

use super::config;
use gclab_collectors::All;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::{Config, TimeProfile};
use gclab_core::cost_centre;
use gclab_core::timer::Timer;
use gclab_core::world::World;
use gclab_heap_traverse::profile::{TimeProfiler, TimeSample};
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Program;

impl CollectorVisitor for Program {
    type Output = ();

    fn visit<C: Collector>(self) {
        let config = Config {
            time_profile: Some(TimeProfile::Shares),
            ..config(2)
        };
        let world = World::observed::<C>(&config).expect("a small heap");
        let (outer, inner) = (cost_centre!("outer"), cost_centre!("inner"));
        let now = || {
            let mut stacks = Vec::new();
            world.sample_stacks(|capability, stack| stacks.push((capability, stack.0)));
            stacks
        };
        let profiler = TimeProfiler::default();
        let followed: Arc<Mutex<Vec<TimeSample>>> = Arc::default();
        let follower = Arc::clone(&followed);
        profiler.follow(move |sample| follower.lock().expect("whole").push(sample));
        let tick = Duration::from_millis(1);
        let mut timer = Timer::new(tick);
        profiler.sample(&mut timer, &world);
        let ran = timer.run(|| {
            world.enter(|m| {
                assert_eq!(now(), [(0, 0)]);
                m.alloc_bytes_filled(80, 1);
                m.cost_centre(outer, |m| {
                    assert_eq!(now(), [(0, 1)]);
                    for _ in 0..3 {
                        m.cost_centre(inner, |m| {
                            assert_eq!(now(), [(0, 2)]);
                            m.alloc_bytes_filled(800, 2);
                        });
                    }
                    assert_eq!(now(), [(0, 1)]);
                    m.alloc_bytes_filled(8000, 3);
                    m.blocking(|| assert_eq!(now(), [], "it does not run"));
                    // Until the timer has sampled it here.
                    while followed
                        .lock()
                        .expect("whole")
                        .iter()
                        .filter(|one| one.stack.0 == 1)
                        .count()
                        < 5
                    {
                        m.safepoint();
                    }
                });
                assert_eq!(now(), [(0, 0)]);
            })
        });
        ran.expect("a thread").expect("room enough");
        assert_eq!(now(), [], "no thread is inside");
        let costs = world.side_words().expect("observed").costs();
        let entries: Vec<u64> = costs.iter().map(|costs| costs.entries).collect();
        assert_eq!(entries, [0, 1, 3]);
        let bytes: Vec<u64> = costs.iter().map(|costs| costs.bytes).collect();
        // A byte array has two words before its bytes.
        assert_eq!(bytes, [96, 8016, 3 * 816]);
        let samples = followed.lock().expect("whole").clone();
        assert!(samples.is_sorted_by_key(|sample| sample.tick) && samples.iter().all(|one| one.capability == 0));
        let profile = profiler.finish(tick, 1, costs);
        assert_eq!(profile.ticks.iter().sum::<u64>(), samples.len() as u64);
        assert!(profile.ticks[1] >= 5);
        let statistics = world.finish();
        assert_eq!(statistics.allocated, 96 + 8016 + 3 * 816);
    }
}

#[test]
fn samples_and_costs_are_those_of_the_running_cost_centre() {
    for description in All::descriptions() {
        All::with(description.name, Program).expect("listed");
    }
}
