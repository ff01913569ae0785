//! Models for loom (`.ci/loom`): tracing workers on one closure or one entry of mark bits, and a
//! slide's workers on neighbouring chunks, in every order that the memory model allows.
//!
//! [`ClosureRef`], [`set_bits`] and [`Turns`] are the real ones. Copies, scans and chunks are loom
//! cells, which detect two threads in one cell at a time, and a read that is not ordered after the
//! write.

use super::compactor::Turns;
use crate::closure::{ClosureRef, Header};
use crate::space::set_bits;
use crate::sync::Ordering::Relaxed;
use crate::sync::{Arc, AtomicU64};
use crate::workers::models::model;
use loom::cell::UnsafeCell;
use loom::thread;

/// Copying and forwarding as `Copier::copy` does in parallel: one copy wins, and all threads find
/// it and see its content.
fn race(threads: usize) {
    struct Closure {
        header: AtomicU64,
        /// Each thread's copy, whose address is 8 times its number.
        copies: Vec<UnsafeCell<u64>>,
    }
    impl Closure {
        /// The content of a slot that a thread evacuated.
        fn evacuate(&self, number: usize) -> u64 {
            let closure = ClosureRef((&raw const self.header).cast_mut().cast());
            // SAFETY: the atomic represents a closure's first word.
            let header = unsafe { closure.shared_header() };
            if !header.is_header() {
                return header.0;
            }
            // SAFETY: loom checks that no thread reads it meanwhile.
            self.copies[number].with_mut(|copy| unsafe { *copy = 42 });
            let copy = 8 * number as u64 + 8;
            // SAFETY: as above.
            match unsafe { closure.forward_shared(header, ClosureRef(copy as *mut u64)) } {
                Ok(()) => copy,
                Err(other) => other.0 as u64,
            }
        }

        fn follow(&self, address: u64) -> u64 {
            // SAFETY: loom checks that no thread writes it meanwhile.
            self.copies[address as usize / 8 - 1].with(|copy| unsafe { *copy })
        }
    }
    model(None, move || {
        let header = AtomicU64::new(Header(1).0);
        let copies = (0..threads).map(|_| UnsafeCell::new(0)).collect();
        let closure = Arc::new(Closure { header, copies });
        let others: Vec<_> = (1..threads)
            .map(|number| {
                let closure = Arc::clone(&closure);
                thread::spawn(move || {
                    let address = closure.evacuate(number);
                    assert_eq!(closure.follow(address), 42);
                    address
                })
            })
            .collect();
        let address = closure.evacuate(0);
        assert_eq!(closure.follow(address), 42);
        for other in others {
            assert_eq!(other.join().unwrap(), address);
        }
    });
}

#[test]
fn two_threads_evacuate_one_closure() {
    race(2);
}

#[test]
fn three_threads_evacuate_one_closure() {
    race(3);
}

/// Moving and staying as `Mover::place` decides in parallel (R12): a closure whose one slot holds
/// 41, and threads of which only some have room for a copy. All find one place, and one thread
/// scans the closure there: it stores 42.
fn moves_or_stays(room: &'static [bool]) {
    struct Closure {
        header: AtomicU64,
        /// Where the closure is at first.
        slot: AtomicU64,
        /// The number of scans there.
        scans: UnsafeCell<u32>,
        mark: AtomicU64,
        /// Each thread's copy, whose address is 8 times its number.
        copies: Vec<UnsafeCell<u64>>,
    }
    impl Closure {
        /// The place of the closure; 0 if it stays.
        fn place(&self, number: usize, has_room: bool) -> u64 {
            let closure = ClosureRef((&raw const self.header).cast_mut().cast());
            // SAFETY: the atomic represents a closure's first word.
            let header = unsafe { closure.shared_header() };
            let word = if !header.is_header() || header.stays() {
                header
            } else {
                let copy = 8 * number as u64 + 8;
                if has_room {
                    // SAFETY: loom checks that no thread reads it meanwhile.
                    self.copies[number].with_mut(|content| unsafe { *content = self.slot.load(Relaxed) });
                }
                let new = if has_room { Header(copy) } else { header.staying() };
                // SAFETY: as above.
                match unsafe { closure.replace_header(header, new) } {
                    Ok(()) if has_room => {
                        // SAFETY: as above.
                        self.copies[number].with_mut(|content| unsafe { *content = 42 });
                        new
                    }
                    Ok(()) => new,
                    Err(other) => other,
                }
            };
            if let Some(copy) = word.forwarded_to() {
                return copy.0 as u64;
            }
            // SAFETY: the atomic represents an entry.
            if unsafe { set_bits::<true>((&raw const self.mark).cast(), 1) } == 0 {
                // SAFETY: loom checks that no other thread is there.
                self.scans.with_mut(|scans| unsafe { *scans += 1 });
                self.slot.store(42, Relaxed);
            }
            0
        }
    }
    model(None, move || {
        let closure = Arc::new(Closure {
            header: AtomicU64::new(Header(1).0),
            slot: AtomicU64::new(41),
            scans: UnsafeCell::new(0),
            mark: AtomicU64::new(0),
            copies: room.iter().map(|_| UnsafeCell::new(0)).collect(),
        });
        let others: Vec<_> = (1..room.len())
            .map(|number| {
                let closure = Arc::clone(&closure);
                thread::spawn(move || closure.place(number, room[number]))
            })
            .collect();
        let place = closure.place(0, room[0]);
        for other in others {
            assert_eq!(other.join().unwrap(), place);
        }
        // SAFETY: the others have ended.
        let scans = closure.scans.with(|scans| unsafe { *scans });
        let content = match place {
            0 => closure.slot.load(Relaxed),
            // SAFETY: as above.
            copy => closure.copies[copy as usize / 8 - 1].with(|content| unsafe { *content }),
        };
        assert_eq!((scans, content), (u32::from(place == 0), 42));
    });
}

#[test]
fn a_closure_moves_or_stays() {
    moves_or_stays(&[true, false]);
}

#[test]
fn a_closure_moves_once_or_stays() {
    moves_or_stays(&[true, false, true]);
}

/// Closures with bits in one entry of a table, as parallel marking sets them: each is scanned by
/// one thread, and no bit is lost.
fn marks(threads: usize) {
    /// Their words.
    const CLOSURES: [u64; 2] = [0b0_0111, 0b1_1000];
    struct Entry {
        bits: AtomicU64,
        scanned: [UnsafeCell<u32>; 2],
    }
    impl Entry {
        fn mark(&self) {
            for (bits, scanned) in CLOSURES.into_iter().zip(&self.scanned) {
                // SAFETY: the atomic represents an entry.
                let before = unsafe { set_bits::<true>((&raw const self.bits).cast(), bits) };
                if before >> bits.trailing_zeros() & 1 == 0 {
                    // SAFETY: loom checks that no other thread is there.
                    scanned.with_mut(|scanned| unsafe { *scanned += 1 });
                }
            }
        }
    }
    model(None, move || {
        let entry = Arc::new(Entry {
            bits: AtomicU64::new(0),
            scanned: [UnsafeCell::new(0), UnsafeCell::new(0)],
        });
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let entry = Arc::clone(&entry);
                thread::spawn(move || entry.mark())
            })
            .collect();
        entry.mark();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(entry.bits.load(Relaxed), CLOSURES[0] | CLOSURES[1]);
        for scanned in &entry.scanned {
            // SAFETY: the others have ended.
            assert_eq!(scanned.with(|scanned| unsafe { *scanned }), 1);
        }
    });
}

#[test]
fn two_threads_mark_neighbours() {
    marks(2);
}

#[test]
fn three_threads_mark_neighbours() {
    marks(3);
}

/// A slide as `slide_units` does it, in a dense heap: a chunk's content goes to the chunk before
/// it, once that has been left (R11).
fn slides(workers: usize, chunks: usize) {
    struct Lane {
        turns: Turns,
        /// The content of each chunk: its number, and 10 more when its slots have been updated.
        chunks: Vec<UnsafeCell<usize>>,
    }
    impl Lane {
        fn slide(&self) {
            while let Some(unit) = self.turns.claim() {
                let into = unit.saturating_sub(1)..unit;
                let waits = !self.turns.have_left(into.clone());
                if waits {
                    // SAFETY: loom checks that no other thread is there.
                    self.chunks[unit].with_mut(|content| unsafe { *content += 10 });
                    self.turns.wait_for(into.clone());
                }
                // SAFETY: as above.
                let content = self.chunks[unit].with(|content| unsafe { *content });
                let updated = content + if waits { 0 } else { 10 };
                // SAFETY: as above.
                self.chunks[into.start].with_mut(|content| unsafe { *content = updated });
                self.turns.leave(unit);
            }
        }
    }
    model(None, move || {
        let lane = Arc::new(Lane {
            turns: Turns::new(chunks),
            chunks: (0..chunks).map(UnsafeCell::new).collect(),
        });
        let others: Vec<_> = (1..workers)
            .map(|_| {
                let lane = Arc::clone(&lane);
                thread::spawn(move || lane.slide())
            })
            .collect();
        lane.slide();
        others.into_iter().for_each(|other| other.join().unwrap());
        for (number, chunk) in lane.chunks[..chunks - 1].iter().enumerate() {
            // SAFETY: the others have ended.
            assert_eq!(chunk.with(|content| unsafe { *content }), number + 11);
        }
    });
}

#[test]
fn two_workers_slide_neighbours() {
    slides(2, 3);
}

#[test]
fn three_workers_slide_neighbours() {
    slides(3, 3);
}
