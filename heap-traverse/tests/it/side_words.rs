//! Side words stay with their closures, whatever their shape and size, wherever a collector moves
//! them, and with any number of threads.

use super::{Node, config};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::cost_centre;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{Any, Gc, Mutator, MutatorKind, Request};
use gclab_core::profile::CostCentre;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_flags::Flags;
use gclab_heap_traverse::Checker;
use gclab_heap_traverse::profile::HeapProfiler;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How many structures live at a time.
const SLOTS: usize = 32;

const SITES: [CostCentre; 4] = [
    cost_centre!("tree"),
    cost_centre!("list"),
    cost_centre!("array"),
    cost_centre!("bytes"),
];

fn tree<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: usize) -> Gc<'m, 'h, Node> {
    if depth == 0 {
        return m.alloc(|_| Node::new(0, None, None));
    }
    m.frame(|m, [left, right]| {
        let (left, right) = (left.put(tree(m, depth - 1)), right.put(tree(m, depth - 1)));
        m.alloc(|m| Node::new(0, Some(left.get(m)), Some(right.get(m))))
    })
}

fn list<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, cells: usize) -> Gc<'m, 'h, Node> {
    m.frame(|m, [first]| {
        let first = first.put(tree(m, 0));
        for _ in 1..cells {
            let (m, cell) = m.alloc_with(|m| Node::new(0, Some(first.get(m)), None));
            first.set(m, cell);
        }
        first.get(m)
    })
}

/// An array with a node in every slot.
fn array<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, len: usize) -> Gc<'m, 'h, Any> {
    m.frame(|m, [array]| {
        let array = array.put(m.alloc_array::<Node>(len, |_| None));
        for index in 0..len {
            let (m, node) = m.alloc_with(|_| Node::new(0, None, None));
            array.get(m).set(m, index, Some(node));
        }
        array.get(m).erase()
    })
}

/// Makes structure number `number` in the cost centre of its shape. Returns the shape's number, and
/// the bytes.
fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, number: usize) -> (Gc<'m, 'h, Any>, usize, usize) {
    let (shape, size) = (number % 4, number * 37);
    m.cost_centre(SITES[shape], |m| match shape {
        0 => (tree(m, size % 9).erase(), shape, ((2 << (size % 9)) - 1) * 32),
        1 => (list(m, 1 + size % 300).erase(), shape, (1 + size % 300) * 32),
        // A large object from 407 slots.
        2 => (array(m, size % 500), shape, 16 + (size % 500) * 40),
        _ => {
            let len = size % 3000;
            (
                m.alloc_bytes_filled(len, 1).erase(),
                shape,
                16 + len.next_multiple_of(8),
            )
        }
    })
}

/// Counts the collections with two threads at work.
struct Shared(Arc<AtomicUsize>);

impl Listener for Shared {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { collection, .. } = event.kind {
            let with_two = collection.work.shared.threads.len() > 1;
            self.0.fetch_add(usize::from(with_two), Relaxed);
        }
    }
}

struct Check;

impl CollectorVisitor for Check {
    /// How many collections two threads shared.
    type Output = usize;

    fn visit<C: Collector>(self) -> usize {
        let least = C::DESCRIPTION.generations.0;
        let config = Config {
            profile: Flags::parse_words(&["-hc"]).expect("legal flags").config.profile,
            gc_threads: 2,
            allocation_area: Bytes(16 << 10),
            stress: Some(997),
            ..config(least.max(3).min(C::DESCRIPTION.generations.1))
        };
        let mut world = World::observed::<C>(&config).expect("a small heap");
        Checker::install(&mut world);
        let profiler = HeapProfiler::new(&config.profile, None).expect("a profile");
        world.listen(Box::new(profiler.clone()));
        let shared = Arc::new(AtomicUsize::new(0));
        world.listen(Box::new(Shared(Arc::clone(&shared))));
        let mut expected = Vec::new();
        let session = world.enter(|m| {
            m.frame(|m, [all]| {
                let all = all.put(m.alloc_array::<Any>(SLOTS, |_| None));
                let mut live = [(0, 0); SLOTS];
                for number in 1..400 {
                    m.frame(|m, [made]| {
                        let (gc, shape, bytes) = make(m, number);
                        let made = made.put(gc);
                        let slot = number * 7 % SLOTS;
                        all.get(m).set(m, slot, Some(made.get(m)));
                        live[slot] = (shape, bytes as u64);
                    });
                    if number % 20 == 0 {
                        m.collect(if number % 40 == 0 {
                            Request::Full
                        } else {
                            Request::Minor
                        });
                        m.phase_marker("census");
                        let mut bands = BTreeMap::from([("MAIN".to_owned(), 16 + 8 * SLOTS as u64)]);
                        for (shape, bytes) in live.into_iter().filter(|(_, bytes)| *bytes > 0) {
                            *bands.entry(SITES[shape].label.to_owned()).or_default() += bytes;
                        }
                        expected.push(bands);
                    }
                }
            });
        });
        session.expect("room enough");
        let (profile, written) = profiler.finish(0.0);
        written.expect("nothing is written");
        let name = |name: &str| name.split_once(')').map_or(name, |(_, name)| name).to_owned();
        let bands = profile.censuses.iter().map(|census| {
            let bands = census.bands.iter().filter(|(_, bytes)| *bytes > 0);
            bands.map(|(band, bytes)| (name(band), *bytes)).collect()
        });
        let found: Vec<BTreeMap<String, u64>> = bands.collect();
        assert_eq!(found, expected, "under {}", C::DESCRIPTION.name);
        shared.load(Relaxed)
    }
}

#[test]
fn side_words_stay_with_closures_of_all_shapes_that_two_threads_move() {
    for description in gclab_collectors::All::descriptions() {
        let shared = gclab_collectors::All::with(description.name, Check).expect("it is in the list");
        assert_eq!(
            shared > 0,
            description.parallel,
            "{}: {shared} collections",
            description.name
        );
    }
}
