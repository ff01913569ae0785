//! The life of a closure in words, under every collector: it ends when the last pointer to it goes,
//! and not before.

use super::{Collectors, Node, NodeFields, config};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor, Observed};
use gclab_core::config::{Compact, Config};
use gclab_core::cost_centre;
use gclab_core::mutator::{MutVar, Mutator, MutatorKind, Request};
use gclab_core::profile::Followed;
use gclab_core::words::Addr;
use gclab_core::world::World;
use gclab_heap_traverse::{Checker, LifeTeller};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// The number of the allocation to follow, the only one in the cost centre.
const FOLLOWED: u64 = 1001;

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<u8>>>);

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn garbage<M: MutatorKind>(m: &mut Mutator<'_, M>, nodes: u64) {
    for value in 0..nodes {
        m.alloc(|_| Node::new(value, None, None));
    }
}

/// Allocates 1000 nodes, the followed one, and more; collects four times while it lives, and once
/// when it is dead.
fn program<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    garbage(m, FOLLOWED - 1);
    m.frame(|m, [kept]| {
        let kept = m.cost_centre(cost_centre!("mine"), |m| {
            kept.put(m.alloc(|_| Node::new(7, None, None)))
        });
        for _ in 0..4 {
            garbage(m, 10);
            m.collect(Request::Full);
        }
        assert_eq!(kept.get(m).value(m), 7);
    });
    garbage(m, 10);
    m.collect(Request::Full);
    garbage(m, 5000);
}

/// The third closure is the followed one. It dies while others around it live on. If `both`, the
/// second one dies, too, which is small.
fn among_others<M: MutatorKind>(m: &mut Mutator<'_, M>, both: bool) {
    m.frame(|m, [first, small, followed, fourth, fifth]| {
        let first = first.put(m.alloc(|_| Node::new(1, None, None)));
        let small = small.put(m.alloc(|_| MutVar::<Node>::new(None)).erase());
        let followed = followed.put(m.alloc(|_| Node::new(2, None, None)));
        let fourth = fourth.put(m.alloc(|_| Node::new(3, None, None)));
        let fifth = fifth.put(m.alloc(|_| Node::new(4, None, None)));
        m.collect(Request::Full);
        m.collect(Request::Full);
        followed.set(m, first.get(m));
        if both {
            small.set(m, first.get(m).erase());
        }
        m.collect(Request::Full);
        m.collect(Request::Full);
        assert_eq!((fourth.get(m).value(m), fifth.get(m).value(m)), (3, 4));
    });
}

/// A run that follows this closure in this program with these settings.
struct Following(Followed, fn(&mut Mutator<'_, Observed>), Config);

impl CollectorVisitor for Following {
    type Output = Vec<String>;

    fn visit<C: Collector>(self) -> Self::Output {
        let config = Config {
            follow_closure: Some(self.0),
            generations: C::DESCRIPTION.fitting_generations(2),
            ..self.2
        };
        let mut world = World::<Observed>::observed::<C>(&config).unwrap();
        let told = Told::default();
        Checker::install(&mut world);
        world.listen(Box::new(LifeTeller::new(told.clone())));
        world.enter(self.1).unwrap();
        world.finish();
        let text = String::from_utf8(told.0.lock().unwrap().clone()).unwrap();
        // Without the times.
        let lines = text
            .lines()
            .map(|line| line.split_once("closure: ").unwrap().1.to_owned());
        lines.collect()
    }
}

fn under(name: &str, following: Following) -> Vec<String> {
    Collectors::with(name, following).expect("it is in the list")
}

fn told(name: &str) -> Vec<String> {
    under(name, Following(Followed::Allocation(FOLLOWED), program, config(2)))
}

#[test]
fn a_life_is_listed_from_its_allocation_to_its_death() {
    for description in Collectors::descriptions() {
        let (name, lines) = (description.name, told(description.name));
        let all = lines.join("\n");
        let born = &lines[0];
        assert!(
            born.starts_with("allocation 1001: Node, ")
                && born.contains(" of 4 words, at 0x")
                && born.ends_with("by the cost centre mine"),
            "{name}: {all}"
        );
        // All collections but the last find it alive. The program requests five, which are more if
        // one request takes several cycles.
        let last = lines.last().unwrap();
        let (number, end) = last
            .strip_prefix("collection ")
            .and_then(|rest| rest.split_once(" of generation "))
            .unwrap();
        let number: usize = number.parse().unwrap();
        assert!(number >= 5 && end.contains(": died at 0x"), "{name}: {all}");
        assert!(number == 5 || name == "ocaml", "{name}: {all}");
        for number in 1..number {
            let here = |line: &&String| line.starts_with(&format!("collection {number} of generation "));
            assert!(
                lines.iter().any(|line| here(&line) && !line.contains("died")),
                "{name}, {number}: {all}"
            );
        }
        assert_eq!(all.matches("died").count(), 1, "{name}: {all}");
        if description.moves {
            // Each line continues from the previous line's address.
            let mut at = born
                .split(", at ")
                .nth(1)
                .unwrap()
                .split(',')
                .next()
                .unwrap()
                .to_owned();
            for line in lines.iter().filter(|line| line.contains("copied from ")) {
                let (from, to) = line.split_once("copied from ").unwrap().1.split_once(" to ").unwrap();
                assert_eq!(from, at, "{name}: {all}");
                at = to.to_owned();
            }
            assert!(last.contains(&format!("died at {at},")), "{name}: {all}");
        }
    }
}

#[test]
fn generations_promote_and_mark() {
    let copying = told("copying").join("\n");
    assert!(copying.contains(": promoted from step 0 to step 1"), "{copying}");
    assert!(copying.contains(": promoted from step 1 to step 2"), "{copying}");
    for name in ["immix", "mark-sweep"] {
        let all = told(name).join("\n");
        assert!(all.contains(": marked, stays at 0x"), "{name}: {all}");
        assert!(!all.contains("promoted"), "{name} has one generation: {all}");
    }
    let sticky = told("sticky-immix").join("\n");
    assert!(sticky.contains(": promoted in place from step 1 to step 2"), "{sticky}");
}

/// Other closures slide to where it was, and must not be mistaken for it: the fourth one to its
/// exact address, or to words around it.
#[test]
fn a_closure_overwritten_by_sliding_is_dead() {
    let compacts = || Config {
        compact: Compact::Always,
        ..config(2)
    };
    let last = |program| {
        let lines = under("compacting", Following(Followed::Allocation(3), program, compacts()));
        lines.last().unwrap().clone()
    };
    let exactly = last(|m| among_others(m, false));
    let begins = "collection 3 of generation 1: died at 0x";
    assert!(
        exactly.starts_with(begins) && exactly.ends_with(", where another closure is now"),
        "{exactly}"
    );
    let around = last(|m| among_others(m, true));
    assert!(
        around.starts_with(begins) && around.ends_with(", whose block is still in use (step 2)"),
        "{around}"
    );
}

/// The words come from the page on writing a collector, not from the names of the states.
#[test]
fn the_last_line_says_what_became_of_the_block() {
    let last = |name, number| {
        let lines = under(name, Following(Followed::Allocation(number), program, config(2)));
        lines.last().unwrap().clone()
    };
    for (name, number, block) in [
        ("copying", FOLLOWED, "was freed"),
        ("copying", 5, "is for new closures now (the nursery, step 0)"),
        ("mark-sweep", FOLLOWED - 1, "is still in use (step 1)"),
    ] {
        let line = last(name, number);
        assert!(line.ends_with(&format!(", whose block {block}")), "{name}: {line}");
    }
    let of_sticky = last("sticky-immix", FOLLOWED - 1);
    assert!(
        of_sticky.ends_with(", whose block is still in use (step 2)"),
        "{of_sticky}"
    );
}

/// Two heaps, one after the other at the same address, have the closure in the same place.
#[test]
fn a_closure_is_known_by_its_address_too() {
    let there = || Config {
        map_near: Some(Addr(0x4321_0000_0000)),
        ..config(2)
    };
    let by_number = under("copying", Following(Followed::Allocation(FOLLOWED), program, there()));
    let at = by_number[0].split(", at 0x").nth(1).unwrap().split(',').next().unwrap();
    let address = Followed::Address(Addr(usize::from_str_radix(at, 16).unwrap()));
    assert_eq!(by_number, under("copying", Following(address, program, there())));
}

#[test]
fn a_closure_that_is_never_allocated_has_no_life() {
    let lines = under("copying", Following(Followed::Allocation(1 << 40), program, config(2)));
    assert_eq!(lines, ["the program did not allocate it"]);
}
