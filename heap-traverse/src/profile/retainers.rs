//! The retainer profile (`-hr`): which closures keep others alive.
//!
//! By GHC's definition a *retainer* is a closure that is mutable (variables, mutable arrays,
//! records, data with `Mut` fields). The retainers of a closure are those from which it can be
//! reached without passing another retainer. A retainer is identified only by its name, so all
//! retainers with the same name are one. As in GHC, the name is the stack of cost centres that
//! allocated the retainer, if the program names any there; otherwise it is the module and
//! description. A root that is a retainer retains itself. Other roots are retained by `SYSTEM`, and
//! so are the slots of frames.
//!
//! A set keeps its number through a run, while GHC restarts from 2 at every census. A set of more
//! than `-R` retainers is `MANY`. GHC walks below a closure again each time its set grows, up to
//! `-R` + 1 times. Here every closure is visited twice, whatever the limit (`reach/mod.rs`).

use super::bands::{Band, Bands, NONE};
use super::names::{description, full_stack_name};
use super::reach::{Reach, Region, Sources};
use super::sets::{Label, MANY, Set, Sets};
use crate::traverse::Traversal;
use gclab_core::closure::{Kind, TypeInfo};
use gclab_core::config::HeapProfile;
use gclab_core::profile::{SideWords, StackId};
use gclab_core::world::{ClosureView, Stopped};
use std::collections::HashMap;

/// The name of the retainer of roots that are not retainers themselves.
const SYSTEM: &str = "SYSTEM";

/// The label of `SYSTEM`: the first.
const SYSTEM_LABEL: Label = 0;

/// The first number of a set, as in GHC, where 1 is `MANY`.
const FIRST: u32 = 2;

/// Whether closures of this kind are retainers.
pub fn is_retainer(kind: Kind) -> bool {
    match kind {
        Kind::MutConstr | Kind::MutVar | Kind::MutArrPtrs | Kind::Record => true,
        Kind::Constr | Kind::ArrWords => false,
        // For future kinds: a closure that is not known to be frozen may be written.
        _ => true,
    }
}

/// The retainers of a run, their sets, and the numbers that these are printed with.
#[derive(Debug)]
pub(super) struct Retainers {
    names: Names,
    sets: Sets,
    /// By set: the number it is shown with, or 0 if it has not been shown.
    shown: Vec<u32>,
    next: u32,
    name_length: usize,
}

/// The names of retainers. The number of a name is its label.
#[derive(Debug)]
struct Names {
    names: Vec<Retainer>,
    /// Labels by module and name.
    numbers: HashMap<(&'static str, String), Label>,
    /// Labels by the number of a stack.
    sites: Vec<Option<Label>>,
    /// Labels by info table, to look them up at each retainer.
    tables: HashMap<usize, Label>,
    last: (usize, Label),
}

/// A retainer: all closures with one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retainer {
    /// The name in bands: the innermost cost centre that allocated it, or its description.
    pub name: String,
    /// The same with modules, and with all cost centres of the stack.
    pub full_name: String,
}

impl Names {
    #[inline]
    fn of_table(&mut self, info: &'static TypeInfo) -> Label {
        let table = std::ptr::from_ref(info).addr();
        if self.last.0 != table {
            self.last = (table, self.look_up(table, info));
        }
        self.last.1
    }

    fn look_up(&mut self, table: usize, info: &'static TypeInfo) -> Label {
        if let Some(&label) = self.tables.get(&table) {
            return label;
        }
        let label = self.of_type(info.module, description(info));
        self.tables.insert(table, label);
        label
    }

    fn of_type(&mut self, module: &'static str, name: String) -> Label {
        let names = &mut self.names;
        *self.numbers.entry((module, name)).or_insert_with_key(|(_, name)| {
            names.push(Retainer {
                name: name.clone(),
                full_name: format!("{module}.{name}"),
            });
            names.len() as Label - 1
        })
    }

    #[inline]
    fn of_site(&mut self, stack: StackId, side_words: &SideWords) -> Label {
        match self.sites.get(stack.0 as usize) {
            Some(Some(label)) => *label,
            _ => self.meet_site(stack, side_words),
        }
    }

    #[cold]
    fn meet_site(&mut self, stack: StackId, side_words: &SideWords) -> Label {
        let centres = side_words.cost_centres(stack);
        let innermost = centres.first().map_or("MAIN", |centre| centre.label);
        self.names.push(Retainer {
            name: innermost.to_owned(),
            full_name: full_stack_name(&centres),
        });
        let label = self.names.len() as Label - 1;
        let at = stack.0 as usize;
        self.sites.resize(self.sites.len().max(at + 1), None);
        self.sites[at] = Some(label);
        label
    }
}

/// The retainers of a stopped heap, by name.
struct Named<'n> {
    names: &'n mut Names,
    side_words: Option<&'n SideWords>,
}

impl Sources for Named<'_> {
    #[inline]
    fn label(&mut self, closure: ClosureView<'_>) -> Option<Label> {
        let info = closure.info();
        if !is_retainer(info.kind) {
            return None;
        }
        if let Some(side_words) = self.side_words {
            let stack = side_words.get(closure.addr()).stack();
            if stack != StackId::MAIN {
                return Some(self.names.of_site(stack, side_words));
            }
        }
        Some(self.names.of_table(info))
    }
}

impl Named<'_> {
    /// The roots, each with the label of its retainer.
    fn roots<'a>(&mut self, stopped: &Stopped<'a>) -> Vec<(ClosureView<'a>, Label)> {
        let roots = stopped.root_closures().into_iter();
        roots
            .map(|root| (root, self.label(root).unwrap_or(SYSTEM_LABEL)))
            .collect()
    }
}

/// A set of retainers that had bytes in a census of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainerSet {
    /// The number of the set.
    pub id: u32,
    /// The retainers of the set, in the order in which they were first met.
    pub retainers: Vec<Retainer>,
}

impl Retainers {
    pub(super) fn new(flags: &HeapProfile) -> Self {
        let mut names = Names {
            names: Vec::new(),
            numbers: HashMap::new(),
            sites: Vec::new(),
            tables: HashMap::new(),
            last: (0, 0),
        };
        names.of_type(SYSTEM, SYSTEM.to_owned());
        let limit = match flags.retainers {
            0 => usize::MAX,
            limit => limit as usize,
        };
        Retainers {
            names,
            sets: Sets::new(limit),
            shown: Vec::new(),
            next: FIRST,
            name_length: flags.name_length as usize,
        }
    }

    /// Bytes by set of retainers, of those sets that `only` does not leave out.
    pub(super) fn census(
        &mut self,
        stopped: &Stopped<'_>,
        (traversal, reach): (&mut Traversal, &mut Reach),
        bands: &mut Bands,
        only: &[String],
    ) -> Vec<(String, u64)> {
        let mut words: Vec<u64> = Vec::new();
        let side_words = stopped.side_words().map(|side_words| &**side_words);
        let names = &mut self.names;
        let mut named = Named { names, side_words };
        let roots = named.roots(stopped);
        let regions = reach.sets(traversal, &roots, &mut named, &mut self.sets, |closure, region| {
            if bands.of_closure(closure, side_words) == NONE {
                return;
            }
            if region as usize >= words.len() {
                words.resize(region as usize + 1, 0);
            }
            words[region as usize] += closure.words().0 as u64;
        });
        let mut bytes = vec![0; self.sets.len()];
        for (set, words) in regions.iter().zip(&words) {
            bytes[*set as usize] += words * 8;
        }
        let some = (0..)
            .zip(bytes)
            .filter(|(set, bytes)| *bytes > 0 && self.takes(*set, only));
        let some: Vec<_> = some.collect();
        some.into_iter().map(|(set, bytes)| (self.show(set), bytes)).collect()
    }

    /// Bytes by band, of closures that have a retainer in `only`.
    pub(super) fn restricted(
        &mut self,
        stopped: &Stopped<'_>,
        (traversal, reach): (&mut Traversal, &mut Reach),
        bands: &mut Bands,
        only: &[String],
    ) -> Vec<u64> {
        let mut words: HashMap<(Region, Band), u64> = HashMap::new();
        let side_words = stopped.side_words().map(|side_words| &**side_words);
        let names = &mut self.names;
        let mut named = Named { names, side_words };
        let roots = named.roots(stopped);
        let regions = reach.sets(traversal, &roots, &mut named, &mut self.sets, |closure, region| {
            let band = bands.of_closure(closure, side_words);
            if band != NONE {
                *words.entry((region, band)).or_default() += closure.words().0 as u64;
            }
        });
        let mut bytes = vec![0; bands.names().len()];
        for ((region, band), words) in words {
            if self.takes(regions[region as usize], only) {
                bytes[band as usize] += words * 8;
            }
        }
        bytes
    }

    /// All sets that were shown, by their numbers.
    pub(super) fn sets(&self) -> Vec<RetainerSet> {
        let mut by_id = vec![MANY; (self.next - FIRST) as usize];
        for (set, &id) in (0..).zip(&self.shown).filter(|(_, id)| **id != 0) {
            by_id[(id - FIRST) as usize] = set;
        }
        let set = |(id, set): (u32, Set)| RetainerSet {
            id,
            retainers: self.names_of(set).cloned().collect(),
        };
        (FIRST..).zip(by_id).map(set).collect()
    }

    fn names_of(&self, set: Set) -> impl Iterator<Item = &Retainer> {
        self.sets
            .labels(set)
            .iter()
            .map(|label| &self.names.names[*label as usize])
    }

    /// Whether `only` is empty or has a retainer of the set. `MANY` may have any retainer.
    fn takes(&self, set: Set, only: &[String]) -> bool {
        only.is_empty() || set == MANY || self.names_of(set).any(|retainer| only.contains(&retainer.name))
    }

    /// The name of a set: its number and its retainers, cut to the length that `-L` allows. A set
    /// without a number gets the next one.
    fn show(&mut self, set: Set) -> String {
        if set == MANY {
            return "MANY".to_owned();
        }
        if self.shown.len() < self.sets.len() {
            self.shown.resize(self.sets.len(), 0);
        }
        if self.shown[set as usize] == 0 {
            self.shown[set as usize] = self.next;
            self.next += 1;
        }
        let names: Vec<_> = self.names_of(set).map(|retainer| retainer.name.as_str()).collect();
        let name = format!("({}){}", self.shown[set as usize], names.join(","));
        name.chars().take(self.name_length).collect()
    }
}
