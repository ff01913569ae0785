//! Reports on made-up runs: their meaning, as data.

mod look;
mod synthetic;
