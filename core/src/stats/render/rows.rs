//! `-S`: a header, a row for each collection, a closing row. The summary follows.
//!
//! All three follow from one table, `COLUMNS`. A figure is a field of [`Collection`], or a sum of
//! such fields.

use super::super::{Collection, Cycle, Statistics};
use super::number::seconds;

/// A column of `-S`.
struct Column {
    /// Its part of the two header lines, flush right.
    heading: [&'static str; 2],
    /// Characters of the column. A blank stands between two columns.
    width: usize,
    /// The figure of a collection.
    figure: fn(&Collection) -> Figure,
    /// The figure of the closing row. That row ends before the first column without any.
    closing: Option<fn(&Statistics) -> Figure>,
}

/// A figure, by the form in which it is printed.
enum Figure {
    /// A whole number.
    Whole(u64),
    /// Nanoseconds, printed as seconds with three decimals.
    Time(u64),
    /// None: the column stays blank.
    Blank,
}

impl Figure {
    fn text(&self, width: usize) -> String {
        match self {
            Figure::Whole(number) => format!("{number:width$}"),
            Figure::Time(ns) => format!("{:width$.3}", seconds(*ns)),
            Figure::Blank => " ".repeat(width),
        }
    }
}

/// The columns of `-S`, from left to right. The generation follows them, without a heading.
const COLUMNS: [Column; 9] = [
    Column {
        heading: ["Alloc", "bytes"],
        width: 9,
        figure: |collection| Figure::Whole(collection.before.allocated.0 as u64),
        closing: Some(|stats| Figure::Whole(stats.allocated_after_last)),
    },
    Column {
        heading: ["Copied", "bytes"],
        width: 9,
        figure: |collection| Figure::Whole(collection.work.copied.0 as u64),
        closing: Some(|_| Figure::Blank),
    },
    Column {
        heading: ["Live ", "bytes"],
        width: 9,
        figure: |collection| Figure::Whole(collection.work.live.0 as u64),
        closing: Some(|_| Figure::Blank),
    },
    Column {
        heading: ["GC ", "user"],
        width: 6,
        figure: |collection| Figure::Time(collection.time.cpu_ns),
        closing: Some(|_| Figure::Time(0)),
    },
    Column {
        heading: ["GC ", "elap"],
        width: 6,
        figure: |collection| Figure::Time(collection.time.elapsed_ns),
        closing: Some(|_| Figure::Time(0)),
    },
    Column {
        heading: ["TOT ", "user"],
        width: 8,
        figure: |collection| Figure::Time(collection.time.total_cpu_ns),
        closing: None,
    },
    Column {
        heading: ["TOT ", "elap"],
        width: 8,
        figure: |collection| Figure::Time(collection.time.start_ns + collection.time.elapsed_ns),
        closing: None,
    },
    Column {
        heading: ["Page", ""],
        width: 4,
        figure: |collection| Figure::Whole(collection.time.faults),
        closing: None,
    },
    Column {
        heading: ["Flts", ""],
        width: 4,
        figure: |collection| Figure::Whole(collection.before.faults),
        closing: None,
    },
];

/// The two lines above the rows.
pub fn header() -> String {
    let line = |number: usize| {
        let headings = COLUMNS
            .iter()
            .map(|column| format!("{:>1$}", column.heading[number], column.width));
        joined(headings).trim_end().to_owned()
    };
    format!("{}\n{}\n", line(0), line(1))
}

/// The row of one collection: its figures in `COLUMNS`, and its generation. After a pause that ended
/// a concurrent cycle, GHC's line for that.
pub fn row(collection: &Collection) -> String {
    let figures = COLUMNS
        .iter()
        .map(|column| (column.figure)(collection).text(column.width));
    let mut row = format!("{}  (Gen: {:2})\n", joined(figures), collection.work.generation);
    if collection.work.cycle == Cycle::Ended && collection.before.concurrent.elapsed_ns > 0 {
        row += &format!("# sync {:6.3}\n", seconds(collection.time.elapsed_ns));
    }
    row
}

/// The row after the last collection: the bytes allocated since.
pub fn closing_row(stats: &Statistics) -> String {
    let figures = COLUMNS
        .iter()
        .map_while(|column| Some(column.closing?(stats).text(column.width)));
    format!("{}\n\n", joined(figures))
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(" ")
}
