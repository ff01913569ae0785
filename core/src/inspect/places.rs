//! The places of a map of the heap, in the words of the collector.

use super::Stopped;
use crate::block::Units;

impl Stopped<'_> {
    /// Calls `visit` for every run that the collector hands out in lines or cells.
    pub fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        (self.units)(visit);
    }

    /// The collector's own names of its steps, from step 0 on; none if they are GHC's.
    pub fn step_names(&self) -> &'static [&'static str] {
        self.step_names
    }
}
