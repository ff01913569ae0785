//! The answers to the question that was asked. What was swept says what the question is:
//!
//! - several settings over several workloads: one figure over all of them (`overall`);
//! - a flag with numbers: from which value on does it not matter (`knee`)?
//! - requests: which setting answers them within which time (`latency`)?
//! - several collectors: which is the fastest on each workload, and by how much (`best`)?
//!
//! Two more kinds have folders of their own: multiples of the least heap (`memory`) and parallel
//! collection (`parallel`). Heap profiles answer by their largest bands (`profiles`).
//!
//! Each answer is a list of sentences, the same in all formats. A difference that may be noise is
//! never stated as one: the sentence says that these runs cannot tell, and how many could.

mod best;
mod knee;
mod latency;
mod overall;
mod settings;

pub(crate) use best::{Answer, Best, answers, headline};
pub(crate) use knee::{SENTENCES, knees};
pub(crate) use latency::{
    LatencyRow, METERED, PERCENTILES, chart as latency_chart, rows as latency_rows, sentence as latency_sentence,
};
pub(crate) use overall::overall;
