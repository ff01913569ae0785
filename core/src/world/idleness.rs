//! Since when a world has been idle: see `idle`.

/// Since when no thread has run, and whether a collection is due for it.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    /// A thread asks from time to time whether a collection is due.
    pub(super) watched: bool,
    /// A thread has run since the last idle collection.
    pub(super) ran: bool,
    /// The world's time from which on no thread has run, if that is known.
    pub(super) since_ns: Option<u64>,
    /// The world's time of the last idle collection.
    pub(super) collected_ns: Option<u64>,
}

impl Idleness {
    /// A thread runs.
    #[inline]
    pub(super) fn runs(&mut self) {
        self.ran = true;
        self.since_ns = None;
    }

    /// The last thread that ran does so no more. `now_ns` reads the world's clock.
    #[inline]
    pub(super) fn rests(&mut self, now_ns: impl FnOnce() -> u64) {
        if self.watched {
            self.since_ns = Some(now_ns());
        }
    }
}
