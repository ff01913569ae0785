//! `gclab heap`: analysing heaps of other programs, and dumping our own.

mod analyse;
mod diff;
mod dump;
mod forms;
mod leaks;
mod limits;
mod refusals;

use crate::docs::root;
use serde_json::Value;

fn postcss() -> String {
    root()
        .join("workloads/fixtures/postcss.heapsnapshot.gz")
        .display()
        .to_string()
}

fn cells() -> String {
    root()
        .join("core/snapshot/tests/it/fixtures/cells.hprof.gz")
        .display()
        .to_string()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
