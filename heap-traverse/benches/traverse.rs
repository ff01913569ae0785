//! Traversals and profiles against mark kernels on the same heap in the same run, and dominators of
//! graphs of ten million nodes, with the aim of each.
//!
//! `cargo bench -p gclab-heap-traverse --bench traverse` prints, for each heap (`heaps/mod.rs`),
//! the time of each row in ns per closure, and as a multiple of its reference: medians of
//! interleaved rounds. The kernels are bare marking loops with a bit for each word outside the
//! heap. One has a ring of 32 with prefetches, the other a stack alone. With `--test` the heaps are
//! tiny, and the run only checks that all rows count the same. `profiles.rs` measures the same by
//! criterion, for comparison from one day to the next.

mod heaps;

use gclab_core::world::{ClosureView, Stopped};
use gclab_heap_traverse::graph::Graph;
use gclab_heap_traverse::{Dominators, Traversal};
use heaps::{Empty, HEAPS, Heap, counter};
use std::time::Instant;

/// The number of rounds that the median is taken of.
const ROUNDS: usize = 5;

/// The aim of each row, as a multiple of its reference.
const AIMS: [Option<f64>; 7] = [None, None, Some(2.0), Some(1.5), Some(2.5), None, Some(3.0)];

/// The memory that the kernels mark in.
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
        // SAFETY: a prefetch has no architectural effect at any address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(closure as *const i8);
            _mm_prefetch::<_MM_HINT_T0>((closure + 31) as *const i8);
            _mm_prefetch::<_MM_HINT_T0>((self.bits.as_ptr() as usize + (closure - self.base) / 64) as *const i8);
        }
    }

    /// Calls `found` for the pointers of a closure. A byte of the header has their number. An array
    /// has 255 there, and its length in the next word.
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

    /// Marks with a stack of closures that are marked already.
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

    /// Marks the closures that come out of a ring, after they were fetched.
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

fn empty<const DEPTH_FIRST: bool>(traversal: &mut Traversal, roots: &[ClosureView<'_>]) -> usize {
    let mut client = Empty::<DEPTH_FIRST>(0);
    traversal.run(roots.iter().map(|root| (*root, ())), &mut client);
    client.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure(Heap { name, world, .. }: &Heap, rounds: usize) {
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
            let multiple = time / medians[by];
            let aim = AIMS[row].map_or(String::new(), |aim| {
                format!(", aim {aim} {}", if multiple <= aim { "reached" } else { "MISSED" })
            });
            println!(
                "  {:<14} {:7.1} ns  {multiple:5.2} of {reference}{aim}",
                rows[row],
                time * 1e9 / count as f64,
            );
        }
    };
    world.inspect(look).expect("no thread is inside");
}

/// A graph of four edges a node. One edge in ten leads anywhere, or all do (`random`).
fn graph(nodes: u32, random: bool) -> Graph {
    let mut state = 1_u64;
    let mut draw = move |below: u32| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 33) % u64::from(below)) as u32
    };
    let row = |node: u32| {
        let mut targets = [(node + 1).min(nodes - 1); 4];
        for target in targets.iter_mut().skip(usize::from(!random)) {
            let anywhere = random || draw(10) == 0;
            *target = if anywhere {
                draw(nodes)
            } else {
                (node.saturating_sub(500) + draw(1000)).min(nodes - 1)
            };
        }
        targets
    };
    Graph::from_rows((0..nodes).map(row)).expect("a small graph")
}

/// A figure of this process, in bytes, if the system has it.
fn status(key: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .map(|kib: u64| kib * 1024)
        .ok()
}

/// Prints the seconds for dominators and retained sizes, and the peak of memory as a multiple of
/// the graph's arrays, these included.
fn dominators(name: &str, graph: &Graph) {
    let arrays = 4 * (u64::from(graph.node_count()) + u64::from(graph.edge_count()));
    let before = status("VmRSS:");
    // Resets the peak.
    let forgot = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let start = Instant::now();
    let dominators = Dominators::of(graph).expect("memory");
    let peak = status("VmHWM:").zip(before).filter(|_| forgot);
    let retained = dominators.retained(|_| 1).expect("memory");
    assert!(retained[0] as usize == dominators.reached().len());
    let seconds = start.elapsed().as_secs_f64();
    let peak = peak.map_or("unknown".to_owned(), |(peak, before)| {
        format!("{:.2}", (peak.saturating_sub(before) + arrays) as f64 / arrays as f64)
    });
    println!(
        "{name} of {} nodes and {} edges: dominators {seconds:.2} s, aim 10 {}; {peak} times the graph at most, aim 3",
        graph.node_count(),
        graph.edge_count(),
        if seconds <= 10.0 { "reached" } else { "MISSED" },
    );
}

fn main() {
    let test = std::env::args().any(|word| word == "--test");
    let (nodes, rounds) = if test { (1000, 1) } else { (2_000_000, ROUNDS) };
    for (shape, roots) in HEAPS {
        measure(&Heap::new(shape, nodes, roots), rounds);
    }
    let nodes = if test { 1000 } else { 10_000_000 };
    for (name, random) in [("a graph of neighbours", false), ("a random graph", true)] {
        dominators(name, &graph(nodes, random));
    }
}
