//! The maps of a recording as JSON for the page, mostly lists of whole numbers. `model.js` reads
//! it.
//!
//! Each frame has its tiles as columns. In a column a negative number -k stands for k more of the
//! number before it. The number of a use is 0 for returned, 1 for free, and 2 and more for blocks
//! in use: 2 + 2 · step, and 1 more for a large object. A move is four numbers: the tiles, the
//! closures and the words.

use gclab_core::block::BLOCK;
use gclab_heap_traverse::map::{HeapMap, Recording, Row, Tile, Use};
use serde_json::{Map, Value, json};

use super::table::heading;

/// The most moves of a frame on the page.
const MOST_MOVES: usize = 600;
/// The highest step of a block.
const MOST_STEP: u8 = 15;
/// The most large objects of a frame on the page.
const MOST_LARGE: usize = 30;

/// The data of the page. They can stand within a `<script>`.
pub(super) fn json(recording: &Recording) -> String {
    let first = recording.frames.first();
    let open = recording.map.as_ref().and_then(|map| {
        let mut frames = recording.frames.iter();
        frames.position(|frame| frame.moment == map.moment)
    });
    let data = json!({
        "block": BLOCK.0,
        "tileBlocks": first.map_or(1, |frame| frame.tile_blocks),
        "base": first.map_or(0, |frame| frame.base),
        "open": open.unwrap_or(recording.frames.len().saturating_sub(1)),
        "useNames": use_names(first.map_or(&[], |frame| frame.totals.step_names)),
        "frames": recording.frames.iter().map(frame).collect::<Vec<_>>(),
    });
    // Markup cannot end the script early.
    data.to_string().replace('<', "\\u003c")
}

fn frame(map: &HeapMap) -> Value {
    let large = map.large.iter().take(MOST_LARGE);
    let totals = &map.totals;
    let names = totals.step_names;
    json!({
        "moment": map.moment,
        "title": heading(&map.moment),
        "tiles": columns(&map.tiles),
        "large": large.map(|object| json!([object.address, object.words, object.name, object.step, object.age])).collect::<Vec<_>>(),
        "moves": map.moves.iter().take(MOST_MOVES).flat_map(|a_move| {
            [u64::from(a_move.from), u64::from(a_move.to), a_move.closures, a_move.words]
        }).collect::<Vec<_>>(),
        "allMoves": map.moves.len(),
        "flows": totals.flows.iter().map(|(from, to, words)| json!([from.name(names), to.name(names), words])).collect::<Vec<_>>(),
        "rows": totals.rows.iter().map(|each| row(each, names)).collect::<Vec<_>>(),
        "units": totals.units_name,
        "megablocks": totals.megablocks,
        "allocated": totals.allocated,
        "live": totals.live,
        "liveLarge": totals.live_large,
        "slop": totals.slop,
        "largeObjects": totals.large_objects,
        "moved": [totals.moved_closures, totals.moved],
    })
}

/// The names of all uses, in the order of their numbers.
fn use_names(step_names: &[&str]) -> Vec<String> {
    let uses = (0..=MOST_STEP).flat_map(|step| [Use::Small(step), Use::Large(step)]);
    let all = [Use::Returned, Use::Free].into_iter().chain(uses);
    all.map(|usage| usage.name(step_names)).collect()
}

fn row(row: &Row, step_names: &[&str]) -> Value {
    let age = row.ages.mean();
    json!([
        code(row.usage),
        row.usage.name(step_names),
        row.runs,
        row.blocks,
        row.closures,
        row.words,
        row.holes,
        row.longest_hole,
        age,
        row.ages.oldest
    ])
}

fn columns(tiles: &[Tile]) -> Value {
    let mut columns = Map::new();
    let mut add = |name: &str, figure: &dyn Fn(&Tile) -> u64| {
        columns.insert(name.to_owned(), column(tiles.iter().map(figure)).into());
    };
    add("use", &|tile| code(tile.usage));
    add("allocated", &|tile| u64::from(tile.allocated));
    add("words", &|tile| tile.words);
    add("closures", &|tile| tile.closures);
    add("holes", &|tile| tile.holes);
    add("longest", &|tile| tile.longest_hole);
    add("units", &|tile| tile.units);
    add("freeUnits", &|tile| tile.free_units);
    add("youngest", &|tile| tile.ages.youngest);
    add("oldest", &|tile| tile.ages.oldest);
    // Tenths are enough for a mean.
    add("age", &|tile| tile.ages.mean().map_or(0, |mean| (10.0 * mean) as u64));
    Value::Object(columns)
}

/// Numbers, with a negative one for repetitions.
fn column(numbers: impl Iterator<Item = u64>) -> Vec<i64> {
    let mut column: Vec<i64> = Vec::new();
    let mut before = None;
    for number in numbers {
        let number = number as i64;
        match column.last_mut() {
            Some(last) if before == Some(number) && *last < 0 => *last -= 1,
            Some(_) if before == Some(number) => column.push(-1),
            _ => column.push(number),
        }
        before = Some(number);
    }
    column
}

fn code(usage: Use) -> u64 {
    match usage {
        Use::Returned => 0,
        Use::Free => 1,
        Use::Small(step) => 2 + 2 * u64::from(step),
        Use::Large(step) => 3 + 2 * u64::from(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_one_negative_number() {
        assert_eq!(column([7, 7, 7, 0, 0, 5, 7].into_iter()), [7, -2, 0, -1, 5, 7]);
        assert_eq!(column(std::iter::empty()), [0; 0]);
        let names = use_names(&["", "cells"]);
        let named =
            [Use::Free, Use::Small(1), Use::Large(1), Use::Small(2)].map(|usage| names[code(usage) as usize].as_str());
        assert_eq!(named, ["free", "cells", "large", "generation 1"]);
        assert_eq!([Use::Small(0), Use::Large(0), Use::Small(2)].map(code), [2, 3, 6]);
    }
}
