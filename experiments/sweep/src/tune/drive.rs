//! The loop of a search: the runs that it asks for, from a source of runs.

use super::contestant::Measured;
use super::search::Search;

/// The runs of a search: a program, or a recorded grid.
pub trait Source {
    /// The reason why there can be no further runs.
    type Stopped;

    /// Does run number `number` of `setting`, from 0.
    ///
    /// # Errors
    /// If there can be no further runs of any setting. A run that fails is no error.
    fn run(&mut self, setting: usize, number: usize) -> Result<Measured, Self::Stopped>;

    /// Is told of the runs that follow.
    fn batch(&mut self, search: &Search, batch: &[usize]) {
        let _ = (search, batch);
    }
}

/// Does the runs that a search asks for, until it is over.
///
/// # Errors
/// As [`Source::run`]. All runs before are told.
pub fn drive<S: Source>(search: &mut Search, source: &mut S) -> Result<(), S::Stopped> {
    loop {
        let batch = search.next_batch();
        if batch.is_empty() {
            return Ok(());
        }
        source.batch(search, &batch);
        for setting in batch {
            if !search.is_useless(setting) {
                let measured = source.run(setting, search.number_of(setting))?;
                search.tell(setting, measured);
            }
        }
    }
}
