//! The end of a run: statistics match the words and values that its programs allocated, and no
//! value outside the heap is left.

use super::account::Figures;
use super::difference::differ;
use super::heap::Heap;
use gclab_core::stats::Statistics;

/// Compares the statistics of a world with the accounts of `heaps` and `words` more. The last
/// collection had room enough, and its roots were those of `heaps`.
pub(super) fn statistics(statistics: &Statistics, words: u64, heaps: &[&Heap]) {
    let words = words + heaps.iter().map(|heap| heap.words()).sum::<u64>();
    let counted = statistics.allocated;
    if counted != words * 8 {
        differ(format!("{counted} bytes counted, {} allocated", words * 8));
    }
    let figure = |name| statistics.figures.iter().find(|figure| figure.name == name);
    let value = |name| figure(name).map_or(0, |figure| figure.value);
    let counted = Figures {
        closures: value("foreign_closures"),
        bytes: value("foreign_bytes"),
        held: value("foreign_held_bytes"),
        peak: value("peak_foreign_bytes"),
    };
    let mut expected = Figures::default();
    for heap in heaps {
        let Figures {
            closures, bytes, peak, ..
        } = heap.account.figures();
        expected.closures += closures;
        expected.bytes += bytes;
        expected.held += heap.held();
        // Several heaps have theirs at different times.
        expected.peak = if heaps.len() == 1 { peak } else { counted.peak };
    }
    if counted != expected {
        differ(format!(
            "outside the heap {counted:?} are counted, {expected:?} allocated"
        ));
    }
}

/// Checks that all values outside the heap are dropped, each once. The heap is gone.
pub(super) fn all_is_dropped(heap: &Heap) {
    let held = heap.account.held();
    if !held.is_empty() {
        differ(format!("the values {held:?} are not dropped with their heap"));
    }
    if let Some((number, _)) = heap.account.take_dropped().into_iter().find(|(_, is_twice)| *is_twice) {
        differ(format!("value {number} was dropped twice"));
    }
}
