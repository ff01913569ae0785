//! `-S`: a header, a row for each collection, a closing row. The summary follows.

use super::super::{Collection, Statistics};
use super::number::seconds;

/// The two lines above the rows.
pub const HEADER: &str = "    Alloc    Copied     Live     GC     GC      TOT      TOT  Page Flts
    bytes     bytes     bytes   user   elap     user     elap
";

/// The row of one collection: bytes allocated since the last one, copied, live; its CPU and elapsed seconds; those of the whole
/// run so far; page faults in it and since the last one; its generation.
pub fn row(collection: &Collection) -> String {
    let c = collection;
    format!(
        "{:9} {:9} {:9} {:6.3} {:6.3} {:8.3} {:8.3} {:4} {:4}  (Gen: {:2})\n",
        c.allocated,
        c.copied,
        c.live,
        seconds(c.cpu_ns),
        seconds(c.elapsed_ns),
        seconds(c.total_cpu_ns),
        seconds(c.start_ns + c.elapsed_ns),
        c.faults,
        c.faults_before,
        c.generation
    )
}

/// The row after the last collection: what was allocated since.
pub fn closing_row(stats: &Statistics) -> String {
    format!(
        "{:9} {:9} {:9} {:6.3} {:6.3}\n\n",
        stats.allocated_after_last, "", "", 0.0, 0.0
    )
}
