//! The figures of a map as text.

use std::fmt::Write as _;

use gclab_core::block::BLOCK;
use gclab_core::stats::Cause;
use gclab_core::words::WORD;
use gclab_heap_traverse::map::{HeapMap, Moment, Row, Use};

use crate::heap::words::{counted, number, percent, size};

/// The most large objects and moves that are listed.
const LISTED: usize = 8;

/// The moment of a map in a line.
pub(super) fn moment(moment: &Moment) -> String {
    match &moment.marker {
        Some(name) => format!("at the marker {name}, {}", at_marker(moment)),
        None => format!("as collection {} left it, {}", moment.collection, at_collection(moment)),
    }
}

/// The heading of a map on the page.
pub(super) fn heading(moment: &Moment) -> String {
    match &moment.marker {
        Some(name) => format!("Marker {name}, {}", at_marker(moment)),
        None => format!("Collection {}, {}", moment.collection, at_collection(moment)),
    }
}

fn after_start(moment: &Moment) -> String {
    format!("{:.3} s after the start", moment.time_ns as f64 / 1e9)
}

fn at_marker(moment: &Moment) -> String {
    let collections = counted(moment.collection, "collection");
    format!("{}, after {collections}", after_start(moment))
}

fn at_collection(moment: &Moment) -> String {
    format!(
        "{}: generation {}{}{}",
        after_start(moment),
        moment.generation.unwrap_or_default(),
        if moment.major { ", major" } else { "" },
        moment.cause.map_or("", caused)
    )
}

/// The cause of a collection, as the last words about it.
fn caused(cause: Cause) -> &'static str {
    match cause {
        Cause::Allocation => ", caused by allocation",
        Cause::Shortage => ", caused by a shortage of memory",
        Cause::Asked(_) => ", asked for by the program",
        Cause::Stress => ", caused by -DZ",
        Cause::Idle => ", caused by idleness (-I)",
        Cause::Final => ", the collection at the end of the run",
    }
}

/// The tables below the pictures.
pub(super) fn tables(map: &HeapMap) -> String {
    let mut text = totals(map);
    large(&mut text, map);
    moves(&mut text, map);
    if let Some(at) = map.totals.damage {
        let _ = writeln!(
            text,
            "\nThe heap is damaged: no closure begins at 0x{at:x}, where one should. The rest of its region is not counted; -DS says more."
        );
    }
    text
}

fn bytes(words: u64) -> u64 {
    words * WORD as u64
}

fn totals(map: &HeapMap) -> String {
    let head = [
        "use", "runs", "blocks", "closures", "bytes", "occupied", "holes", "longest", "age", "oldest",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(map.totals.rows.iter().map(|row| cells(row, map.totals.step_names)));
    let mut text = aligned(&rows);
    let totals = &map.totals;
    if let Some(name) = totals.units_name {
        let sum = |figure: fn(&Row) -> u64| number(totals.rows.iter().map(figure).sum::<u64>());
        let (all, free) = (sum(|row| row.units), sum(|row| row.free_units));
        let _ = writeln!(text, "{name}: {all}, of which free: {free}");
    }
    let _ = writeln!(
        text,
        "megablocks: {}; blocks in use: {}; live: {}, of which large: {}; slop: {}; large objects: {}",
        number(totals.megablocks),
        number(totals.allocated),
        size(bytes(totals.live)),
        size(bytes(totals.live_large)),
        size(bytes(totals.slop)),
        number(totals.large_objects),
    );
    text
}

fn cells(row: &Row, step_names: &[&str]) -> Vec<String> {
    let mut cells = vec![row.usage.name(step_names), number(row.runs), number(row.blocks)];
    if row.usage.is_allocated() {
        let room = row.blocks * BLOCK.0 as u64;
        cells.extend([
            number(row.closures),
            size(bytes(row.words)),
            format!("{:.1} %", percent(bytes(row.words), room)),
            number(row.holes),
            size(bytes(row.longest_hole)),
            row.ages.mean().map_or(String::new(), |mean| format!("{mean:.1}")),
            row.ages.mean().map_or(String::new(), |_| number(row.ages.oldest)),
        ]);
    }
    cells
}

/// Columns: the first to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .map(|row| cell(row, column).chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = format!("{:<1$}", cell(row, 0), widths[0]);
        for (column, width) in widths.iter().enumerate().skip(1) {
            let _ = write!(line, "  {:>width$}", cell(row, column));
        }
        text += line.trim_end();
        text += "\n";
    }
    text
}

fn large(text: &mut String, map: &HeapMap) {
    if map.large.is_empty() {
        return;
    }
    *text += "\nLarge objects, largest first\n";
    for object in map.large.iter().take(LISTED) {
        let age = object.age.map_or(String::new(), |age| {
            format!(", survived {}", counted(age, "collection"))
        });
        let name = Use::Large(object.step).name(map.totals.step_names);
        let step = name.strip_prefix("large").unwrap_or_default();
        let _ = writeln!(
            text,
            "  {:012x} {:>8} in {}: {}{step}{age}",
            object.address,
            size(bytes(object.words)),
            counted(object.blocks, "block"),
            object.name,
        );
    }
    more(text, map.totals.large_objects.saturating_sub(LISTED as u64));
}

fn moves(text: &mut String, map: &HeapMap) {
    let totals = &map.totals;
    if totals.moved_closures == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "\nMoved by the collection: {}, {}",
        counted(totals.moved_closures, "closure"),
        size(bytes(totals.moved))
    );
    for (from, to, words) in &totals.flows {
        let _ = writeln!(
            text,
            "  {:>8} from {} to {}",
            size(bytes(*words)),
            from.name(totals.step_names),
            to.name(totals.step_names)
        );
    }
    if map.moves.is_empty() {
        return;
    }
    *text += "Moves between tiles, largest first\n";
    for a_move in map.moves.iter().take(LISTED) {
        let at = |tile: u32| map.base + tile as usize * map.tile_bytes();
        let _ = writeln!(
            text,
            "  {:>8} in {} from {:012x} to {:012x}",
            size(bytes(a_move.words)),
            counted(a_move.closures, "closure"),
            at(a_move.from),
            at(a_move.to)
        );
    }
    more(text, map.moves.len().saturating_sub(LISTED) as u64);
}

fn more(text: &mut String, rest: u64) {
    if rest > 0 {
        let _ = writeln!(text, "  and {} more", number(rest));
    }
}
