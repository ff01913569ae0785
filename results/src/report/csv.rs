//! All runs as CSV, one row a run, one column a variable, in base units: what R, pandas and spreadsheets read first.

use crate::folder::ResultsDir;
use crate::metric;
use std::collections::BTreeSet;

/// The runs of these folders. Columns: the folder's name, what was asked, one `flag_` column for each flag given anywhere, how
/// the run ended, and every figure under its key; an empty cell is a figure that the run does not have.
pub fn csv(dirs: &[ResultsDir]) -> String {
    let runs = || dirs.iter().flat_map(|dir| dir.runs().iter().map(move |run| (dir, run)));
    let flags: BTreeSet<&String> = runs().flat_map(|(_, run)| run.flags.keys()).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = [
        "experiment",
        "id",
        "cell",
        "position",
        "round",
        "workload",
        "args",
        "collector",
    ];
    let mut row: Vec<String> = head.map(str::to_owned).to_vec();
    row.extend(flags.iter().map(|flag| format!("flag_{flag}")));
    row.extend(["started", "outcome", "exit_code", "signal", "checksum"].map(str::to_owned));
    row.extend(metric::ALL.iter().map(|metric| metric.key.to_owned()));
    let in_memory = "writing to memory does not fail";
    writer.write_record(&row).expect(in_memory);
    for (dir, run) in runs() {
        let (exit_code, signal) = match &run.outcome {
            crate::record::Status::Crash { exit_code, signal } => (*exit_code, *signal),
            _ => (None, None),
        };
        let or_empty = |number: Option<i32>| number.map_or(String::new(), |n| n.to_string());
        row.clear();
        row.extend([dir.manifest().name.clone(), run.id.clone(), run.cell.clone()]);
        row.extend([run.position.to_string(), run.round.to_string()]);
        row.extend([run.workload.clone(), run.args.join(" "), run.collector.clone()]);
        row.extend(
            flags
                .iter()
                .map(|flag| run.flags.get(*flag).cloned().unwrap_or_default()),
        );
        row.extend([run.started.clone().unwrap_or_default(), run.outcome.kind().to_owned()]);
        row.extend([
            or_empty(exit_code),
            or_empty(signal),
            run.checksum.clone().unwrap_or_default(),
        ]);
        row.extend(metric::ALL.iter().map(|m| {
            (m.of)(run)
                .filter(|v| v.is_finite())
                .map_or(String::new(), |v| v.to_string())
        }));
        writer.write_record(&row).expect(in_memory);
    }
    String::from_utf8(writer.into_inner().expect(in_memory)).expect("all cells are UTF-8")
}
