//! The functions of the module `Gc` that collect are requests, which any program may make. (The
//! workload `ocaml_gc` makes them so, and stands beside a program of OCaml that calls the
//! functions.)

use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{GcModule, Module};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::KindOf;
use gclab_core::mutator::{Mutator, Request};
use gclab_core::words::Words;
use gclab_core::world::World;
use std::collections::HashSet;

type Kind = KindOf<Ocaml>;

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
    next: Mut<Number>,
}

/// A function of the module.
type Function = fn(&mut Module<'_, '_, Kind>);

/// The requests, each beside the function that makes it.
const FUNCTIONS: [(Request, Function); 6] = [
    (Request::Minor, |gc| gc.minor()),
    (Request::Slice(Words(0)), |gc| _ = gc.major_slice(0)),
    (Request::Slice(Words(10_000)), |gc| _ = gc.major_slice(10_000)),
    (Request::Cycle, |gc| gc.major()),
    (Request::Full, |gc| gc.full_major()),
    (Request::Compact, |gc| gc.compact()),
];

/// The work of each collection of a program that has lists live and die, and collects by `collect`
/// in between.
fn work(collect: impl Fn(&mut Mutator<'_, Kind>)) -> Vec<String> {
    let world = World::new::<Ocaml>(&config::<Ocaml>(16 << 10)).expect("a small heap");
    let ran = world.enter(|m| {
        m.frame(|m, [list]| {
            let list = list.put_option::<Number>(m, None);
            for value in 0..9000 {
                let (view, number) = m.alloc_with(|m| Number::new(value, list.get(m)));
                list.set(view, Some(number));
                if value % 3000 == 2999 {
                    list.set(m, None);
                }
                if value % 1000 == 500 {
                    collect(m);
                }
            }
        });
    });
    ran.expect("room enough");
    let collections = world.finish().collections;
    collections
        .iter()
        .map(|each| format!("{:?} {:?}", each.before.cause, each.work))
        .collect()
}

#[test]
fn functions_of_the_module_are_requests() {
    for (request, function) in FUNCTIONS {
        let requested = work(|m| m.collect(request));
        let called = work(|m| function(&mut m.gc().expect("ocaml")));
        assert_eq!(requested, called, "{request:?}");
    }
    // No two requests are one and the same.
    let all: HashSet<_> = FUNCTIONS
        .iter()
        .map(|(request, _)| work(|m| m.collect(*request)))
        .collect();
    assert_eq!(all.len(), FUNCTIONS.len());
}
