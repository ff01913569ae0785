//! The index: a hash table of terms with lists of places, and the search for phrases.

use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::mutator::{ByteArray, Gc, MutArray, Mutator, MutatorKind, NoGc, OptionRoot, Root};

use super::words::hash;

/// The most words in a phrase.
pub(super) const PHRASE: usize = 3;

/// Buckets of an empty index, a power of 2.
const FIRST_BUCKETS: usize = 256;

/// One place of a term, counted in words. A term's places are listed from last to first.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
pub(super) struct Place {
    next: Option<Ptr<Place>>,
    place: u64,
}

/// One word, and its places.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
pub(super) struct Term {
    next: Mut<Term>,
    places: Mut<Place>,
    spelling: Ptr<ByteArray>,
    hash: u64,
}

/// The buckets of an index.
pub(super) type Table = MutArray<Term>;

/// An index: its table, and the number of its terms and places.
pub(super) struct Index<'f, 'h> {
    table: Root<'f, 'h, Table>,
    /// The number of different words.
    pub(super) terms: u64,
    /// The number of words entered.
    pub(super) places: u64,
}

/// An empty table.
pub(super) fn empty_table<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>) -> Gc<'m, 'h, Table> {
    m.alloc_array(FIRST_BUCKETS, |_| None)
}

/// The bucket for `hash` among `buckets`, a power of 2.
#[inline]
fn bucket(hash: u64, buckets: usize) -> usize {
    // Mixes in the upper half, since the lower bits of FNV do not depend on all input bits.
    (hash >> 32 ^ hash) as usize & (buckets - 1)
}

impl<'f, 'h> Index<'f, 'h> {
    /// An index whose table is empty.
    pub(super) fn new(table: Root<'f, 'h, Table>) -> Self {
        Index {
            table,
            terms: 0,
            places: 0,
        }
    }

    /// Enters `word` at the next place.
    #[inline]
    pub(super) fn enter<M: MutatorKind>(&mut self, m: &mut Mutator<'h, M>, word: &[u8]) {
        m.frame(|m, [term]| {
            let term = term.put_option(m, self.find(m, word));
            if term.get(m).is_none() {
                self.add(m, word, &term);
            }
            let known = "found or added above";
            let place = self.places;
            let (m, place) = m.alloc_with(|m| Place::new(term.get(m).expect(known).places(m), place));
            term.get(m).expect(known).set_places(m, Some(place));
        });
        self.places += 1;
    }

    /// The term of `word`, if it has one.
    #[inline]
    fn find<'m, M: MutatorKind>(&self, m: &'m NoGc<'h, M>, word: &[u8]) -> Option<Gc<'m, 'h, Term>> {
        let (hash, table) = (hash(word), self.table.get(m));
        let mut at = table.get(m, bucket(hash, table.len()));
        while let Some(term) = at {
            if term.hash(m) == hash && term.spelling(m).as_slice() == word {
                return at;
            }
            at = term.next(m);
        }
        None
    }

    /// Makes a term for `word`, which has none, and leaves it in `added`.
    #[inline]
    fn add<M: MutatorKind>(&mut self, m: &mut Mutator<'h, M>, word: &[u8], added: &OptionRoot<'_, 'h, Term>) {
        if self.terms >= self.table.get(m).len() as u64 {
            self.grow(m);
        }
        m.frame(|m, [spelling]| {
            let spelling = spelling.put(m.alloc_bytes(word));
            let hash = hash(word);
            let place = bucket(hash, self.table.get(m).len());
            let (m, term) = m.alloc_with(|m| Term::new(self.table.get(m).get(m, place), None, spelling.get(m), hash));
            self.table.get(m).set(m, place, Some(term));
            added.set(m, Some(term));
        });
        self.terms += 1;
    }

    /// Doubles the table and moves all terms into the new one.
    fn grow<M: MutatorKind>(&mut self, m: &mut Mutator<'h, M>) {
        let buckets = self.table.get(m).len();
        m.frame(|m, [old]| {
            let old = old.put(self.table.get(m));
            let (m, table) = m.with_view(|m| m.alloc_array(buckets * 2, |_| None));
            self.table.set(m, table);
            let old = old.get(m);
            for place in 0..buckets {
                let mut at = old.get(m, place);
                while let Some(term) = at {
                    at = term.next(m);
                    let place = bucket(term.hash(m), table.len());
                    term.set_next(m, table.get(m, place));
                    table.set(m, place, Some(term));
                }
            }
        });
    }

    /// Leaves in `answer` the list of all places of `phrase`, which has at most [`PHRASE`] words.
    pub(super) fn search<M: MutatorKind>(
        &self,
        m: &mut Mutator<'h, M>,
        phrase: &[Vec<u8>],
        answer: &OptionRoot<'_, 'h, Place>,
    ) {
        m.frame(|m, slots: [_; PHRASE]| {
            let cursors = slots.map(|slot| slot.put_option(m, None));
            let cursors = &cursors[..phrase.len()];
            for (cursor, word) in cursors.iter().zip(phrase) {
                cursor.set(m, self.find(m, word).and_then(|term| term.places(m)));
            }
            answer.set(m, None);
            while let Some(place) = next_match(m, cursors) {
                let (m, head) = m.alloc_with(|m| Place::new(answer.get(m), place));
                answer.set(m, Some(head));
            }
        });
    }
}

/// The next place where the words follow each other. The cursors point into their words' lists of
/// places, and all advance, towards lower places.
#[inline]
fn next_match<'h, M: MutatorKind>(m: &NoGc<'h, M>, cursors: &[OptionRoot<'_, 'h, Place>]) -> Option<u64> {
    let (first, others) = cursors.split_first()?;
    loop {
        let at = first.get(m)?;
        first.set(m, at.next(m));
        let mut expected = at.place(m);
        let mut stands = true;
        for cursor in others {
            expected += 1;
            let mut at = cursor.get(m)?;
            while at.place(m) > expected {
                at = at.next(m)?;
            }
            cursor.set(m, Some(at));
            stands &= at.place(m) == expected;
        }
        if stands {
            return Some(at.place(m));
        }
    }
}

/// The number of places in a list, and their sum.
#[inline]
pub(super) fn count_and_sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, mut list: Option<Gc<'_, 'h, Place>>) -> (u64, u64) {
    let (mut count, mut sum) = (0, 0_u64);
    while let Some(at) = list {
        count += 1;
        sum = sum.wrapping_add(at.place(m));
        list = at.next(m);
    }
    (count, sum)
}
