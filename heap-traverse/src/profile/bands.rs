//! What is counted: bytes by name.

use super::names::{name, stack_name};
use gclab_core::closure::TypeInfo;
use gclab_core::config::{Breakdown, HeapProfile, Restrictions};
use gclab_core::profile::{SideWords, StackId};
use gclab_core::world::ClosureView;
use std::collections::HashMap;

/// Number of a band; `NONE` for closures that a restriction leaves out.
pub(super) type Band = u32;
/// See [`Band`].
pub(super) const NONE: Band = u32::MAX;

/// Places of the table from info tables to bands, at first; doubled while it is more than half full.
const PLACES: usize = 64;

/// Which band closures belong to, by their info tables, or by the stacks of cost centres that they were allocated by. Names are looked up once for each.
#[derive(Debug)]
pub(super) struct Bands {
    breakdown: Breakdown,
    only: Restrictions,
    /// Open addressing by the info table's address; a heap has few.
    places: Vec<Option<(&'static TypeInfo, Band)>>,
    taken: usize,
    numbers: HashMap<String, Band>,
    names: Vec<String>,
    /// By stack: its own band, or [`NONE`] if it is left out; none: not met yet.
    stacks: Vec<Option<Band>>,
    name_length: usize,
}

impl Bands {
    pub fn new(breakdown: Breakdown, flags: &HeapProfile) -> Self {
        Bands {
            breakdown,
            only: flags.only.clone(),
            stacks: Vec::new(),
            name_length: flags.name_length as usize,
            places: vec![None; PLACES],
            taken: 0,
            numbers: HashMap::new(),
            names: Vec::new(),
        }
    }

    /// The names of all bands so far, by their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether it matters what closures were allocated by.
    pub fn look_at_stacks(&self) -> bool {
        let only = &self.only;
        self.breakdown == Breakdown::CostCentre || !only.cost_centres.is_empty() || !only.cost_centre_stacks.is_empty()
    }

    /// The band of a closure, of a heap with these side words.
    #[inline]
    pub fn of_closure(&mut self, closure: ClosureView<'_>, side_words: Option<&SideWords>) -> Band {
        let band = self.of(closure.info());
        if band == NONE || !self.look_at_stacks() {
            return band;
        }
        let stack = side_words.map_or(StackId::MAIN, |words| words.get(closure.addr()).stack());
        let by_stack = self.of_stack(stack, side_words);
        if self.breakdown == Breakdown::CostCentre || by_stack == NONE {
            by_stack
        } else {
            band
        }
    }

    /// What the band of closures with this table, allocated by this stack, is called.
    pub fn name_of(&mut self, info: &'static TypeInfo, stack: StackId, side_words: &SideWords) -> &str {
        let band = match self.breakdown {
            Breakdown::CostCentre => self.of_stack(stack, Some(side_words)),
            _ => self.of(info),
        };
        &self.names[band as usize]
    }

    /// The band of what a stack allocated.
    fn of_stack(&mut self, stack: StackId, side_words: Option<&SideWords>) -> Band {
        let at = stack.0 as usize;
        if at >= self.stacks.len() {
            self.stacks.resize(at + 1, None);
        }
        if let Some(band) = self.stacks[at] {
            return band;
        }
        let centres = side_words.map_or_else(Vec::new, |words| words.cost_centres(stack));
        let innermost = centres.first().map_or("MAIN", |centre| centre.label);
        let only = &self.only;
        let is = |name: &String| name == innermost;
        let is_in = |name: &String| is(name) || centres.iter().any(|centre| name == centre.label);
        let taken = (only.cost_centres.is_empty() || only.cost_centres.iter().any(is))
            && (only.cost_centre_stacks.is_empty() || only.cost_centre_stacks.iter().any(is_in));
        let band = match self.breakdown {
            _ if !taken => NONE,
            Breakdown::CostCentre => self.number(stack_name(stack, &centres, self.name_length)),
            _ => 0,
        };
        self.stacks[at] = Some(band);
        band
    }

    /// The band of closures with this table.
    #[inline]
    pub fn of(&mut self, info: &'static TypeInfo) -> Band {
        let mut at = place(info, self.places.len());
        loop {
            match self.places[at] {
                Some((known, band)) if std::ptr::eq(known, info) => return band,
                Some(_) => at = (at + 1) % self.places.len(),
                None => return self.meet(info),
            }
        }
    }

    #[cold]
    fn meet(&mut self, info: &'static TypeInfo) -> Band {
        let band = match self.breakdown {
            _ if !self.takes(info) => NONE,
            // Their bands have other names.
            Breakdown::CostCentre | Breakdown::Biography => 0,
            breakdown => self.number(name(info, breakdown)),
        };
        self.taken += 1;
        if self.taken * 2 > self.places.len() {
            let old = vec![None; self.places.len() * 2];
            let old = std::mem::replace(&mut self.places, old);
            old.into_iter().flatten().for_each(|entry| self.put(entry));
        }
        self.put((info, band));
        band
    }

    fn put(&mut self, entry: (&'static TypeInfo, Band)) {
        let mut at = place(entry.0, self.places.len());
        while self.places[at].is_some() {
            at = (at + 1) % self.places.len();
        }
        self.places[at] = Some(entry);
    }

    fn number(&mut self, name: String) -> Band {
        let next = self.names.len() as Band;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }

    /// Whether no restriction leaves it out.
    fn takes(&self, info: &TypeInfo) -> bool {
        [Breakdown::Description, Breakdown::Type, Breakdown::Module]
            .into_iter()
            .all(|by| {
                let names = self.only.by(by);
                names.is_empty() || names.contains(&name(info, by))
            })
    }
}

/// Where the search for an info table begins: they are 64-aligned.
#[inline(always)]
fn place(info: &'static TypeInfo, places: usize) -> usize {
    (std::ptr::from_ref(info).addr() >> 6).wrapping_mul(0x9e37_79b9) % places
}
