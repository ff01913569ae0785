//! Strings that V8 also has in a table of all strings.
//!
//! The table is a root of a snapshot, so it seems to hold its strings along with their users. But V8
//! drops a string from it when nothing else refers to the string. So what a reader takes for the
//! holder of a string is the nearest object that dominates its other referrers. A string of which
//! there are many, or that has none, remains with the table.
//!
//! **Cost**: a byte a node and one pass over the edges, if there is such a table.

use crate::dominators::Dominators;
use crate::memory::{OutOfMemory, filled, push};
use gclab_snapshot::{Node, Snapshot};
use hashbrown::HashMap;

/// The type name, in V8's snapshots and ours, of nodes that are not objects.
pub(super) const SYNTHETIC: &str = "synthetic";
/// The roots that are tables, and the nodes among which all roots are.
const TABLES: [&str; 2] = ["(Internalized strings)", "(External strings)"];
const ROOTS: usize = 64;
/// The most referrers of a string, and the most steps from each to the common holder.
const MOST: usize = 16;

/// The strings that tables seem to hold, each with what holds it apart from them.
pub(super) fn holders(snapshot: &Snapshot, dominators: &Dominators) -> Result<Vec<(u32, u32)>, OutOfMemory> {
    let is_root = |node: u32| snapshot.node(node).type_name() == SYNTHETIC;
    let is_table = |node: &Node<'_>| is_root(node.ordinal()) && TABLES.contains(&node.name().as_ref());
    let tables: Vec<_> = snapshot.nodes().take(ROOTS).filter(is_table).collect();
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let mut is_string = filled(false, snapshot.node_count() as usize)?;
    for edge in tables.iter().flat_map(|table| table.edges()) {
        let string = edge.target().ordinal();
        is_string[string as usize] = dominators.idom(string).is_some_and(is_root);
    }
    // Those that hold others stay.
    for &above in dominators.idoms() {
        if let Some(above) = is_string.get_mut(above as usize) {
            *above = false;
        }
    }
    let mut referrers: HashMap<u32, Vec<u32>> = HashMap::new();
    let users = snapshot
        .nodes()
        .filter(|node| !tables.iter().any(|table| table.ordinal() == node.ordinal()));
    for node in users.filter(|node| dominators.idom(node.ordinal()).is_some()) {
        let edges = node.edges().filter(|edge| edge.is_strong());
        for string in edges
            .map(|edge| edge.target().ordinal())
            .filter(|&target| is_string[target as usize])
        {
            referrers.try_reserve(1).map_err(|_| OutOfMemory)?;
            let all = referrers.entry(string).or_default();
            if all.len() <= MOST && all.last() != Some(&node.ordinal()) {
                push(all, node.ordinal())?;
            }
        }
    }
    let common = |(string, all): (u32, Vec<u32>)| {
        let up = |node: u32| std::iter::successors(Some(node), |&node| dominators.idom(node)).take(MOST);
        let (first, others) = all.split_first().filter(|_| all.len() <= MOST)?;
        let mut shared: Vec<u32> = up(*first).take_while(|&node| !is_root(node)).collect();
        for &other in others {
            let at = up(other).find_map(|node| shared.iter().position(|&own| own == node))?;
            shared.drain(..at);
        }
        Some((string, *shared.first()?))
    };
    let mut found: Vec<(u32, u32)> = referrers.into_iter().filter_map(common).collect();
    found.retain(|&(_, holder)| !is_string[holder as usize]);
    found.sort_unstable();
    Ok(found)
}
