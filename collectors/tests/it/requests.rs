//! Requests of programs: every collector fulfils each in its own way.

use crate::basics::config;
use gclab_core::collector::{Cause, Collector, CollectorVisitor, Cycle};
use gclab_core::config::{Compact, Config};
use gclab_core::mutator::Request;
use gclab_core::stats::Collection;
use gclab_core::words::{Bytes, Words};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

const REQUESTS: [Request; 6] = [
    Request::Minor,
    Request::Slice(Words(0)),
    Request::Slice(Words(1000)),
    Request::Cycle,
    Request::Full,
    Request::Compact,
];

#[derive(Clone, Copy)]
struct Requests;

impl CollectorVisitor for Requests {
    type Output = ();
    fn visit<C: Collector>(self) {
        let config = Config {
            // `compacting` compacts only on request.
            compact: Compact::Above(100.0),
            max_heap: Some(Bytes::mib(64)),
            ..config::<C>(64 << 10)
        };
        let mut world = World::new::<C>(&config).expect("a heap");
        world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
        let session = world.enter(|m| {
            m.frame(|m, [bytes]| {
                let bytes = bytes.put(m.alloc_bytes_filled(100, 7));
                for request in REQUESTS {
                    m.alloc_bytes_filled(100, 1);
                    m.collect(request);
                    assert_eq!(bytes.get(m).as_slice(), [7; 100]);
                }
            });
        });
        session.expect("room enough");
        let statistics = world.finish();
        let name = C::DESCRIPTION.name;
        // After a requested cycle, the next one starts by itself.
        let asked = |each: &&Collection| matches!(each.before.cause, Cause::Asked(_));
        let collections: Vec<_> = statistics.collections.iter().filter(asked).collect();
        assert_eq!(collections.len(), REQUESTS.len(), "{name}");
        for (request, collection) in REQUESTS.into_iter().zip(collections) {
            assert_eq!(collection.before.cause, Cause::Asked(request), "{name}");
            let is_whole = request.is_major() || C::DESCRIPTION.generations.1 == 1;
            let cycle = match (name, request) {
                // No cycle is running at first, and a minor collection starts one.
                ("ocaml", Request::Minor) => Cycle::Began,
                ("ocaml", Request::Slice(_)) => Cycle::Continued,
                ("ocaml", Request::Cycle) => Cycle::Ended,
                ("concurrent" | "lxr" | "nonmoving", Request::Slice(Words(0))) => Cycle::Began,
                // Little was alive, so one slice ends the cycle.
                ("concurrent" | "lxr" | "nonmoving", Request::Slice(_)) => Cycle::Ended,
                _ => Cycle::whole_if(is_whole),
            };
            assert_eq!(collection.work.cycle, cycle, "{name}: {request:?}");
            let compacts = match name {
                "compacting" => request == Request::Compact,
                // There is more free memory than the rule allows.
                "ocaml" => request.is_major(),
                _ => false,
            };
            assert_eq!(collection.work.compacted, compacts, "{name}: {request:?}");
        }
        let slices = match name {
            // Four of the requests, and the first slices of the cycles after two others.
            "ocaml" => 6,
            "concurrent" | "lxr" | "nonmoving" => 2,
            _ => 0,
        };
        assert_eq!(statistics.slices.count, slices, "{name}");
    }
}

#[test]
fn every_collector_answers_each_request() {
    crate::under_every_collector(Requests);
}
