//! The depth-first order, with a way back.

use super::client::{Client, Lineage, Visit};
use super::levels::Levels;
use crate::addr_set::AddrSet;
use gclab_core::words::Bytes;
use gclab_core::world::{Children, ClosureView};

/// The bytes of a level for a client with this `Data` and `Sum`.
pub(super) const fn level_bytes<D, S>() -> usize {
    size_of::<Level<'_, D, S>>()
}

/// A closure on the path.
struct Level<'a, D, S> {
    closure: ClosureView<'a>,
    /// The number of slots not looked at yet: the closure's last ones.
    left: usize,
    data: D,
    sum: S,
}

/// The end of the path: the level, and its cursor.
type Tip<'a, D, S> = (Level<'a, D, S>, Children<'a>);

/// Visits every closure reachable from `roots`. Returns the stack's peak memory.
#[inline]
pub(super) fn run<'a, C: Client<'a>>(
    visited: &mut AddrSet,
    roots: &mut dyn Iterator<Item = (ClosureView<'a>, C::Data)>,
    client: &mut C,
) -> Bytes {
    let mut path = Levels::new();
    for (root, data) in roots {
        let mut tip = arrive(visited, client, root, C::Parent::ROOT, data);
        while let Some((mut level, mut children)) = tip {
            let Some(child) = children.next() else {
                if C::LEAVE {
                    let above = path
                        .last_mut()
                        .map(|above: &mut Level<'a, _, _>| (above.closure, &mut above.sum));
                    client.leave(level.closure, level.sum, above);
                }
                tip = path.pop().map(|level| {
                    let children = level.closure.last_children(level.left);
                    (level, children)
                });
                continue;
            };
            let parent = C::Parent::child_of(level.closure);
            let below = arrive(visited, client, child, parent, level.data);
            if below.is_some() {
                children.skip_nulls();
                if C::LEAVE || !children.is_finished() {
                    level.left = children.left();
                    path.push(level);
                }
                tip = below;
            } else {
                tip = Some((level, children));
            }
        }
    }
    path.most()
}

/// A closure was reached. Returns the level that it opens, if the client descends into it.
#[inline(always)]
fn arrive<'a, C: Client<'a>>(
    visited: &mut AddrSet,
    client: &mut C,
    closure: ClosureView<'a>,
    parent: C::Parent,
    data: C::Data,
) -> Option<Tip<'a, C::Data, C::Sum>> {
    // Prefetch the closure while its bit is checked. It is needed half of the time.
    closure.prefetch();
    let first = visited.insert(closure.addr());
    if !first && !C::AGAIN {
        return None;
    }
    let Visit::Descend(data) = client.visit(closure, parent, data, first) else {
        return None;
    };
    let mut children = closure.children();
    children.skip_nulls();
    let level = Level {
        closure,
        left: children.left(),
        data,
        sum: C::Sum::default(),
    };
    (C::LEAVE || !children.is_finished()).then_some((level, children))
}
