//! A search that is over, for the texts of its answer.

use std::path::Path;

use gclab_sweep::tune::offer::Offer;
use gclab_sweep::tune::search::Search;

/// A search with all that it takes to print its answer.
pub(crate) struct Tuned<'t> {
    /// The work, as on a command line.
    pub(crate) work: String,
    pub(crate) offer: &'t Offer,
    pub(crate) search: &'t Search,
    /// The folder of the records.
    pub(crate) folder: &'t Path,
}
