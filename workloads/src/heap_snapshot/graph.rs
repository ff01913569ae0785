//! What the workload needs of a snapshot: the edges, the size of each node, and a path from the
//! root to each node.

use gclab_snapshot::Snapshot;

/// No node: the tree parent of the root, and of unreachable nodes.
const NONE: u32 = u32::MAX;

/// The root of every snapshot.
pub(super) const ROOT: u32 = 0;

/// Bytes of the largest node that fits a record, whose byte count has 32 bits.
const LARGEST_NODE: u64 = u32::MAX as u64;

/// Nodes by ordinal; edges in rows, a row for each node.
#[derive(Debug, Default)]
pub(super) struct Graph {
    strong: Rows,
    weak: Rows,
    self_sizes: Vec<u64>,
    in_degrees: Vec<u32>,
    /// By ordinal: the node before it on a shortest path from the root, and the index of the
    /// pointer to take there.
    parents: Vec<(u32, u32)>,
    /// The nodes reachable from the root, nearest first.
    reached: Vec<u32>,
}

/// Lists of targets: row i is `targets[ends[i - 1]..ends[i]]`.
#[derive(Debug, Default)]
struct Rows {
    ends: Vec<u32>,
    targets: Vec<u32>,
}

impl Rows {
    #[inline]
    fn row(&self, ordinal: u32) -> &[u32] {
        let ordinal = ordinal as usize;
        let start = if ordinal == 0 { 0 } else { self.ends[ordinal - 1] };
        &self.targets[start as usize..self.ends[ordinal] as usize]
    }

    fn finish(&mut self) {
        self.ends.push(self.targets.len() as u32);
    }
}

impl Graph {
    /// Reads the edges and sizes of `snapshot`.
    ///
    /// # Errors
    /// If there is no root, or a node is too large for a record. The error is one sentence.
    pub(super) fn new(snapshot: &Snapshot) -> Result<Self, String> {
        if snapshot.node_count() == 0 {
            return Err("the snapshot has no nodes, expected at least the root".to_owned());
        }
        let mut graph = Graph {
            in_degrees: vec![0; snapshot.node_count() as usize],
            ..Graph::default()
        };
        for node in snapshot.nodes() {
            if node.self_size() > LARGEST_NODE {
                let (node, size) = (node.ordinal(), node.self_size());
                return Err(format!("node {node} has {size} bytes, expected at most {LARGEST_NODE}"));
            }
            for edge in node.edges() {
                let target = edge.target().ordinal();
                if edge.is_strong() {
                    graph.strong.targets.push(target);
                    graph.in_degrees[target as usize] += 1;
                } else {
                    graph.weak.targets.push(target);
                }
            }
            graph.strong.finish();
            graph.weak.finish();
            graph.self_sizes.push(node.self_size());
        }
        graph.find_paths();
        Ok(graph)
    }

    /// Breadth first from the root.
    fn find_paths(&mut self) {
        self.parents = vec![(NONE, 0); self.self_sizes.len()];
        self.reached = vec![ROOT];
        let mut next = 0;
        while let Some(&from) = self.reached.get(next) {
            for (slot, &target) in self.strong.row(from).iter().enumerate() {
                let parent = &mut self.parents[target as usize];
                if parent.0 == NONE && target != ROOT {
                    *parent = (from, slot as u32);
                    self.reached.push(target);
                }
            }
            next += 1;
        }
    }

    /// The number of nodes, reached or not.
    #[inline]
    pub(super) fn node_count(&self) -> u32 {
        self.self_sizes.len() as u32
    }

    /// The number of strong edges of all nodes.
    pub(super) fn pointer_count(&self) -> u64 {
        self.strong.targets.len() as u64
    }

    /// The nodes reachable from the root over strong edges, the root first.
    #[inline]
    pub(super) fn reached(&self) -> &[u32] {
        &self.reached
    }

    /// The targets of a node's strong edges: its pointers.
    #[inline]
    pub(super) fn pointers(&self, ordinal: u32) -> &[u32] {
        self.strong.row(ordinal)
    }

    /// The targets of a node's weak edges.
    #[inline]
    pub(super) fn weak(&self, ordinal: u32) -> &[u32] {
        self.weak.row(ordinal)
    }

    /// The node's size in the snapshot, in bytes.
    #[inline]
    pub(super) fn self_size(&self, ordinal: u32) -> u64 {
        self.self_sizes[ordinal as usize]
    }

    /// The number of strong edges to the node.
    #[inline]
    pub(super) fn in_degree(&self, ordinal: u32) -> u32 {
        self.in_degrees[ordinal as usize]
    }

    /// Puts into `slots` the indices of the pointers that lead from the root to a reachable node.
    pub(super) fn path(&self, ordinal: u32, slots: &mut Vec<u32>) {
        slots.clear();
        let mut at = ordinal;
        while at != ROOT {
            let (parent, slot) = self.parents[at as usize];
            debug_assert_ne!(parent, NONE, "the root does not reach node {ordinal}");
            slots.push(slot);
            at = parent;
        }
        slots.reverse();
    }
}
