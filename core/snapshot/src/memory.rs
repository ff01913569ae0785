//! Columns that grow with the file. Growing may fail, which is an error: a file can ask for more
//! memory than there is.

use hashbrown::HashMap;
use std::hash::Hash;
use std::hint::black_box;

use crate::error::Problem;

/// Appends `value`.
#[inline]
pub(crate) fn push<T>(column: &mut Vec<T>, value: T) -> Result<(), Problem> {
    if column.len() == column.capacity() {
        grow(column, 1)?;
    }
    column.push(value);
    Ok(())
}

/// Appends a piece of text.
pub(crate) fn extend(text: &mut Vec<u8>, piece: &[u8]) -> Result<(), Problem> {
    if text.capacity() - text.len() < piece.len() {
        grow(text, piece.len())?;
    }
    text.extend_from_slice(piece);
    Ok(())
}

/// Makes room for `more` entries, and no more than that.
pub(crate) fn reserve<T>(column: &mut Vec<T>, more: usize) -> Result<(), Problem> {
    column.try_reserve_exact(more).map_err(|_| Problem::OutOfMemory)
}

/// How many nodes or edges are looked at together, so that the waits for memory overlap: as many as
/// the second-level cache holds.
pub(crate) const TOGETHER: usize = 512;

/// Reads entries of a column that are needed soon. No read waits for another one.
#[inline]
pub(crate) fn touch<T: Copy + Into<u64>>(column: &[T], entries: impl Iterator<Item = u32>) {
    let entries = entries.filter_map(|entry| column.get(entry as usize));
    black_box(entries.fold(0, |sum, &entry| sum ^ entry.into()));
}

/// Adds an entry to a table, or replaces it.
pub(crate) fn insert<K: Eq + Hash, V>(table: &mut HashMap<K, V>, key: K, value: V) -> Result<(), Problem> {
    table.try_reserve(1).map_err(|_| Problem::OutOfMemory)?;
    table.insert(key, value);
    Ok(())
}

#[cold]
fn grow<T>(column: &mut Vec<T>, more: usize) -> Result<(), Problem> {
    column.try_reserve(more).map_err(|_| Problem::OutOfMemory)
}
