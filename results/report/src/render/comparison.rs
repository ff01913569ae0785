//! A comparison as text, as Markdown and as JSON: a row for each figure that is judged, and the
//! configurations that cannot be compared.

use super::github::{Comment, Rows, plain};
use super::rivals;
use super::text_table::TextTable;
use crate::analysis::compare::{Comparison, Figure, Row};
use crate::analysis::verdict::Verdict;
use crate::format::{ABSENT, counted};
use crate::inference::{Change, FALSE_SHARE, MOST_RUNS};
use gclab_results::Configuration;
use serde_json::{Value, json};
use std::fmt::Write;

const HEADER: [&str; 7] = [
    "configuration",
    "figure",
    "base",
    "new",
    "new/base",
    "95 % interval",
    "verdict",
];

/// The comparison as a table, with remarks above and below it.
pub fn comparison(comparison: &Comparison) -> String {
    let mut text = String::new();
    for caution in &comparison.cautions {
        let _ = writeln!(text, "caution: {caution}");
    }
    let rows = rows(comparison, comparison.only_changed);
    if comparison.rows.is_empty() {
        text.push_str("the two have no configuration in common\n");
    } else if !rows.is_empty() {
        let mut table = TextTable::new(HEADER.map(str::to_owned).to_vec(), 2);
        rows.into_iter().for_each(|row| table.push(row));
        let _ = writeln!(text, "{}", table.text());
    }
    text.push_str(&rivals::means(comparison));
    for line in remarks(comparison).into_iter().chain(summary(comparison)) {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The comparison for a comment on GitHub: the answer in a sentence, the figures that changed, and
/// all figures in a part to open.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut comment = Comment::default();
    comment.paragraph(&format!("**{}**", plain(&answer(comparison))));
    comment.list(&comparison.cautions);
    let table = |rows| Rows {
        head: &HEADER,
        right_from: 2,
        left_from: HEADER.len() - 1,
        rows,
    };
    comment.table(&table(rows(comparison, true)));
    comment.table(&rivals::table(comparison));
    comment.list(&summary(comparison));
    if !comparison.only_changed {
        let all = rows(comparison, false);
        comment.details(&format!("All {}", counted(all.len(), "row")), |inside| {
            inside.table(&table(all))
        });
    }
    comment.details("Remarks", |inside| inside.list(&remarks(comparison)));
    comment.text()
}

/// The answer in a sentence.
fn answer(comparison: &Comparison) -> String {
    let count = |verdict| comparison.count(verdict);
    let (worse, better) = (count(Verdict::Worse), count(Verdict::Better));
    let all = counted(comparison.rows.len(), "configuration");
    let within = plain_percent(comparison.threshold);
    let of = |words: &str, verdict| {
        format!(
            "{words} in {} of {all}{}.",
            comparison.configurations(verdict),
            largest(comparison, verdict).map_or_else(String::new, |words| format!(", most in {words}"))
        )
    };
    if worse > 0 {
        of(&format!("{} worse", counted(worse, "figure")), Verdict::Worse)
    } else if better > 0 {
        of(
            &format!(
                "No figure was shown to be worse, and {better} {} better",
                plural_is(better)
            ),
            Verdict::Better,
        )
    } else if comparison.rows.is_empty() {
        "The two have no configuration in common.".to_owned()
    } else {
        format!(
            "No figure of {all} was shown to be worse: {} the same within ±{within}, {} unclear{}.",
            count(Verdict::Same),
            count(Verdict::Unclear),
            if count(Verdict::Unclear) > 0 {
                ", which these runs cannot tell"
            } else {
                ""
            }
        )
    }
}

fn plural_is(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// The largest change with this verdict: `gcbench, copying: total 1.100× (1.080 to 1.120)`.
fn largest(comparison: &Comparison, verdict: Verdict) -> Option<String> {
    let figures = comparison
        .rows
        .iter()
        .flat_map(|row| row.figures.iter().map(move |figure| (row, figure)));
    let changed =
        figures.filter_map(|(row, figure)| Some((row, figure, figure.change.filter(|_| figure.verdict == verdict)?)));
    let (row, figure, change) =
        changed.max_by(|(.., one), (.., other)| one.ratio().ln().abs().total_cmp(&other.ratio().ln().abs()))?;
    let ci = change.interval(0.95)?;
    Some(format!(
        "{}: {} {:.3}× ({:.3} to {:.3})",
        name(comparison, row),
        figure.metric.title,
        change.ratio(),
        ci.low,
        ci.high
    ))
}

/// The comparison for other programs. Figures are in seconds, bytes and shares.
pub fn comparison_json(comparison: &Comparison) -> String {
    let count = |verdict| comparison.count(verdict);
    let configurations: Vec<Value> = comparison
        .shown()
        .map(|row| {
            json!({
                "workload": row.configuration.workload,
                "args": row.configuration.args,
                "collector": row.configuration.collector,
                "against": comparison.against,
                "flags": row.configuration.flags,
                "settings": row.configuration.settings,
                "verdict": row.verdict.word(),
                "note": row.note,
                "figures": comparison.figures(row).map(figure_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    let names = |list: &[Configuration]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let value = json!({
        "threshold": comparison.threshold,
        "regressed": comparison.regressed(),
        "worse": count(Verdict::Worse),
        "better": count(Verdict::Better),
        "same": count(Verdict::Same),
        "unclear": count(Verdict::Unclear),
        "judged_together": comparison.judged,
        "taken_back": comparison.taken_back,
        "configurations": configurations,
        "means": comparison.means.iter().map(rivals::json).collect::<Vec<_>>(),
        "only_base": names(&comparison.only_base),
        "only_new": names(&comparison.only_new),
        "cautions": comparison.cautions,
    });
    format!("{value:#}\n")
}

fn figure_json(figure: &Figure) -> Value {
    let change = figure.change.as_ref();
    let ci = change.and_then(|change| change.interval(0.95));
    json!({
        "figure": figure.metric.key,
        "base": change.map(|change| change.base),
        "new": change.map(|change| change.new),
        "ratio": change.map(|change| change.ratio()),
        "low": ci.map(|ci| ci.low),
        "high": ci.map(|ci| ci.high),
        "visible": change.and_then(|change| change.visible()),
        "runs": change.map(|change| change.runs),
        "verdict": figure.verdict.word(),
        "remark": figure.remark,
        "more_runs": figure.more_runs(),
    })
}

/// The rows of the table; those of figures that changed, or all that are shown.
fn rows(comparison: &Comparison, only_changed: bool) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for row in comparison.shown() {
        if only_changed && !row.verdict.is_change() {
            continue;
        }
        let mut name = name(comparison, row);
        if row.verdict == Verdict::Identical {
            rows.push(short_row(name, "all", row.verdict.word()));
            continue;
        }
        if row.note.is_some() {
            let verdict = row.outcome.map_or("", Verdict::word);
            rows.push(short_row(std::mem::take(&mut name), "outcome (below)", verdict));
        }
        let shown = |figure: &&Figure| !only_changed || figure.verdict.is_change();
        for figure in comparison.figures(row).filter(shown) {
            rows.push(figure_cells(std::mem::take(&mut name), figure, comparison.threshold));
        }
    }
    rows
}

/// The configuration; of rivals, both collectors: `gcbench, copying over two-space A=1m`; or both
/// builds: `gcbench, copying build=new over old`.
fn name(comparison: &Comparison, row: &Row) -> String {
    rivals::named(comparison, &row.configuration)
}

fn short_row(name: String, figure: &str, verdict: &str) -> Vec<String> {
    let mut cells = vec![name, figure.to_owned()];
    cells.resize(HEADER.len() - 1, String::new());
    cells.push(verdict.to_owned());
    cells
}

fn figure_cells(name: String, figure: &Figure, threshold: f64) -> Vec<String> {
    let unit = figure.metric.unit;
    let change = figure.change.as_ref();
    let text = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), |value| unit.text(value));
    let interval = match change.map(|change| change.interval(0.95)) {
        Some(Some(ci)) => format!("{:.3} to {:.3}", ci.low, ci.high),
        Some(None) => "too few runs".to_owned(),
        None => ABSENT.to_owned(),
    };
    let verdict = match (figure.verdict, &figure.remark, change.and_then(Change::visible)) {
        (verdict, Some(remark), _) => format!("{verdict} ({remark})"),
        (verdict @ Verdict::Unclear, None, Some(visible)) => {
            let decide = match figure.more_runs() {
                Some(more) => format!("{} would decide", counted(more, "more run")),
                None => format!("more than {MOST_RUNS} runs would decide"),
            };
            format!("{verdict} (would see {}; {decide})", percent(visible))
        }
        (Verdict::Same, None, Some(_)) => format!("no change at ±{}", plain_percent(threshold)),
        (verdict, ..) => verdict.to_string(),
    };
    vec![
        name,
        figure.metric.heading(),
        text(change.map(|change| change.base)),
        text(change.map(|change| change.new)),
        change.map_or_else(|| ABSENT.to_owned(), |change| format!("{:.3}", change.ratio())),
        interval,
        verdict,
    ]
}

/// The notes on outcomes, and the configurations that one folder lacks.
fn remarks(comparison: &Comparison) -> Vec<String> {
    let note = |row: &Row| Some(format!("{}: {}", name(comparison, row), row.note.as_ref()?));
    let mut lines: Vec<String> = comparison.shown().filter_map(note).collect();
    let places = match comparison.against {
        None => ["only in the base", "only in the new one"],
        Some(_) => ["without a partner"; 2],
    };
    for (place, list) in places.into_iter().zip([&comparison.only_base, &comparison.only_new]) {
        lines.extend(list.iter().map(|configuration| format!("{place}: {configuration}")));
    }
    lines
}

/// The counts of figures and of configurations.
fn summary(comparison: &Comparison) -> Vec<String> {
    let all = comparison.rows.len();
    if all > 0 && comparison.configurations(Verdict::Identical) == all {
        return vec![format!(
            "identical runs: both folders hold the same runs of {}",
            counted(all, "configuration")
        )];
    }
    let count = |verdict| comparison.count(verdict);
    let mut figures = format!(
        "figures: {} better, {} worse, {} same, {} unclear",
        count(Verdict::Better),
        count(Verdict::Worse),
        count(Verdict::Same),
        count(Verdict::Unclear)
    );
    if let Some((median, most, runs)) = comparison.visible() {
        let range = if percent(median) == percent(most) {
            percent(median)
        } else {
            format!("{} (median; the noisiest: {})", percent(median), percent(most))
        };
        let _ = write!(
            figures,
            "; of the unclear ones only changes of {range} and more would have been seen with {} of each",
            counted(runs, "run")
        );
    }
    if let Some((half, all, count)) = comparison.more_runs() {
        let half = if half < all {
            format!(", {half} half of these")
        } else {
            String::new()
        };
        let _ = write!(
            figures,
            "; {} of each would decide {count} of them{half}",
            counted(all, "more run")
        );
    }
    let of = |verdict| comparison.configurations(verdict);
    let identical = match of(Verdict::Identical) {
        0 => String::new(),
        identical => format!(", {identical} identical"),
    };
    let (worse, better) = (of(Verdict::Worse), of(Verdict::Better));
    let changes = match comparison.against {
        None => format!("{}, {}", counted(worse, "regression"), counted(better, "improvement")),
        Some(_) => format!("{worse} worse, {better} better"),
    };
    let configurations = format!(
        "{}: {changes}, {} same{identical}, {} unclear (threshold {})",
        counted(all, "configuration"),
        of(Verdict::Same),
        of(Verdict::Unclear),
        plain_percent(comparison.threshold),
    );
    let mut lines = vec![figures, configurations];
    if comparison.judged > 1 && count(Verdict::Worse) + count(Verdict::Better) + comparison.taken_back > 0 {
        let mut line = format!(
            "{} figures were judged together: at most {} of those called changed are expected to be chance (Benjamini \
             and Hochberg)",
            comparison.judged,
            plain_percent(FALSE_SHARE)
        );
        if comparison.taken_back > 0 {
            let _ = write!(
                line,
                "; {} would be called changed by {}, and may be chance among so many",
                counted(comparison.taken_back, "more figure"),
                if comparison.taken_back == 1 {
                    "itself"
                } else {
                    "themselves"
                }
            );
        }
        lines.push(line);
    }
    lines
}

/// A share in percent, with as many decimals as it has, up to two.
fn plain_percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 1e2)
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p >= 1000.0 => "more than 1000 %".to_owned(),
        p if p >= 10.0 => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}
