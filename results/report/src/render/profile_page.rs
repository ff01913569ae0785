//! The heap profile of a file as one self-contained HTML page, and in one line.

use super::html::{Page, SCRIPT};
use crate::chart::Stack;
use crate::format::{self, counted, shortened};
use crate::topics::profiles::FileProfile;
use gclab_eventlog::hp::Profile;
use std::cmp::Reverse;

/// Maximum number of bands in the table of all bands.
const ROWS: usize = 1000;
/// Maximum number of bands named in the line.
const NAMED: usize = 3;
/// Maximum length of a name in the line.
const LETTERS: usize = 40;

/// Rules only for this page.
const OWN_STYLE: &str = "svg.chart { width: 100%; }\n\
    .band { display: inline-block; width: .8rem; height: .8rem; vertical-align: -1px; }\n\
    td.full { white-space: normal; overflow-wrap: anywhere; }\n";

/// The heap profile that was read from `file`, as one HTML page.
pub fn profile_page(file: &str, profile: &Profile) -> String {
    let shown = FileProfile::of(profile);
    let mut page = Page::begin(&format!("{file}: heap profile"), OWN_STYLE);
    page.markup("<article>\n<header>\n");
    page.element("<div class=\"name\">heap profile: ", file, "</div>\n");
    let job = if profile.job.is_empty() { file } else { &profile.job };
    page.element("<h1>", &profile_line(profile), "</h1>\n");
    page.element("<div class=\"facts\">", job, "");
    page.element(
        if profile.date.is_empty() { "" } else { " · " },
        &profile.date,
        "</div>\n</header>\n",
    );
    if profile.cut_off {
        page.markup("<ul class=\"cautions\"><li>The file ends within a census, which is left out: the program was ");
        page.markup("killed, or still runs.</li></ul>\n");
    }
    if let Some(peak) = shown.peak {
        picture(&mut page, &shown, peak);
        all_bands(&mut page, &shown, peak);
    }
    page.markup("</article>\n<footer>Written by gclab ")
        .text(env!("CARGO_PKG_VERSION"));
    page.markup("</footer>\n<script>\n").markup(SCRIPT);
    page.markup("</script>\n</body>\n</html>\n");
    page.0
}

/// The heap profile in one line: its censuses, the largest of them, and the largest bands in it.
pub fn profile_line(profile: &Profile) -> String {
    let shown = FileProfile::of(profile);
    let Some(peak) = shown.peak else {
        return facts(&shown);
    };
    let mut bands: Vec<(&str, u64)> = shown
        .bands
        .iter()
        .map(|band| (band.name.as_str(), band.at(peak)))
        .filter(|(_, bytes)| *bytes > 0)
        .collect();
    bands.sort_by_key(|(_, bytes)| Reverse(*bytes));
    let all = shown.sum(peak) as f64;
    let mut named: Vec<String> = bands
        .iter()
        .take(NAMED)
        .map(|(name, bytes)| format!("{} {}", shortened(name, LETTERS), percent(*bytes as f64, all)))
        .collect();
    if bands.len() > NAMED {
        named.push(format!("{} more", bands.len() - NAMED));
    }
    format!("{}: {}", facts(&shown), named.join(", "))
}

/// The number of censuses and the largest: `6 censuses, at most 2.4 MiB after 34.2 ms`.
pub(super) fn facts(shown: &FileProfile<'_>) -> String {
    let censuses = counted(shown.censuses(), "census");
    let Some(peak) = shown.peak else {
        // GHC writes an empty sample at the start and at the end of each run.
        let empty = shown.profile.samples.len().saturating_sub(2);
        return match shown.censuses() {
            0 if shown.profile.cut_off => format!("{censuses}, so nothing to draw: the file is cut off"),
            0 if empty > 0 => format!("nothing to draw: none of {} counted a byte", counted(empty, "census")),
            0 => format!(
                "{censuses}, so nothing to draw: the run ended before the first was due (-i<seconds> sets the time \
                 between two)"
            ),
            _ => format!("{censuses}, so nothing to draw: every value in them is 0"),
        };
    };
    let after = when(shown, peak);
    format!("{censuses}, at most {} after {after}", format::bytes(shown.sum(peak)))
}

/// The time of a sample.
fn when(shown: &FileProfile<'_>, sample: usize) -> String {
    let at = shown.profile.samples[sample].at;
    match shown.profile.sample_unit.as_str() {
        "seconds" => format::time(at),
        unit => format!("{} {unit}", format::number(at)),
    }
}

/// The chart, and its legend with full names.
fn picture(page: &mut Page, shown: &FileProfile<'_>, peak: usize) {
    let chart = shown.chart();
    page.markup("\n<section>\n").svg(&chart.svg());
    let mut note = "Rest the pointer on a band to see its value. The bands are chosen and ordered as by hp2ps: the \
                    largest total is on top"
        .to_owned();
    if shown.other > 0 {
        note.push_str(&format!(
            ", and OTHER is the sum of {}",
            counted(shown.other, "more band")
        ));
    }
    if shown.traces() > 0 {
        let bands = counted(shown.traces(), "band");
        note.push_str(&format!("; {bands} with less than 1 % together are not drawn"));
    }
    if !shown.profile.marks.is_empty() {
        note.push_str(". Dashed lines are marks of the program");
    }
    page.element("\n<p class=\"note\">", &note, ".</p>\n");
    legend(page, shown, &chart, peak);
    page.views(&chart);
    page.markup("</section>\n");
}

fn legend(page: &mut Page, shown: &FileProfile<'_>, chart: &Stack, peak: usize) {
    page.markup("<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\"></th><th scope=\"col\">band</th>");
    for heading in ["at most", "at", "in the largest census", "share"] {
        page.element("<th scope=\"col\" class=\"n\">", heading, "</th>");
    }
    page.markup("</tr></thead>\n<tbody>\n");
    let own = shown.bands[..shown.drawn].iter().map(std::slice::from_ref);
    for ((place, band), parts) in chart.bands.iter().enumerate().rev().zip(own.chain([shown.others()])) {
        let (sample, most) = shown.most(parts);
        let bytes = parts.iter().map(|band| band.at(peak)).sum();
        page.element(
            "<tr><td><span class=\"band\" style=\"background:",
            &chart.colour(place),
            "\"></span></td>",
        );
        page.element("<td class=\"full\">", &band.name, "</td>");
        page.element("<td class=\"n\">", &format::bytes(most), "</td>");
        page.element("<td class=\"n\">", &when(shown, sample), "</td>");
        page.element("<td class=\"n\">", &format::bytes(bytes), "</td>");
        let share = percent(bytes as f64, shown.sum(peak) as f64);
        page.element("<td class=\"n\">", &share, "</td></tr>\n");
    }
    page.markup("</tbody></table></div>\n");
}

/// A collapsed table of all bands, drawn or not.
fn all_bands(page: &mut Page, shown: &FileProfile<'_>, peak: usize) {
    let all: u128 = shown.bands.iter().map(|band| band.total).sum();
    let censuses = shown.censuses().max(1) as f64;
    page.element(
        "<details><summary>All ",
        &counted(shown.bands.len(), "band"),
        "</summary>\n",
    );
    page.markup("<div class=\"wide\"><table class=\"sortable\">\n<thead><tr>");
    page.element("<th scope=\"col\"><button type=\"button\">", "band", "</button></th>");
    for heading in ["mean", "at most", "at", "in the largest census", "share of the total"] {
        page.element(
            "<th scope=\"col\" class=\"n\"><button type=\"button\">",
            heading,
            "</button></th>",
        );
    }
    page.markup("</tr></thead>\n<tbody>\n");
    for band in shown.bands.iter().take(ROWS) {
        let mean = band.total as f64 / censuses;
        page.element("<tr><td class=\"full\">", &band.name, "</td>");
        figure(page, mean, &format::bytes(mean as u64));
        let (sample, most) = shown.most(std::slice::from_ref(band));
        figure(page, most as f64, &format::bytes(most));
        figure(page, shown.profile.samples[sample].at, &when(shown, sample));
        figure(page, band.at(peak) as f64, &format::bytes(band.at(peak)));
        figure(page, band.total as f64, &percent(band.total as f64, all as f64));
        page.markup("</tr>\n");
    }
    page.markup("</tbody></table></div>\n");
    if let Some(more @ 1..) = shown.bands.len().checked_sub(ROWS) {
        page.element(
            "<p class=\"note\">The file has ",
            &counted(more, "smaller band"),
            ".</p>\n",
        );
    }
    page.markup("</details>\n");
}

/// A cell with a figure, and the number to sort by.
fn figure(page: &mut Page, sort: f64, text: &str) {
    page.element("<td class=\"n\" data-sort=\"", &sort.to_string(), "\">")
        .text(text)
        .markup("</td>");
}

/// A share as `31.0 %`.
fn percent(part: f64, whole: f64) -> String {
    format!("{:.1} %", 100.0 * part / whole.max(1.0))
}
