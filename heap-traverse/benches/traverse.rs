//! Traversals and profiles against mark kernels on the same heap, in the same run.
//!
//! `cargo bench -p gclab-heap-traverse` prints, for each heap, the time of each in ns per closure, and as a multiple of its reference: medians of
//! interleaved rounds. The kernels are marking loops without anything around: a bit for each word beside the heap, the one through a ring of 32
//! with prefetches, the other with a stack alone. `docs/performance.md` has what came out. With `--test` the heaps are tiny, and it is only seen that all count the same.

use gclab_collectors::TwoSpace;
use gclab_core::closure::{Closure, Mut};
use gclab_core::flags::Flags;
use gclab_core::mutator::{Handle, MutArray};
use gclab_core::words::Bytes;
use gclab_core::world::{ClosureView, Stopped, World};
use gclab_heap_traverse::profile::Counter;
use gclab_heap_traverse::{Client, Order, Traversal, Visit};
use std::time::Instant;

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    first: Mut<Node>,
    second: Mut<Node>,
    third: Mut<Node>,
    value: u64,
}

/// Rounds of which the median is taken.
const ROUNDS: usize = 5;

/// Named roots.
const ROOTS: usize = 20;

/// A heap of so many nodes: a tree by breadth, or (`random`) a tree whose third pointers lead anywhere, and whose nodes lie in no order.
fn heap(nodes: usize, random: bool) -> (World<TwoSpace>, Handle<MutArray<Node>>) {
    let flags = Flags {
        allocation_area: Bytes::gib(1),
        reserve: Bytes::gib(64),
        generations: 1,
        ..Flags::default()
    };
    let world = World::new(&flags).expect("a heap");
    let roots = world.enter(|m| {
        m.frame(|m, [all, roots]| {
            let all = all.put(m.alloc_array::<Node>(nodes, |_| None));
            let roots = roots.put(m.alloc_array::<Node>(ROOTS, |_| None));
            let mut seed = 1_u64;
            let mut draw = |below: usize| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (seed >> 33) as usize % below
            };
            for i in 0..nodes {
                let (m, node) = m.alloc_with(|_| Node::new(None, None, None, i as u64));
                all.get(m).set(m, i, Some(node));
            }
            // Which node has which place in the tree.
            let mut place: Vec<u32> = (0..nodes as u32).collect();
            if random {
                (1..nodes).for_each(|i| place.swap(i, draw(i + 1)));
            }
            let at = |m, i: usize| all.get(m).get(m, place[i] as usize);
            for i in 0..nodes {
                let m = &**m;
                let node = at(m, i).expect("all are there");
                let child = |i: usize| if i < nodes { at(m, i) } else { None };
                node.set_first(m, child(2 * i + 1));
                node.set_second(m, child(2 * i + 2));
                if random {
                    node.set_third(m, at(m, draw(nodes)));
                }
            }
            let names: Vec<_> = (0..ROOTS).map(|i| format!("r{i}")).collect();
            // Subtrees of one level, beside each other, and the root of all.
            let root = |m, i: usize| {
                if i == 0 {
                    at(m, 0)
                } else {
                    at(m, (i + 30).min(nodes - 1))
                }
            };
            m.set_heap_roots(
                names
                    .iter()
                    .enumerate()
                    .map(|(i, name)| (name.as_str(), root(m, i).expect("there").erase())),
            );
            (0..ROOTS).for_each(|i| roots.get(m).set(m, i, root(m, i)));
            m.handle(roots.get(m))
        })
    });
    (world, roots.expect("room enough"))
}

/// What the kernels mark in.
struct Kernel {
    base: usize,
    bits: Vec<u64>,
    stack: Vec<usize>,
}

const RING: usize = 32;

impl Kernel {
    fn new(stopped: &Stopped<'_>) -> Self {
        let mut end = 0;
        stopped.for_each_region(&mut |region| end = end.max(region.end.0));
        let base = stopped.blocks().base().0;
        Kernel {
            base,
            bits: vec![0; (end - base) / 512 + 1],
            stack: Vec::new(),
        }
    }

    #[inline(always)]
    fn mark(&mut self, closure: usize) -> bool {
        let at = (closure - self.base) >> 3;
        let (word, bit) = (at >> 6, 1 << (at & 63));
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        new
    }

    #[inline(always)]
    fn prefetch(&self, closure: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch has no architectural effect, whatever the address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(closure as *const i8);
            _mm_prefetch::<_MM_HINT_T0>((closure + 31) as *const i8);
            _mm_prefetch::<_MM_HINT_T0>((self.bits.as_ptr() as usize + (closure - self.base) / 64) as *const i8);
        }
    }

    /// The pointers of a closure: those of fixed layout begin with their number in a byte of the header; of an array with its length.
    #[inline(always)]
    fn scan(&mut self, closure: usize, mut found: impl FnMut(&mut Self, usize)) {
        let word = |i: usize| {
            // SAFETY: the heap is stopped, and these are its closures.
            unsafe { *(closure as *const u64).add(i) as usize }
        };
        let pointers = word(0) >> 48 & 255;
        let range = if pointers == 255 {
            2..2 + word(1)
        } else {
            1..1 + pointers
        };
        for i in range {
            let child = word(i);
            if child != 0 {
                found(self, child);
            }
        }
    }

    /// Marks by a stack of closures that are marked already.
    fn plain(&mut self, roots: &[usize]) -> usize {
        let mut count = 0;
        for &root in roots {
            if self.mark(root) {
                self.stack.push(root);
            }
            while let Some(closure) = self.stack.pop() {
                count += 1;
                self.scan(closure, |this, child| {
                    if this.mark(child) {
                        this.stack.push(child);
                    }
                });
            }
        }
        count
    }

    /// Marks what comes out of a ring of closures that are fetched.
    fn prefetching(&mut self, roots: &[usize]) -> usize {
        self.stack.extend(roots);
        let (mut ring, mut first, mut len, mut count) = ([0; RING], 0, 0, 0);
        loop {
            while len < RING {
                let Some(closure) = self.stack.pop() else { break };
                self.prefetch(closure);
                ring[(first + len) % RING] = closure;
                len += 1;
            }
            if len == 0 {
                return count;
            }
            let closure = ring[first];
            first = (first + 1) % RING;
            len -= 1;
            if self.mark(closure) {
                count += 1;
                self.scan(closure, |this, child| this.stack.push(child));
            }
        }
    }
}

struct Empty<const DEPTH_FIRST: bool>(usize);

impl<'a, const DEPTH_FIRST: bool> Client<'a> for Empty<DEPTH_FIRST> {
    const ORDER: Order = if DEPTH_FIRST { Order::DepthFirst } else { Order::Any };
    type Parent = ();
    type Data = ();
    type Sum = ();
    #[inline(always)]
    fn visit(&mut self, _: ClosureView<'a>, (): (), (): (), _: bool) -> Visit<()> {
        self.0 += 1;
        Visit::Descend(())
    }
}

fn empty<const DEPTH_FIRST: bool>(traversal: &mut Traversal, roots: &[ClosureView<'_>]) -> usize {
    let mut client = Empty::<DEPTH_FIRST>(0);
    traversal.run(roots.iter().map(|root| (*root, ())), &mut client);
    client.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure(name: &str, world: &World<TwoSpace>, rounds: usize) {
    let counter = |flag: &str| Counter::new(&Flags::parse_words(&[flag]).expect("a flag").profile).expect("a profile");
    let look = |stopped: &Stopped<'_>| {
        let roots = stopped.root_closures();
        let addresses: Vec<usize> = roots.iter().map(|root| root.addr().0).collect();
        let (mut kernel, mut traversal) = (Kernel::new(stopped), Traversal::new(stopped));
        let (mut types, mut retainers, mut named) = (counter("-hT"), counter("-hr"), counter("-ho"));
        let rows = [
            "kernel, ring",
            "kernel, stack",
            "any order",
            "depth first",
            "census -hT",
            "retainers -hr",
            "roots -ho",
        ];
        let mut times = vec![Vec::new(); rows.len()];
        let mut count = 0;
        for _ in 0..rounds {
            for (row, times) in times.iter_mut().enumerate() {
                kernel.bits.fill(0);
                let start = Instant::now();
                let counted = match row {
                    0 => kernel.prefetching(&addresses),
                    1 => kernel.plain(&addresses),
                    2 => empty::<false>(&mut traversal, &roots),
                    3 => empty::<true>(&mut traversal, &roots),
                    4 => types.census(stopped, 0.0, None).bands.len(),
                    5 => retainers.census(stopped, 0.0, None).bands.len(),
                    _ => named.census(stopped, 0.0, None).bands.len(),
                };
                times.push(start.elapsed().as_secs_f64());
                match row {
                    0 => count = counted,
                    1..=3 => assert_eq!(counted, count, "{}", rows[row]),
                    _ => assert!(counted > 0),
                }
            }
        }
        let medians: Vec<f64> = times.into_iter().map(median).collect();
        println!("{name}: {count} closures");
        for (row, time) in medians.iter().enumerate() {
            let (by, reference) = match row {
                1 | 3 => (1, "kernel, stack"),
                5 | 6 => (2, "any order"),
                _ => (0, "kernel, ring"),
            };
            println!(
                "  {:<14} {:7.1} ns  {:5.2} of {reference}",
                rows[row],
                time * 1e9 / count as f64,
                time / medians[by]
            );
        }
    };
    world.inspect(look).expect("nobody is inside");
}

fn main() {
    let test = std::env::args().any(|word| word == "--test");
    let (nodes, rounds) = if test { (1000, 1) } else { (2_000_000, ROUNDS) };
    for (name, random) in [("a tree in order of breadth", false), ("a graph without order", true)] {
        let (world, roots) = heap(nodes, random);
        measure(name, &world, rounds);
        drop(roots);
    }
}
