//! The message of a stale access: memory that a collection freed was read or written.
//!
//! A heap that [protects](super::Reservation::protect) what it frees notes here, for each block,
//! which collection freed it. The processor finds a stale access, and the system sends SIGSEGV. A
//! handler for that signal looks for the address in the notes of all such heaps and prints one
//! line. Then the process ends by the signal, as it would have without the handler.
//!
//! A handler belongs to the process, and so do the places here: this is the one module of core with
//! data of the process. A handler may interrupt a thread anywhere, so it takes no lock and no
//! memory: it reads atomics, and writes into a buffer on its stack.

use super::{MemoryError, PAGE, Table};
#[cfg(miri)]
use crate::miri_libc as libc;
use crate::sync::data::AtomicU64;
use crate::sync::{MappedU64, Ordering::Relaxed, Ordering::SeqCst};
use crate::words::{Addr, Bytes};
use std::fmt::Write;

/// Heaps of a process that have notes at a time.
const PLACES: usize = 64;

/// The notes of a heap, as the handler finds them. All zero: free.
struct Place {
    /// The lowest address of the heap. Written first when a place is taken.
    base: AtomicU64,
    size: AtomicU64,
    /// The first entry of the table.
    notes: AtomicU64,
}

static WATCHED: [Place; PLACES] = [const {
    Place {
        base: AtomicU64::new(0),
        size: AtomicU64::new(0),
        notes: AtomicU64::new(0),
    }
}; PLACES];

/// Whether the handler is there, and the handler and the flags that were there before it.
static INSTALLED: AtomicU64 = AtomicU64::new(0);
static OLD_HANDLER: AtomicU64 = AtomicU64::new(0);
static OLD_FLAGS: AtomicU64 = AtomicU64::new(0);

/// The freed memory of one heap.
#[derive(Debug)]
pub(crate) struct FreedMemory {
    base: Addr,
    /// For each block a note, 0 for none: the number of the collection that freed it, and above the
    /// lowest 8 bits of that the state of the block before.
    notes: Table<MappedU64>,
    place: usize,
}

/// A block that a collection freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    /// The number of the collection, from 1.
    pub collection: u64,
    /// Its step before.
    pub step: u8,
    /// Whether it belonged to a large object.
    pub large: bool,
}

impl Freed {
    const LARGE: u64 = 1 << 7;

    fn to_note(self) -> u64 {
        self.collection << 8 | if self.large { Freed::LARGE } else { 0 } | u64::from(self.step)
    }

    fn of_note(note: u64) -> Option<Freed> {
        (note != 0).then_some(Freed {
            collection: note >> 8,
            step: (note & !Freed::LARGE) as u8,
            large: note & Freed::LARGE != 0,
        })
    }
}

impl FreedMemory {
    /// Notes for the heap of `size` bytes at `base`, all of them empty. A stale access to it has a
    /// message from now on.
    ///
    /// # Errors
    /// If the system has no addresses for the notes, or [`PLACES`] heaps have such notes.
    pub(crate) fn watch(base: Addr, size: Bytes) -> Result<FreedMemory, MemoryError> {
        let notes = Table::<MappedU64>::new(size.0 / PAGE.0)?;
        let is_free = |place: &&Place| {
            let taken = place.base.compare_exchange(0, base.0 as u64, SeqCst, Relaxed);
            taken.is_ok()
        };
        let place = WATCHED.iter().position(|place| is_free(&place));
        let place = place.ok_or_else(|| MemoryError::Reserve {
            size,
            reason: format!("{PLACES} heaps with protected memory are as many as a process may have"),
        })?;
        WATCHED[place].notes.store(notes.as_ptr() as u64, SeqCst);
        WATCHED[place].size.store(size.0 as u64, SeqCst);
        install();
        Ok(FreedMemory { base, notes, place })
    }

    /// Notes that the pages from `start` to `end` were freed; `None`: that they are in use again.
    pub(crate) fn note(&self, start: Addr, end: Addr, freed: Option<Freed>) {
        let note = freed.map_or(0, Freed::to_note);
        for at in (start.0..end.0).step_by(PAGE.0) {
            self.notes[(at - self.base.0) / PAGE.0].store(note, Relaxed);
        }
    }
}

impl Drop for FreedMemory {
    fn drop(&mut self) {
        let place = &WATCHED[self.place];
        place.size.store(0, SeqCst);
        place.notes.store(0, SeqCst);
        place.base.store(0, SeqCst);
    }
}

/// The note of the block at `address`, if it is in freed memory of any heap.
fn find(address: u64) -> Option<Freed> {
    let holds = |place: &&Place| {
        let offset = address.wrapping_sub(place.base.load(SeqCst));
        offset < place.size.load(SeqCst)
    };
    let place = WATCHED.iter().find(holds)?;
    let index = (address - place.base.load(SeqCst)) as usize / PAGE.0;
    let notes = place.notes.load(SeqCst) as *const MappedU64;
    // SAFETY: the notes of a heap that is in use, which the address shows, are mapped; the index is
    // that of a block of the heap.
    Freed::of_note(unsafe { (*notes.wrapping_add(index)).load(Relaxed) })
}

/// Text of a bounded length, on the stack of a handler. What goes beyond is cut off.
struct Line {
    text: [u8; 512],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, more: &str) -> std::fmt::Result {
        let room = &mut self.text[self.length..];
        let length = more.len().min(room.len());
        room[..length].copy_from_slice(&more.as_bytes()[..length]);
        self.length += length;
        Ok(())
    }
}

/// The message for a stale access to `address`.
fn describe(line: &mut Line, address: u64, freed: Freed) {
    let Freed {
        collection,
        step,
        large,
    } = freed;
    let block = address & !(PAGE.0 as u64 - 1);
    let of = if large { "a large object" } else { "a block" };
    let _ = writeln!(
        line,
        "gclab: stale access to {address:#x}: collection {collection} freed this memory, {of} of step {step} (-DP; \
         the block is at {block:#x}). Its live closures have moved, or none was found; a pointer into it is still \
         used. With -DT and the address of a closure in it, a run prints what happened to that closure (-xm keeps \
         addresses the same)"
    );
}

/// Installs the handler, once for the process.
fn install() {
    if cfg!(miri) || INSTALLED.swap(1, SeqCst) != 0 {
        return;
    }
    // SAFETY: zero is a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as extern "C" fn(_, _, _) as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: as above.
    let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: both are valid for the call. The handler does what a handler may do.
    if unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, &raw mut old) } == 0 {
        OLD_HANDLER.store(old.sa_sigaction as u64, SeqCst);
        OLD_FLAGS.store(old.sa_flags as u64, SeqCst);
    }
}

/// Prints the message of a stale access, and lets it happen again under the handler that was there
/// before, or the system's after a message.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes a valid `info`, and for this signal it has an address.
    let address = unsafe { (*info).si_addr() } as u64;
    // SAFETY: zero is a valid `sigaction`, the system's own handler.
    let mut next: libc::sigaction = unsafe { std::mem::zeroed() };
    if let Some(freed) = find(address) {
        let mut line = Line {
            text: [0; 512],
            length: 0,
        };
        describe(&mut line, address, freed);
        // SAFETY: the text is valid for the call.
        unsafe { libc::write(libc::STDERR_FILENO, line.text.as_ptr().cast(), line.length) };
    } else {
        next.sa_sigaction = OLD_HANDLER.load(SeqCst) as usize;
        next.sa_flags = OLD_FLAGS.load(SeqCst) as libc::c_int;
    }
    // SAFETY: a handler that was valid before, or the system's. The access happens again when this
    // one returns.
    unsafe { libc::sigaction(signal, &raw const next, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_it_was_made_of() {
        for (collection, step, large) in [(1, 0, false), (7, 2, true), (1 << 40, 14, false)] {
            let freed = Freed {
                collection,
                step,
                large,
            };
            assert_eq!(Freed::of_note(freed.to_note()), Some(freed));
        }
        assert_eq!(Freed::of_note(0), None);
    }

    #[test]
    fn freed_pages_are_found_until_they_are_in_use_again_or_the_heap_ends() {
        // No heap lies there, and nothing reads it.
        let (base, at) = (Addr(1 << 52), |page: usize| Addr((1 << 52) + page * PAGE.0));
        let memory = FreedMemory::watch(base, Bytes::mib(1)).unwrap();
        let freed = Freed {
            collection: 3,
            step: 0,
            large: false,
        };
        memory.note(at(2), at(4), Some(freed));
        let found = |page: usize| find(at(page).0 as u64 + 8);
        assert_eq!([1, 2, 3, 4].map(found), [None, Some(freed), Some(freed), None]);
        memory.note(at(2), at(3), None);
        assert_eq!([2, 3].map(found), [None, Some(freed)]);
        let mut line = Line {
            text: [0; 512],
            length: 0,
        };
        describe(&mut line, at(3).0 as u64 + 8, freed);
        let text = String::from_utf8_lossy(&line.text[..line.length]).into_owned();
        assert!(
            text.starts_with(
                "gclab: stale access to 0x10000000003008: collection 3 freed this memory, a block of step 0"
            ) && text.ends_with('\n'),
            "{text}"
        );
        drop(memory);
        assert_eq!([2, 3].map(found), [None, None]);
    }
}
