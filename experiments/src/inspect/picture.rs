//! A map as a picture of letters: one for each tile.

use std::fmt::Write as _;

use clap::ValueEnum;
use gclab_core::block::BLOCK;
use gclab_core::words::WORD;
use gclab_heap_traverse::map::{HeapMap, Tile, Use};

/// Letters in a row.
const ROW: usize = 64;
/// The most rows of a picture.
const MOST_ROWS: usize = 64;

/// The property of tiles that a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shown {
    /// The step, large objects, free blocks
    Use,
    /// The share of closures in the blocks, in tenths
    Occupancy,
    /// The number of collections that closures have survived, on average
    Age,
    /// The number of holes
    Holes,
    /// The share of free lines or cells, in tenths
    Free,
}

/// The picture of a map, with its legend.
pub(super) fn picture(map: &HeapMap, shown: Shown) -> String {
    let mut map = map.clone();
    let most = MOST_ROWS * ROW;
    let factor = map.tiles.len().div_ceil(most).next_power_of_two();
    map.coarsen(map.tile_blocks * factor as u32);
    let title = match shown {
        Shown::Use => "Use",
        Shown::Occupancy => "Occupancy: tenths of the blocks that are closures",
        Shown::Age => "Age: collections that the closures of a tile have survived, on average",
        Shown::Holes => "Holes: stretches without closures, in blocks in use",
        Shown::Free => match map.totals.units_name {
            Some("cells") => "Free: tenths of the cells that hold no closure",
            Some(_) => "Free: tenths of the lines that hold no word of a closure",
            None => "Free: this collector hands out neither lines nor cells",
        },
    };
    let blocks = match map.tile_blocks {
        1 => "one block".to_owned(),
        blocks => format!("{blocks} blocks"),
    };
    let mut text = format!("{title}; a character is {blocks} ({} KiB)\n", map.tile_bytes() >> 10);
    let rows: Vec<String> = map
        .tiles
        .chunks(ROW)
        .map(|row| {
            row.iter()
                .map(|tile| letter(tile, shown, map.totals.step_names))
                .collect()
        })
        .collect();
    write_rows(&mut text, &map, &rows);
    text += "  ";
    text += &legend(&map, shown);
    text += "\n";
    text
}

/// Writes the rows with their addresses. Equal rows of one letter are written once.
fn write_rows(text: &mut String, map: &HeapMap, rows: &[String]) {
    let mut at = 0;
    while at < rows.len() {
        let row = &rows[at];
        let is_plain = row.bytes().all(|letter| letter == row.as_bytes()[0]);
        let same = rows[at..].iter().take_while(|next| *next == row).count();
        let count = if is_plain { same } else { 1 };
        let address = map.base + at * ROW * map.tile_bytes();
        let times = if count > 1 {
            format!(" × {count} rows")
        } else {
            String::new()
        };
        let _ = writeln!(text, "  {address:012x} {row}{times}");
        at += count;
    }
}

fn letter(tile: &Tile, shown: Shown, step_names: &[&str]) -> char {
    match (shown, tile.usage) {
        (_, Use::Returned) => '-',
        (_, Use::Free) => '.',
        (Shown::Use, Use::Large(_)) => 'L',
        (Shown::Use, Use::Small(step)) => step_letter(step, step_names),
        (Shown::Occupancy, _) => tenth(tile.words, u64::from(tile.allocated) * (BLOCK.0 / WORD) as u64),
        (Shown::Age, _) => tile.ages.mean().map_or(' ', |mean| up_to_nine(mean as u64)),
        (Shown::Holes, _) => up_to_nine(tile.holes),
        (Shown::Free, _) if tile.units == 0 => ' ',
        (Shown::Free, _) => tenth(tile.free_units, tile.units),
    }
}

/// The first letter of the collector's own name that no step before has; among GHC's names `n` for
/// the nursery, `a` for aged, then the generation's number.
fn step_letter(step: u8, names: &[&str]) -> char {
    let mut taken = Vec::new();
    for name in names.iter().take(usize::from(step) + 1) {
        taken.push(name.chars().find(|letter| !taken.contains(letter)).unwrap_or('?'));
    }
    match step {
        _ if usize::from(step) < names.len() => taken[usize::from(step)],
        0 => 'n',
        1 => 'a',
        step => char::from_digit(u32::from(step) - 1, 36).unwrap_or('?'),
    }
}

/// Tenths, rounded down; `#` for all.
fn tenth(part: u64, whole: u64) -> char {
    match (10 * part).checked_div(whole) {
        None | Some(0) => '0',
        Some(tenths @ 1..=9) => up_to_nine(tenths),
        Some(_) => '#',
    }
}

fn up_to_nine(number: u64) -> char {
    u32::try_from(number)
        .ok()
        .and_then(|number| char::from_digit(number, 10))
        .unwrap_or('+')
}

/// The letters of the picture and their meaning.
fn legend(map: &HeapMap, shown: Shown) -> String {
    let has = |wanted: &dyn Fn(Use) -> bool| map.tiles.iter().any(|tile| wanted(tile.usage));
    let mut parts = Vec::new();
    match shown {
        Shown::Use => {
            let steps = map.totals.rows.iter().filter_map(|row| match row.usage {
                Use::Small(step) => Some(step),
                _ => None,
            });
            let names = map.totals.step_names;
            parts.extend(steps.map(|step| format!("{} {}", step_letter(step, names), Use::Small(step).name(names))));
            if has(&|usage| matches!(usage, Use::Large(_))) {
                parts.push("L large object".to_owned());
            }
        }
        Shown::Occupancy => parts.push("0 less than a tenth, 9 nine tenths, # full".to_owned()),
        Shown::Age => parts.push("0 to 9, + more, blank unknown".to_owned()),
        Shown::Holes => parts.push("0 to 9, + more".to_owned()),
        Shown::Free => parts.push("0 less than a tenth, # all, blank neither lines nor cells".to_owned()),
    }
    if has(&|usage| usage == Use::Free) {
        parts.push(". free".to_owned());
    }
    if has(&|usage| usage == Use::Returned) {
        parts.push("- returned to the system".to_owned());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_steps_and_tenths() {
        let steps: String = [0, 1, 2, 3, 11, 14].map(|step| step_letter(step, &[])).iter().collect();
        assert_eq!(steps, "na12ad");
        let own: String = [0, 2, 3]
            .map(|step| step_letter(step, &["minor heap", "", "major heap"]))
            .iter()
            .collect();
        assert_eq!(own, "ma2");
        let tenths: String = [(0, 512), (51, 512), (52, 512), (511, 512), (512, 512), (0, 0)]
            .map(|(part, whole)| tenth(part, whole))
            .iter()
            .collect();
        assert_eq!(tenths, "0019#0");
        assert_eq!([up_to_nine(9), up_to_nine(10), up_to_nine(u64::MAX)], ['9', '+', '+']);
    }
}
