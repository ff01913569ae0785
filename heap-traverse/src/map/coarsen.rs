//! Changes a map to larger tiles.

use super::data::HeapMap;
use super::moves;
use gclab_core::block::BLOCK;

impl HeapMap {
    /// Makes tiles larger until each has `blocks` blocks, a power of two. The totals stay.
    pub fn coarsen(&mut self, blocks: u32) {
        while self.tile_blocks < blocks {
            self.tile_blocks *= 2;
            let pairs = self.tiles.chunks(2).map(|pair| {
                let mut tile = pair[0];
                pair[1..].iter().for_each(|other| tile.join(other));
                tile
            });
            self.tiles = pairs.collect();
            for a_move in &mut self.moves {
                (a_move.from, a_move.to) = (a_move.from / 2, a_move.to / 2);
            }
            moves::join(&mut self.moves);
        }
    }

    /// Bytes of a tile.
    pub fn tile_bytes(&self) -> usize {
        self.tile_blocks as usize * BLOCK.0
    }
}
