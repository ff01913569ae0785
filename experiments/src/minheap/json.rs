//! The result of a search as JSON.

use gclab_results::Status;
use gclab_sweep::minheap::{Tools, folder};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::questions::Outcome;

/// The result, with one entry for each collector.
pub(super) fn result(arguments: &Arguments, tools: &Tools<'_>, outcomes: &[Outcome], least: Option<u64>) -> Value {
    let collectors: Vec<Value> = outcomes
        .iter()
        .map(|(question, result)| {
            let probes = folder(question, tools);
            let question = question.configuration();
            match result {
                Err(error) => json!({ "collector": question.collector, "minimum_bytes": null, "failure": error.note(), "folder": probes }),
                Ok(found) => json!({
                    "collector": question.collector,
                    "minimum_bytes": found.minimum.minimum_bytes,
                    "multiple": found.minimum.minimum_bytes.zip(least).map(|(mine, least)| mine as f64 / least as f64),
                    "too_small_bytes": found.minimum.too_small_bytes,
                    "too_small_because": found.below.as_ref().map(Status::kind),
                    "wall_seconds": found.wall.map(|time| time.as_secs_f64()),
                    "generous_wall_seconds": found.generous.as_secs_f64(),
                    "probes": found.minimum.probes,
                    "note": found.minimum.note,
                    "folder": probes,
                }),
            }
        })
        .collect();
    let (question, _) = &outcomes[0];
    let executable = gclab_sweep::minheap::executable(question, tools);
    let question = question.configuration();
    let mut result = json!({
        "workload": question.workload,
        "args": question.args,
        "flags": question.flags,
        "tolerance": arguments.tolerance.0,
        "runs": arguments.runs,
        "executable": executable,
        "reference_bytes": least,
        "collectors": collectors,
    });
    if !arguments.command.is_empty() {
        result["command"] = json!(arguments.command);
        result["limit"] = json!(outcomes[0].0.program().runtime.limit_name());
    }
    result
}
