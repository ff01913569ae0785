//! `gclab events diff`: two event logs side by side.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_core::stats::render::commas;
use gclab_core::stats::render::escaped;
use gclab_eventlog::{Amount, Error, Interval, Row, Setting, Side, rows, settings};
use gclab_sweep::tell;

use super::damage::{message, salvaged};
use super::log;
use super::moment::Between;
use super::summary::quoted;
use crate::common::{print, refuse};

/// Print what differs between two logs, with numbers
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// The event log of a GHC program (run it with `+RTS -l`); `-` is standard input
    a: PathBuf,
    /// The event log of another run
    b: PathBuf,
    #[command(flatten)]
    between: Between,
    /// Print one JSON object, including figures that do not differ
    #[arg(long)]
    json: bool,
    /// Skip damaged parts of the log
    #[arg(long)]
    salvage: bool,
}

pub(super) fn diff(arguments: &Arguments) -> ExitCode {
    let paths = [&arguments.a, &arguments.b];
    if paths.iter().all(|path| path.as_os_str() == "-") {
        return refuse("both logs are standard input, expected a file for one of them");
    }
    let mut sides = Vec::new();
    for path in paths {
        let side = arguments
            .between
            .interval(path)
            .and_then(|interval| side(path, interval, arguments).map_err(|error| message(&error, path)));
        match side {
            Ok(side) => sides.push(side),
            Err(wrong) => return refuse(wrong),
        }
    }
    let names = paths.map(|path| escaped(&log::name(path)));
    let [a, b] = [&sides[0], &sides[1]];
    let (settings, rows) = (settings(a, b), rows(a, b));
    let damaged = [a, b].map(|side| side.summary().damaged);
    print(&if arguments.json {
        json(&names, damaged, &settings, &rows)
    } else {
        let elapsed = [a, b].map(|side| side.summary().elapsed_ns());
        text(&names, elapsed, damaged, &settings, &rows)
    })
}

/// One log. Prints what is wrong with it if it is still usable.
fn side(path: &Path, interval: Interval, arguments: &Arguments) -> Result<Side, Error> {
    let side = if arguments.salvage {
        let mut merged = log::merged(path, true)?;
        let side = Side::of_merged_file(&mut merged, interval)?;
        if let Some(damage) = merged.damage() {
            let read = salvaged("were read");
            tell!("gclab: {damage}; {read}, and their sums are lower bounds");
        }
        side
    } else {
        Side::of_open_file(&mut log::reader(path, false)?, interval)?
    };
    if let Some(wrong) = arguments.between.beyond(side.summary().last_ns) {
        tell!("gclab: {}: {wrong}", escaped(&log::name(path)));
    }
    Ok(side)
}

/// The setting whose values are the commands.
const COMMAND: &str = "program and arguments";

/// The change in time and in the most important other figures, and whether the commands differ.
fn answer(elapsed: [u64; 2], damaged: [bool; 2], settings: &[Setting], rows: &[Row]) -> String {
    if damaged.contains(&true) {
        return "A log is damaged, so sums and maxima are lower bounds, and changes may be due to what is lost.\n\n"
            .to_owned();
    }
    let [a, b] = elapsed.map(Amount::Ns);
    if !rows.iter().any(Row::differs) && a.number() == b.number() {
        return "B equals A in every figure.\n\n".to_owned();
    }
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let mut text = String::new();
    if a.number() > 0.0 {
        let (share, more) = (b.number() / a.number() - 1.0, b.number() > a.number());
        let by = format!("{:.1} %", 100.0 * share.abs());
        let _ = match by.as_str() {
            "0.0 %" => writeln!(text, "B takes as long as A: {}.", shown(b)),
            by if more => writeln!(text, "B takes {by} longer than A: {}, not {}.", shown(b), shown(a)),
            by => writeln!(text, "B takes {by} less time than A: {}, not {}.", shown(b), shown(a)),
        };
    }
    let others = [
        ("GC", "collections (GC)"),
        ("allocated", "allocated"),
        ("largest heap", "largest heap after a collection"),
    ];
    let others = others.into_iter().filter_map(|(word, name)| {
        let change = change(row(name)?);
        (!change.is_empty()).then(|| format!("{word} {change}"))
    });
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        let _ = writeln!(text, "{}.", capital(&others.join(", ")));
    }
    if settings
        .iter()
        .any(|one| one.name == COMMAND && one.values[0] != one.values[1])
    {
        text.push_str("The two ran different commands.\n");
    }
    text.push('\n');
    text
}

/// The settings and figures that differ.
fn text(names: &[String; 2], elapsed: [u64; 2], damaged: [bool; 2], settings: &[Setting], rows: &[Row]) -> String {
    let mut text = answer(elapsed, damaged, settings, rows);
    for ((letter, name), damaged) in ["A", "B"].into_iter().zip(names).zip(damaged) {
        let bounds = if damaged {
            " (damaged: > is at least, ~ is near)"
        } else {
            ""
        };
        let _ = writeln!(text, "{letter}  {name}{bounds}");
    }
    let different: Vec<&Setting> = settings.iter().filter(|one| one.values[0] != one.values[1]).collect();
    text.push_str("\nSettings\n");
    if different.is_empty() {
        text.push_str("  are the same\n");
    }
    for setting in different {
        let _ = writeln!(text, "  {}", setting.name);
        for (letter, value) in ["A", "B"].into_iter().zip(&setting.values) {
            let value = value.as_deref().map_or("?".to_owned(), escaped);
            let _ = writeln!(text, "    {letter}  {value}");
        }
    }
    let mut group = "";
    for row in rows.iter().filter(|row| row.differs()) {
        if row.group != group {
            group = &row.group;
            let _ = writeln!(text, "\n{:<34}{:>16}{:>16}{:>14}", capital(group), "A", "B", "change");
        }
        let [a, b] = [0, 1].map(|place| {
            let mark = if damaged[place] { row.mark_if_damaged() } else { "" };
            row.amounts[place].map_or("?".to_owned(), |amount| format!("{mark}{}", shown(amount)))
        });
        let (name, change) = (escaped(&row.name), change(row));
        let line = format!("  {name:<32}{a:>16}{b:>16}{change:>14}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let same = rows.iter().filter(|row| !row.differs()).count();
    let _ = writeln!(
        text,
        "\n{same} of {} figures are equal. (Two runs of one program differ by chance, too.)",
        rows.len()
    );
    text
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// An amount with its unit.
fn shown(amount: Amount) -> String {
    match amount {
        Amount::Count(number) => commas(number),
        Amount::Bytes(bytes) => format!("{} B", commas(bytes)),
        Amount::Ns(ns) => format!("{:.3} ms", ns as f64 / 1e6),
        Amount::Share(share) => format!("{:.1} %", 100.0 * share),
    }
}

/// The change of a figure relative to the first amount; in points for a share, and in the figure's
/// unit if the first amount is 0. Empty if it rounds to nothing.
fn change(row: &Row) -> String {
    let [Some(a), Some(b)] = row.amounts else {
        return String::new();
    };
    let falls = b.number() < a.number();
    match (a, row.ratio()) {
        (Amount::Share(_), _) => signed(falls, &format!("{:.1} points", 100.0 * (b.number() - a.number()).abs())),
        (_, Some(ratio @ 10.0..)) => format!("{ratio:.0} times"),
        (_, Some(ratio)) => signed(falls, &format!("{:.1} %", 100.0 * (ratio - 1.0).abs())),
        (_, None) => signed(falls, &shown(b)),
    }
}

/// A change with its sign; empty if it rounds to zero.
fn signed(falls: bool, change: &str) -> String {
    if change.contains(|digit| matches!(digit, '1'..='9')) {
        format!("{}{change}", if falls { '-' } else { '+' })
    } else {
        String::new()
    }
}

/// All settings and figures.
fn json(names: &[String; 2], damaged: [bool; 2], settings: &[Setting], rows: &[Row]) -> String {
    let text = |value: &Option<String>| value.as_deref().map_or("null".to_owned(), quoted);
    let settings = settings.iter().map(|setting| {
        let [a, b] = setting.values.each_ref().map(text);
        format!("    {{\"name\": {}, \"a\": {a}, \"b\": {b}}}", quoted(setting.name))
    });
    let number = |amount: Amount| match amount {
        Amount::Count(number) | Amount::Bytes(number) | Amount::Ns(number) => number.to_string(),
        Amount::Share(share) => share.to_string(),
    };
    let figures = rows.iter().map(|row| {
        let unit = row.amounts.iter().flatten().next().map_or("", |amount| amount.unit());
        let [a, b] = row.amounts.map(|amount| amount.map_or("null".to_owned(), number));
        let ratio = row.ratio().map_or("null".to_owned(), |ratio| ratio.to_string());
        format!(
            "    {{\"group\": {}, \"name\": {}, \"unit\": \"{unit}\", \"a\": {a}, \"b\": {b}, \"ratio\": {ratio}}}",
            quoted(&row.group),
            quoted(&row.name)
        )
    });
    let side = |place: usize| {
        let name = quoted(&names[place]);
        format!("{{\"file\": {name}, \"lower_bounds\": {}}}", damaged[place])
    };
    let (a, b) = (side(0), side(1));
    format!(
        "{{\n  \"a\": {a},\n  \"b\": {b},\n  \"settings\": [\n{}\n  ],\n  \"figures\": [\n{}\n  ]\n}}\n",
        settings.collect::<Vec<_>>().join(",\n"),
        figures.collect::<Vec<_>>().join(",\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without collections, no event tells the end of the run.
    #[test]
    fn logs_without_collections_are_compared_by_their_length() {
        let text = answer([2_000_000, 3_000_000], [false; 2], &[], &[]);
        assert_eq!(text, "B takes 50.0 % longer than A: 3.000 ms, not 2.000 ms.\n\n");
        assert_eq!(answer([7, 7], [false; 2], &[], &[]), "B equals A in every figure.\n\n");
    }

    #[test]
    fn a_change_that_rounds_to_zero_is_not_a_change() {
        let changed = |a: Amount, b: Amount| {
            change(&Row {
                group: String::new(),
                name: String::new(),
                amounts: [Some(a), Some(b)],
            })
        };
        let (a, b) = (Amount::Ns(1_000_000_000), Amount::Ns(999_999_900));
        assert_eq!((changed(a, b), changed(b, a)), (String::new(), String::new()));
        assert_eq!(changed(Amount::Count(200), Amount::Count(190)), "-5.0 %");
        assert_eq!(changed(Amount::Count(190), Amount::Count(200)), "+5.3 %");
        assert_eq!(changed(Amount::Count(2), Amount::Count(200)), "100 times");
        assert_eq!(changed(Amount::Count(0), Amount::Count(7)), "+7");
        assert_eq!(changed(Amount::Share(0.5), Amount::Share(0.25)), "-25.0 points");
        assert_eq!(changed(Amount::Share(0.5), Amount::Share(0.499_99)), "");
    }
}
