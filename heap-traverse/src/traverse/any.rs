//! The fast order: with a prefetch between discovery and visit.

use super::client::{Client, Lineage, Visit};
use crate::addr_set::AddrSet;
use gclab_core::prefetch::PrefetchRing;
use gclab_core::words::Bytes;
use gclab_core::world::{Children, ClosureView};

/// The number of closures between discovery and visit: enough to cover the latency of a cache miss.
const RING: usize = 32;

/// A closure found but not visited yet.
#[derive(Clone, Copy)]
struct Arrival<'a, P, D> {
    closure: ClosureView<'a>,
    parent: P,
    data: D,
}

/// Slots not looked at yet, with the parent and data for visits of their targets.
struct Span<'a, P, D> {
    children: Children<'a>,
    parent: P,
    data: D,
}

/// The closures between discovery and visit: first in, first out.
type Ring<'a, P, D> = PrefetchRing<Arrival<'a, P, D>, RING>;

/// Visits every closure reachable from `roots`. Returns the stack's peak memory.
#[inline]
pub(super) fn run<'a, C: Client<'a>>(
    visited: &mut AddrSet,
    roots: &mut dyn Iterator<Item = (ClosureView<'a>, C::Data)>,
    client: &mut C,
) -> Bytes {
    let Some((root, data)) = roots.next() else {
        return Bytes::ZERO;
    };
    let first = Arrival {
        closure: root,
        parent: C::Parent::ROOT,
        data,
    };
    let mut ring = Ring::new();
    ring.push(first);
    let mut roots = Some(roots);
    let mut open: Vec<Span<'a, C::Parent, C::Data>> = Vec::new();
    let mut newest: Option<Span<'a, C::Parent, C::Data>> = None;
    loop {
        while !ring.is_full() {
            let Some(span) = &mut newest else {
                newest = open.pop();
                if newest.is_some() {
                    continue;
                }
                let Some((closure, data)) = roots.as_mut().and_then(|roots| roots.next()) else {
                    roots = None;
                    break;
                };
                client.found(closure);
                found(visited, &mut ring, closure, C::Parent::ROOT, data);
                continue;
            };
            match span.children.next() {
                Some(child) => {
                    client.found(child);
                    found(visited, &mut ring, child, span.parent, span.data);
                    span.children.skip_nulls();
                }
                None => newest = None,
            }
        }
        let Some(Arrival { closure, parent, data }) = ring.pop_oldest() else {
            return Bytes(open.capacity() * size_of::<Span<'a, C::Parent, C::Data>>());
        };
        let first = visited.insert(closure.addr());
        if !first && !C::AGAIN {
            continue;
        }
        if let Visit::Descend(data) = client.visit(closure, parent, data, first) {
            let mut children = closure.children();
            children.skip_nulls();
            if !children.is_finished() {
                let span = Span {
                    children,
                    parent: C::Parent::child_of(closure),
                    data,
                };
                if let Some(older) = newest.replace(span)
                    && !older.children.is_finished()
                {
                    open.push(older);
                }
            }
        }
    }
}

#[inline(always)]
fn found<'a, P: Copy, D: Copy>(
    visited: &AddrSet,
    ring: &mut Ring<'a, P, D>,
    closure: ClosureView<'a>,
    parent: P,
    data: D,
) {
    closure.prefetch();
    visited.prefetch(closure.addr());
    ring.push(Arrival { closure, parent, data });
}
