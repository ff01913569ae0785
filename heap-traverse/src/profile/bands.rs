//! What is counted: bytes by name.

use super::names::name;
use gclab_core::closure::TypeInfo;
use gclab_core::flags::{Breakdown, Restrictions};
use std::collections::HashMap;

/// Number of a band; `NONE` for closures that a restriction leaves out.
pub(super) type Band = u32;
/// See [`Band`].
pub(super) const NONE: Band = u32::MAX;

/// Places of the table from info tables to bands, at first; doubled while it is more than half full.
const PLACES: usize = 64;

/// Which band closures belong to, by their info tables. Names are looked up once for each table.
#[derive(Debug)]
pub(super) struct Bands {
    breakdown: Breakdown,
    only: Restrictions,
    /// Open addressing by the info table's address; a heap has few.
    places: Vec<Option<(&'static TypeInfo, Band)>>,
    taken: usize,
    numbers: HashMap<String, Band>,
    names: Vec<String>,
}

impl Bands {
    pub fn new(breakdown: Breakdown, only: &Restrictions) -> Self {
        Bands {
            breakdown,
            only: only.clone(),
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
        let band = if self.takes(info) {
            self.number(name(info, self.breakdown))
        } else {
            NONE
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
