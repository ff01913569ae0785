//! Prints [`Statistics`](super::Statistics) as GHC 9.0.2's threaded runtime does, so that its users
//! and tools feel at home: layout, keys and units are GHC's, byte for byte (the integration tests
//! reproduce GHC's own texts). Figures are correct where GHC's are wrong:
//!
//! * fragmentation is measured at the peak of memory in use, not as the difference of two peaks at
//!   different moments;
//! * Productivity is the share of the program's own time, excluding profile censuses, which GHC
//!   counts as productive;
//! * the share of time in collections (`%GC time`, which GHC's single-threaded runtime prints) is
//!   not always 0;
//! * INIT, MUT, GC and EXIT add up to Total, which GHC reads a little later than the end of EXIT.

mod info;
mod machine;
mod names;
mod number;
mod printer;
mod rows;
mod summary;

pub use info::{command_line, info};
pub use machine::machine_readable;
pub use names::{escaped, is_unprintable, path_name};
pub use number::commas;
pub use printer::Printer;
pub use rows::{closing_row, header, row};
pub use summary::{one_line, summary};
