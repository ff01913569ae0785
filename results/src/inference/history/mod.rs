//! Where does a figure change in a history of folders, and by how much?
//!
//! A *point* is one folder: the logarithms of its runs' figures. A *level* is a stretch of
//! neighbouring folders without a change. Folders scatter more than their runs do: code layout
//! differs between builds, and machines have good and bad days. So the unit of a history is the
//! folder.
//!
//! From the ground up:
//!
//! - `partition`: the levels that fit best, for each number of changes (least squares);
//! - `statistic`: how much better a partition fits than one with fewer changes;
//! - `chance`: how often pure noise would fit as well;
//! - `point`: points, the sizes of changes with their intervals, and the last folder;
//! - `levels`: whether there is a change at all, and how many there are (Bai and Perron).

mod chance;
mod levels;
mod partition;
mod point;
mod statistic;
#[cfg(test)]
mod tests;

pub use levels::{Levels, levels};
pub use point::{Point, changes, large, last_change, scatter};
pub use statistic::POINTS_FOR_CHANGES;
