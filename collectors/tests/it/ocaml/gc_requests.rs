//! The requests to collect that any program may make, and the functions of the module `Gc` that
//! correspond to them. (The workload `ocaml_gc` makes requests; the OCaml program that it is
//! compared with calls the functions. A request that ends a cycle also starts the next one.)

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

/// Requests, each with the function that makes exactly this request.
const FUNCTIONS: [(Request, Function); 3] = [
    (Request::Minor, |gc| gc.minor()),
    (Request::Slice(Words(0)), |gc| _ = gc.major_slice(0)),
    (Request::Slice(Words(10_000)), |gc| _ = gc.major_slice(10_000)),
];

/// The work of each collection of a program in which lists live and die, and which calls `collect`
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
}

#[test]
fn no_two_requests_are_the_same() {
    let requests = FUNCTIONS.map(|(request, _)| request);
    let others = [Request::Cycle, Request::Full, Request::Compact];
    let all = requests.iter().chain(&others);
    let works: HashSet<_> = all.map(|request| work(|m| m.collect(*request))).collect();
    assert_eq!(works.len(), requests.len() + others.len());
}
