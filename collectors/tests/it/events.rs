//! The events of a run: their times, capabilities, and contents.

mod notes;

use crate::basics::config;
use gclab_collectors::{Copying, Ocaml};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::{Collector, CollectorVisitor, Cycle};
use gclab_core::config::{Config, FromGeneration, OcamlLetter};
use gclab_core::events::{
    CapabilityEvent, CapabilityEventKind, Event, EventKind, Follows, GcThreadState, Listener, Look, Occasion,
    StopReason,
};
use gclab_core::mutator::{Gc, Mutator, MutatorKind, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use notes::{At, Notes, Seen, Slow, noted, pair};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u64) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return m.alloc(|_| Tree::new(None, None));
    }
    m.frame(|m, [l, r]| {
        let (left, right) = (l.put(make(m, depth - 1)), r.put(make(m, depth - 1)));
        m.alloc(|m| Tree::new(Some(left.get(m)), Some(right.get(m))))
    })
}

under_every_collector! {
    fn times_are_those_of_the_statistics_and_allocation_adds_up<C>() {
        let config = Config { capabilities: 2, ..config::<C>(16 << 10) };
        let (world, notes) = noted::<C>(&config, false, Follows::default());
        let together = Barrier::new(2);
        let work = |large: usize| world.enter(|m| {
            m.blocking(|| together.wait());
            m.frame(|m, [kept]| {
                kept.put(make(m, 10));
                (0..5).for_each(|_| { let _ = m.alloc_mut_bytes(large); });
                m.collect(Request::Full);
            });
        }).expect("room enough");
        thread::scope(|s| {
            s.spawn(|| work(10_000));
            s.spawn(|| work(20_000));
        });
        // What a thread allocated still counts when it leaves.
        world.enter(|m| { let _ = m.alloc_mut_bytes(30_000); }).expect("room enough");
        let statistics = world.finish();

        let seen = notes.0.lock().expect("sound");
        let (last, allocated) = seen.end.as_ref().expect("an end");
        assert_eq!((last.gc, last.allocated), (statistics.gc, statistics.allocated));
        assert_eq!(allocated.iter().sum::<u64>(), statistics.allocated, "{allocated:?}");
        assert!(allocated.len() == 2 && allocated.iter().all(|bytes| *bytes > 50_000), "{allocated:?}");
        assert!(statistics.collections_count() > 4);
        let mut before = 0;
        for (((start, due, allocated), (end, collection)), kept) in
            seen.starts.iter().zip(&seen.ends).zip(&statistics.collections)
        {
            assert_eq!(collection, kept);
            assert_eq!((*start, end - start), (collection.time.start_ns, collection.time.elapsed_ns));
            assert!(due.is_some_and(|major| collection.work.is_major() || !major));
            let total = allocated.iter().sum::<u64>();
            assert_eq!(total - before, collection.before.allocated.0 as u64);
            before = total;
        }
        assert_eq!(seen.starts.len() as u64, statistics.collections_count());
        let majors = |majors: &mut dyn Iterator<Item = bool>| majors.filter(|major| *major).count();
        let due = majors(&mut seen.starts.iter().map(|start| start.1 == Some(true)));
        // Only the end of a slice tells whether it ends its cycle.
        let done = majors(&mut seen.ends.iter().map(|end| end.1.work.cycle == Cycle::Whole));
        assert!(due == done && done >= 3, "{due} of {done} major collections were known at their start");
        assert!(seen.phases >= 4 * seen.starts.len() as u64);
        assert!(seen.caps.is_empty() && seen.turns.is_empty(), "no listener asks for them");
    }

    fn a_major_collection_records_what_it_returned<C>() {
        let (world, notes) = noted::<C>(&config::<C>(16 << 10), false, Follows::default());
        world.enter(|m| {
            m.frame(|m, [kept]| {
                kept.put(make(m, 16));
                m.collect(Request::Full);
            });
            // Everything is garbage now. An idle heap keeps less and less.
            (0..12).for_each(|_| m.collect(Request::Full));
        }).expect("room enough");
        let majors = world.finish().major_gcs;
        let seen = notes.0.lock().expect("sound");
        assert_eq!(seen.kept.len() as u64, majors);
        let major = seen.starts.iter().zip(&seen.ends).filter(|(_, end)| end.1.work.is_major());
        let mut returned = 0;
        for ((time, kept), (start, end)) in seen.kept.iter().zip(major) {
            assert!((start.0..=end.0).contains(time));
            let memory = &end.1.memory;
            let megablocks = (memory.in_use.0 >> 20) as u32;
            assert_eq!(kept.current - kept.returned, megablocks, "{kept:?}");
            // The rest are pages of block groups.
            assert!(u64::from(kept.returned) << 20 <= memory.returned.0 as u64, "{kept:?}");
            assert!(kept.returned == 0 || megablocks >= kept.needed, "{kept:?}");
            returned += kept.returned;
        }
        assert!(returned > 0, "{:?}", seen.kept);
    }

    fn each_capability_has_the_events_of_its_threads<C>() {
        let config = Config { capabilities: 2, ..config::<C>(16 << 10) };
        let (world, notes) = noted::<C>(&config, false, Follows::ALL);
        let (together, over, runs) = (Barrier::new(2), AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|s| for name in ["one", "two"] {
            let (world, together, over, runs) = (&world, &together, &over, &runs);
            s.spawn(move || world.enter(|m| {
                m.message(name);
                m.blocking(|| together.wait());
                if name == "one" {
                    m.blocking(|| while !runs.load(Ordering::Relaxed) {
                        thread::yield_now();
                    });
                    let _ = make(m, 12);
                    m.collect(Request::Full);
                    over.store(true, Ordering::Relaxed);
                }
                // The other thread stops for each collection of the first.
                runs.store(true, Ordering::Relaxed);
                while !over.load(Ordering::Relaxed) {
                    m.safepoint();
                }
                m.phase_marker(name);
                m.blocking(|| together.wait());
            }).expect("room enough"));
        });
        // More than a buffer holds.
        world.enter(|m| (0..3000).for_each(|_| m.message("again"))).expect("room enough");
        let statistics = world.finish();

        let seen = notes.0.lock().expect("sound");
        assert_eq!((seen.markers, statistics.collections_count() > 4), (0, true));
        let mut sessions = Vec::new();
        let (mut messages, mut overflows, mut yields) = (0, 0, 0);
        for events in &seen.caps {
            assert!(events.is_sorted_by_key(|event| event.time_ns));
            let mut runs = None;
            for event in events {
                let (expected, now) = match &event.kind {
                    CapabilityEventKind::Enter { session, os_thread } => {
                        assert!(os_thread.is_some());
                        sessions.push(*session);
                        (None, Some(true))
                    }
                    CapabilityEventKind::Stop(reason) => {
                        overflows += u64::from(*reason == StopReason::HeapOverflow);
                        yields += u32::from(*reason == StopReason::Yields);
                        (Some(true), Some(false))
                    }
                    CapabilityEventKind::Run => (Some(false), Some(true)),
                    CapabilityEventKind::Leave => (Some(true), None),
                    CapabilityEventKind::Message(_) | CapabilityEventKind::Marker(_) => {
                        messages += 1;
                        (Some(true), Some(true))
                    }
                };
                assert_eq!(runs, expected, "{event:?}");
                runs = now;
            }
            assert_eq!(runs, None);
        }
        sessions.sort_unstable();
        assert_eq!((sessions, messages), (vec![1, 2, 3], 3004));
        assert!(overflows + 2 >= statistics.collections_count(), "one was asked for, and the last one is the world's");
        assert!(yields > 0, "a thread that runs stops for the others");
        // The GC thread that collects works from the start of each collection.
        let starts = seen.turns.iter().filter(|turn| seen.starts.iter().any(|start| start.0 == turn.1));
        assert!(starts.filter(|turn| turn.2 == GcThreadState::Working).count() >= seen.starts.len());
    }

    fn an_inspection_has_a_beginning_and_an_end<C>() {
        let (world, notes) = noted::<C>(&config::<C>(16 << 10), true, Follows::default());
        world.inspect_for(Look::Census, |_| ()).expect("not inside");
        world.enter(|m| m.phase_marker("here")).expect("room enough");
        world.finish();
        let seen = notes.0.lock().expect("sound");
        let looks = [pair(Look::Census), pair(Look::Inspect), pair(Look::Inspect)].concat();
        assert_eq!((seen.markers, seen.purposes()), (1, looks));
    }

    fn each_inspection_has_its_purpose_and_the_times_of_the_statistics<C>() {
        let (mut world, notes) = noted::<C>(&config::<C>(16 << 10), false, Follows::default());
        world.listen(Box::new(At(Occasion::Collection, Look::Check)));
        world.listen(Box::new(At(Occasion::Marker, Look::Census)));
        let ran = world.enter(|m| {
            m.phase_marker("here");
            m.collect(Request::Minor);
        });
        ran.expect("room enough");
        let statistics = world.finish();
        let seen = notes.0.lock().expect("sound");
        let looks = [pair(Look::Census), pair(Look::Check), pair(Look::Check)].concat();
        assert_eq!((seen.markers, seen.purposes()), (0, looks));
        let time = |purpose| {
            let looks = seen.looks.chunks(2).filter(|pair| pair[0].0 == purpose);
            looks.map(|pair| pair[1].2 - pair[0].2).sum::<u64>()
        };
        let looks = &statistics.looks;
        assert_eq!(
            (time(Look::Census), time(Look::Check)),
            (looks.census.elapsed_ns, looks.check.elapsed_ns)
        );
    }
}

/// Records the initial allocation area of a run.
struct Area(Arc<Mutex<Bytes>>);

impl Listener for Area {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::RunStart(run) = event.kind {
            *self.0.lock().expect("sound") = run.allocation_area;
        }
    }
}

/// The initial allocation area of a run under `C`.
fn first_area<C: Collector>(config: &Config) -> Bytes {
    let area = Arc::default();
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Area(Arc::clone(&area))));
    *area.lock().expect("sound")
}

under_every_collector! {
    fn a_run_begins_with_the_size_of_its_allocation_area<C>() {
        for capabilities in [1, 4] {
            let config = Config { capabilities, ..config::<C>(64 << 10) };
            assert_eq!(first_area::<C>(&config), Bytes::kib(64), "{}", C::DESCRIPTION.name);
        }
    }
}

/// Logs had `-A`, 4 MiB, even if the collector has an area of another size.
#[test]
fn an_area_set_by_another_flag_or_the_limit_is_recorded_too() {
    let mut config = Config::default();
    config.ocaml.set(OcamlLetter::MinorHeap, Some(32 << 10));
    assert_eq!(first_area::<Ocaml>(&config), Bytes::kib(256));
    let limited = Config {
        max_heap: Some(Bytes::mib(4)),
        ..Config::default()
    };
    for area in [first_area::<Ocaml>(&limited), first_area::<Copying>(&limited)] {
        assert!(Bytes::kib(64) < area && area < Bytes::mib(4), "{area:?}");
    }
}

/// Otherwise the program's time would go backwards at the next look.
#[test]
fn listener_time_is_not_program_time() {
    let mut world = World::new::<gclab_collectors::TwoSpace>(&Config::default()).expect("a small heap");
    world.listen(Box::new(Slow(false)));
    let seconds = [(); 3].map(|()| world.inspect(|stopped| stopped.mutator_seconds()).expect("not inside"));
    assert!(seconds.is_sorted(), "{seconds:?}");
}

/// Reading the clock for events that no listener asks for would be a waste.
#[test]
fn only_events_that_a_listener_asks_for_are_recorded() {
    let config = Config {
        capabilities: 2,
        ..Config::default()
    };
    let seen = |follows: Follows| {
        let (world, notes) = noted::<gclab_collectors::TwoSpace>(&config, false, follows);
        let said = world.enter(|m| {
            m.message("said");
            m.phase_marker("marked");
            m.collect(Request::Full);
        });
        said.expect("room enough");
        world.finish();
        let seen = std::mem::take(&mut *notes.0.lock().expect("sound"));
        let says = |event: &&CapabilityEvent| {
            matches!(
                event.kind,
                CapabilityEventKind::Message(_) | CapabilityEventKind::Marker(_)
            )
        };
        let of_caps: Vec<_> = seen.caps.iter().flatten().collect();
        let says = of_caps.iter().copied().filter(says).count();
        (of_caps.len() - says, says, seen.turns.len())
    };
    let nothing = Follows::default();
    // Enter, stop, run, leave; the leader works and finishes, in two collections.
    assert_eq!(
        seen(Follows {
            threads: true,
            ..nothing
        }),
        (4, 0, 0)
    );
    assert_eq!(
        seen(Follows {
            messages: true,
            ..nothing
        }),
        (0, 2, 0)
    );
    assert_eq!(
        seen(Follows {
            gc_threads: true,
            ..nothing
        }),
        (0, 0, 4)
    );
    assert_eq!((seen(nothing), seen(Follows::ALL)), ((0, 0, 0), (4, 2, 4)));
}

/// The turns of GC threads are within their collections, and use the same clock.
#[test]
fn gc_threads_work_within_their_collections() {
    let config = Config {
        capabilities: 2,
        gc_threads: 2,
        load_balance: Some(FromGeneration::From(0)),
        allocation_area: Bytes::mib(1),
        generations: 1,
        ..Config::default()
    };
    let (world, notes) = noted::<gclab_collectors::TwoSpace>(&config, false, Follows::ALL);
    world
        .enter(|m| {
            m.frame(|m, [kept]| {
                kept.put(make(m, 18));
                (0..4).for_each(|_| m.collect(Request::Full));
            });
        })
        .expect("room enough");
    world.finish();
    let seen = notes.0.lock().expect("sound");
    let spans: Vec<_> = seen.starts.iter().zip(&seen.ends).map(|(s, e)| (s.0, e.0)).collect();
    for (cap, time, state) in &seen.turns {
        assert!(cap.is_some());
        let within = spans.iter().any(|(start, end)| (start..=end).contains(&time));
        assert!(within, "{state:?} at {time}, in none of {spans:?}");
    }
    let parallel = seen.ends.iter().any(|(_, collection)| collection.threads() > 1);
    assert!(parallel, "no collection was shared");
}

/// A program of many sessions that never collects still delivers its events.
#[test]
fn events_of_many_sessions_are_passed_on_without_a_collection() {
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let mut world = World::new::<gclab_collectors::TwoSpace>(&Config::default()).expect("memory");
    world.listen(Box::new(Notes(Arc::clone(&seen), false, Follows::ALL)));
    for _ in 0..2000 {
        world.enter(|_| ()).expect("the run goes on");
    }
    let passed_on = |seen: &Seen| seen.caps.iter().map(Vec::len).sum::<usize>();
    let before = passed_on(&seen.lock().expect("sound"));
    assert!(before >= 2048, "{before} events");
    world.finish();
    assert_eq!(passed_on(&seen.lock().expect("sound")), 4000);
}
