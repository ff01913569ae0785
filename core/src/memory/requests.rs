//! Requests for memory, counted, so that one of them can be refused on purpose.
//!
//! A *request* is a moment at which the system, or the limit of the heap, may refuse: addresses are
//! reserved, a side table is mapped, megablocks or other memory are taken. Code that makes a
//! request calls [`Requests::ask`] first. A heap has one counter, shared by everything that takes
//! memory for it. So "the n-th request" names the same moment in each run of a program that does
//! not depend on time.

use super::MemoryError;
use crate::sync::{Arc, AtomicU64, Ordering::Relaxed};

/// The requests of one heap. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Requests(Arc<Counter>);

#[derive(Debug, Default)]
struct Counter {
    made: AtomicU64,
    /// The number of the request that is refused; 0 for none.
    refused: AtomicU64,
}

impl Requests {
    /// Starts the count at zero. The request with number `refused`, from 1, will be refused.
    pub(crate) fn refusing(refused: Option<u64>) -> Requests {
        let requests = Requests::default();
        requests.0.refused.store(refused.unwrap_or(0), Relaxed);
        requests
    }

    /// Refuses one more request, after the next `granted` requests were granted.
    pub(crate) fn refuse_after(&self, granted: u64) {
        self.0.refused.store(self.made() + granted + 1, Relaxed);
    }

    /// Counts one more request.
    ///
    /// # Errors
    /// [`MemoryError::OnPurpose`] if this request is to be refused.
    pub(crate) fn ask(&self) -> Result<(), MemoryError> {
        // Relaxed: the count orders nothing else.
        let number = self.0.made.fetch_add(1, Relaxed) + 1;
        if number == self.0.refused.load(Relaxed) {
            return Err(MemoryError::OnPurpose { number });
        }
        Ok(())
    }

    /// The number of requests so far.
    pub(crate) fn made(&self) -> u64 {
        self.0.made.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_chosen_request_is_refused() {
        let requests = Requests::refusing(Some(2));
        let other = requests.clone();
        assert!(requests.ask().is_ok());
        let error = other.ask().unwrap_err();
        assert_eq!(error.to_string(), "request 2 for memory was refused on purpose (-DF2)");
        assert!(requests.ask().is_ok());
        requests.refuse_after(0);
        assert!(other.ask().is_err() && other.ask().is_ok());
        assert_eq!(requests.made(), 5);
    }
}
