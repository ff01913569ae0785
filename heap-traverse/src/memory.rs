//! Arrays as large as a heap. Running out of memory for them is an error.

/// The error for an analysis that runs out of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory;

impl std::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "out of memory: the analysis of this heap needs more than the system grants"
        )
    }
}

impl std::error::Error for OutOfMemory {}

/// An empty array with room for `count` entries.
pub(crate) fn with_capacity<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut array = Vec::new();
    array.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
    Ok(array)
}

/// An array of `count` equal entries.
pub(crate) fn filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut array = with_capacity(count)?;
    array.resize(count, value);
    Ok(array)
}

/// An array of `count` zeros. Entries that are never written take no memory.
pub(crate) fn zeroed(count: usize) -> Result<Vec<u64>, OutOfMemory> {
    // Only `vec!` asks the system for memory that is already zero, and it aborts if there is none.
    // So the same room is requested first, and returned.
    drop(with_capacity::<u64>(count)?);
    Ok(vec![0; count])
}

/// Appends `value`.
#[inline]
pub(crate) fn push<T>(array: &mut Vec<T>, value: T) -> Result<(), OutOfMemory> {
    if array.len() == array.capacity() {
        array.try_reserve(1).map_err(|_| OutOfMemory)?;
    }
    array.push(value);
    Ok(())
}
