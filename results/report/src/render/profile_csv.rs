//! All bands of all censuses as CSV for R, pandas and spreadsheets: a row for each band of each
//! census, in base units.

use super::csv_text::{CsvText, text};
use crate::folder::Results;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The heap profiles of these folders as CSV. Columns: the folder's name, the profiled run and its
/// configuration, a `flag_` column for each flag of any run, the flags and the breakdown of the
/// profile; the number of the census from 0, its time and marker, whether it is the peak; the band
/// and its bytes.
pub fn profile_csv(dirs: &[Results]) -> String {
    text(|to| write(dirs, to))
}

fn write(dirs: &[Results], to: &mut dyn Write) -> io::Result<()> {
    let runs = || {
        dirs.iter()
            .flat_map(|dir| dir.profiled().iter().map(move |one| (dir, &one.record)))
    };
    let flags: BTreeSet<&String> = runs().flat_map(|(_, run)| run.flags.keys()).collect();
    let settings: BTreeSet<&String> = runs()
        .flat_map(|(_, run)| run.settings.iter().flatten())
        .map(|(name, _)| name)
        .collect();
    let mut text = CsvText::new(to);
    let mut head = [
        "experiment",
        "id",
        "cell",
        "workload",
        "args",
        "collector",
        "heap_multiple",
    ]
    .map(str::to_owned)
    .to_vec();
    head.extend(flags.iter().map(|flag| format!("flag_{flag}")));
    head.extend(settings.iter().map(|name| format!("setting_{name}")));
    let of_census = [
        "outcome",
        "profile_flags",
        "breakdown",
        "census",
        "seconds",
        "marker",
        "peak",
        "band",
        "bytes",
    ];
    head.extend(of_census.map(str::to_owned));
    text.row(&head)?;
    for (dir, run) in runs() {
        let Some(profile) = &run.profile else { continue };
        let mut begin = vec![dir.manifest().name.clone(), run.id.clone(), run.cell.clone()];
        begin.extend([run.workload.clone(), run.args.join(" "), run.collector.clone()]);
        begin.push(run.heap_multiple.map_or(String::new(), |multiple| multiple.to_string()));
        begin.extend(
            flags
                .iter()
                .map(|flag| run.flags.get(*flag).cloned().unwrap_or_default()),
        );
        begin.extend(settings.iter().map(|name| {
            let own = run.settings.as_ref().and_then(|own| own.get(*name));
            own.cloned().unwrap_or_default()
        }));
        begin.extend([
            run.outcome.kind().to_owned(),
            run.profile_flags.clone().unwrap_or_default(),
            profile.breakdown.clone(),
        ]);
        let peak = profile.peak().map(std::ptr::from_ref);
        for (number, census) in profile.censuses.iter().enumerate() {
            let is_peak = peak == Some(std::ptr::from_ref(census));
            for (band, bytes) in &census.bands {
                let mut row = begin.clone();
                row.extend([number.to_string(), format!("{:.9}", census.seconds)]);
                row.extend([census.marker.clone().unwrap_or_default(), is_peak.to_string()]);
                row.extend([band.clone(), bytes.to_string()]);
                text.row(&row)?;
            }
        }
    }
    text.finish()
}
