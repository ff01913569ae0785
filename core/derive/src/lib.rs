//! Layouts of heap closures, derived from Rust structs
