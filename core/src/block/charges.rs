//! The one account of a heap's memory: everything that counts under `-M`.
//!
//! # Terms
//!
//! * *charge*: bytes that are taken: megablocks (by the block allocator), side tables by the
//!   megablock, mark stacks, remembered sets.
//! * *promise*: bytes that a collection may need and that are reserved for it, so that taking them
//!   cannot fail ([`super::BlockAllocator::prepare`]). They count against the limit as if they were
//!   taken.
//!
//! Invariant: charges and promises together never exceed the limit, except for [unconditional
//! charges](Charges::charge_anyway), and where the limit was lowered afterwards.
//! `BlockAllocator::check` compares the megablocks' part with a full count.
//!
//! Cost: an atomic addition or two for each charge. Charges are made by the megablock, the chunk or
//! the page, never by the closure.

use super::Shortage;
use crate::memory::Requests;
use crate::sync::{Arc, AtomicUsize, Ordering::Relaxed};
use crate::words::Bytes;

/// A handle on the account of one heap. Clones share it; threads may use it at the same time.
#[derive(Clone, Debug)]
pub struct Charges {
    account: Arc<Account>,
    requests: Requests,
}

/// Sizes in bytes. Each is a number by itself and orders nothing else, so accesses are relaxed.
#[derive(Debug)]
struct Account {
    limit: AtomicUsize,
    /// Bytes taken or promised.
    held: AtomicUsize,
    /// Bytes promised and not taken, a part of `held`.
    promised: AtomicUsize,
    /// The most bytes that were ever taken at a time.
    peak: AtomicUsize,
    /// Bytes taken for neither megablocks nor side tables.
    other: AtomicUsize,
    /// Bytes of side tables for each megablock.
    side: AtomicUsize,
}

impl Charges {
    /// Makes an account without charges. `None`: there is no limit.
    pub fn new(limit: Option<Bytes>, requests: Requests) -> Charges {
        let account = Account {
            limit: AtomicUsize::new(usize::MAX),
            held: AtomicUsize::new(0),
            promised: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            other: AtomicUsize::new(0),
            side: AtomicUsize::new(0),
        };
        let charges = Charges {
            account: Arc::new(account),
            requests,
        };
        charges.set_limit(limit);
        charges
    }

    /// Takes `bytes` in addition to the megablocks: for mark stacks, tables and the like.
    /// [`Charges::release`] returns them.
    ///
    /// # Errors
    /// If the limit would be exceeded, or the request is refused on purpose. Nothing is charged
    /// then.
    pub fn charge(&self, bytes: Bytes) -> Result<(), Shortage> {
        self.take(bytes)?;
        self.account.other.fetch_add(bytes.0, Relaxed);
        Ok(())
    }

    /// Counts `bytes` as taken, even above the limit: for memory that cannot be refused.
    pub(crate) fn charge_anyway(&self, bytes: Bytes) {
        let held = self.account.held.fetch_add(bytes.0, Relaxed) + bytes.0;
        self.note_peak(held);
        self.account.other.fetch_add(bytes.0, Relaxed);
    }

    /// Returns `bytes` that were charged.
    pub fn release(&self, bytes: Bytes) {
        self.account.other.fetch_sub(bytes.0, Relaxed);
        self.give(bytes);
    }

    /// Bytes taken now: megablocks, side tables, everything.
    pub fn taken(&self) -> Bytes {
        let promised = self.account.promised.load(Relaxed);
        Bytes(self.account.held.load(Relaxed).saturating_sub(promised))
    }

    /// The most bytes that were ever taken at a time.
    pub fn peak(&self) -> Bytes {
        Bytes(self.account.peak.load(Relaxed))
    }

    /// The part of [`Charges::taken`] that is neither megablocks nor side tables.
    pub fn other(&self) -> Bytes {
        Bytes(self.account.other.load(Relaxed))
    }

    /// Bytes of side tables for each megablock.
    pub fn side(&self) -> Bytes {
        Bytes(self.account.side.load(Relaxed))
    }

    /// The limit in bytes, if there is one.
    pub fn limit(&self) -> Option<Bytes> {
        let limit = self.account.limit.load(Relaxed);
        (limit != usize::MAX).then_some(Bytes(limit))
    }

    /// The requests for memory that this heap makes.
    pub(crate) fn requests(&self) -> &Requests {
        &self.requests
    }

    pub(super) fn set_limit(&self, limit: Option<Bytes>) {
        self.account
            .limit
            .store(limit.map_or(usize::MAX, |limit| limit.0), Relaxed);
    }

    /// Bytes taken or promised beyond the limit.
    pub(super) fn excess(&self) -> Bytes {
        let held = self.account.held.load(Relaxed);
        Bytes(held.saturating_sub(self.account.limit.load(Relaxed)))
    }

    /// Whether `bytes` more would fit if `given` were returned first.
    pub(super) fn fits(&self, bytes: Bytes, given: Bytes) -> bool {
        let held = self.account.held.load(Relaxed).saturating_sub(given.0);
        held.saturating_add(bytes.0) <= self.account.limit.load(Relaxed)
    }

    /// Raises the bytes of side tables for each megablock by `bytes`.
    pub(super) fn add_side(&self, bytes: Bytes) {
        self.account.side.fetch_add(bytes.0, Relaxed);
    }

    /// Takes bytes for megablocks and side tables, within the limit.
    pub(super) fn take(&self, bytes: Bytes) -> Result<(), Shortage> {
        let held = self.hold(bytes)?;
        self.note_peak(held);
        Ok(())
    }

    /// Returns bytes of megablocks and side tables.
    pub(super) fn give(&self, bytes: Bytes) {
        self.account.held.fetch_sub(bytes.0, Relaxed);
    }

    /// Reserves bytes within the limit for later.
    pub(super) fn promise(&self, bytes: Bytes) -> Result<(), Shortage> {
        self.hold(bytes)?;
        self.account.promised.fetch_add(bytes.0, Relaxed);
        Ok(())
    }

    /// Takes bytes that were promised.
    pub(super) fn take_promised(&self, bytes: Bytes) {
        self.account.promised.fetch_sub(bytes.0, Relaxed);
        self.note_peak(self.account.held.load(Relaxed));
    }

    /// Cancels the promise of bytes that are not needed.
    pub(super) fn give_promised(&self, bytes: Bytes) {
        self.account.promised.fetch_sub(bytes.0, Relaxed);
        self.give(bytes);
    }

    /// Raises the held bytes within the limit; returns their new number.
    fn hold(&self, bytes: Bytes) -> Result<usize, Shortage> {
        self.requests.ask().map_err(Shortage::System)?;
        let limit = self.account.limit.load(Relaxed);
        let sum = |held: usize| held.checked_add(bytes.0).filter(|&held| held <= limit);
        match self.account.held.fetch_update(Relaxed, Relaxed, sum) {
            Ok(before) => Ok(before + bytes.0),
            Err(_) => Err(Shortage::Limit),
        }
    }

    fn note_peak(&self, held: usize) {
        let taken = held.saturating_sub(self.account.promised.load(Relaxed));
        self.account.peak.fetch_max(taken, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_count_against_the_limit_and_not_as_taken() {
        let charges = Charges::new(Some(Bytes(100)), Requests::default());
        charges.charge(Bytes(30)).unwrap();
        charges.promise(Bytes(50)).unwrap();
        assert_eq!((charges.taken(), charges.peak()), (Bytes(30), Bytes(30)));
        assert_eq!(charges.charge(Bytes(21)), Err(Shortage::Limit));
        charges.take_promised(Bytes(40));
        charges.give_promised(Bytes(10));
        assert_eq!((charges.taken(), charges.peak()), (Bytes(70), Bytes(70)));
        charges.charge(Bytes(30)).unwrap();
        charges.charge_anyway(Bytes(5));
        assert_eq!((charges.taken(), charges.excess()), (Bytes(105), Bytes(5)));
        charges.release(Bytes(65));
        assert_eq!(
            (charges.taken(), charges.peak(), charges.other()),
            (Bytes(40), Bytes(105), Bytes(0))
        );
    }

    #[test]
    fn a_charge_refused_on_purpose_charges_nothing() {
        let charges = Charges::new(None, Requests::refusing(Some(1)));
        assert!(matches!(charges.charge(Bytes(8)), Err(Shortage::System(_))));
        assert_eq!(charges.taken(), Bytes(0));
        charges.charge(Bytes(8)).unwrap();
    }
}
