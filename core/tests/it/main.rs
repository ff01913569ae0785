//! Integration tests of core, one module for each part.

mod blocks;
mod flags;
mod stats;
mod ui;
