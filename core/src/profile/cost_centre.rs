//! Cost centres: names for parts of a program, and the stacks of those that were entered.

use crate::words::WORD;
use std::collections::HashMap;

/// A named part of a program. Made by [`crate::cost_centre!`]. Cost centres with the same name and
/// module are equal.
#[derive(Debug, Clone, Copy)]
pub struct CostCentre {
    /// The name of the part.
    pub label: &'static str,
    /// The module that contains it, as `module_path!` prints it.
    pub module: &'static str,
    /// The source file, as `file!` prints it.
    pub file: &'static str,
    /// The line in that file.
    pub line: u32,
}

impl CostCentre {
    /// The name and the module: two cost centres are equal if these are.
    fn key(&self) -> (&'static str, &'static str) {
        (self.label, self.module)
    }
}

impl PartialEq for CostCentre {
    fn eq(&self, other: &CostCentre) -> bool {
        self.key() == other.key()
    }
}

impl Eq for CostCentre {}

impl std::hash::Hash for CostCentre {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// The [`CostCentre`](crate::profile::CostCentre) of this name in the calling module.
#[macro_export]
macro_rules! cost_centre {
    ($label:expr) => {
        $crate::profile::CostCentre {
            label: $label,
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: ::core::line!(),
        }
    };
}

/// A stack of cost centres: the ones that were entered, each from the one below. Equal stacks have
/// the same number throughout a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

impl StackId {
    /// The empty stack, outside all cost centres: GHC's `MAIN`.
    pub const MAIN: StackId = StackId(0);
}

/// The costs of one stack of cost centres.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackCosts {
    /// The number of the stack.
    pub stack: StackId,
    /// Its innermost cost centre, and the stack that it was entered from; `None` for
    /// [`StackId::MAIN`].
    pub inner: Option<(CostCentre, StackId)>,
    /// Number of times that the cost centre was entered so that this became the stack.
    pub entries: u64,
    /// Bytes allocated with this stack, by sessions that have ended.
    pub bytes: u64,
}

/// The number of stacks that side words can distinguish.
const MOST: usize = 1 << 24;

/// The stacks that have occurred.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    /// From number 1: the innermost cost centre, and the stack that it was entered from, which has
    /// a smaller number.
    all: Vec<(CostCentre, StackId)>,
    numbers: HashMap<(CostCentre, StackId), StackId>,
    /// By number: how often a stack was entered, and the words allocated with it in sessions that
    /// have ended. Later stacks may be missing.
    entries: Vec<u64>,
    words: Vec<u64>,
}

/// Adds to the figure of a stack.
fn add(figures: &mut Vec<u64>, stack: usize, more: u64) {
    if stack >= figures.len() {
        figures.resize(stack + 1, 0);
    }
    figures[stack] += more;
}

impl Stacks {
    /// The stack after `centre` is entered from `outer`. A cost centre that is in the stack already
    /// is not pushed again; those entered after it are dropped, as in GHC, so that recursion cannot
    /// grow the stack without bound.
    pub(crate) fn enter(&mut self, outer: StackId, centre: CostCentre) -> StackId {
        let stack = self.number(outer, centre);
        add(&mut self.entries, stack.0 as usize, 1);
        stack
    }

    /// A session has ended that allocated these words, by the number of the stack.
    pub(super) fn charge(&mut self, words: &[u64]) {
        for (stack, words) in words.iter().enumerate() {
            add(&mut self.words, stack, *words);
        }
    }

    /// The costs of all stacks, in the order of their numbers.
    pub(super) fn costs(&self) -> Vec<StackCosts> {
        let figure = |figures: &[u64], stack: usize| figures.get(stack).copied().unwrap_or(0);
        let costs = |stack: usize| StackCosts {
            stack: StackId(stack as u32),
            inner: self.get(StackId(stack as u32)),
            entries: figure(&self.entries, stack),
            bytes: figure(&self.words, stack) * WORD as u64,
        };
        (0..=self.all.len()).map(costs).collect()
    }

    fn number(&mut self, outer: StackId, centre: CostCentre) -> StackId {
        if let Some(&known) = self.numbers.get(&(centre, outer)) {
            return known;
        }
        let stack = match self.find(outer, centre) {
            Some(before) => before,
            None if self.all.len() + 1 < MOST => {
                self.all.push((centre, outer));
                StackId(self.all.len() as u32)
            }
            // Out of numbers: each further stack counts as the one that it was entered from.
            None => return outer,
        };
        self.numbers.insert((centre, outer), stack);
        stack
    }

    /// The part of a stack whose innermost cost centre is `centre`.
    fn find(&self, mut stack: StackId, centre: CostCentre) -> Option<StackId> {
        while let Some((innermost, outer)) = self.get(stack) {
            if innermost == centre {
                return Some(stack);
            }
            stack = outer;
        }
        None
    }

    fn get(&self, stack: StackId) -> Option<(CostCentre, StackId)> {
        self.all.get((stack.0 as usize).checked_sub(1)?).copied()
    }

    /// The cost centres of a stack, the innermost first.
    pub(crate) fn centres(&self, mut stack: StackId) -> Vec<CostCentre> {
        let mut centres = Vec::new();
        while let Some((innermost, outer)) = self.get(stack) {
            centres.push(innermost);
            stack = outer;
        }
        centres
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_makes_no_new_stack() {
        let mut stacks = Stacks::default();
        let [f, g, h] = ["f", "g", "h"].map(|label| CostCentre {
            label,
            module: "m",
            file: "m.rs",
            line: 1,
        });
        let in_f = stacks.enter(StackId::MAIN, f);
        let in_g = stacks.enter(in_f, g);
        assert_eq!((stacks.enter(in_g, f), stacks.enter(in_g, g)), (in_f, in_g));
        let in_h = stacks.enter(in_g, h);
        assert_eq!(stacks.centres(in_h), [h, g, f]);
        assert_eq!(stacks.enter(in_h, f), in_f);
        let alone = stacks.enter(StackId::MAIN, g);
        assert_ne!(alone, in_g);
        assert_eq!(
            (stacks.centres(alone), stacks.centres(StackId::MAIN)),
            (vec![g], vec![])
        );
        assert_eq!(stacks.all.len(), 4);
    }
}
