//! The cells of the tables of budgets and of minima, for all formats.

use super::Standing;
use crate::report::ratio_text;
use gclab_results::{Configuration, Manifest, Minimum};

/// How a contender stands, in a few words: `1.32× (1.28–1.36)`, `dies on 2`, `dies on all`. There are so many workloads.
pub(in crate::report) fn standing_text(standing: &Standing, all: usize) -> String {
    match standing {
        Standing::Lives(ratio) => ratio_text(ratio),
        Standing::Dies(works) if works.len() == all => "dies on all".to_owned(),
        Standing::Dies(works) => format!("dies on {}", works.len()),
        Standing::Unknown => "–".to_owned(),
    }
}

/// Of what it dies and where: `heap exhausted: gcbench, long_list`, or `heap exhausted` where that is all of them; empty if it does not.
pub(in crate::report) fn deaths_text(standing: &Standing, all: usize) -> String {
    let Standing::Dies(works) = standing else {
        return String::new();
    };
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (work, why) in works {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, works)) => works.push(work),
            None => reasons.push((why, vec![work])),
        }
    }
    let text = |(why, works): (&str, Vec<&str>)| match works.len() == all {
        true => why.to_owned(),
        false => format!("{why}: {}", works.join(", ")),
    };
    let texts: Vec<String> = reasons.into_iter().map(text).collect();
    texts.join("; ")
}

/// A row of the table of minima.
pub(in crate::report) struct MinimaRow {
    /// The workload.
    pub work: String,
    /// The minimum of each contender, and how many times the reference minimum that is.
    pub cells: Vec<String>,
    /// What should be known of the searches.
    pub notes: Vec<String>,
}

/// The minima of an experiment: the contenders, and a row for each workload.
pub(in crate::report) fn minima(manifest: &Manifest) -> (Vec<String>, Vec<MinimaRow>) {
    let swept = |flag: &String| manifest.sweep.iter().any(|axis| axis.flag == *flag);
    let who = |minimum: &Minimum| {
        let flags = minimum.flags.iter().filter(|(flag, _)| swept(flag));
        let flags: String = flags.map(|(flag, value)| format!(" {flag}={value}")).collect();
        format!("{}{flags}", minimum.collector)
    };
    let mut contenders: Vec<String> = manifest.minima.iter().map(who).collect();
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
                .find(|other| who(other) == *contender)
                .map_or("–".to_owned(), |m| cell(m, reference))
        };
        let note = |m: &Minimum| m.note.as_ref().map(|note| format!("{work}, {}: {note}", who(m)));
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
            crate::chart::tick_text(mine as f64 / f64::from(1 << 20)),
            mine as f64 / reference as f64
        ),
    }
}
