//! `-S`: a header, a row for each collection, a closing row. The summary follows.

use super::super::{Collection, Statistics};
use super::number::seconds;

/// The two lines above the rows.
pub const HEADER: &str = "    Alloc    Copied     Live     GC     GC      TOT      TOT  Page Flts
    bytes     bytes     bytes   user   elap     user     elap
";

/// The row of one collection: bytes allocated since the last one, copied, live; its CPU and elapsed
/// seconds; those of the whole run so far; page faults in it and since the last one; its
/// generation.
pub fn row(collection: &Collection) -> String {
    let Collection { work, before, time, .. } = collection;
    format!(
        "{:9} {:9} {:9} {:6.3} {:6.3} {:8.3} {:8.3} {:4} {:4}  (Gen: {:2})\n",
        before.allocated.0,
        work.copied.0,
        work.live.0,
        seconds(time.cpu_ns),
        seconds(time.elapsed_ns),
        seconds(time.total_cpu_ns),
        seconds(time.start_ns + time.elapsed_ns),
        time.faults,
        before.faults,
        work.generation
    )
}

/// The row after the last collection: the bytes allocated since.
pub fn closing_row(stats: &Statistics) -> String {
    format!(
        "{:9} {:9} {:9} {:6.3} {:6.3}\n\n",
        stats.allocated_after_last, "", "", 0.0, 0.0
    )
}
