//! The section on heap profiles.

use crate::analysis::profiles::{PeakRow, Profiled, profiled};
use crate::document::{Cell, Column, Look, Part, Profile, Section, Table, Text, Topic};
use crate::folder::Results;
use crate::format;
use crate::metric::Unit;
use crate::summary::Summary;
use gclab_results::Census;

/// The most profiles that have a sentence in the answer.
const LINES: usize = 8;

/// The heap profiles of a folder, if it has any.
pub(super) fn profiles(dir: &Results, summary: &Summary<'_>) -> Option<Section> {
    let works = profiled(dir, summary);
    if works.is_empty() {
        return None;
    }
    let note = "Each heap profile has a run of its own. A profiled run is slower, so it enters no figure of the other \
         sections. The peak is the census with the most bytes. The bands with the largest areas have colours, the largest at the bottom; the rest is grey. Dashed \
         lines are markers of the program. The table next to each chart is its peak.";
    let mut parts = vec![Part::Note(note.to_owned())];
    for (title, runs) in works {
        parts.push(Part::Heading(title));
        parts.extend(runs.iter().map(|run| Part::Profile(Box::new(profile(run)))));
    }
    Some(Section {
        topic: Topic::Profiles,
        text: Vec::new(),
        parts,
    })
}

/// The largest bands of each profile in words, if there are profiles.
pub(super) fn bands(dir: &Results, summary: &Summary<'_>) -> Option<Section> {
    let lines: Vec<String> = profiled(dir, summary)
        .iter()
        .flat_map(|(title, runs)| runs.iter().map(move |run| format!("{title}, {}.", run.line())))
        .collect();
    if lines.is_empty() {
        return None;
    }
    let left_out = lines.len().saturating_sub(LINES);
    let mut text: Vec<String> = lines.into_iter().take(LINES).collect();
    if left_out > 0 {
        text.push(format!(
            "{} in the report, under Heap profiles.",
            if left_out == 1 {
                "1 more profile is".to_owned()
            } else {
                format!("{left_out} more profiles are")
            }
        ));
    }
    Some(Section {
        topic: Topic::Bands,
        text,
        parts: Vec::new(),
    })
}

fn profile(profiled: &Profiled<'_>) -> Profile {
    Profile {
        label: profiled.label.clone(),
        chart: profiled.chart(),
        peak: profiled.peak().map(|(peak, rows)| peak_table(peak, &rows)),
        notes: profiled.notes(),
        file: profiled.profile.map(|_| profiled.file.clone()),
    }
}

fn peak_table(peak: &Census, rows: &[PeakRow]) -> Table {
    let mut head = format!("Peak, after {}", format::time(peak.seconds));
    if let Some(marker) = &peak.marker {
        head.push_str(&format!(", at {marker}"));
    }
    let row = |row: &PeakRow| {
        vec![
            Cell::Text(Text {
                text: row.name.clone(),
                more: row.members.clone(),
                ..Text::default()
            }),
            Cell::text(format::bytes(row.bytes)),
            Cell::text(format!("{} %", Unit::Percent.text(row.share))),
        ]
    };
    Table {
        look: Look::Fixed,
        columns: vec![Column::words(head), Column::figures("bytes"), Column::figures("share")],
        rows: rows.iter().map(row).collect(),
    }
}
