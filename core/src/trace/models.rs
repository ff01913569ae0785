//! Models for loom (`.ci/loom`): how tracing workers affect one closure or one entry of mark bits,
//! in every order that the memory model allows.
//!
//! [`ClosureRef`] and [`set_bits`] are the real ones. Copies and scans are loom's cells, which
//! detect two threads in one cell at a time, and a read that nothing orders behind the write.

use crate::closure::{ClosureRef, Header};
use crate::space::set_bits;
use crate::sync::Ordering::Relaxed;
use crate::sync::{Arc, AtomicU64};
use crate::workers::models::model;
use loom::cell::UnsafeCell;
use loom::thread;

/// Copying and forwarding as `Copier::copy` does in parallel: one copy is the closure's, all find
/// it, and see its content.
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
            // SAFETY: the atomic stands for a closure's first word.
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

/// Closures that have bits in one entry of a table, as marking in parallel sets them: each is
/// scanned by one, and no bit gets lost.
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
                // SAFETY: the atomic stands for an entry.
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
