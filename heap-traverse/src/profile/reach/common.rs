//! What roots reach in common, found first: in most heaps with circles nearly everything can be reached from some closures deep in it, and then roots that reach one of
//! these reach all that.
//!
//! 1. A search depth first, of a bounded number of steps, gives a path, and the closure in its middle is the *hub*. What the hub reaches, its *reach*, is visited,
//!    once. All of it has the labels of the hub.
//! 2. Regions and their sets are found of all that the hub does not reach (`reach.rs`), and with them the *entries*: pointers, and roots, that lead from there into the hub's reach,
//!    each with a set.
//! 3. An entry with labels that the hub is not known to have is followed, depth first again, until something is met that leads to the hub:
//!    the hub has its labels. So has all of its reach, and all entries with these labels are done. As whole paths lead to the hub, this takes few steps where many closures lead to each other.
//! 4. What can be reached from an entry that was not seen to lead to the hub (which it may do nevertheless) may have more labels than the hub: regions are found of this too, with what these
//!    entries bring.
//!
//! So what is reached from such entries is visited thrice, the rest of the hub's reach once, and everything else twice; searches take [`STEPS`] steps, an
//! eighth of the hub's reach and [`FEW_STEPS`] at most. In a heap without circles the hub's reach is small, and little is won or lost. Memory:
//! 1/64 of the heap for bits, and 16 bytes for each entry.

use super::super::sets::{EMPTY, Label, Set, Sets};
use super::flow::Region;
use super::regions::{NoSources, Reach, Regions};
use crate::addr_set::AddrSet;
use crate::traverse::{Traversal, Visit};
use gclab_core::world::{Children, ClosureView};
use std::collections::HashSet;

/// The most steps of the search for a hub: few beside a large heap, and in one without order half as many closures lead to the hub then, so that
/// one of them is met in some hundred steps from anywhere if there are a few million.
const STEPS: usize = 1 << 14;

/// The steps that may be taken from entries whatever the size of the heap.
const FEW_STEPS: usize = 1 << 10;

/// The region of what the hub reaches, which none is made for.
pub(in crate::profile) const COMMON: Region = 0;

/// What was found from named roots.
pub(in crate::profile) struct Found {
    /// By region.
    pub sets: Vec<Set>,
    /// The first of the regions that are parts of [`COMMON`]: what was counted there for these was too much.
    pub parts: Region,
}

/// A path from where a search began to where it is.
type Path<'a> = Vec<(ClosureView<'a>, Children<'a>)>;

/// What leads to the hub.
struct Leading<'a> {
    closures: HashSet<ClosureView<'a>>,
    /// Steps that have been taken, and may be.
    steps: usize,
    limit: usize,
}

impl Reach {
    /// Finds the set of every region, as [`Reach::sets`] does where nothing is a source; `count` gets each closure once, and those of parts of [`COMMON`] once more.
    pub fn named<'a>(
        &mut self,
        traversal: &mut Traversal,
        roots: &[(ClosureView<'a>, Label)],
        sets: &mut Sets,
        mut count: impl FnMut(ClosureView<'a>, Region),
    ) -> Found {
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
            let count = |closure, region| count(closure, parts + region);
            let more = self.regions(traversal, None, &others, &mut NoSources, sets, count);
            found.extend(more.sets.into_iter().map(|set| sets.union(set, of_hub)));
            self.closures = closures;
        }
        Found { sets: found, parts }
    }
}

impl<'a> Leading<'a> {
    /// The middle of the longest path that is seen (about the longest), and what leads to it on this path. None if there are no roots.
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
                        // Twice as long, so that copies do not add up.
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

    /// Whether a closure is seen to lead to the hub, after so many steps as there may be.
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
