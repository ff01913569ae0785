//! Integration tests of core, one module for each part.

mod flags;
mod stats;
