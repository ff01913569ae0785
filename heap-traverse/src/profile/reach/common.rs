//! The part that most roots reach in common, found first. In most heaps with cycles, nearly
//! everything can be reached from some closures deep in the heap, so a root that reaches one of
//! these reaches all of that, too.
//!
//! 1. A depth-first search with a bounded number of steps finds a path. The closure in its middle
//!    is the *hub*. The closures that the hub reaches, its *reach*, are visited once. All of them
//!    have the hub's labels.
//! 2. Regions and their sets are found for all closures that the hub does not reach (`regions.rs`).
//!    This also finds the *entries*: pointers from there, and roots, that lead into the hub's
//!    reach, each with a set.
//! 3. An entry with labels that the hub is not known to have is followed, depth first again, until
//!    a closure is met that leads to the hub. Then the hub has the entry's labels, and so does all
//!    of its reach, and all entries with these labels are done. Whole paths lead to the hub, so
//!    this takes few steps in heaps where many closures lead to each other.
//! 4. Closures reachable from an entry that was not seen to lead to the hub (although it may) may
//!    have more labels than the hub. Regions are found for these closures too, with the labels that
//!    the entries bring.
//!
//! So closures reached from such entries are visited three times, the rest of the hub's reach once,
//! and all others twice. Searches take at most [`STEPS`] and [`FEW_STEPS`] steps, and an eighth of
//! the hub's reach. In a heap without cycles the hub's reach is small, and little is won or lost.
//! Memory: 1/64 of the heap for bits, and 16 bytes for each entry.

use super::super::sets::{EMPTY, Label, Set, Sets};
use super::flow::Region;
use super::regions::{NoSources, Reach, Regions};
use crate::addr_set::AddrSet;
use crate::traverse::{Traversal, Visit};
use gclab_core::world::{Children, ClosureView};
use std::cell::Cell;
use std::collections::HashSet;

/// Limit on the steps of the search for a hub: few compared with a large heap. In a disordered
/// heap, half this number of closures then lead to the hub, so among a few million closures one of
/// them is met within some hundred steps from anywhere.
const STEPS: usize = 1 << 14;

/// The steps that may be taken from entries in a heap of any size.
const FEW_STEPS: usize = 1 << 10;

/// The region of the hub's reach. It has no entry in the graph of regions.
pub(in crate::profile) const COMMON: Region = 0;

/// The regions found from named roots.
pub(in crate::profile) struct Found {
    /// The set of each region.
    pub sets: Vec<Set>,
    /// The first region that is a part of [`COMMON`]. Closures in such a region were counted under
    /// `COMMON` too.
    pub parts: Region,
}

/// A path from the start of a search to its current closure.
type Path<'a> = Vec<(ClosureView<'a>, Children<'a>)>;

/// The closures that are known to lead to the hub.
struct Leading<'a> {
    closures: HashSet<ClosureView<'a>>,
    /// The steps taken so far, and their limit.
    steps: usize,
    limit: usize,
}

impl Reach {
    /// Finds the set of every region, as [`Reach::sets`] does without sources. `count` gets each
    /// closure once, and closures in parts of [`COMMON`] once more.
    pub(crate) fn named<'a>(
        &mut self,
        traversal: &mut Traversal,
        roots: &[(ClosureView<'a>, Label)],
        sets: &mut Sets,
        mut count: impl FnMut(ClosureView<'a>, Region),
    ) -> Found {
        // Parts are numbered after all other regions.
        let start = Cell::new(0);
        let mut count = |closure, region: Region| count(closure, start.get() + region);
        let brought: Vec<_> = roots.iter().map(|(root, label)| (*root, sets.single(*label))).collect();
        let (hub, mut leading) = Leading::find(roots.iter().map(|(root, _)| *root));
        self.closures = 0;
        traversal.each(hub, |closure| {
            self.closures += 1;
            count(closure, COMMON);
            Visit::Descend(())
        });
        self.visits = self.closures;
        leading.limit += self.closures as usize / 8;
        let mut common = self.common.take().unwrap_or_else(|| AddrSet::new(self.base));
        common.copy(traversal.all_visited());
        let regions = self.regions(traversal, Some(&common), &brought, &mut NoSources, sets, &mut count);
        self.common = Some(common);
        let Regions {
            sets: mut found,
            entries,
        } = regions;

        let mut of_hub = EMPTY;
        let mut others = Vec::new();
        for (region, entry) in entries {
            let set = found[region as usize];
            let all = sets.union(of_hub, set);
            if all == of_hub {
            } else if leading.has(entry) {
                of_hub = all;
            } else {
                others.push((entry, set));
            }
        }
        others.retain(|(_, set)| sets.union(of_hub, *set) != of_hub);
        self.visits += leading.steps as u64;
        found[COMMON as usize] = of_hub;
        let parts = found.len() as Region;
        if !others.is_empty() {
            let closures = self.closures;
            start.set(parts);
            let more = self.regions(traversal, None, &others, &mut NoSources, sets, &mut count);
            found.extend(more.sets.into_iter().map(|set| sets.union(set, of_hub)));
            self.closures = closures;
        }
        Found { sets: found, parts }
    }
}

impl<'a> Leading<'a> {
    /// The middle of roughly the longest path seen, and the closures that lead to it on this path.
    /// `None` if there are no roots.
    fn find(roots: impl Iterator<Item = ClosureView<'a>>) -> (Option<ClosureView<'a>>, Self) {
        let mut seen = HashSet::new();
        let mut steps = 0;
        let mut longest: Vec<ClosureView<'a>> = Vec::new();
        let copy = |path: &Path<'a>| path.iter().map(|(closure, _)| *closure).collect();
        'search: for root in roots {
            if !seen.insert(root) {
                continue;
            }
            let mut path: Path<'a> = vec![(root, root.children())];
            while let Some((_, children)) = path.last_mut() {
                if steps == STEPS {
                    if path.len() > longest.len() {
                        longest = copy(&path);
                    }
                    break 'search;
                }
                steps += 1;
                match children.next() {
                    Some(child) if seen.insert(child) => path.push((child, child.children())),
                    Some(_) => {}
                    None => {
                        // Copy only if it is twice as long, so that copies do not add up.
                        if path.len() > 2 * longest.len() {
                            longest = copy(&path);
                        }
                        path.pop();
                    }
                }
            }
        }
        longest.truncate(longest.len() / 2 + 1);
        let leading = Leading {
            steps,
            limit: steps + FEW_STEPS,
            closures: longest.iter().copied().collect(),
        };
        (longest.pop(), leading)
    }

    /// Whether a closure is seen to lead to the hub within the allowed steps.
    fn has(&mut self, from: ClosureView<'a>) -> bool {
        if self.closures.contains(&from) {
            return true;
        }
        let mut seen = HashSet::from([from]);
        let mut path: Path<'a> = vec![(from, from.children())];
        while let Some((_, children)) = path.last_mut() {
            if self.steps >= self.limit {
                break;
            }
            self.steps += 1;
            match children.next() {
                Some(child) if self.closures.contains(&child) => {
                    self.closures.extend(path.iter().map(|(closure, _)| *closure));
                    return true;
                }
                Some(child) if seen.insert(child) => path.push((child, child.children())),
                Some(_) => {}
                None => drop(path.pop()),
            }
        }
        false
    }
}
