//! The dominator tree by semidominators and nearest common ancestors ("semi-NCA"; Georgiadis, Tarjan, Werneck: Finding Dominators in
//! Practice, 2006), with three changes that let it scale.
//!
//! 1. Only edges from higher to lower preorder numbers are kept as predecessors: one from lower to higher leads down the tree, and its
//!    part in the minimum is its source, whoever else is looked at. So there are at most E - N + 1 of them.
//! 2. Labels are semidominators, not the nodes that have them: the algorithm needs no more, and a step of a path is one cache line. Paths
//!    are compressed by turning their pointers round, not with a stack.
//! 3. The nearest common ancestor is found with skip pointers (Myers: An applicative random-access stack, 1983). By steps of one, a long
//!    list with many objects at its end that others hold too would take quadratic time, and real heaps have such lists.
//!
//! What comes next is fetched ahead wherever it is known: nearly all time is spent waiting for memory.
//!
//! Time O(E log N) at worst. No recursion, and no stack: depth-first search climbs by the tree's own pointers.
//!
//! All arrays are indexed by preorder number, but for `Tree::number`.

use crate::fetch::fetch;
use crate::graph::{Graph, NONE, ROOT};

/// A depth-first spanning tree. Nodes have the numbers of their preorder: the root is 0, ancestors are lower than what is below them.
struct Tree {
    /// By node: its number, or [`NONE`].
    number: Vec<u32>,
    /// By number: the node.
    node: Vec<u32>,
    /// By number: the number of its parent; the root's is itself.
    parent: Vec<u32>,
}

/// How many edges (or rows, or sources) ahead something is fetched: as many as a memory access takes time for.
const AHEAD: usize = 16;

/// Targets of a new node that are fetched. More would push each other out before they are looked at.
const SIBLINGS: usize = 16;

/// Why an edge is shown.
#[derive(Clone, Copy)]
enum When {
    /// It comes in a while.
    Soon,
    /// What was fetched at `Soon` is there.
    Next,
    /// It is its turn.
    Now,
}

/// Sources of edges that lead to lower numbers. Row i is `sources[ends[i - 1]..ends[i]]`.
struct Predecessors {
    ends: Vec<u32>,
    sources: Vec<u32>,
}

/// A node of the forest of those that were processed, which paths are compressed in.
#[derive(Clone, Copy)]
struct Link {
    /// Its parent, or an ancestor of that.
    up: u32,
    /// The lowest semidominator from here up to `up`, which is left out.
    lowest: u32,
}

/// What skip pointers need of a node of the dominator tree.
#[derive(Clone, Copy)]
struct Skip {
    /// An ancestor.
    to: u32,
    depth: u32,
}

pub(super) fn dominators(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let (tree, spare) = Tree::of(graph);
    let (mut semi, predecessors) = Predecessors::of(graph, &tree, spare);
    let Tree { number, node, parent } = tree;
    drop(number);
    let links = semidominators(&parent, &mut semi, &predecessors);
    drop(predecessors);
    let idom = common_ancestors(parent, &semi, links);
    // The same memory again, now by node.
    let mut by_node = semi;
    by_node.clear();
    by_node.resize(graph.node_count() as usize, NONE);
    for (&node_of, &above) in node.iter().zip(&idom) {
        by_node[node_of as usize] = node[above as usize];
    }
    (by_node, node)
}

impl Tree {
    /// Depth first from the root. Also gives an array of one number a node that is not needed any more.
    fn of(graph: &Graph) -> (Tree, Vec<u32>) {
        let nodes = graph.node_count() as usize;
        let mut tree = Tree {
            number: vec![NONE; nodes],
            node: Vec::with_capacity(nodes),
            parent: Vec::with_capacity(nodes),
        };
        // By number: the edge to look at next.
        let mut next = Vec::with_capacity(nodes);
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
                return (tree, next);
            } else {
                at = tree.parent[at as usize];
            }
        }
    }

    /// Numbers a node.
    fn arrive(&mut self, node: u32, parent: u32) -> u32 {
        let number = self.node.len() as u32;
        self.number[node as usize] = number;
        self.node.push(node);
        self.parent.push(parent);
        number
    }

    /// What will be asked about the targets of a node comes towards the cache.
    #[inline]
    fn expect(&self, graph: &Graph, node: u32) {
        for &target in graph.row(node).iter().take(SIBLINGS) {
            fetch(&self.number, target);
            graph.rows().fetch_start(target);
        }
    }

    /// Calls `visit` with the numbers of both ends of every edge, source by source: thrice, so that what it needs can come towards the cache.
    #[inline]
    fn for_each_edge(&self, graph: &Graph, mut visit: impl FnMut(When, u32, u32)) {
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
    /// Also gives the lowest source of an edge to each node from above (its parent at most): all that semidominators need of such edges.
    /// `spare` is memory for one number a node.
    fn of(graph: &Graph, tree: &Tree, spare: Vec<u32>) -> (Vec<u32>, Predecessors) {
        let mut lowest = tree.parent.clone();
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
        // From counts to starts, which filling the rows turns into ends.
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut sources = vec![0; sum as usize];
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
        (lowest, Predecessors { ends, sources })
    }

    /// Where the row of `number` begins.
    #[inline]
    fn start(&self, number: u32) -> usize {
        match number.checked_sub(1) {
            Some(before) => self.ends[before as usize] as usize,
            None => 0,
        }
    }
}

/// Lowers each `semi` to the number of the node's semidominator. Gives the links, for their memory.
fn semidominators(parent: &[u32], semi: &mut [u32], predecessors: &Predecessors) -> Vec<Link> {
    let mut links = vec![Link { up: 0, lowest: 0 }; parent.len()];
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
    links
}

/// The lowest semidominator on the way from `from` up to the last node above `limit`: those are the ones that were processed. Leaves that way one
/// step long.
#[inline]
fn eval(links: &mut [Link], from: u32, limit: u32) -> u32 {
    let first = links[from as usize];
    if first.up <= limit {
        return first.lowest;
    }
    // Up, turning pointers round.
    let (mut below, mut at) = (NONE, from);
    let top = loop {
        let link = &mut links[at as usize];
        if link.up <= limit {
            break *link;
        }
        let up = std::mem::replace(&mut link.up, below);
        (below, at) = (at, up);
    };
    // And down again.
    let mut lowest = top.lowest;
    while below != NONE {
        let link = &mut links[below as usize];
        lowest = lowest.min(link.lowest);
        below = std::mem::replace(&mut link.up, top.up);
        link.lowest = lowest;
    }
    lowest
}

/// Steps that are tried one by one before skipping: nearly all searches are shorter.
const PLAIN_STEPS: u32 = 4;

/// Turns parents into immediate dominators: that of a node is the nearest ancestor of its parent, in the dominator tree so far, that is not below
/// its semidominator. `memory` is for the skip pointers.
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

/// The same memory, with the root's skip pointer set.
fn skips(links: Vec<Link>) -> Vec<Skip> {
    // Both are pairs of numbers: the compiler reuses the vector in place.
    links.into_iter().map(|_| Skip { to: 0, depth: 0 }).collect()
}

/// The skip pointer of a child of `above`: as far as that of its parent and of its parent's goal together, if those are of one length, else one
/// step.
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
