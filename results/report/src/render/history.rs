//! A history as text, as Markdown and as JSON: the answer, the changes, the last folder, and the
//! figures of each folder.

use super::github::{Comment, Rows, plain};
use super::text_table::TextTable;
use crate::analysis::history::{Folder, History, HistoryRow, Last, Order, Series};
use crate::analysis::verdict::Verdict;
use crate::format::{ABSENT, counted};
use crate::inference::{Change, FALSE_SHARE, POINTS_FOR_CHANGES};
use serde_json::{Value, json};

const FOLDERS: [&str; 5] = ["number", "started", "commit", "folder", "good runs"];

const CHANGES: [&str; 8] = [
    "configuration",
    "figure",
    "from folder",
    "before",
    "after",
    "after/before",
    "95 % interval",
    "change",
];

const LAST: [&str; 7] = [
    "configuration",
    "figure",
    "before",
    "last",
    "last/before",
    "95 % interval",
    "verdict",
];

/// The history as tables, with the answer at the end.
pub fn history(history: &History) -> String {
    let mut text = String::new();
    let mut line = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    line(&order(history));
    line(&table(&FOLDERS, 5, folders(history)));
    for caution in &history.cautions {
        line(&format!("caution: {caution}"));
    }
    for row in history.shown() {
        line(&format!("\n{}", row.configuration));
        let (head, rows) = figures(history, row);
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        line(&table(&head, 1, rows));
    }
    let changed = changes(history);
    if !changed.is_empty() {
        line("\nchanges");
        line(&table(&CHANGES, 3, changed));
    }
    let last = last(history, history.only_changed);
    if !last.is_empty() {
        line("\nthe last folder, and the folders since the last change before it");
        line(&table(&LAST, 2, last));
    }
    for words in notes(history).iter().chain([&answer(history)]) {
        line(words);
    }
    text
}

fn table(head: &[&str], right_from: usize, rows: Vec<Vec<String>>) -> String {
    let mut table = TextTable::new(head.iter().map(|title| (*title).to_owned()).collect(), right_from);
    rows.into_iter().for_each(|row| table.push(row));
    table.text()
}

/// The history for a comment on GitHub: the answer, the figures that changed, and parts to open.
pub fn history_markdown(history: &History) -> String {
    let mut comment = Comment::default();
    comment.paragraph(&format!("**{}**", plain(&answer(history))));
    comment.list(&history.cautions);
    let table = |head, left_from, rows| Rows {
        head,
        right_from: 2,
        left_from,
        rows,
    };
    comment.table(&table(&LAST, 6, last(history, true)));
    let changed = changes(history);
    if !changed.is_empty() {
        comment.paragraph("Changes in the history:");
        comment.table(&table(&CHANGES, 7, changed));
    }
    comment.list(&notes(history));
    comment.details(&order(history), |inside| {
        inside.table(&Rows {
            head: &FOLDERS,
            right_from: 4,
            left_from: 5,
            rows: folders(history),
        });
    });
    comment.details("All figures of the last folder", |inside| {
        inside.table(&table(&LAST, 6, last(history, history.only_changed)));
    });
    for row in history.shown() {
        let (head, rows) = figures(history, row);
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        comment.details(&row.configuration.to_string(), |inside| {
            inside.table(&Rows {
                right_from: 1,
                left_from: head.len(),
                head: &head,
                rows,
            });
        });
    }
    comment.text()
}

/// The history for other programs. Figures are in seconds, bytes and shares; folders are numbered
/// from 1.
pub fn history_json(history: &History) -> String {
    let folders: Vec<Value> = history
        .folders
        .iter()
        .map(|folder| {
            json!({
                "folder": folder.path,
                "started": folder.started,
                "commit": folder.commit,
                "good_runs": folder.runs,
            })
        })
        .collect();
    let configurations: Vec<Value> = history.shown().map(row_json).collect();
    let value = json!({
        "threshold": history.threshold,
        "order": match history.order { Order::Time => "time", Order::Given => "given" },
        "regressed": history.regressed(),
        "worse": history.count(Verdict::Worse),
        "better": history.count(Verdict::Better),
        "same": history.count(Verdict::Same),
        "unclear": history.count(Verdict::Unclear),
        "judged_together": history.judged,
        "taken_back": history.taken_back,
        "folders": folders,
        "configurations": configurations,
        "cautions": history.cautions,
    });
    format!("{value:#}\n")
}

fn row_json(row: &HistoryRow) -> Value {
    let figures: Vec<Value> = row
        .series
        .iter()
        .map(|series| {
            let changes: Vec<Value> = series
                .changes
                .iter()
                .map(|step| {
                    let mut change = change_json(&step.change);
                    change["from_folder"] = json!(step.folder + 1);
                    change
                })
                .collect();
            let last = series.last.as_ref().map(|last| {
                let mut change = change_json(&last.change);
                change["verdict"] = json!(last.verdict.word());
                change["remark"] = json!(last.remark);
                change
            });
            json!({"figure": series.metric.key, "means": series.means, "changes": changes, "last": last})
        })
        .collect();
    json!({
        "workload": row.configuration.workload,
        "args": row.configuration.args,
        "collector": row.configuration.collector,
        "flags": row.configuration.flags,
        "note": row.note,
        "outcome": row.outcome.map(Verdict::word),
        "figures": figures,
    })
}

fn change_json(change: &Change) -> Value {
    let ci = change.interval(0.95);
    json!({
        "before": change.base,
        "after": change.new,
        "ratio": change.ratio(),
        "low": ci.map(|ci| ci.low),
        "high": ci.map(|ci| ci.high),
    })
}

/// `5 folders in the order of their start`.
fn order(history: &History) -> String {
    let order = match history.order {
        Order::Time => "in the order of their start",
        Order::Given => "in the order in which they were given",
    };
    format!("{} {order}", counted(history.folders.len(), "folder"))
}

fn folders(history: &History) -> Vec<Vec<String>> {
    let known = |text: &str| {
        if text.is_empty() {
            ABSENT.to_owned()
        } else {
            text.to_owned()
        }
    };
    let row = |(number, folder): (usize, &Folder)| {
        vec![
            number.to_string(),
            known(&folder.started),
            known(&folder.commit),
            folder.path.clone(),
            folder.runs.to_string(),
        ]
    };
    (1..).zip(&history.folders).map(row).collect()
}

/// A folder by its number, with its commit where that is known.
fn name(history: &History, folder: usize) -> String {
    match history.folders[folder].commit.as_str() {
        "" => (folder + 1).to_string(),
        commit => format!("{} ({commit})", folder + 1),
    }
}

fn changes(history: &History) -> Vec<Vec<String>> {
    let row = |(row, series, step): (&HistoryRow, &Series, &crate::analysis::history::Step)| {
        let mut cells = vec![
            row.configuration.to_string(),
            series.metric.heading(),
            name(history, step.folder),
        ];
        cells.extend(change_cells(series, &step.change));
        cells.push(if step.is_worse() { "worse" } else { "better" }.to_owned());
        cells
    };
    history.changes().map(row).collect()
}

/// The figures of the last folder; those that changed, or all of them.
fn last(history: &History, only_changed: bool) -> Vec<Vec<String>> {
    let row = |(row, series, last): (&HistoryRow, &Series, &Last)| {
        let mut cells = vec![row.configuration.to_string(), series.metric.heading()];
        cells.extend(change_cells(series, &last.change));
        cells.push(match &last.remark {
            Some(remark) => format!("{} ({remark})", last.verdict),
            None => last.verdict.to_string(),
        });
        cells
    };
    let found = history.last();
    found
        .filter(|(_, _, last)| !only_changed || last.verdict.is_change())
        .map(row)
        .collect()
}

fn change_cells(series: &Series, change: &Change) -> [String; 4] {
    let unit = series.metric.unit;
    [
        unit.text(change.base),
        unit.text(change.new),
        format!("{:.3}", change.ratio()),
        interval(change),
    ]
}

fn interval(change: &Change) -> String {
    let ci = change.interval(0.95);
    ci.map_or("too few runs".to_owned(), |ci| {
        format!("{:.3} to {:.3}", ci.low, ci.high)
    })
}

/// A row for each folder with its figures; ▲ marks the first folder after a worsening, ▼ that
/// after an improvement.
fn figures(history: &History, row: &HistoryRow) -> (Vec<String>, Vec<Vec<String>>) {
    let head = std::iter::once("folder".to_owned()).chain(row.series.iter().map(|series| series.metric.heading()));
    let cell = |series: &Series, folder: usize| {
        let Some(mean) = series.means[folder] else {
            return ABSENT.to_owned();
        };
        let step = series.changes.iter().find(|step| step.folder == folder);
        let mark = step.map_or("", |step| if step.is_worse() { "▲ " } else { "▼ " });
        format!("{mark}{}", series.metric.unit.text(mean))
    };
    let rows = (0..history.folders.len()).map(|folder| {
        let cells = row.series.iter().map(|series| cell(series, folder));
        std::iter::once(name(history, folder)).chain(cells).collect()
    });
    (head.collect(), rows.collect())
}

/// The outcomes of the last folder that changed, and what the history cannot say.
fn notes(history: &History) -> Vec<String> {
    let note = |row: &HistoryRow| Some(format!("{}: {}", row.configuration, row.note.as_ref()?));
    let mut notes: Vec<String> = history.shown().filter_map(note).collect();
    if history.looked_at == 0 {
        notes.push(format!(
            "changes within the history are looked for from {POINTS_FOR_CHANGES} folders on"
        ));
    }
    if history.changes().next().is_some() || history.count(Verdict::Worse) + history.count(Verdict::Better) > 0 {
        notes.push(format!(
            "{} figures were judged together: at most {} of those called changed are expected to be chance (Benjamini and \
             Hochberg)",
            history.judged.max(history.looked_at),
            percent(FALSE_SHARE)
        ));
    }
    notes
}

/// The answer in one sentence or two.
fn answer(history: &History) -> String {
    let count = |verdict| history.count(verdict);
    let (worse, better) = (count(Verdict::Worse), count(Verdict::Better));
    let last = name(history, history.folders.len() - 1);
    let others = format!(
        "{better} better, {} the same and {} unclear at ±{}",
        count(Verdict::Same),
        count(Verdict::Unclear),
        percent(history.threshold)
    );
    let mut text = if worse == 0 {
        format!("The last folder, {last}, is not worse than those before it: {others}.")
    } else {
        format!(
            "The last folder, {last}, is worse than those before it in {}{}; {others}.",
            counted(worse, "figure"),
            largest(history).map_or_else(String::new, |words| format!(", most in {words}"))
        )
    };
    let (up, down) = history.changes().fold((0, 0), |(up, down), (_, _, step)| {
        if step.is_worse() {
            (up + 1, down)
        } else {
            (up, down + 1)
        }
    });
    if up + down > 0 {
        text.push_str(&format!(
            " The history has {}: {up} to the worse, {down} to the better.",
            counted(up + down, "change")
        ));
    }
    text
}

/// The largest worsening of the last folder: `gcbench, copying: total 1.100 (1.080 to 1.120)`.
fn largest(history: &History) -> Option<String> {
    let worse = history.last().filter(|(_, _, last)| last.verdict == Verdict::Worse);
    let ratio = |last: &Last| last.change.ratio();
    let (row, series, last) = worse.max_by(|(.., one), (.., other)| ratio(one).total_cmp(&ratio(other)))?;
    Some(format!(
        "{}: {} {:.3}× ({})",
        row.configuration,
        series.metric.title,
        ratio(last),
        interval(&last.change)
    ))
}

/// A share in percent, with as many decimals as it has, up to two.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 1e2)
}
