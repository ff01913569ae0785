//! The parameters of the collector, from a configuration.

use super::pace::{Compaction, CustomRatios, Increment, overhead_of_factor};
use gclab_core::config::{Config, OcamlLetter, Parameter};
use gclab_core::words::{Bytes, Words};

/// The parameters that the collector honours: the letters, and GHC's flags with the same meaning.
pub(super) const HONOURED: &[Parameter] = &[
    Parameter::AllocationArea,
    Parameter::OldFactor,
    Parameter::Ocaml(OcamlLetter::MinorHeap),
    Parameter::Ocaml(OcamlLetter::Increment),
    Parameter::Ocaml(OcamlLetter::SpaceOverhead),
    Parameter::Ocaml(OcamlLetter::MaxOverhead),
    Parameter::Ocaml(OcamlLetter::Policy),
    Parameter::Ocaml(OcamlLetter::Window),
    Parameter::Ocaml(OcamlLetter::InitialHeap),
    Parameter::Ocaml(OcamlLetter::Verbose),
    Parameter::Ocaml(OcamlLetter::CustomMajor),
    Parameter::Ocaml(OcamlLetter::CustomMinor),
    Parameter::Ocaml(OcamlLetter::CustomMinorMax),
];

/// The parameters of a heap.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `s`: the minor heap.
    pub minor_heap: Bytes,
    /// `i`: the minimum growth of the major heap.
    pub increment: Increment,
    /// `o`: the memory for garbage, in percent of live data.
    pub space_overhead: u64,
    /// `O`: the rule of compaction.
    pub compaction: Compaction,
    /// `a`: the allocation policy.
    pub policy: u64,
    /// `w`: the window of slices.
    pub window: usize,
    /// `h`: the initial major heap.
    pub initial_heap: Words,
    /// Whether it is given; then the heap must have that size.
    pub initial_heap_is_given: bool,
    /// Limit on the words that a slice does in addition to those allocated since the last one
    /// (`-DI`).
    pub slice_limit: Option<Words>,
    /// `v`: the events at which messages are printed, a bit for each kind.
    pub verbose: u64,
    /// `M`, `m` and `n`: the ratios for memory outside the heap.
    pub custom: CustomRatios,
}

impl Settings {
    /// The parameters of `config`. Without `s` the minor heap is the allocation area (`-A`), and
    /// without `o` the overhead follows from `-F`.
    pub fn of(config: &Config) -> Settings {
        let value = |letter| config.ocaml.value(letter);
        let words = config.ocaml.given(OcamlLetter::MinorHeap);
        let overhead = config.ocaml.given(OcamlLetter::SpaceOverhead);
        Settings {
            minor_heap: words.map_or(config.allocation_area, |words| Words(words as usize).to_bytes()),
            increment: Increment::of_number(value(OcamlLetter::Increment)),
            space_overhead: overhead.unwrap_or_else(|| overhead_of_factor(config.old_factor)),
            compaction: Compaction {
                max_overhead: value(OcamlLetter::MaxOverhead),
            },
            policy: value(OcamlLetter::Policy),
            window: value(OcamlLetter::Window) as usize,
            initial_heap: Words(value(OcamlLetter::InitialHeap) as usize),
            initial_heap_is_given: config.ocaml.given(OcamlLetter::InitialHeap).is_some(),
            slice_limit: config.slice_limit,
            verbose: value(OcamlLetter::Verbose),
            custom: CustomRatios {
                major: value(OcamlLetter::CustomMajor),
                minor: value(OcamlLetter::CustomMinor),
                minor_max: Bytes(value(OcamlLetter::CustomMinorMax) as usize),
            },
        }
    }
}
