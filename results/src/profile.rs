//! Heap profiles in a run record: the contents of the heap, census by census.

use crate::schema::documented;
use std::collections::BTreeMap;

documented! {
    /// The heap profile of a run.
    #[derive(Default)]
    pub struct HeapProfile {
        /// The criterion of the bands: `closure type`, `description`, `type`, `module`,
        /// `retainers`, `roots`, `cost centre` or `biography`.
        pub breakdown: String,
        /// The censuses in order of time.
        pub censuses: Vec<Census>,
        /// CPU time of all censuses, in seconds; of all statistics only `prof_cpu_seconds` contains
        /// it.
        pub census_seconds: f64,
        /// The sets of retainers that occurred, by the number at the beginning of the band's name:
        /// module and name of each retainer. Absent for other breakdowns.
        pub retainer_sets: Option<BTreeMap<String, Vec<String>>>,
    }
}

documented! {
    /// The contents of the heap at one time.
    #[derive(Default)]
    pub struct Census {
        /// CPU time of the mutators before it, in seconds.
        pub seconds: f64,
        /// The name of the marker at which it was taken; absent for other censuses.
        pub marker: Option<String>,
        /// Bytes by name of the band. Empty bands are left out, except in a biography, which has
        /// all five.
        pub bands: BTreeMap<String, u64>,
    }
}

impl Census {
    /// The sum of the bytes of all bands.
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
