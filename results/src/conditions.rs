//! The conditions of a run: the state of the machine meanwhile, apart from the run itself, and the
//! counts of its performance counters.

use crate::schema::documented;
use std::collections::BTreeMap;

documented! {
    /// The state of the machine during a run: the difference of the kernel's counts before and
    /// after it. Facts that the kernel does not tell are absent.
    #[derive(Default)]
    pub struct Conditions {
        /// Processor time that the hypervisor gave to other guests (`steal`), in seconds, over all
        /// processors.
        pub steal_seconds: Option<f64>,
        /// Processor time of all other processes, in seconds. The kernel counts in hundredths.
        pub others_cpu_seconds: Option<f64>,
        /// Time in which a process of the machine waited for memory (pressure stall information,
        /// `some`), in seconds.
        pub memory_stall_seconds: Option<f64>,
        /// Time for which the control group had used up its share of the processors, in seconds.
        pub quota_stall_seconds: Option<f64>,
        /// How often a processor slowed down because of heat.
        pub thermal_throttles: Option<u64>,
        /// Pages that were written to swap space or read from it.
        pub swapped_pages: Option<u64>,
        /// Mean clock frequency of all processors just after the run, in MHz.
        pub frequency_mhz: Option<f64>,
        /// The checks that failed during the run: `steal`, `other programs`, `memory pressure`,
        /// `processor quota`, `heat`, `swapping`, `preemption`. Absent if none did.
        pub disturbances: Option<Vec<String>>,
        /// The facts of the machine that were not as `plan.json` says when the run was done, in a
        /// folder that was continued elsewhere or later, with the facts of this run.
        pub machine_changes: Option<BTreeMap<String, String>>,
    }
}

documented! {
    /// The counts of the performance counters in the process, its threads and the processes that it
    /// started, in user space. Counters that the machine does not have are absent.
    #[derive(Default)]
    pub struct Counters {
        /// Instructions that were retired.
        pub instructions: Option<u64>,
        /// Cycles of the processor.
        pub cycles: Option<u64>,
        /// Loads that missed the last cache.
        pub llc_misses: Option<u64>,
        /// Loads that missed the cache of translations of data addresses.
        pub dtlb_misses: Option<u64>,
        /// Time on a processor, in nanoseconds, by the kernel's task clock.
        pub task_clock_ns: Option<u64>,
        /// Page faults, minor and major.
        pub page_faults: Option<u64>,
        /// Context switches, if the system lets the runner count in the kernel.
        pub context_switches: Option<u64>,
        /// The least share of the time for which a counter counted. Counters share registers; a
        /// count is scaled to the whole time. A counter that counted for less than 5 % of it is
        /// absent. This is absent if all counted all the time.
        pub least_share: Option<f64>,
    }
}
