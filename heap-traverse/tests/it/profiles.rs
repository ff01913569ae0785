//! Profiles of heaps with known contents.

use super::{Node, config};
use gclab_collectors::Copying;
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::KindOf;
use gclab_core::config::Config;
use gclab_core::cost_centre;
use gclab_core::events::{Event, EventKind, Listener, Look};
use gclab_core::mutator::{Any, MutArray, Mutator, MutatorKind, Request};
use gclab_core::timer::Timer;
use gclab_core::world::{Stopped, World};
use gclab_eventlog::hp::HpWriter;
use gclab_flags::Flags;
use gclab_heap_traverse::profile::{Census, Counter, HeapProfiler, retainer_table};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Two kinds of retainers.
#[derive(Closure)]
#[allow(dead_code)]
struct A {
    to: Mut<Cons>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct B {
    to: Mut<Cons>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Cons {
    head: Option<Ptr<Any>>,
}

fn profile(words: &str) -> Config {
    let words: Vec<_> = words.split_whitespace().collect();
    Config {
        profile: Flags::parse_words(&words).expect("legal flags").config.profile,
        ..config(2)
    }
}

fn census<M: MutatorKind>(world: &World<M>, words: &str) -> Census {
    let mut counter = Counter::new(&profile(words).profile).expect("a profile");
    let look = |stopped: &Stopped<'_>| counter.census(stopped, 0.0, None);
    world.inspect(look).expect("no thread is inside")
}

fn bands(census: &Census) -> BTreeMap<&str, u64> {
    census
        .bands
        .iter()
        .map(|(name, bytes)| (name.as_str(), *bytes))
        .collect()
}

/// The roots are a mutable variable m and a suspended computation t. Both lead to a cons with
/// another cons behind it. By GHC's definition the retainers of the two conses are {A, B}, and each
/// root retains itself.
#[test]
fn retainers_of_closures_that_two_roots_share() {
    let world = World::new::<Copying>(&config(2)).expect("a small heap");
    let _roots = world
        .enter(|m| {
            m.frame(|m, [x, c, t]| {
                let x = x.put(m.alloc(|_| Cons::new(None)));
                let c = c.put(m.alloc(|m| Cons::new(Some(x.get(m).erase()))));
                let t = t.put(m.alloc(|m| A::new(Some(c.get(m)))));
                let (m, b) = m.alloc_with(|m| B::new(Some(c.get(m))));
                (m.handle(b), m.handle(t.get(m)))
            })
        })
        .expect("room enough");
    let both = census(&world, "-hr");
    let mut sets: Vec<_> = both
        .bands
        .iter()
        .map(|(name, bytes)| (name.split_once(')').unwrap().1, *bytes))
        .collect();
    sets.sort_unstable();
    assert!(
        sets == [("A", 16), ("A,B", 32), ("B", 16)] || sets == [("A", 16), ("B", 16), ("B,A", 32)],
        "{sets:?}"
    );
    assert_eq!((both.visits.closures, both.visits.visits), (4, 8));
    let one = census(&world, "-hr -R1");
    assert_eq!(bands(&one)["MANY"], 32);
    assert_eq!(census(&world, "-hr -R0").bytes(), 64);
}

/// A retainer that was allocated in a cost centre is identified by it and all cost centres around
/// it, any other retainer by its type. Different stacks are different retainers, even if their
/// innermost cost centre is the same.
#[test]
fn retainers_are_identified_by_where_they_were_allocated() {
    let config = profile("-hr");
    let mut world = World::observed::<Copying>(&config).expect("a small heap");
    let profiler = HeapProfiler::new(&config.profile, None).expect("a profile");
    world.listen(Box::new(profiler.clone()));
    let session = world.enter(|m| {
        m.frame(|m, [shared, plain, alone, within]| {
            let shared = shared.put(m.alloc(|_| Cons::new(None)));
            let _plain = plain.put(m.alloc(|m| A::new(Some(shared.get(m)))));
            m.cost_centre(cost_centre!("make"), |m| {
                let _alone = alone.put(m.alloc(|m| A::new(Some(shared.get(m)))));
                m.collect(Request::Full);
                m.cost_centre(cost_centre!("more"), |m| {
                    let _within = within.put(m.alloc(|m| B::new(Some(shared.get(m)))));
                    m.collect(Request::Minor);
                    m.phase_marker("all");
                });
            });
            m.collect(Request::Full);
        });
    });
    session.expect("room enough");
    let (profile, _) = profiler.finish(0.0);
    let all = profile.censuses.iter().find(|census| census.marker.is_some());
    let mut names: Vec<_> = all
        .expect("one at the marker")
        .bands
        .iter()
        .map(|(name, bytes)| (name.split_once(')').unwrap().1, *bytes))
        .collect();
    names.sort_unstable();
    // The closure that they share has all three, and the frame that holds it.
    let mut together: Vec<_> = names.iter().flat_map(|(name, _)| name.split(',')).collect();
    together.sort_unstable();
    assert_eq!(
        together,
        ["A", "A", "SYSTEM", "make", "make", "more", "more"],
        "{names:?}"
    );
    assert!(
        names.len() == 4 && names.iter().all(|(_, bytes)| *bytes == 16),
        "{names:?}"
    );
    let table = retainer_table(&profile);
    let module = module_path!();
    for full in [
        format!("<{module}.more,{module}.make>"),
        format!("<{module}.make>"),
        format!("<{module}.A>"),
    ] {
        assert!(table.contains(&full), "{full} is not in\n{table}");
    }
    // A label selects all retainers that have it.
    assert_eq!(census(&world, "-hy -hrmore").bytes(), 0, "nothing is left");
    let of_more = profile
        .sets
        .iter()
        .filter(|set| set.retainers.iter().any(|r| r.name == "more"));
    assert_eq!(of_more.count(), 2);
}

#[test]
fn sets_keep_their_numbers_through_a_run_and_names_are_cut() {
    let world = World::new::<Copying>(&config(2)).expect("a small heap");
    let mut counter = Counter::new(&profile("-hr -L6").profile).expect("a profile");
    let mut look = |handle: &dyn Fn(&mut Mutator<'_, KindOf<Copying>>)| {
        world.enter(|m| handle(m)).expect("room enough");
        world
            .inspect(|stopped| counter.census(stopped, 0.0, None).bands)
            .expect("no thread is inside")
    };
    let keep = Mutex::new(Vec::new());
    let first = look(&|m| {
        let (m, a) = m.alloc_with(|_| A::new(None));
        keep.lock().unwrap().push(m.handle(a.erase()));
    });
    assert_eq!(first, [("(2)A".to_owned(), 16)]);
    let second = look(&|m| {
        keep.lock().unwrap().clear();
        let (m, array) = m.with_view(|m| m.alloc_array::<Node>(3, |_| None));
        keep.lock().unwrap().push(m.handle(array.erase()));
    });
    assert_eq!(second, [("(3)MUT".to_owned(), 40)]);
    let third = look(&|m| {
        let (m, a) = m.alloc_with(|_| A::new(None));
        keep.lock().unwrap().push(m.handle(a.erase()));
    });
    assert_eq!(third, [("(3)MUT".to_owned(), 40), ("(2)A".to_owned(), 16)]);
}

/// A chain of nodes, each of them a root: node k is reachable from roots 0 to k. There are as many
/// sets as roots, but still few visits.
#[test]
fn thousands_of_roots() {
    const ROOTS: usize = 3000;
    let world = World::new::<Copying>(&config(2)).expect("a small heap");
    world
        .enter(|m| {
            m.frame(|m, [list, all]| {
                let list = list.put_option::<Node>(m, None);
                let all = all.put(m.alloc_array::<Node>(ROOTS, |_| None));
                for i in (0..ROOTS).rev() {
                    let (m, node) = m.alloc_with(|m| Node::new(0, list.get(m), None));
                    list.set(m, Some(node));
                    all.get(m).set(m, i, Some(node));
                }
                let names: Vec<_> = (0..ROOTS).map(|i| format!("r{i}")).collect();
                let root = |i: usize| all.get(m).get(m, i).expect("all are there").erase();
                m.set_heap_roots(names.iter().enumerate().map(|(i, name)| (name.as_str(), root(i))));
            });
        })
        .expect("room enough");
    let census = census(&world, "-ho");
    assert_eq!((census.bands.len(), census.bytes()), (ROOTS, ROOTS as u64 * 32));
    let bands = bands(&census);
    assert_eq!((bands["r0"], bands["r0-r1"], bands["r0-r1-r2"]), (32, 32, 32));
    assert_eq!(census.visits.closures, ROOTS as u64);
    // One half is visited once, and twice again, since no root of this half leads to the common
    // part. The other half is visited twice. There is one step for each pointer, one back, and a
    // few more.
    let most = (3 + 2) * ROOTS / 2 + 2 * ROOTS + ROOTS / 16 + 1024;
    assert!(census.visits.visits <= most as u64, "{:?}", census.visits);
    assert_eq!(census.table, None);
}

#[test]
fn weak_roots_are_counted_while_other_roots_keep_their_closures() {
    let world = World::new::<Copying>(&config(2)).expect("a small heap");
    let kept = world
        .enter(|m| {
            m.frame(|m, [node, gone]| {
                let node = node.put(m.alloc(|_| Node::new(1, None, None)));
                let (view, short) = m.alloc_with(|_| Node::new(2, None, None));
                let gone = gone.put_option(view, Some(short));
                m.set_weak_heap_roots([
                    ("kept", node.get(m).erase()),
                    ("gone", gone.get(m).expect("there").erase()),
                ]);
                m.collect(Request::Full);
                gone.set(m, None);
                m.handle(node.get(m))
            })
        })
        .expect("room enough");
    let names = |census: &Census| census.bands.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&census(&world, "-ho")), ["gone", "kept"]);
    world.enter(|m| m.collect(Request::Full)).expect("room enough");
    let after = census(&world, "-ho");
    assert_eq!(names(&after), ["kept"]);
    let shown = [
        ("kept".to_owned(), 32),
        ("gone".to_owned(), 0),
        ("kept-gone".to_owned(), 0),
    ];
    assert_eq!(after.table.as_deref(), Some(&shown[..]));
    drop(kept);
    world.enter(|m| m.collect(Request::Full)).expect("room enough");
    assert_eq!(census(&world, "-ho").bands, []);
}

/// A file that a test can read after the profiler has written it.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Counts censuses.
struct Censuses(Arc<AtomicUsize>);

impl Listener for Censuses {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::LookEnd(Look::Census) = event.kind {
            self.0.fetch_add(1, Relaxed);
        }
    }
}

/// Allocates a growing array under a profile. Returns its `.hp` and `.prof`, and the number of
/// censuses.
fn grow(words: &str, interval: Duration) -> (String, String, usize) {
    let config = profile(words);
    let file = Shared::default();
    let hp = HpWriter::new(
        Box::new(file.clone()) as Box<dyn std::io::Write + Send>,
        "grow 20",
        "Fri Nov  6 23:05 2026",
    )
    .unwrap();
    let profiler = HeapProfiler::new(&config.profile, Some(hp)).expect("a profile");
    let mut world = World::new::<Copying>(&config).expect("a small heap");
    world.listen(Box::new(profiler.clone()));
    let censuses = Arc::new(AtomicUsize::new(0));
    world.listen(Box::new(Censuses(Arc::clone(&censuses))));
    let program = || {
        world.enter(|m| {
            m.frame(|m, [all]| {
                let all = all.put(m.alloc_array::<Any>(100, |_| None));
                m.set_heap_roots([("all", all.get(m).erase())]);
                m.phase_marker("growing");
                for i in 0..100 {
                    let (m2, bytes) = m.with_view(|m| m.alloc_bytes_filled(1000, 7));
                    all.get(m2).set(m2, i, Some(bytes.erase()));
                    // The sampler intervenes as soon as the system runs it.
                    let start = Instant::now();
                    while i == 50 && !interval.is_zero() && censuses.load(Relaxed) < 2 {
                        m.safepoint();
                        assert!(start.elapsed() < Duration::from_secs(120), "no sample in two minutes");
                    }
                }
                m.phase_marker("grown");
            });
        })
    };
    let mut result = Ok(());
    let mut timer = Timer::new(interval);
    if !interval.is_zero() {
        profiler.sample(&mut timer, &world, interval);
    }
    timer.run(|| result = program()).expect("a thread");
    result.expect("room enough");
    let collections = world.finish().collections_count();
    let (profile, written) = profiler.finish(0.0);
    written.expect("memory can be written");
    if interval.is_zero() {
        assert_eq!(profile.censuses.len() as u64, collections + 2);
    }
    let markers: Vec<_> = profile
        .censuses
        .iter()
        .filter_map(|census| census.marker.as_deref())
        .collect();
    assert_eq!(markers, ["growing", "grown"]);
    assert!(profile.censuses.is_sorted_by(|a, b| a.seconds <= b.seconds));
    let peak = profile.peak().expect("there are some").bytes();
    assert!((100 * 1016..=100 * 1016 + 816).contains(&peak), "{peak}");
    let text = String::from_utf8(file.0.lock().unwrap().clone()).unwrap();
    (text, retainer_table(&profile), profile.censuses.len())
}

/// Whether `hp2ps` accepts the file. True if `hp2ps` is missing.
fn drawn(hp: &str) -> bool {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let number = FOLDERS.fetch_add(1, Relaxed);
    let folder = std::env::temp_dir().join(format!("gclab-hp-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("grow.hp"), hp).unwrap();
    let drawn = match Command::new("hp2ps").arg("grow.hp").current_dir(&folder).output() {
        Ok(output) => output.status.success() && folder.join("grow.ps").is_file(),
        Err(error) => {
            println!("hp2ps: {error}");
            true
        }
    };
    let _ = std::fs::remove_dir_all(folder);
    drawn
}

#[test]
fn hp2ps_draws_the_files_of_every_profile() {
    for words in ["-hT", "-hd", "-hy", "-hm", "-hr", "-ho"] {
        let words = format!("{words} -i0");
        let (hp, prof, censuses) = grow(&words, Duration::ZERO);
        assert!(drawn(&hp), "{words}: {hp}");
        assert_eq!(hp.matches("BEGIN_SAMPLE").count(), censuses + 2, "{words}");
        assert_eq!(hp.matches("\nMARK ").count(), 2);
        if words.starts_with("-hr") {
            assert!(
                prof.contains("Average number of visits per object = 2.000000"),
                "{prof}"
            );
            assert!(
                prof.ends_with("created during profiling:\nSET 2 = {<gclab_core.MUT_ARR_PTRS>}\n"),
                "{prof}"
            );
        }
    }
    assert!(
        !drawn("JOB \"x\"\n") || Command::new("hp2ps").output().is_err(),
        "hp2ps refuses other files"
    );
}

#[test]
fn a_census_every_so_often_without_any_collection() {
    let (hp, _, censuses) = grow("-hT -i0.05", Duration::from_millis(50));
    // Two of them are at markers.
    assert!(censuses > 2, "{censuses}");
    assert!(drawn(&hp), "{hp}");
}

/// The program holds an array in a frame while it collects.
#[test]
fn an_array_in_a_frame_is_counted() {
    let config = profile("-hy -i0");
    let profiler = HeapProfiler::new(&config.profile, None).expect("a profile");
    let mut world = World::new::<Copying>(&config).expect("a small heap");
    world.listen(Box::new(profiler.clone()));
    let session = world.enter(|m| {
        m.frame(|m, [array]| {
            let _array = array.put::<MutArray<Node>>(m.alloc_array::<Node>(10, |_| None));
            m.collect(Request::Minor);
        });
    });
    session.expect("room enough");
    let (profile, _) = profiler.finish(0.0);
    assert_eq!(profile.censuses[0].bands, [("MutArray<Node>".to_owned(), 96)]);
}
