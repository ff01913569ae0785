//! A map of a stopped heap: what each block holds, and what the last collection moved where.
//!
//! A [`HeapMap`] is plain data. Its smallest part is a *tile*: one block, or several neighbours if
//! the heap has more blocks than the map may have tiles, so its size is bounded. Its [`Totals`] are
//! counted block by block, and are exact at any tile size.
//!
//! [`MapRecorder`] is a listener that takes maps as a program runs: one at a collection or a
//! marker, or one at each collection, for an animation. It thins out a long run.
//!
//! Ages and moves need side words, and a heap that records moves
//! ([`gclab_core::config::Config::follow_moves`]). Without them a map has neither.

mod coarsen;
mod data;
mod moves;
mod record;
mod survey;
mod tile;
mod units;

pub use data::{HeapMap, LargeObject, Moment, Move, Row, Totals};
pub use record::{MapRecorder, Recording, Want};
pub use tile::{Ages, Tile, Use};
