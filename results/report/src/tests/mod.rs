//! Reports on made-up runs: their meaning as data.

mod look;
pub(crate) mod synthetic;
