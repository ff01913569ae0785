//! Tables as compact data, from which the page's script makes rows.
//!
//! A column of figures is one text, its values separated by blanks. Another column has each
//! different cell once, and for each row the number of its cell: most columns have few different
//! ones.

use crate::document::{Cell, Runs, Table, Text};
use crate::format::{ABSENT, median_then_range};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A table as JSON; the table of all runs has the configuration and the command of each run, too.
pub(super) fn json(table: &Table, runs: Option<&Runs>) -> String {
    let columns = table.columns.iter().enumerate().map(|(at, column)| {
        let mut data = cells(table.rows.iter().map(|row| shown(&row[at])));
        data["title"] = column.heading().into();
        data["right"] = column.figures.into();
        if table.rows.iter().any(|row| matches!(row[at], Cell::Output(..))) {
            data["output"] = true.into();
        }
        data
    });
    let mut all = json!({ "rows": table.rows.len(), "columns": columns.collect::<Vec<_>>() });
    if let Some(runs) = runs {
        let words = |texts: &[String]| {
            let text = |text: &String| Text {
                text: text.clone(),
                ..Text::default()
            };
            cells(texts.iter().map(text))
        };
        all["cells"] = words(&runs.cells);
        all["commands"] = words(&runs.commands);
    }
    all.to_string()
}

/// The cells of a column.
fn cells(all: impl Iterator<Item = Text> + Clone) -> Value {
    if all.clone().all(|cell| is_figure(&cell)) {
        let texts: Vec<String> = all.map(|cell| cell.text).collect();
        return json!({ "figures": texts.join(" ") });
    }
    let mut places: HashMap<(String, String, bool), usize> = HashMap::new();
    let mut words: Vec<Value> = Vec::new();
    let mut at: Vec<String> = Vec::new();
    for cell in all {
        let (sort, strong) = (cell.sort, cell.strong);
        let key = (cell.text, cell.more, cell.failed);
        let place = *places.entry(key.clone()).or_insert_with(|| {
            words.push(match (key.1.as_str(), sort, key.2 || strong) {
                ("", None, false) => key.0.into(),
                _ => json!([key.0, key.1, sort, u8::from(key.2)]),
            });
            words.len() - 1
        });
        at.push(place.to_string());
    }
    json!({ "words": words, "at": at.join(" ") })
}

/// Whether a cell is no more than a number, or the sign of an absent one.
fn is_figure(cell: &Text) -> bool {
    let number = cell.text == ABSENT || cell.text.parse::<f64>().is_ok_and(f64::is_finite);
    number && cell.more.is_empty() && !cell.failed && !cell.strong
}

/// The text of a cell.
pub(super) fn shown(cell: &Cell) -> Text {
    let text = |text: String, more: String| Text {
        text,
        more,
        ..Text::default()
    };
    match cell {
        Cell::Text(own) => own.clone(),
        Cell::Figure(metric, Some(spread)) => {
            let (main, more) = median_then_range(metric, spread);
            Text {
                sort: Some(spread.median),
                ..text(main, more)
            }
        }
        Cell::Figure(_, None) => text(ABSENT.to_owned(), String::new()),
        Cell::Runs(ok, all, failures) => {
            let counts: Vec<String> = failures.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            let main = if failures.is_empty() {
                all.to_string()
            } else {
                format!("{ok}/{all}")
            };
            Text {
                sort: Some(*ok as f64),
                failed: !failures.is_empty(),
                ..text(main, counts.join(", "))
            }
        }
        Cell::Pairs(pairs) => {
            let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            text(pairs.join("; "), String::new())
        }
        Cell::Output(command, stderr) => text(command.clone(), stderr.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Column, Look};

    #[test]
    fn figures_are_one_text_and_words_stand_once() {
        let row = |name: &str, figure: &str| vec![Cell::text(name), Cell::text(figure)];
        let table = Table {
            look: Look::Sortable,
            columns: vec![Column::words("name"), Column::figures("figure")],
            rows: vec![row("a b", "1.50"), row("</script>", ABSENT), row("a b", "12")],
        };
        let data: Value = serde_json::from_str(&json(&table, None)).expect("JSON");
        assert_eq!(data["columns"][0]["words"], json!(["a b", "</script>"]));
        assert_eq!(data["columns"][0]["at"], "0 1 0");
        assert_eq!(data["columns"][1]["figures"], format!("1.50 {ABSENT} 12"));
        let failed = Cell::Runs(1, 3, vec![("crash", 2)]);
        assert_eq!(shown(&failed).text, "1/3");
        assert_eq!(
            cells([shown(&failed)].into_iter())["words"],
            json!([["1/3", "2 crash", 1.0, 1]])
        );
    }

    /// A cell with a median and a range sorts by the median.
    #[test]
    fn figures_sort_by_their_medians() {
        let spread = crate::inference::Spread::of([1.0, 2.0, 9.0]).expect("values");
        let cell = Cell::Figure(crate::metric::MAX_PAUSE, Some(spread));
        assert_eq!(shown(&cell).sort, Some(2.0));
    }
}
