//! The figures of many runs, column by column: in memory as far as there is room, and in a
//! temporary file beyond.
//!
//! A report of a million runs has a hundred columns of them, but looks at one column of one
//! configuration at a time. So the runs with the same facts have a [`Figures`] together. Its last
//! rows are in memory. When the figures of all runs together have no [`Room`] any more, each
//! `Figures` writes its rows to a [`Store`], and frees them. A piece of the store has up to
//! [`ROWS`] rows, with the values of a column one after the other; a column of a piece is read as
//! a whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The most rows of a piece: a column of it has 4 KiB.
const ROWS: usize = 512;

/// The least number of columns of pieces that are in memory after they were read.
const LEAST_KEPT: usize = 16;

/// The number of figures that may be in memory at the same time, of all folders of a report
/// together.
#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    held: AtomicUsize,
}

impl Room {
    /// Room for this many figures, of eight bytes each.
    pub(crate) fn of(most: usize) -> Arc<Room> {
        let held = AtomicUsize::new(0);
        Arc::new(Room { most, held })
    }

    /// The number of columns of pieces that remain in memory after they were read: an eighth of the
    /// room.
    fn kept(&self) -> usize {
        (self.most / ROWS / 8).max(LEAST_KEPT)
    }

    /// Whether there are more figures in memory than this share of the room.
    pub(crate) fn is_beyond(&self, share: f64) -> bool {
        self.held.load(Ordering::Relaxed) as f64 > self.most as f64 * share
    }
}

/// The figures of runs that all have the same columns.
#[derive(Debug)]
pub(crate) struct Figures {
    width: usize,
    pieces: Vec<Piece>,
    store: Option<Arc<Store>>,
    /// The rows that are not in pieces, one after the other.
    held: Vec<f64>,
    /// The number of rows in pieces.
    stored: usize,
    room: Arc<Room>,
}

/// Some rows in a store, column by column.
#[derive(Debug, Clone, Copy)]
struct Piece {
    first: u32,
    rows: u32,
    /// The first byte in the store.
    start: u64,
}

impl Figures {
    /// No rows yet, each with this many figures.
    pub(crate) fn new(width: usize, room: &Arc<Room>) -> Figures {
        Figures {
            width,
            pieces: Vec::new(),
            store: None,
            held: Vec::new(),
            stored: 0,
            room: Arc::clone(room),
        }
    }

    /// Adds a row, and returns its number.
    pub(crate) fn push(&mut self, row: &[f64]) -> u32 {
        debug_assert_eq!(row.len(), self.width);
        let number = self.stored + self.held.len().checked_div(self.width).unwrap_or(0);
        self.held.extend_from_slice(row);
        self.room.held.fetch_add(row.len(), Ordering::Relaxed);
        number as u32
    }

    /// Moves all rows from memory to the end of a store.
    pub(crate) fn put_away(&mut self, into: &mut Writer) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        for rows in self.held.chunks(ROWS * self.width) {
            let count = rows.len() / self.width;
            self.pieces.push(Piece {
                first: self.stored as u32,
                rows: count as u32,
                start: into.end,
            });
            for column in 0..self.width {
                for row in rows.chunks(self.width) {
                    into.file.write_all(&row[column].to_le_bytes())?;
                }
            }
            into.end += size_of_val(rows) as u64;
            self.stored += count;
        }
        self.room.held.fetch_sub(self.held.len(), Ordering::Relaxed);
        self.held = Vec::new();
        self.store = Some(Arc::clone(&into.store));
        Ok(())
    }

    /// The figure in a column of a row.
    ///
    /// # Panics
    /// Panics if there is no such row or column, or if the temporary file cannot be read.
    pub(crate) fn value(&self, row: u32, column: u16) -> f64 {
        let (row, column) = (row as usize, usize::from(column));
        if let Some(held) = row.checked_sub(self.stored) {
            return self.held[held * self.width + column];
        }
        let after = self.pieces.partition_point(|piece| piece.first as usize <= row);
        let piece = self.pieces[after - 1];
        let store = self.store.as_ref().expect("pieces are in a store");
        let start = piece.start + column as u64 * u64::from(piece.rows) * 8;
        store.value(start, piece.rows as usize, row - piece.first as usize)
    }
}

impl Drop for Figures {
    fn drop(&mut self) {
        self.room.held.fetch_sub(self.held.len(), Ordering::Relaxed);
    }
}

/// A temporary file without a name, which is gone when the process ends.
#[derive(Debug)]
pub(crate) struct Store {
    file: File,
    /// Columns of pieces, each at a place that its first byte in the file decides.
    read: Mutex<Vec<Option<Column>>>,
}

/// A column of a piece: its first byte in the file, and its values.
type Column = (u64, Box<[f64]>);

impl Store {
    /// A value of the column that begins at the byte `start`.
    fn value(&self, start: u64, rows: usize, row: usize) -> f64 {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (start / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize % read.len();
        match &read[place] {
            Some((at, values)) if *at == start => values[row],
            _ => {
                let values = self.column(start, rows).expect("a process reads its temporary file");
                let value = values[row];
                read[place] = Some((start, values));
                value
            }
        }
    }

    fn column(&self, start: u64, rows: usize) -> io::Result<Box<[f64]>> {
        let mut bytes = vec![0; rows * 8];
        self.file.read_exact_at(&mut bytes, start)?;
        let (values, _) = bytes.as_chunks();
        Ok(values.iter().map(|value| f64::from_le_bytes(*value)).collect())
    }
}

/// Writes to the end of a [`Store`].
#[derive(Debug)]
pub(crate) struct Writer {
    store: Arc<Store>,
    file: BufWriter<File>,
    end: u64,
}

impl Writer {
    /// The writer of a new store, in the folder for temporary files.
    pub(crate) fn new(room: &Room) -> io::Result<Writer> {
        let file = tempfile::tempfile()?;
        let store = Arc::new(Store {
            file: file.try_clone()?,
            read: Mutex::new(vec![None; room.kept()]),
        });
        Ok(Writer {
            store,
            file: BufWriter::with_capacity(1 << 18, file),
            end: 0,
        })
    }

    /// Writes what is still on its way to the file.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sets of rows of different width. Rows go to the file in pieces, at any time, and each
    /// value is found again.
    #[test]
    fn a_value_is_the_same_in_memory_and_in_the_file() {
        let room = Room::of(100);
        let mut writer = Writer::new(&room).expect("a temporary file");
        let mut sets = [Figures::new(3, &room), Figures::new(1, &room)];
        let value =
            |width: usize, row: u32, column: u16| f64::from(row) * 10.0 + f64::from(column) + width as f64 / 4.0;
        for row in 0..2000 {
            for figures in &mut sets {
                let width = figures.width;
                let values: Vec<f64> = (0..width as u16).map(|column| value(width, row, column)).collect();
                assert_eq!(figures.push(&values), row);
            }
            if [700, 701, 1900].contains(&row) {
                for figures in &mut sets {
                    figures.put_away(&mut writer).expect("written");
                }
            }
        }
        writer.flush().expect("written");
        assert!(room.is_beyond(1.0) && !room.is_beyond(4.0), "{room:?}");
        for figures in &sets {
            assert_eq!((figures.stored, figures.pieces.len()), (1901, 2 + 1 + 3));
            for row in (0..2000).rev() {
                for column in 0..figures.width as u16 {
                    let wanted = value(figures.width, row, column);
                    assert_eq!(figures.value(row, column), wanted, "{row} {column}");
                }
            }
        }
        drop(sets);
        assert!(!room.is_beyond(0.0), "{room:?}");
    }

    /// Runs without any figure have rows, too.
    #[test]
    fn rows_may_have_no_figures() {
        let room = Room::of(100);
        let mut none = Figures::new(0, &room);
        assert_eq!((none.push(&[]), none.push(&[])), (0, 0));
        none.put_away(&mut Writer::new(&room).expect("a temporary file"))
            .expect("nothing to write");
        assert!(none.pieces.is_empty());
    }
}
