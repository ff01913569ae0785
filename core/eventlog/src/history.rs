//! A run over time: the stops of each capability, and the bytes allocated.
//!
//! **Memory** is bounded: up to [`MOST_STOPS`] stops are kept individually, 24 bytes each; a log
//! with more gets no list. Allocation is summed in at most [`CELLS`] cells of time. When a log
//! outgrows its cells, they are merged in pairs, so the sums stay exact. The order between
//! capabilities does not matter, so the file is read front to back.

use std::io::Read;
use std::path::Path;

use gclab_core::stats::Utilisation;

use crate::error::Error;
use crate::event::Event;
use crate::kinds::number::{BLOCK_MARKER, GC_END, GC_START, HEAP_ALLOCATED};
use crate::reader::Reader;

/// Limit on stops kept: 24 MiB.
const MOST_STOPS: usize = 1 << 20;

/// Limit on cells of time, a power of two.
const CELLS: usize = 512;

/// A run over time, as far as its log records it.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The time of the last event, in nanoseconds since the start of the runtime.
    pub last_ns: u64,
    /// Moments in nanoseconds, ascending, each with the bytes that all capabilities had allocated
    /// by then. At most 512: the last moment in each stretch of time at which a capability reported
    /// its sum.
    pub allocated: Vec<(u64, u64)>,
    /// The stops of each capability, unless there are too many.
    stops: Option<Vec<Stop>>,
}

/// A stop of a capability, up to its resumption.
#[derive(Debug, Clone, Copy)]
struct Stop {
    cap: u16,
    from: u64,
    to: u64,
}

impl History {
    /// Reads the rest of a log.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of<R: Read>(reader: &mut Reader<R>) -> Result<History, Error> {
        let mut fold = Fold {
            stops: Some(Vec::new()),
            ..Fold::default()
        };
        while let Some(event) = reader.next_event()? {
            fold.event(&event);
        }
        Ok(History {
            last_ns: fold.last,
            allocated: fold.allocated.sums(),
            stops: fold.stops,
        })
    }

    /// Reads a file, up to any damage.
    ///
    /// # Errors
    /// If the file cannot be read or is not an event log.
    pub fn of_file(path: &Path) -> Result<History, Error> {
        History::of(&mut Reader::open(path)?.salvage())
    }

    /// The utilisation of each capability from the start of the runtime to `to_ns`, by its own
    /// stops. `None` if there were too many.
    pub fn utilisations(&self, to_ns: u64) -> Option<Vec<Utilisation>> {
        let mut stops = self.stops.clone()?;
        stops.sort_unstable_by_key(|stop| stop.cap);
        let of_caps = stops.chunk_by(|one, other| one.cap == other.cap);
        let of_cap = |stops: &[Stop]| Utilisation::of(stops.iter().map(|stop| (stop.from, stop.to)), (0, to_ns));
        Some(of_caps.filter_map(of_cap).collect())
    }
}

/// The state so far.
#[derive(Debug, Default)]
struct Fold {
    last: u64,
    caps: Vec<Cap>,
    allocated: Cells,
    stops: Option<Vec<Stop>>,
}

#[derive(Debug, Default, Clone)]
struct Cap {
    stopped: Option<u64>,
    /// The bytes that it had allocated so far.
    allocated: u64,
}

impl Fold {
    fn event(&mut self, event: &Event<'_>) {
        let number = event.known();
        if number == BLOCK_MARKER {
            return;
        }
        let time = event.time();
        self.last = self.last.max(time);
        if !matches!(number, GC_START | GC_END | HEAP_ALLOCATED) {
            return;
        }
        let Some(number_of_cap) = event.cap() else { return };
        let place = usize::from(number_of_cap);
        if self.caps.len() <= place {
            self.caps.resize(place + 1, Cap::default());
        }
        let cap = &mut self.caps[place];
        match number {
            GC_START => cap.stopped = Some(time),
            GC_END => {
                let Some(from) = cap.stopped.take() else { return };
                let stop = Stop {
                    cap: number_of_cap,
                    from,
                    to: time.max(from),
                };
                match &mut self.stops {
                    Some(stops) if stops.len() < MOST_STOPS => stops.push(stop),
                    stops => *stops = None,
                }
            }
            _ => {
                let [_, Some(bytes)] = event.numbers() else { return };
                self.allocated.add(time, bytes.saturating_sub(cap.allocated));
                cap.allocated = cap.allocated.max(bytes);
            }
        }
    }
}

/// Sums of bytes in equal cells of time.
#[derive(Debug, Default)]
struct Cells {
    /// A cell is 2 to this power nanoseconds long.
    shift: u32,
    cells: Vec<Cell>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Cell {
    /// The last moment in the cell at which bytes were added, if any.
    last: Option<u64>,
    bytes: u64,
}

impl Cells {
    fn add(&mut self, time: u64, bytes: u64) {
        while time >> self.shift >= CELLS as u64 {
            self.shift += 1;
            let joined = self.cells.chunks(2).map(|pair| Cell {
                last: pair.iter().filter_map(|cell| cell.last).max(),
                bytes: pair.iter().fold(0, |sum, cell| sum.saturating_add(cell.bytes)),
            });
            self.cells = joined.collect();
        }
        let place = (time >> self.shift) as usize;
        if self.cells.len() <= place {
            self.cells.resize(place + 1, Cell::default());
        }
        let cell = &mut self.cells[place];
        cell.last = cell.last.max(Some(time));
        cell.bytes = cell.bytes.saturating_add(bytes);
    }

    /// The sum of all bytes up to each cell that has any.
    fn sums(&self) -> Vec<(u64, u64)> {
        let mut sum = 0_u64;
        let sums = self.cells.iter().filter_map(|cell| {
            sum = sum.saturating_add(cell.bytes);
            Some((cell.last?, sum))
        });
        sums.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_sums_and_stay_few() {
        let mut cells = Cells::default();
        let mut sum = 0;
        for n in 0..100_000_u64 {
            let bytes = n % 13;
            sum += bytes;
            cells.add(n * 977, bytes);
        }
        let sums = cells.sums();
        assert!((CELLS / 2..=CELLS).contains(&sums.len()), "{}", sums.len());
        assert_eq!(sums.last(), Some(&(99_999 * 977, sum)));
        for (time, bytes) in sums {
            let exact: u64 = (0..=time / 977).map(|n| n % 13).sum();
            assert_eq!((time % 977, bytes), (0, exact));
        }
        // A damaged log may contain any time.
        cells.add(u64::MAX, u64::MAX);
        assert_eq!(cells.sums().last(), Some(&(u64::MAX, u64::MAX)));
    }
}
