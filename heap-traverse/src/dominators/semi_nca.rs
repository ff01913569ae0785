//! The dominator tree by semidominators and nearest common ancestors ("semi-NCA"; Georgiadis,
//! Tarjan, Werneck: Finding Dominators in Practice, 2006), with three changes that let it scale.
//!
//! 1. Only edges from higher to lower preorder numbers are kept as predecessors. An edge from a
//!    lower to a higher number leads down the tree, and contributes only its source to the minimum,
//!    whenever it is looked at. So at most E - N + 1 edges are kept.
//! 2. Labels are semidominators, not the nodes that have them. The algorithm needs no more, and a
//!    step of a path is one cache line. Paths are compressed by reversing their pointers, not with
//!    a stack.
//! 3. The nearest common ancestor is found with skip pointers (Myers: An applicative random-access
//!    stack, 1983). With steps of one, a long list would take quadratic time if it has many objects
//!    at its end that others hold too. Real heaps have such lists.
//!
//! Memory is fetched ahead wherever the next access is known: nearly all time is spent waiting for
//! memory.
//!
//! Time O(E log N) at worst. No recursion, and no stack: depth-first search climbs by the tree's
//! own pointers.
//!
//! All arrays are indexed by preorder number, except `Tree::number`.

use crate::fetch::fetch;
use crate::graph::{Graph, NONE, ROOT};
use crate::memory::{OutOfMemory, filled, with_capacity};

/// A depth-first spanning tree. Nodes have the numbers of their preorder: the root is 0, and an
/// ancestor has a lower number than its descendants.
struct Tree {
    /// By node: its number, or [`NONE`] if it has none.
    number: Vec<u32>,
    /// By number: the node.
    node: Vec<u32>,
    /// By number: the number of its parent. The root is its own parent.
    parent: Vec<u32>,
}

/// How many edges (or rows, or sources) ahead memory is fetched: about the time of a memory access.
const AHEAD: usize = 16;

/// How many targets of a new node are fetched. More would evict each other before they are used.
const SIBLINGS: usize = 16;

/// The stages in which an edge is shown to a visitor.
#[derive(Clone, Copy)]
enum When {
    /// The edge comes later: prefetch the memory that it needs first.
    Soon,
    /// The memory fetched at `Soon` is there: prefetch the memory that depends on it.
    Next,
    /// Process the edge now.
    Now,
}

/// Sources of edges that lead to lower numbers. Row i is `sources[ends[i - 1]..ends[i]]`.
struct Predecessors {
    ends: Vec<u32>,
    sources: Vec<u32>,
}

/// A processed node, in the forest in which paths are compressed.
#[derive(Clone, Copy)]
struct Link {
    /// The node's parent, or an ancestor of the parent.
    up: u32,
    /// The lowest semidominator on the path from here to `up`, without that of `up`.
    lowest: u32,
}

/// The skip pointer of a node in the dominator tree.
#[derive(Clone, Copy)]
struct Skip {
    /// An ancestor, the target of the skip.
    to: u32,
    depth: u32,
}

pub(super) fn dominators(graph: Graph<&[u32]>) -> Result<(Vec<u32>, Vec<u32>), OutOfMemory> {
    let (tree, spare) = Tree::of(graph)?;
    let (mut semi, predecessors) = Predecessors::of(graph, &tree, spare)?;
    let Tree {
        number,
        mut node,
        parent,
    } = tree;
    drop(number);
    node.shrink_to_fit();
    let links = semidominators(&parent, &mut semi, &predecessors)?;
    drop(predecessors);
    let idom = common_ancestors(parent, &semi, links);
    // Reuse the same memory, now by node. It has room for all nodes.
    let mut by_node = semi;
    by_node.clear();
    by_node.resize(graph.node_count() as usize, NONE);
    for (&node_of, &above) in node.iter().zip(&idom) {
        by_node[node_of as usize] = node[above as usize];
    }
    Ok((by_node, node))
}

impl Tree {
    /// Searches depth-first from the root. Also returns an array of one number a node, whose memory
    /// can be reused.
    fn of(graph: Graph<&[u32]>) -> Result<(Tree, Vec<u32>), OutOfMemory> {
        let nodes = graph.node_count() as usize;
        let mut tree = Tree {
            number: filled(NONE, nodes)?,
            node: with_capacity(nodes)?,
            parent: with_capacity(nodes)?,
        };
        // By number: the edge to look at next.
        let mut next = with_capacity(nodes)?;
        tree.arrive(ROOT, 0);
        tree.expect(graph, ROOT);
        next.push(graph.rows().start(ROOT));
        let mut at = 0_u32;
        loop {
            let end = graph.rows().start(tree.node[at as usize] + 1);
            let mut edge = next[at as usize];
            while edge < end && tree.number[graph.rows().targets()[edge as usize] as usize] != NONE {
                edge += 1;
            }
            if edge < end {
                next[at as usize] = edge + 1;
                let target = graph.rows().targets()[edge as usize];
                at = tree.arrive(target, at);
                tree.expect(graph, target);
                next.push(graph.rows().start(target));
            } else if at == 0 {
                return Ok((tree, next));
            } else {
                at = tree.parent[at as usize];
            }
        }
    }

    /// Gives a node the next number.
    fn arrive(&mut self, node: u32, parent: u32) -> u32 {
        let number = self.node.len() as u32;
        self.number[node as usize] = number;
        self.node.push(node);
        self.parent.push(parent);
        number
    }

    /// Prefetches the entries for the targets of a node.
    #[inline]
    fn expect(&self, graph: Graph<&[u32]>, node: u32) {
        for &target in graph.row(node).iter().take(SIBLINGS) {
            fetch(&self.number, target);
            graph.rows().fetch_start(target);
        }
    }

    /// Calls `visit` with the numbers of both ends of every edge, source by source. Each edge is
    /// shown three times, so that memory for it can be fetched ahead.
    #[inline]
    fn for_each_edge(&self, graph: Graph<&[u32]>, mut visit: impl FnMut(When, u32, u32)) {
        // The last edges, each at its number modulo the length.
        let mut ring = [(0, 0); 2 * AHEAD];
        let mut edges = 0;
        for (source, &node) in self.node.iter().enumerate() {
            let soon = |rows: usize| self.node.get(source + rows).copied();
            soon(3 * AHEAD)
                .into_iter()
                .for_each(|node| graph.rows().fetch_start(node));
            soon(2 * AHEAD)
                .into_iter()
                .for_each(|node| graph.rows().fetch_row(node));
            let targets = soon(AHEAD).map_or(&[][..], |node| graph.row(node));
            targets.iter().for_each(|&target| fetch(&self.number, target));
            for &target in graph.row(node) {
                let target = self.number[target as usize];
                visit(When::Soon, source as u32, target);
                let old = std::mem::replace(&mut ring[edges % (2 * AHEAD)], (source as u32, target));
                let near = ring[edges.wrapping_sub(AHEAD) % (2 * AHEAD)];
                if edges >= AHEAD {
                    visit(When::Next, near.0, near.1);
                }
                if edges >= 2 * AHEAD {
                    visit(When::Now, old.0, old.1);
                }
                edges += 1;
            }
        }
        for edge in edges.saturating_sub(2 * AHEAD)..edges {
            let (source, target) = ring[edge % (2 * AHEAD)];
            visit(When::Now, source, target);
        }
    }
}

impl Predecessors {
    /// Also returns, by node, the lowest source of an edge from above, which is the parent or
    /// lower. Semidominators need no more of such edges. `spare` is memory for one number a node.
    fn of(graph: Graph<&[u32]>, tree: &Tree, spare: Vec<u32>) -> Result<(Vec<u32>, Predecessors), OutOfMemory> {
        let mut lowest = with_capacity(graph.node_count() as usize)?;
        lowest.extend_from_slice(&tree.parent);
        let mut ends = spare;
        ends.fill(0);
        tree.for_each_edge(graph, |when, source, target| match when {
            When::Soon if source < target => fetch(&lowest, target),
            When::Soon => fetch(&ends, target),
            When::Next => {}
            When::Now if source < target => {
                let lowest = &mut lowest[target as usize];
                *lowest = source.min(*lowest);
            }
            When::Now => ends[target as usize] += u32::from(source > target),
        });
        // Turns counts into starts. Filling the rows turns starts into ends.
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut sources = filled(0, sum as usize)?;
        tree.for_each_edge(graph, |when, source, target| {
            if source > target {
                match when {
                    When::Soon => fetch(&ends, target),
                    When::Next => fetch(&sources, ends[target as usize]),
                    When::Now => {
                        let end = &mut ends[target as usize];
                        sources[*end as usize] = source;
                        *end += 1;
                    }
                }
            }
        });
        Ok((lowest, Predecessors { ends, sources }))
    }

    /// The place where the row of `number` begins.
    #[inline]
    fn start(&self, number: u32) -> usize {
        match number.checked_sub(1) {
            Some(before) => self.ends[before as usize] as usize,
            None => 0,
        }
    }
}

/// Lowers each `semi` to the number of the node's semidominator. Returns the links, for their
/// memory.
fn semidominators(parent: &[u32], semi: &mut [u32], predecessors: &Predecessors) -> Result<Vec<Link>, OutOfMemory> {
    let mut links = filled(Link { up: 0, lowest: 0 }, parent.len())?;
    let sources = &predecessors.sources;
    // From the last source down to the first.
    let mut at = sources.len();
    for number in (1..parent.len() as u32).rev() {
        let mut lowest = semi[number as usize];
        let start = predecessors.start(number);
        while at > start {
            at -= 1;
            if at >= 2 * AHEAD {
                fetch(&links, sources[at - 2 * AHEAD]);
                fetch(&links, links[sources[at - AHEAD] as usize].up);
            }
            lowest = lowest.min(eval(&mut links, sources[at], number));
        }
        semi[number as usize] = lowest;
        links[number as usize] = Link {
            up: parent[number as usize],
            lowest,
        };
    }
    Ok(links)
}

/// The lowest semidominator on the path from `from` up to the last node above `limit`, which are
/// the processed nodes. Shortens that path to one step.
#[inline]
fn eval(links: &mut [Link], from: u32, limit: u32) -> u32 {
    let first = links[from as usize];
    if first.up <= limit {
        return first.lowest;
    }
    // Go up and reverse the pointers.
    let (mut below, mut at) = (NONE, from);
    let top = loop {
        let link = &mut links[at as usize];
        if link.up <= limit {
            break *link;
        }
        let up = std::mem::replace(&mut link.up, below);
        (below, at) = (at, up);
    };
    // Come back down and restore them.
    let mut lowest = top.lowest;
    while below != NONE {
        let link = &mut links[below as usize];
        lowest = lowest.min(link.lowest);
        below = std::mem::replace(&mut link.up, top.up);
        link.lowest = lowest;
    }
    lowest
}

/// Single steps before skipping starts. Nearly all searches are shorter.
const PLAIN_STEPS: u32 = 4;

/// Turns parents into immediate dominators. The immediate dominator of a node is the nearest
/// ancestor of its parent, in the dominator tree so far, whose number is not above its
/// semidominator. `memory` is for the skip pointers.
fn common_ancestors(parent: Vec<u32>, semi: &[u32], memory: Vec<Link>) -> Vec<u32> {
    let mut idom = parent;
    let mut skips = skips(memory);
    for number in 1..idom.len() {
        let limit = semi[number];
        let mut at = idom[number];
        let mut steps = 0;
        while at > limit && steps < PLAIN_STEPS {
            at = idom[at as usize];
            steps += 1;
        }
        while at > limit {
            let skip = skips[at as usize].to;
            at = if skip > limit { skip } else { idom[at as usize] };
        }
        idom[number] = at;
        skips[number] = skip_below(&skips, at);
    }
    idom
}

/// Reuses the memory of the links for skip pointers, with the root's set.
fn skips(links: Vec<Link>) -> Vec<Skip> {
    // Both are pairs of numbers: the compiler reuses the vector in place.
    links.into_iter().map(|_| Skip { to: 0, depth: 0 }).collect()
}

/// The skip pointer of a child of `above`. If the skip of the parent and the next skip after it
/// have the same length, it covers both; otherwise it is one step.
#[inline]
fn skip_below(skips: &[Skip], above: u32) -> Skip {
    let one = skips[above as usize];
    let two = skips[one.to as usize];
    let far = one.depth - skips[one.to as usize].depth;
    let same = far == two.depth - skips[two.to as usize].depth;
    Skip {
        to: if same { two.to } else { above },
        depth: one.depth + 1,
    }
}
