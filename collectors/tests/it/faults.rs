//! Every request for memory is refused once, under every collector.

use crate::under_every_collector;
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::words::Bytes;
use gclab_proof::{every_request_refused, small_heap};

/// Runs with and without a limit, and with one capability or two.
#[derive(Clone, Copy)]
struct Refused {
    limit: Option<usize>,
    capabilities: u32,
}

impl CollectorVisitor for Refused {
    type Output = ();
    fn visit<C: Collector>(self) {
        every_request_refused::<C>(&Config {
            max_heap: self.limit.map(Bytes::mib),
            capabilities: self.capabilities,
            gc_threads: self.capabilities,
            ..small_heap::<C>()
        });
    }
}

#[test]
fn any_request_may_be_refused() {
    under_every_collector(Refused {
        limit: None,
        capabilities: 1,
    });
}

#[test]
fn any_request_may_be_refused_near_the_limit() {
    under_every_collector(Refused {
        limit: Some(12),
        capabilities: 1,
    });
}

#[test]
fn any_request_may_be_refused_among_several_threads() {
    under_every_collector(Refused {
        limit: None,
        capabilities: 2,
    });
}
