//! Heap profiles in a run record: what was in the heap, census by census.

use crate::schema::documented;
use std::collections::BTreeMap;

documented! {
    /// The heap profile of a run.
    #[derive(Default)]
    pub struct HeapProfile {
        /// By what: `closure type`, `description`, `type`, `module`, `retainers`, `roots`, `cost centre` or `biography`.
        pub breakdown: String,
        /// The censuses, in order.
        pub censuses: Vec<Census>,
        /// CPU time of all censuses, in seconds; in no part of the statistics but `prof_cpu_seconds`.
        pub census_seconds: f64,
        /// The sets of retainers that occurred, by the numbers that bands begin with: module and name of each retainer. Absent for other breakdowns.
        pub retainer_sets: Option<BTreeMap<String, Vec<String>>>,
    }
}

documented! {
    /// What was in the heap at one time.
    #[derive(Default)]
    pub struct Census {
        /// CPU time of the mutators before it, in seconds.
        pub seconds: f64,
        /// The name of the marker that it was taken at; absent for others.
        pub marker: Option<String>,
        /// Bytes by name of the band; none of nothing, but of a biography all five.
        pub bands: BTreeMap<String, u64>,
    }
}

impl Census {
    /// All bytes that were counted.
    pub fn bytes(&self) -> u64 {
        self.bands.values().sum()
    }
}

impl HeapProfile {
    /// The census with the most bytes; of equal ones the first.
    pub fn peak(&self) -> Option<&Census> {
        self.censuses.iter().rev().max_by_key(|census| census.bytes())
    }
}
