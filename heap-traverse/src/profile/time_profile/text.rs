//! The layout of GHC's report, to the byte.

use gclab_core::stats::render::commas;
use std::fmt::{self, Write};
use std::time::Duration;

/// Texts of the head of a report.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// The date, as `Fri Nov 20 23:15 2026`.
    pub date: &'a str,
    /// The command of the run.
    pub job: &'a str,
}

/// Costs that add up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) ticks: u64,
    pub(super) bytes: u64,
}

/// The columns of a name: label, module and source.
pub(super) type Name = [String; 3];

/// A cost centre.
#[derive(Debug)]
pub(super) struct CentreRow {
    pub(super) name: Name,
    pub(super) own: Sum,
}

/// A stack of cost centres.
#[derive(Debug)]
pub(super) struct StackRow {
    /// Indented by a blank for each stack above it.
    pub(super) name: Name,
    pub(super) number: u32,
    pub(super) entries: u64,
    pub(super) own: Sum,
    /// Including the costs of the stacks below it.
    pub(super) inherited: Sum,
}

impl Sum {
    pub(super) fn add(&mut self, other: Sum) {
        self.ticks += other.ticks;
        self.bytes += other.bytes;
    }

    /// The share of `all`, in percent, of ticks and bytes.
    fn percent(self, all: Sum) -> (f64, f64) {
        let share = |part: u64, whole: u64| {
            if whole == 0 {
                0.0
            } else {
                part as f64 * 100.0 / whole as f64
            }
        };
        (share(self.ticks, all.ticks), share(self.bytes, all.bytes))
    }
}

const HEADS: [&str; 3] = ["COST CENTRE", "MODULE", "SRC"];
/// Minimum widths of the columns for stacks: GHC's.
const LEAST: [usize; 3] = [11, 7, 3];
/// Minimum widths for cost centres. GHC makes room for the module of one that it does not show,
/// `PROFILING`.
const LEAST_OF_CENTRES: [usize; 3] = [11, 9, 3];

fn widths<'a>(least: [usize; 3], names: impl Iterator<Item = &'a Name>) -> [usize; 3] {
    names.fold(least, |widths, name| {
        std::array::from_fn(|column| widths[column].max(name[column].chars().count()))
    })
}

/// The three columns of a name.
fn columns(name: &Name, widths: [usize; 3]) -> String {
    let [label, module, src] = name;
    let [a, b, c] = widths;
    format!("{label:a$} {module:b$} {src:c$}")
}

/// The two columns of `-P`.
fn details(verbose: bool, ticks: impl fmt::Display, bytes: impl fmt::Display) -> String {
    if verbose {
        format!("  {ticks:>5} {bytes:>9}")
    } else {
        String::new()
    }
}

/// The lines above the tables.
pub(super) fn head(head: Head<'_>, tick: Duration, capabilities: u32, all: Sum) -> String {
    let seconds = all.ticks as f64 * tick.as_secs_f64() / f64::from(capabilities.max(1));
    let plural = if capabilities == 1 { "" } else { "s" };
    format!(
        "\t{} Time and Allocation Profiling Report  (Final)\n\n\t   {}\n\n\
         \ttotal time  = {seconds:11.2} secs   ({} ticks @ {} us, {capabilities} processor{plural})\n\
         \ttotal alloc = {:>11} bytes  (excludes profiling overheads)\n\n",
        head.date,
        head.job,
        all.ticks,
        tick.as_micros(),
        commas(all.bytes)
    )
}

/// The table of cost centres.
pub(super) fn centres(rows: &[CentreRow], all: Sum, verbose: bool) -> String {
    let widths = widths(LEAST_OF_CENTRES, rows.iter().map(|row| &row.name));
    let heads = columns(&HEADS.map(str::to_owned), widths);
    let mut text = format!(
        "{heads} {:>6} {:>6}{}\n\n",
        "%time",
        "%alloc",
        details(verbose, "ticks", "bytes")
    );
    for CentreRow { name, own } in rows {
        let (time, alloc) = own.percent(all);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} {time:6.1} {alloc:6.1}{}",
            columns(name, widths),
            details(verbose, own.ticks, own.bytes)
        );
    }
    text + "\n\n"
}

/// The tree of stacks.
pub(super) fn tree(rows: &[StackRow], all: Sum, verbose: bool) -> String {
    let widths = widths(LEAST, rows.iter().map(|row| &row.name));
    let longest = rows.iter().map(|row| row.number.to_string().len()).max();
    let number = longest.unwrap_or(0).max("no.".len());
    // The columns of the name, and those of the number and the entries.
    let before = widths.iter().sum::<usize>() + 2 + 1 + number + 12;
    let heads = columns(&HEADS.map(str::to_owned), widths);
    let mut text = format!(
        "{:before$}    individual      inherited\n{heads} {:number$} {:>11}  {:>5} {:>6}   {:>5} {:>6}{}\n\n",
        "",
        "no.",
        "entries",
        "%time",
        "%alloc",
        "%time",
        "%alloc",
        details(verbose, "ticks", "bytes")
    );
    for row in rows {
        let ((time, alloc), (all_time, all_alloc)) = (row.own.percent(all), row.inherited.percent(all));
        let _ = writeln!(
            text,
            "{} {:>number$} {:>11}  {time:5.1}  {alloc:5.1}   {all_time:5.1}  {all_alloc:5.1}{}",
            columns(&row.name, widths),
            row.number,
            row.entries,
            details(verbose, row.own.ticks, row.own.bytes)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The report of a Haskell program, by GHC 9.0.2 (`-p -V0.005`).
    const GHC: &str = include_str!("ghc.prof");
    /// GHC prints shares to a thousandth.
    const ALL: Sum = Sum {
        ticks: 1000,
        bytes: 1000,
    };

    /// The figures whose shares `row` shows, in the columns that begin at `time` and `alloc`.
    fn sum(row: &str, time: usize, alloc: usize) -> Sum {
        let figure = |at: usize| -> u64 {
            let share: f64 = row[at..at + 5].trim().parse().expect("a share");
            (share * 10.0).round() as u64
        };
        Sum {
            ticks: figure(time),
            bytes: figure(alloc),
        }
    }

    fn rows(first: &str) -> Vec<&'static str> {
        let lines = GHC.lines().skip_while(|line| !line.starts_with(first));
        lines.take_while(|line| !line.is_empty()).collect()
    }

    #[test]
    fn the_report_has_ghcs_layout_to_the_byte() {
        let name = |row: &str, ends: [usize; 2]| -> Name {
            [&row[..ends[0]], &row[ends[0] + 1..ends[1]], &row[ends[1] + 1..]].map(|text| text.trim_end().to_owned())
        };
        let text = head(
            Head {
                date: "Fri Nov 20 23:15 2026",
                job: "retain.p +RTS -p -hc -i0.02 -V0.005 -l -s -olretain-p-hc.eventlog -RTS 12000",
            },
            Duration::from_millis(5),
            1,
            Sum {
                ticks: 18,
                bytes: 14_020_088,
            },
        );
        let centre = |row: &&str| CentreRow {
            name: name(&row[..48], [11, 21]),
            own: sum(row, 50, 57),
        };
        let centre_rows: Vec<_> = rows("churn ").iter().map(centre).collect();
        let stack = |row: &&str| StackRow {
            name: name(&row[..62], [13, 35]),
            number: row[63..66].parse().expect("a number"),
            entries: row[67..78].trim().parse().expect("a count"),
            own: sum(row, 80, 87),
            inherited: sum(row, 95, 102),
        };
        let stack_rows: Vec<_> = rows("MAIN ").iter().map(stack).collect();
        assert_eq!(
            text + &centres(&centre_rows, ALL, false) + &tree(&stack_rows, ALL, false),
            GHC
        );
    }
}
