//! The questions of the module to the collector, which answers them while the world is stopped
//! (`collectors/src/ocaml/answers.rs`).

use super::super::task::Part;
use super::{Control, Stat};
use gclab_core::mutator::Request;
use std::fmt;
use std::io::Write;

/// The place that messages go to.
pub(in super::super) struct Output(pub(in super::super) Option<Box<dyn Write + Send>>);

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

/// A question with its answer, or a change of settings.
#[derive(Debug)]
pub(in super::super) enum Question {
    /// The counters; also the counters of blocks, if it says so.
    Stat(bool, Stat),
    /// The parameters.
    Get(Option<Control>),
    /// New parameters, and the request for the pause in which the last of them change.
    Set(Control, Option<Request>),
    /// The free words of the minor heap.
    MinorFree(u64),
    /// A bucket of the window, in millionths of a cycle.
    Bucket(usize, u64),
    /// The credit, in millionths of a cycle.
    Credit(u64),
    /// The next request for a cycle comes from this function.
    Part(Part),
    /// Messages go there from now on.
    Messages(Output),
}
