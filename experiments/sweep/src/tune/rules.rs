//! What a search is to find, and what it may take.

use super::figures::{Goal, Limit};

/// What a search is to find.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The figure to make small.
    pub goal: Goal,
    /// Limits of other figures.
    pub limits: Vec<Limit>,
    /// The most runs.
    pub budget: Budget,
    /// The seed of the order and of the choice of settings.
    pub seed: u64,
}

/// The most that a search may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// This many runs.
    Runs(usize),
    /// As many runs as the default would do in these seconds.
    Seconds(f64),
}
