//! Integration tests of core, one module for each part.

mod blocks;
mod compiles;
mod stats;
mod ui;
