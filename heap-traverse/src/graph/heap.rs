//! The graph of a stopped heap: the reachable closures, numbered in address order.
//!
//! The first nodes are not closures. They are the root, below it `(GC roots)`, and below that one
//! node for each origin of roots (`(Frames)`, `(Handles)`, `(Weak handles)`, and `(Ephemerons)` with
//! their values) and for each named heap root. A closure that is not reachable is not in the graph, even if the collector has not
//! found it dead yet.
//!
//! **How.** A traversal sets a bit for each closure that it reaches. The number of a closure is the
//! number of set bits before its own. Then two walks through the heap's memory write the rows. The
//! result does not refer to the heap, so the mutators may resume.
//!
//! **Memory**: during construction the memory of the traversal and 1/128 of the heap; afterwards 12
//! bytes a node and 8 an edge.

use super::edges::{Builder, Graph, GraphError, ROOT};
use crate::addr_set::AddrSet;
use crate::traverse::{Traversal, Visit};
use crate::walk::{self, Unparsable};
use gclab_core::closure::TypeInfo;
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::world::{ClosureView, RootOrigin, Stopped};
use std::collections::HashMap;

/// The nodes that every heap has.
const FIXED: [&str; 6] = [
    "",
    "(GC roots)",
    "(Frames)",
    "(Handles)",
    "(Weak handles)",
    "(Ephemerons)",
];
const GC_ROOTS: u32 = 1;
const FRAMES: usize = 2;
const HANDLES: usize = 3;
/// The node of the weak handles. They do not keep their targets alive, so their edges are not in
/// the graph.
pub const WEAK_HANDLES: u32 = 4;

const EPHEMERONS: usize = 5;

/// The graph of a heap, with the type and size of each node.
#[derive(Debug)]
pub struct HeapGraph {
    graph: Graph,
    /// By edge: the number of its slot in the closure.
    slots: Vec<u32>,
    /// Names of the nodes that are not closures; these come first.
    synthetic: Vec<String>,
    /// By closure: its size in words.
    words: Vec<u32>,
    /// By closure: the index of its type in `infos`.
    kinds: Vec<u32>,
    infos: Vec<&'static TypeInfo>,
    /// The live targets of weak handles.
    weak: Vec<u32>,
}

/// The kinds of nodes in a heap's graph.
#[derive(Debug, Clone, Copy)]
pub enum HeapNode<'g> {
    /// The root, or a kind of roots. The text is its name.
    Synthetic(&'g str),
    /// A closure: its type, and its size in bytes with its header.
    Closure(&'static TypeInfo, Bytes),
}

impl HeapGraph {
    /// Makes the graph of a stopped heap.
    ///
    /// # Errors
    /// If the heap has more closures or pointers than 32 bits can number, or a closure of 2^32
    /// words or more.
    ///
    /// # Panics
    /// If the heap is not sound. The checker ([`crate::Checker`]) would say more.
    pub fn of(stopped: &Stopped<'_>) -> Result<Self, GraphError> {
        let roots = Roots::of(stopped);
        let mut traversal = Traversal::new(stopped);
        traversal.each(stopped.root_closures(), |_| Visit::Descend(()));
        let index = Index::new(traversal.into_visited(), roots.names.len())?;
        let closures = index.count;
        let mut heap = HeapGraph {
            graph: Graph::from_rows([[]])?,
            slots: Vec::new(),
            words: Vec::with_capacity(closures as usize),
            kinds: Vec::with_capacity(closures as usize),
            infos: Vec::new(),
            weak: roots.weak.iter().filter_map(|&addr| index.get(addr)).collect(),
            synthetic: roots.names,
        };
        let mut edges = 0;
        each(stopped, &index, |closure| edges += closure.children().count());
        let roots_edges: usize = roots.held.iter().map(Vec::len).sum::<usize>() + heap.synthetic.len();
        let edges = u32::try_from(edges + roots_edges).map_err(|_| GraphError::TooLarge)?;
        let mut builder = Builder::with_capacity(heap.synthetic.len() as u32 + closures, edges)?;
        heap.slots.reserve_exact(edges as usize);
        heap.root_rows(&mut builder, &roots.held, &index)?;
        heap.closure_rows(&mut builder, stopped, &index)?;
        heap.graph = builder.finish()?;
        Ok(heap)
    }

    fn root_rows(&mut self, builder: &mut Builder, held: &[Vec<Addr>], index: &Index) -> Result<(), GraphError> {
        for node in 0..self.synthetic.len() as u32 {
            let row: Vec<u32> = match node {
                ROOT => vec![GC_ROOTS],
                GC_ROOTS => (FRAMES as u32..self.synthetic.len() as u32).collect(),
                _ => held[node as usize].iter().filter_map(|&addr| index.get(addr)).collect(),
            };
            self.slots.extend(1..=row.len() as u32);
            builder.row(row)?;
        }
        Ok(())
    }

    fn closure_rows(&mut self, builder: &mut Builder, stopped: &Stopped<'_>, index: &Index) -> Result<(), GraphError> {
        let mut known: HashMap<*const TypeInfo, u32> = HashMap::new();
        let mut result = Ok(());
        each(stopped, index, |closure| {
            let info = closure.info();
            let next = self.infos.len() as u32;
            let kind = *known.entry(info).or_insert(next);
            if kind == next {
                self.infos.push(info);
            }
            self.kinds.push(kind);
            self.words.push(u32::try_from(closure.words().0).unwrap_or_else(|_| {
                result = Err(GraphError::TooLarge);
                u32::MAX
            }));
            let slots = &mut self.slots;
            let targets = (0_u32..).zip(closure.slots()).filter_map(|(slot, (_, addr))| {
                let target = index.get(addr)?;
                slots.push(slot);
                Some(target)
            });
            if let Err(error) = builder.row(targets) {
                result = Err(error);
            }
        });
        result
    }

    /// The references of the heap, as a graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The number of nodes that are closures. They are the last nodes.
    pub fn closures(&self) -> u32 {
        self.words.len() as u32
    }

    /// Returns the kind of a node, with its name or its type and size.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn node(&self, node: u32) -> HeapNode<'_> {
        match self.synthetic.get(node as usize) {
            Some(name) => HeapNode::Synthetic(name),
            None => {
                let closure = node as usize - self.synthetic.len();
                let info = self.infos[self.kinds[closure] as usize];
                HeapNode::Closure(info, Words(self.words[closure] as usize).to_bytes())
            }
        }
    }

    /// The size of a node itself, in bytes: 0 for a node that is not a closure.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn size(&self, node: u32) -> u64 {
        match self.node(node) {
            HeapNode::Synthetic(_) => 0,
            HeapNode::Closure(_, bytes) => bytes.0 as u64,
        }
    }

    /// The slot numbers of a node's edges, in the order of its row. Slots of closures count from 0,
    /// those of other nodes from 1.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn slots(&self, node: u32) -> &[u32] {
        let rows = self.graph.rows();
        &self.slots[rows.start(node) as usize..rows.start(node + 1) as usize]
    }

    /// The live targets of weak handles: the edges of `(Weak handles)` ([`WEAK_HANDLES`]), which
    /// are not in the graph.
    pub fn weak(&self) -> &[u32] {
        &self.weak
    }
}

/// The kinds of roots, and the closures that they hold.
struct Roots {
    names: Vec<String>,
    /// By node that is not a closure: the addresses that it holds.
    held: Vec<Vec<Addr>>,
    weak: Vec<Addr>,
}

impl Roots {
    fn of(stopped: &Stopped<'_>) -> Self {
        let mut roots = Roots {
            names: FIXED.map(str::to_owned).to_vec(),
            held: vec![Vec::new(); FIXED.len()],
            weak: Vec::new(),
        };
        stopped.for_each_root(|origin, addr| match origin {
            RootOrigin::Frame(_) => roots.held[FRAMES].push(addr),
            RootOrigin::Handle => roots.held[HANDLES].push(addr),
            RootOrigin::Weak => roots.weak.push(addr),
            RootOrigin::Ephemeron => roots.held[EPHEMERONS].push(addr),
        });
        // Named heap roots are among the handles too. Count each in one place only.
        let mut named: HashMap<Addr, usize> = HashMap::new();
        for root in stopped.named_roots().into_iter().filter(|root| !root.weak) {
            roots.names.push(format!("(heap root {})", root.name));
            let addr = root.closure.map(ClosureView::addr);
            roots.held.push(addr.into_iter().collect());
            addr.into_iter().for_each(|addr| *named.entry(addr).or_insert(0) += 1);
        }
        roots.held[HANDLES].retain(|addr| match named.get_mut(addr) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        roots
    }
}

/// Calls `visit` for every closure in `index`, in the order of addresses.
fn each<'a>(stopped: &Stopped<'a>, index: &Index, mut visit: impl FnMut(ClosureView<'a>)) {
    let regions = walk::regions(stopped);
    let walked = walk::for_each_closure(stopped, &regions, |_, closure| {
        if index.get(closure.addr()).is_some() {
            visit(closure);
        }
    });
    if let Err(Unparsable { at, .. }) = walked {
        panic!("no closure starts at {at}");
    }
}

/// The closures of a heap by address, numbered.
struct Index {
    closures: AddrSet,
    /// By page and word of bits in `closures`: the number of the first closure in it.
    first: Vec<Box<[u32]>>,
    /// The number of closures.
    count: u32,
}

impl Index {
    /// Numbers the closures in `closures` from `start` on.
    fn new(closures: AddrSet, start: usize) -> Result<Self, GraphError> {
        let mut next = start as u64;
        let mut number = |bits: &u64| {
            let first = next as u32;
            next += u64::from(bits.count_ones());
            first
        };
        let first = closures
            .pages()
            .map(|page| page.unwrap_or_default().iter().map(&mut number).collect())
            .collect();
        let end = u32::try_from(next).map_err(|_| GraphError::TooLarge)?;
        Ok(Index {
            closures,
            first,
            count: end - start as u32,
        })
    }

    /// The number of the closure at an address. `None` for null, and for addresses that were not
    /// reached.
    fn get(&self, addr: Addr) -> Option<u32> {
        let (page, word, before) = self.closures.member(addr)?;
        Some(self.first[page][word] + before)
    }
}
