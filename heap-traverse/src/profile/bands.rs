//! Bands: the names under which closures are counted.

use super::names::{name, stack_name};
use gclab_core::closure::TypeInfo;
use gclab_core::config::{Breakdown, HeapProfile, Restrictions};
use gclab_core::profile::{CostCentre, SideWords, StackId};
use gclab_core::world::ClosureView;
use std::collections::HashMap;

/// The number of a band; `NONE` for closures that a restriction excludes.
pub(super) type Band = u32;
/// The band of closures that are not counted: see [`Band`].
pub(super) const NONE: Band = u32::MAX;

/// The initial size of the table from info tables to bands. It doubles when more than half full.
const PLACES: usize = 64;

/// The bands of closures, by their info tables or by the stacks of cost centres that allocated
/// them. The name of each table and stack is looked up once.
#[derive(Debug)]
pub(super) struct Bands {
    breakdown: Breakdown,
    only: Restrictions,
    /// Open addressing by the info table's address. A heap has few info tables.
    places: Vec<Option<(&'static TypeInfo, Band)>>,
    taken: usize,
    numbers: HashMap<String, Band>,
    names: Vec<String>,
    /// By stack: its own band, [`NONE`] if it is excluded, or no entry until it is first met.
    stacks: Vec<Option<Band>>,
    name_length: usize,
}

impl Bands {
    pub(super) fn new(breakdown: Breakdown, flags: &HeapProfile) -> Self {
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
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether bands depend on the stacks that allocated closures.
    pub(super) fn look_at_stacks(&self) -> bool {
        let only = &self.only;
        self.breakdown == Breakdown::CostCentre || !only.cost_centres.is_empty() || !only.cost_centre_stacks.is_empty()
    }

    /// The stacks of cost centres whose bands are in `bands`, by name, with the bytes of each; none
    /// unless the breakdown is by cost centres.
    pub(super) fn stacks(
        &self,
        bands: &[(String, u64)],
        side_words: Option<&SideWords>,
    ) -> Vec<(Vec<CostCentre>, u64)> {
        let Some(side_words) = side_words.filter(|_| self.breakdown == Breakdown::CostCentre) else {
            return Vec::new();
        };
        let of_stack = |(stack, band): (usize, &Option<Band>)| {
            let name = self.names.get((*band)? as usize)?;
            let (_, bytes) = bands.iter().find(|(other, bytes)| other == name && *bytes > 0)?;
            Some((side_words.cost_centres(StackId(stack as u32)), *bytes))
        };
        self.stacks.iter().enumerate().filter_map(of_stack).collect()
    }

    /// The band of a closure, in a heap with these side words.
    #[inline]
    pub(super) fn of_closure(&mut self, closure: ClosureView<'_>, side_words: Option<&SideWords>) -> Band {
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

    /// The name of the band of closures with this info table, allocated by this stack.
    pub(super) fn name_of(&mut self, info: &'static TypeInfo, stack: StackId, side_words: &SideWords) -> &str {
        let band = match self.breakdown {
            Breakdown::CostCentre => self.of_stack(stack, Some(side_words)),
            _ => self.of(info),
        };
        &self.names[band as usize]
    }

    /// The band of closures that this stack allocated.
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

    /// The band of closures with this info table.
    #[inline]
    pub(super) fn of(&mut self, info: &'static TypeInfo) -> Band {
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
            // Their bands are named after stacks or uses, not after info tables.
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

    /// Whether every restriction admits this info table.
    fn takes(&self, info: &TypeInfo) -> bool {
        [Breakdown::Description, Breakdown::Type, Breakdown::Module]
            .into_iter()
            .all(|by| {
                let names = self.only.by(by);
                names.is_empty() || names.contains(&name(info, by))
            })
    }
}

/// Where the search for an info table begins. Info tables are aligned to 64 bytes.
#[inline(always)]
fn place(info: &'static TypeInfo, places: usize) -> usize {
    (std::ptr::from_ref(info).addr() >> 6).wrapping_mul(0x9e37_79b9) % places
}
