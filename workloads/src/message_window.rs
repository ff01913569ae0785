//! `message_window W M P`: a persistent map that holds the last W messages of P bytes (a queue in
//! Haskell style).
//!
//! A treap keyed by message number, never mutated: each change copies the path to it. The priority
//! of a key is mix(key); larger ones are nearer the root. For i = 0 .. M-1: insert message i, P
//! bytes that are all i mod 256; if there are more than W, delete the smallest key. The checksum is
//! the sum over the remaining keys of key + first byte of its message. A node has 48 bytes, a
//! message 16 and P rounded up to words. Set-up inserts the first W messages; the sum is exit.
//!
//! A path is copied from its end upwards, so its nodes must survive the allocations. They are
//! rooted in frames of [`STRIDE`] levels each: a typical path takes one frame, a deep one a few.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{ByteArray, FrameSlot, Gc, Mutator, MutatorKind, NoGc, OptionRoot, Root};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription, mix};

/// Levels of a path that one frame roots. Paths along the edge of a treap of n nodes have ln n
/// nodes on average: 12 for 200,000.
const STRIDE: usize = 16;

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Node {
    left: Option<Ptr<Node>>,
    right: Option<Ptr<Node>>,
    message: Ptr<ByteArray>,
    key: u64,
    priority: u64,
}

/// A persistent map of the last messages.
#[derive(Debug, Default)]
pub struct MessageWindow;

impl Workload for MessageWindow {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "message_window",
        summary: "a persistent map of the last messages: it grows at one end and shrinks at the other",
        args: &[
            ArgSpec::number("W", "messages kept", 200_000, 0..=1 << 36),
            ArgSpec::number("M", "messages in all", 1_000_000, 0..=1 << 40),
            ArgSpec::number("P", "bytes of a message", 1024, 1..=1 << 30),
        ],
        checksum: Some(180_025_393_856),
        test: TestSize {
            args: &["1000", "5000", "1024"],
            checksum: Some(4_626_520),
        },
        bench: &["5000", "15000", "1024"],
        stress: StressSize {
            args: &["50", "200", "16"],
            every: 1,
            parallel: &["200", "1000", "64"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (window, messages, bytes) = (args.number("W"), args.number("M"), args.number("P") as usize);
        Ok(world.enter(|m| run(m, window, messages, bytes))?)
    }
}

fn run<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, window: u64, messages: u64, bytes: usize) -> u64 {
    m.frame(|m, [map]| {
        let map = &map.put_option(m, None);
        let receive = move |m: &mut Mutator<'h, M>, key: u64| {
            m.frame(|m, [message]| {
                let message = message.put(m.alloc_bytes_filled(bytes, key as u8));
                insert(m, map, &message, key, mix(key));
            });
        };
        let first = window.min(messages);
        (0..first).for_each(|key| receive(m, key));
        m.measure(move |m| {
            for key in first..messages {
                receive(m, key);
                delete_min(m, map);
            }
        });
        map.get(m).map_or(0, |map| sum(m, map))
    })
}

impl<'m, 'h> Access<'m, 'h> for Gc<'m, 'h, Node> {}

/// Steps from a node towards a key.
trait Access<'m, 'h>: NodeFields<'m, 'h> {
    /// The subtree in the direction of `key`.
    #[inline(always)]
    fn towards<M: MutatorKind>(self, m: &NoGc<'h, M>, key: u64) -> Option<Gc<'m, 'h, Node>> {
        if self.key(m) < key { self.right(m) } else { self.left(m) }
    }

    /// A copy of this node with another subtree in the direction of `key`.
    #[inline(always)]
    fn with<M: MutatorKind>(self, m: &NoGc<'h, M>, key: u64, child: Option<Gc<'m, 'h, Node>>) -> NodeInit<'m, 'h> {
        let (left, right) = if self.key(m) < key {
            (self.left(m), child)
        } else {
            (child, self.right(m))
        };
        Node::new(left, right, self.message(m), self.key(m), self.priority(m))
    }
}

/// The nodes of a path, the highest first.
struct Path<'f, 'h> {
    nodes: [OptionRoot<'f, 'h, Node>; STRIDE],
    length: usize,
}

impl<'f, 'h> Path<'f, 'h> {
    #[inline]
    fn new<M: MutatorKind>(m: &NoGc<'h, M>, slots: [FrameSlot<'f, 'h>; STRIDE]) -> Self {
        // Written out, since the compiler does not always inline `map`.
        let root = |slot: FrameSlot<'f, 'h>| slot.put_option(m, None);
        let [a, b, c, d, e, f, g, h, i, j, k, l, n, o, p, q] = slots;
        Path {
            nodes: [
                root(a),
                root(b),
                root(c),
                root(d),
                root(e),
                root(f),
                root(g),
                root(h),
                root(i),
                root(j),
                root(k),
                root(l),
                root(n),
                root(o),
                root(p),
                root(q),
            ],
            length: 0,
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.length == STRIDE
    }

    #[inline]
    fn push<M: MutatorKind>(&mut self, m: &NoGc<'h, M>, node: Gc<'_, 'h, Node>) {
        self.nodes[self.length].set(m, Some(node));
        self.length += 1;
    }

    /// The nodes, the lowest first.
    #[inline]
    fn upwards(&self) -> impl Iterator<Item = &OptionRoot<'f, 'h, Node>> {
        self.nodes[..self.length].iter().rev()
    }

    /// Copies the path with `tree` as the new subtree below it towards `key`. `tree` becomes the
    /// copy.
    #[inline]
    fn copy<M: MutatorKind>(&self, m: &mut Mutator<'h, M>, tree: &OptionRoot<'_, 'h, Node>, key: u64) {
        for node in self.upwards() {
            let (m, copy) = m.alloc_with(|m| at(node, m).with(m, key, tree.get(m)));
            tree.set(m, Some(copy));
        }
    }
}

#[inline]
fn at<'m, 'h, M: MutatorKind>(node: &OptionRoot<'_, 'h, Node>, m: &'m NoGc<'h, M>) -> Gc<'m, 'h, Node> {
    node.get(m).expect("the first `length` nodes of a path are set")
}

/// Puts `message` under `key` into `tree`.
fn insert<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    tree: &OptionRoot<'_, 'h, Node>,
    message: &Root<'_, 'h, ByteArray>,
    key: u64,
    priority: u64,
) {
    m.frame(|m, slots| {
        let mut path = Path::new(m, slots);
        let mut rest = tree.get(m);
        while let Some(node) = rest.filter(|node| node.priority(m) >= priority && !path.is_full()) {
            path.push(m, node);
            rest = node.towards(m, key);
        }
        tree.set(m, rest);
        if path.is_full() {
            insert(m, tree, message, key, priority);
        } else {
            m.frame(|m, [above]| {
                let above = above.put_option(m, None);
                split(m, tree, &above, key);
                let (m, node) = m.alloc_with(|m| Node::new(tree.get(m), above.get(m), message.get(m), key, priority));
                tree.set(m, Some(node));
            });
        }
        path.copy(m, tree, key);
    });
}

/// Leaves the keys smaller than `key` in `tree` and puts the others into `above`.
fn split<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    tree: &OptionRoot<'_, 'h, Node>,
    above: &OptionRoot<'_, 'h, Node>,
    key: u64,
) {
    above.set(m, None);
    if tree.get(m).is_none() {
        return;
    }
    m.frame(|m, slots| {
        let mut path = Path::new(m, slots);
        let mut rest = tree.get(m);
        while let Some(node) = rest.filter(|_| !path.is_full()) {
            path.push(m, node);
            rest = node.towards(m, key);
        }
        tree.set(m, rest);
        split(m, tree, above, key);
        for node in path.upwards() {
            let half = if at(node, m).key(m) < key { tree } else { above };
            let (m, copy) = m.alloc_with(|m| at(node, m).with(m, key, half.get(m)));
            half.set(m, Some(copy));
        }
    });
}

/// Takes the smallest key out of `tree`, which is not empty.
fn delete_min<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, tree: &OptionRoot<'_, 'h, Node>) {
    m.frame(|m, slots| {
        let mut path = Path::new(m, slots);
        let mut least = tree.get(m).expect("there is a key to take out");
        while let Some(left) = least.left(m).filter(|_| !path.is_full()) {
            path.push(m, least);
            least = left;
        }
        if path.is_full() {
            tree.set(m, Some(least));
            delete_min(m, tree);
        } else {
            tree.set(m, least.right(m));
        }
        path.copy(m, tree, u64::MIN);
    });
}

fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Node>) -> u64 {
    let below = [tree.left(m), tree.right(m)]
        .into_iter()
        .flatten()
        .map(|child| sum(m, child));
    below.fold(
        tree.key(m) + u64::from(tree.message(m).as_slice()[0]),
        u64::wrapping_add,
    )
}
