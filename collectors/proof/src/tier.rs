//! How much the tests try.
//!
//! `cargo test` tries a share of the cases, the same each time. `GCLAB_TESTS=full` asks for all of
//! them: `.ci/run` sets it.

/// Whether all cases are asked for.
///
/// # Panics
/// If `GCLAB_TESTS` has a value other than `full`.
pub fn full() -> bool {
    match std::env::var("GCLAB_TESTS") {
        Ok(value) => {
            assert_eq!(value, "full", "GCLAB_TESTS is `full` or not set");
            true
        }
        Err(_) => false,
    }
}

/// The number of cases to try: `share`, or `all` of them.
pub fn cases<N>(share: N, all: N) -> N {
    if full() { all } else { share }
}

/// The rows of a table that the `index`-th subject is tried with: one of them in turn, or all.
/// So every row meets some subjects in a quick run, and every subject a row.
pub fn rows<T>(table: &[T], index: usize) -> impl Iterator<Item = &T> {
    let one = (!full()).then(|| index % table.len());
    table
        .iter()
        .enumerate()
        .filter(move |(row, _)| one.is_none_or(|one| one == *row))
        .map(|(_, row)| row)
}
