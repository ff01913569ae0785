//! Heap profiles: for each profiled run a chart of its bands over time, and its largest census.
//!
//! Profiled runs are runs of their own ([`gclab_results::ResultsDir::profiled`]). Their figures
//! enter no other part of a report, and this part has no figures of other runs. The *peak* is the
//! census with the most bytes; its table has the largest bands, the rest as one row, and the sum.

mod bands;
mod file;
mod profiled;

pub(crate) use file::FileProfile;
pub(crate) use profiled::{PeakRow, Profiled, profiled};
