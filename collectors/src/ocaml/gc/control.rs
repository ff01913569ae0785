//! The parameters of the memory manager: OCaml's `Gc.control`.

use super::super::Settings;
use super::super::pace::{CustomRatios, Increment};
use gclab_core::config::OcamlLetter;
use gclab_core::words::{Bytes, Words};
use std::fmt;

/// The parameters of the memory manager. Sizes are in words, ratios in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// The size of the minor heap.
    pub minor_heap_size: u64,
    /// The least growth of the major heap: up to 1000 in percent, above that in words.
    pub major_heap_increment: u64,
    /// Memory for garbage, in percent of live data.
    pub space_overhead: u64,
    /// The events at which messages are printed, a bit for each kind (`docs/ocaml.md`).
    pub verbose: u64,
    /// Free memory at which the major heap is compacted, in percent of live data.
    pub max_overhead: u64,
    /// The most words of the stack of OCaml's byte code. Nothing reads it here.
    pub stack_limit: u64,
    /// The allocation policy of the major heap: 0 next-fit, 1 first-fit, 2 best-fit.
    pub allocation_policy: u64,
    /// The minor collections over which the work of slices is smoothed.
    pub window_size: u64,
    /// Memory outside the heap that dead closures of the major heap own, in percent of that heap.
    pub custom_major_ratio: u64,
    /// Memory outside the heap that closures of the minor heap own, in percent of that heap.
    pub custom_minor_ratio: u64,
    /// The bytes outside the heap that one closure counts for in the minor heap at most.
    pub custom_minor_max_size: u64,
}

/// The refusal of a parameter: it is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidControl {
    /// The name of the field of [`Control`].
    pub field: &'static str,
    /// The value that was given.
    pub value: u64,
    /// The least legal value.
    pub least: u64,
    /// The greatest legal value.
    pub most: u64,
}

impl fmt::Display for InvalidControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidControl {
            field,
            value,
            least,
            most,
        } = self;
        write!(f, "Gc.set: {field} is {value}, expected {least} to {most}")
    }
}

impl std::error::Error for InvalidControl {}

/// `stack_limit` of OCaml 4.14: 1024k.
const STACK_LIMIT: u64 = 1 << 20;

impl Control {
    pub(in super::super) fn of(settings: &Settings, stack_limit: Option<u64>) -> Control {
        Control {
            minor_heap_size: settings.minor_heap.to_words_up().0 as u64,
            major_heap_increment: settings.increment.to_number(),
            space_overhead: settings.space_overhead,
            verbose: settings.verbose,
            max_overhead: settings.compaction.max_overhead,
            stack_limit: stack_limit.unwrap_or(STACK_LIMIT),
            allocation_policy: settings.policy,
            window_size: settings.window as u64,
            custom_major_ratio: settings.custom.major,
            custom_minor_ratio: settings.custom.minor,
            custom_minor_max_size: settings.custom.minor_max.0 as u64,
        }
    }

    /// Changes the settings that it has.
    pub(in super::super) fn apply(&self, settings: &mut Settings) {
        // `-A` may be no whole words.
        if self.minor_heap_size != settings.minor_heap.to_words_up().0 as u64 {
            settings.minor_heap = Words(self.minor_heap_size as usize).to_bytes();
        }
        settings.increment = Increment::of_number(self.major_heap_increment);
        settings.space_overhead = self.space_overhead;
        settings.compaction.max_overhead = self.max_overhead;
        settings.policy = self.allocation_policy;
        settings.window = self.window_size as usize;
        settings.verbose = self.verbose;
        settings.custom = CustomRatios {
            major: self.custom_major_ratio,
            minor: self.custom_minor_ratio,
            minor_max: Bytes(self.custom_minor_max_size as usize),
        };
    }

    /// Checks that each field is in the range of its letter, or as it was `before`.
    pub(super) fn check(&self, before: &Control) -> Result<(), InvalidControl> {
        let of = |letter: OcamlLetter, field, value: fn(&Control) -> u64| {
            ((letter.range(), field), [value(before), value(self)])
        };
        let fields = [
            of(OcamlLetter::MinorHeap, "minor_heap_size", |c| c.minor_heap_size),
            of(OcamlLetter::Increment, "major_heap_increment", |c| {
                c.major_heap_increment
            }),
            of(OcamlLetter::SpaceOverhead, "space_overhead", |c| c.space_overhead),
            of(OcamlLetter::Verbose, "verbose", |c| c.verbose),
            of(OcamlLetter::MaxOverhead, "max_overhead", |c| c.max_overhead),
            of(OcamlLetter::Policy, "allocation_policy", |c| c.allocation_policy),
            of(OcamlLetter::Window, "window_size", |c| c.window_size),
            of(OcamlLetter::CustomMajor, "custom_major_ratio", |c| c.custom_major_ratio),
            of(OcamlLetter::CustomMinor, "custom_minor_ratio", |c| c.custom_minor_ratio),
            of(OcamlLetter::CustomMinorMax, "custom_minor_max_size", |c| {
                c.custom_minor_max_size
            }),
        ];
        for (((least, most), field), [before, value]) in fields {
            if value != before && !(least..=most).contains(&value) {
                return Err(InvalidControl {
                    field,
                    value,
                    least,
                    most,
                });
            }
        }
        Ok(())
    }
}
