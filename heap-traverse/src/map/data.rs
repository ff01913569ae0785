//! A map as plain data.

use super::tile::{Ages, Tile, Use};
use gclab_core::stats::Cause;
use serde::{Serialize, Serializer};

/// The moment of a map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// The number of collections so far.
    pub collection: u64,
    /// The name of the program's marker, if the map was taken at one; otherwise it shows the heap
    /// as that collection left it.
    pub marker: Option<String>,
    /// The time since the start of the run, in nanoseconds.
    pub time_ns: u64,
    /// The oldest generation that the collection collected. Absent at a marker.
    pub generation: Option<u32>,
    /// Whether the collection was a major one.
    pub major: bool,
    /// The cause of the collection. Absent at a marker.
    #[serde(serialize_with = "name_of")]
    pub cause: Option<Cause>,
}

/// A cause by its name in run records; no cause is an empty name.
fn name_of<S: Serializer>(cause: &Option<Cause>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(cause.map_or("", Cause::name))
}

/// A map of a stopped heap.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeapMap {
    /// The moment at which it was taken.
    pub moment: Moment,
    /// The address of the first block.
    pub base: usize,
    /// The number of blocks in a tile: a power of two.
    pub tile_blocks: u32,
    /// The tiles, in the order of their addresses. The last one may have fewer blocks.
    pub tiles: Vec<Tile>,
    /// The figures of the whole heap.
    pub totals: Totals,
    /// The largest large objects, largest first.
    pub large: Vec<LargeObject>,
    /// The moves of the collection, most words first; the largest ones, if there are many.
    pub moves: Vec<Move>,
}

/// The figures of a whole heap.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Totals {
    /// The number of megablocks that hold memory.
    pub megablocks: u64,
    /// The number of blocks below the top of the heap.
    pub blocks: u64,
    /// The number of blocks in allocated runs.
    pub allocated: u64,
    /// Words of closures outside the nursery: the live bytes of statistics, in words.
    pub live: u64,
    /// The part of `live` in large objects.
    pub live_large: u64,
    /// Words of blocks outside the nursery without closures: the slop of statistics, in words.
    pub slop: u64,
    /// The collector's own names for its steps, from step 0; none if they are GHC's.
    pub step_names: &'static [&'static str],
    /// The name of the units in which the collector hands out memory: lines or cells. Absent if it
    /// has none.
    pub units_name: Option<&'static str>,
    /// The number of large objects, those of the nursery included.
    pub large_objects: u64,
    /// The number of closures that moved since the last map, or the last collection.
    pub moved_closures: u64,
    /// Words of the closures that moved.
    pub moved: u64,
    /// The moves by use of their blocks, most words first.
    pub flows: Vec<(Use, Use, u64)>,
    /// The figures by use, in the order of uses.
    pub rows: Vec<Row>,
    /// The address of the first word that should begin a closure but does not, if any: the heap is
    /// damaged there.
    pub damage: Option<usize>,
}

/// The figures of all blocks of one use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The use of these blocks.
    #[serde(rename = "use")]
    pub usage: Use,
    /// The number of runs, or of stretches of free blocks.
    pub runs: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// Words of closures.
    pub words: u64,
    /// The number of closures.
    pub closures: u64,
    /// The number of holes.
    pub holes: u64,
    /// Words of the longest hole.
    pub longest_hole: u64,
    /// The number of lines or cells.
    pub units: u64,
    /// The number of lines or cells in which no closure has a word.
    pub free_units: u64,
    /// The ages of the closures.
    pub ages: Ages,
}

/// A large object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LargeObject {
    /// The address of its header.
    pub address: usize,
    /// Its size, header included.
    pub words: u64,
    /// The number of its blocks.
    pub blocks: u32,
    /// The step of its blocks.
    pub step: u8,
    /// The name of its type.
    pub name: &'static str,
    /// The number of collections that it has survived, if known.
    pub age: Option<u64>,
}

/// The closures that moved from one tile to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Move {
    /// The number of the tile that they left.
    pub from: u32,
    /// The number of the tile that they went to.
    pub to: u32,
    /// The number of closures.
    pub closures: u64,
    /// The sum of their sizes.
    pub words: u64,
}

impl Totals {
    /// The row of a use, added if needed.
    pub(super) fn row(&mut self, usage: Use) -> &mut Row {
        let place = self.rows.binary_search_by_key(&usage, |row| row.usage);
        let place = place.unwrap_or_else(|place| {
            let row = Row {
                usage,
                runs: 0,
                blocks: 0,
                words: 0,
                closures: 0,
                holes: 0,
                longest_hole: 0,
                units: 0,
                free_units: 0,
                ages: Ages::default(),
            };
            self.rows.insert(place, row);
            place
        });
        &mut self.rows[place]
    }
}
