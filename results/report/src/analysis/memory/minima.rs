//! The least heaps of an experiment, by workload and contender.

use crate::format;
use gclab_results::{Configuration, Manifest, Minimum};

/// The least heaps of one workload.
pub(crate) struct MinimaRow {
    /// The title of the workload.
    pub(crate) work: String,
    /// The minimum of each contender in bytes, and as a multiple of the reference minimum.
    pub(crate) cells: Vec<String>,
    /// Remarks on the searches.
    pub(crate) notes: Vec<String>,
}

/// The contenders of an experiment, and a row for each workload.
pub(crate) fn minima(manifest: &Manifest) -> (Vec<String>, Vec<MinimaRow>) {
    let swept = |flag: &String| manifest.sweep.iter().any(|axis| axis.flag == *flag);
    let name = |minimum: &Minimum| {
        let flags = minimum.flags.iter().chain(minimum.settings.iter().flatten());
        let flags = flags.filter(|(flag, _)| swept(flag));
        let flags: String = flags.map(|(flag, value)| format!(" {flag}={value}")).collect();
        format!("{}{flags}", minimum.collector)
    };
    let mut contenders: Vec<String> = manifest.minima.iter().map(name).collect();
    contenders.sort();
    contenders.dedup();
    let mut rows: Vec<MinimaRow> = Vec::new();
    for minimum in &manifest.minima {
        let work = work(minimum);
        if rows.iter().any(|row| row.work == work) {
            continue;
        }
        let mine = || {
            manifest
                .minima
                .iter()
                .filter(|other| (&other.workload, &other.args) == (&minimum.workload, &minimum.args))
        };
        let reference = manifest.reference(&minimum.workload, &minimum.args);
        let cell = |contender: &String| {
            mine()
                .find(|other| name(other) == *contender)
                .map_or_else(|| format::ABSENT.to_owned(), |m| cell(m, reference))
        };
        let note = |m: &Minimum| m.note.as_ref().map(|note| format!("{work}, {}: {note}", name(m)));
        rows.push(MinimaRow {
            cells: contenders.iter().map(cell).collect(),
            notes: mine().filter_map(note).collect(),
            work,
        });
    }
    (contenders, rows)
}

fn work(minimum: &Minimum) -> String {
    let configuration = Configuration {
        workload: minimum.workload.clone(),
        args: minimum.args.clone(),
        ..Configuration::default()
    };
    configuration.work()
}

/// `24 MiB, 1.50×`.
fn cell(minimum: &Minimum, reference: Option<u64>) -> String {
    match minimum.minimum_bytes.zip(reference) {
        None => "none".to_owned(),
        Some((mine, reference)) => format!(
            "{} MiB, {:.2}×",
            format::number(mine as f64 / f64::from(1 << 20)),
            mine as f64 / reference as f64
        ),
    }
}
