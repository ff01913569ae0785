//! The gclab command.
fn main() {}
