//! The retainer profile (`-hr`): who keeps closures alive.
//!
//! By GHC's definition a *retainer* is a closure that is mutable (variables, mutable arrays, records, data with `Mut` fields). The retainers of a closure
//! are those from which it can be reached without passing another retainer. A retainer is known by its name only, so all of one name are one: here
//! the module and description, since programs do not name sites of allocation. A root that is a retainer retains itself; others are retained by `SYSTEM`, as
//! are the slots of frames.
//!
//! Where GHC counts on from 2 at every census, a set keeps its number through a run. A set of more than `-R` retainers is `MANY`; GHC walks below a closure again each time
//! that its set grows, up to `-R` + 1 times; here every closure is visited twice, with any limit or none (`reach.rs`).

use super::bands::{Band, Bands, NONE};
use super::names::description;
use super::reach::{Reach, Region, Sources};
use super::sets::{Label, MANY, Set, Sets};
use crate::Traversal;
use gclab_core::closure::{Kind, TypeInfo};
use gclab_core::flags::HeapProfile;
use gclab_core::world::{ClosureView, Stopped};
use std::collections::HashMap;

/// The name of what roots are retained by that are no retainers themselves.
const SYSTEM: &str = "SYSTEM";

/// Its label: the first.
const SYSTEM_LABEL: Label = 0;

/// The first number of a set, as in GHC, where 1 is `MANY`.
const FIRST: u32 = 2;

/// Whether closures of this kind are retainers.
pub fn is_retainer(kind: Kind) -> bool {
    match kind {
        Kind::MutConstr | Kind::MutVar | Kind::MutArrPtrs | Kind::Record => true,
        Kind::Constr | Kind::ArrWords => false,
        // Kinds to come: what is not known to be frozen may be written.
        _ => true,
    }
}

/// The retainers of a run, their sets, and the numbers that these are printed with.
#[derive(Debug)]
pub(super) struct Retainers {
    names: Names,
    sets: Sets,
    /// By set: the number it is shown with; 0: it has not been.
    shown: Vec<u32>,
    next: u32,
    name_length: usize,
}

/// The names of retainers; the number of one is its label.
#[derive(Debug)]
struct Names {
    /// Module and name.
    names: Vec<(&'static str, String)>,
    numbers: HashMap<(&'static str, String), Label>,
    /// Labels by info table, which are looked up at each retainer.
    tables: HashMap<usize, Label>,
    last: (usize, Label),
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
        let label = self.number(info.module, description(info));
        self.tables.insert(table, label);
        label
    }

    fn number(&mut self, module: &'static str, name: String) -> Label {
        let names = &mut self.names;
        *self.numbers.entry((module, name)).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as Label - 1
        })
    }
}

impl Sources for Names {
    #[inline]
    fn label(&mut self, closure: ClosureView<'_>) -> Option<Label> {
        let info = closure.info();
        is_retainer(info.kind).then(|| self.of_table(info))
    }
}

/// A set of retainers that had bytes in a census of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainerSet {
    /// Its number.
    pub id: u32,
    /// Module and name of each retainer, in the order in which they were first met.
    pub retainers: Vec<(&'static str, String)>,
}

impl Retainers {
    pub fn new(flags: &HeapProfile) -> Self {
        let mut names = Names {
            names: Vec::new(),
            numbers: HashMap::new(),
            tables: HashMap::new(),
            last: (0, 0),
        };
        names.number(SYSTEM, SYSTEM.to_owned());
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
    pub fn census(
        &mut self,
        stopped: &Stopped<'_>,
        (traversal, reach): (&mut Traversal, &mut Reach),
        bands: &mut Bands,
        only: &[String],
    ) -> Vec<(String, u64)> {
        let mut words: Vec<u64> = Vec::new();
        let roots = self.roots(stopped);
        let regions = reach.sets(traversal, &roots, &mut self.names, &mut self.sets, |closure, region| {
            if bands.of(closure.info()) == NONE {
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

    /// Bytes by band, of closures of which one of `only` is a retainer.
    pub fn restricted(
        &mut self,
        stopped: &Stopped<'_>,
        (traversal, reach): (&mut Traversal, &mut Reach),
        bands: &mut Bands,
        only: &[String],
    ) -> Vec<u64> {
        let mut words: HashMap<(Region, Band), u64> = HashMap::new();
        let roots = self.roots(stopped);
        let regions = reach.sets(traversal, &roots, &mut self.names, &mut self.sets, |closure, region| {
            let band = bands.of(closure.info());
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
    pub fn sets(&self) -> Vec<RetainerSet> {
        let shown = self.shown.iter().enumerate().filter(|(_, id)| **id != 0);
        let set = |(set, id): (usize, &u32)| RetainerSet {
            id: *id,
            retainers: self.names_of(set as Set).cloned().collect(),
        };
        let mut sets: Vec<_> = shown.map(set).collect();
        sets.sort_by_key(|set| set.id);
        sets
    }

    fn roots<'a>(&mut self, stopped: &Stopped<'a>) -> Vec<(ClosureView<'a>, Label)> {
        let roots = stopped.root_closures().into_iter();
        roots
            .map(|root| (root, self.names.label(root).unwrap_or(SYSTEM_LABEL)))
            .collect()
    }

    fn names_of(&self, set: Set) -> impl Iterator<Item = &(&'static str, String)> {
        self.sets
            .labels(set)
            .iter()
            .map(|label| &self.names.names[*label as usize])
    }

    /// Whether one of `only` is in the set, if there are any. In one of many there may be.
    fn takes(&self, set: Set, only: &[String]) -> bool {
        only.is_empty() || set == MANY || self.names_of(set).any(|(_, name)| only.contains(name))
    }

    /// The name of a set: its number, which it gets now if it has none, and its retainers, as much of it as `-L` allows.
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
        let names: Vec<_> = self.names_of(set).map(|(_, name)| name.as_str()).collect();
        let name = format!("({}){}", self.shown[set as usize], names.join(","));
        name.chars().take(self.name_length).collect()
    }
}
