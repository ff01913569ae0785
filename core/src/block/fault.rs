//! The message of a segmentation fault: where the address lies, and what to do next.
//!
//! The heap of each world is watched. A handler for SIGSEGV looks for the address in all such heaps
//! and prints one line: the address, the state of its block, the collector; of memory that a
//! collection freed, which collection that was ([`FreedMemory`]). Then the process ends by the
//! signal, as it would have without the handler. A handler that was there before gets addresses
//! outside every heap first: the message of a stack overflow is Rust's.
//!
//! A handler belongs to the process, and so do the places here: this is the one module of core with
//! data of the process. A handler may interrupt a thread anywhere, so it takes no lock and no
//! memory: it reads atomics, and writes into a buffer on its stack.

use super::{BLOCK_SHIFT, BlockState};
use crate::abort::{When, runs_collector};
use crate::memory::{MemoryError, PAGE, Table};
#[cfg(miri)]
use crate::miri_libc as libc;
use crate::sync::data::AtomicU64;
use crate::sync::{
    MappedU8, MappedU64,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::words::{Addr, Bytes};
use std::fmt::Write;

/// Heaps of a process that are watched at a time: more than tests have that run in parallel. Further
/// ones are not watched.
const PLACES: usize = 64;

/// A heap, as the handler finds it. All zero: free.
struct Place {
    /// The lowest address of the heap. Taking a place sets it.
    base: AtomicU64,
    /// The size in bytes: set last, and cleared first.
    size: AtomicU64,
    /// The first entry of the table of states.
    states: AtomicU64,
    /// The first entry of the table of notes, or 0.
    notes: AtomicU64,
    /// The collector's name, a `&'static str`.
    name: AtomicU64,
    name_length: AtomicU64,
}

static WATCHED: [Place; PLACES] = [const {
    Place {
        base: AtomicU64::new(0),
        size: AtomicU64::new(0),
        states: AtomicU64::new(0),
        notes: AtomicU64::new(0),
        name: AtomicU64::new(0),
        name_length: AtomicU64::new(0),
    }
}; PLACES];

/// Whether the handler is there, and the handler and the flags that were there before it.
static INSTALLED: AtomicU64 = AtomicU64::new(0);
static OLD_HANDLER: AtomicU64 = AtomicU64::new(0);
static OLD_FLAGS: AtomicU64 = AtomicU64::new(0);

/// A heap is watched until this is dropped.
#[derive(Debug)]
pub(super) struct Watched {
    place: usize,
}

impl Drop for Watched {
    fn drop(&mut self) {
        let place = &WATCHED[self.place];
        // Release: whoever sees the place free finds it cleared.
        place.size.store(0, Relaxed);
        place.base.store(0, Release);
    }
}

impl Watched {
    /// A segmentation fault in the heap of `size` bytes at `base` has a message from now on, which
    /// names the collector. `states` is the table of the states of its blocks. There is none if
    /// too many heaps are watched.
    ///
    /// # Safety
    /// `states` and `freed` are of this heap, and outlive the result.
    pub(super) unsafe fn new(
        (base, size): (Addr, Bytes),
        states: *const MappedU8,
        freed: Option<&FreedMemory>,
        collector: &'static str,
    ) -> Option<Watched> {
        // Acquire: the last owner is done with the place.
        let take = |place: &Place| {
            let taken = place.base.compare_exchange(0, base.0 as u64, Acquire, Relaxed);
            taken.is_ok()
        };
        let number = WATCHED.iter().position(take)?;
        let place = &WATCHED[number];
        let notes = freed.map_or(0, |freed| freed.notes.as_ptr() as u64);
        place.states.store(states as u64, Relaxed);
        place.notes.store(notes, Relaxed);
        place.name.store(collector.as_ptr() as u64, Relaxed);
        place.name_length.store(collector.len() as u64, Relaxed);
        // Release: whoever sees the size finds the rest.
        place.size.store(size.0 as u64, Release);
        install();
        Some(Watched { place: number })
    }
}

/// The freed memory of one heap that protects it.
#[derive(Debug)]
pub(super) struct FreedMemory {
    base: Addr,
    /// For each block a note, 0 for none: the number of the collection that freed it, and above the
    /// lowest 8 bits of that the state of the block before.
    notes: Table<MappedU64>,
}

/// A block that a collection freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Freed {
    /// The number of the collection, from 1.
    pub(super) collection: u64,
    /// Its state before.
    pub(super) state: BlockState,
}

impl Freed {
    fn to_note(self) -> u64 {
        self.collection << 8 | u64::from(self.state.0)
    }

    fn of_note(note: u64) -> Option<Freed> {
        (note != 0).then_some(Freed {
            collection: note >> 8,
            state: BlockState(note as u8),
        })
    }
}

impl FreedMemory {
    /// Notes for the heap of `size` bytes at `base`, all of them empty.
    ///
    /// # Errors
    /// If the system has no addresses for the notes.
    pub(super) fn new(base: Addr, size: Bytes) -> Result<FreedMemory, MemoryError> {
        let notes = Table::new(size.0 / PAGE.0)?;
        Ok(FreedMemory { base, notes })
    }

    /// Notes that the pages from `start` to `end` were freed; `None`: that they are in use again.
    pub(super) fn note(&self, start: Addr, end: Addr, freed: Option<Freed>) {
        let note = freed.map_or(0, Freed::to_note);
        for at in (start.0..end.0).step_by(PAGE.0) {
            self.notes[(at - self.base.0) / PAGE.0].store(note, Relaxed);
        }
    }
}

impl Place {
    /// Whether it has a heap, whose other fields were written before.
    fn is_taken(&self) -> bool {
        self.size.load(Acquire) != 0
    }

    /// The collector of the heap here.
    fn collector(&self) -> &'static str {
        let name = self.name.load(Relaxed) as *const u8;
        // SAFETY: the parts of a `&'static str`.
        let name = unsafe { std::slice::from_raw_parts(name, self.name_length.load(Relaxed) as usize) };
        std::str::from_utf8(name).unwrap_or_default()
    }
}

/// The collectors of watched heaps, each once.
fn collectors() -> impl Iterator<Item = &'static str> {
    let taken = || WATCHED.iter().filter(|place| place.is_taken()).map(Place::collector);
    let is_first = move |&(number, name): &(usize, &str)| !taken().take(number).any(|earlier| earlier == name);
    taken().enumerate().filter(is_first).map(|(_, name)| name)
}

/// What is known of an address in a watched heap.
struct Found {
    collector: &'static str,
    state: BlockState,
    freed: Option<Freed>,
}

fn find(address: u64) -> Option<Found> {
    let holds = |place: &&Place| {
        // Acquire: the rest of the place was written before.
        let size = place.size.load(Acquire);
        address.wrapping_sub(place.base.load(Relaxed)) < size
    };
    let place = WATCHED.iter().find(holds)?;
    let block = ((address - place.base.load(Relaxed)) >> BLOCK_SHIFT) as usize;
    let states = place.states.load(Relaxed) as *const MappedU8;
    let notes = place.notes.load(Relaxed) as *const MappedU64;
    // SAFETY: the tables of a heap that is in use, which the address shows, are mapped, and have an
    // entry for each block of it.
    let state = BlockState(unsafe { (*states.wrapping_add(block)).load(Relaxed) });
    let note = if notes.is_null() {
        0
    } else {
        // SAFETY: as above.
        unsafe { (*notes.wrapping_add(block)).load(Relaxed) }
    };
    Some(Found {
        collector: place.collector(),
        state,
        freed: Freed::of_note(note),
    })
}

/// Text of a bounded length, on the stack of a handler. What goes beyond is cut off.
struct Line {
    text: [u8; 640],
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

impl Line {
    /// The message of a fault at `address`; `None` stands for one that no memory can have.
    fn of(address: Option<u64>) -> Line {
        let mut line = Line {
            text: [0; 640],
            length: 0,
        };
        // Writing to a line cannot fail.
        let _ = line.describe(address);
        line
    }

    fn describe(&mut self, address: Option<u64>) -> std::fmt::Result {
        let whence = match runs_collector() {
            None => "",
            Some(When::InCollection) => ", during a collection",
            Some(When::BesideProgram) => ", in the collector's background thread, beside the program",
        };
        let Some(address) = address else {
            write!(self, "gclab: segmentation fault{whence}: the address cannot exist")?;
            self.name_collectors()?;
            return writeln!(self, ". (Debug builds fill freed memory with 0xd5.) {DEBUG}");
        };
        let block = address & !(PAGE.0 as u64 - 1);
        match find(address) {
            None => {
                write!(
                    self,
                    "gclab: segmentation fault at {address:#x}{whence}, outside every heap"
                )?;
                self.name_collectors()?;
                writeln!(self, ". {DEBUG}")
            }
            Some(Found {
                collector,
                freed: Some(Freed { collection, state }),
                ..
            }) => writeln!(
                self,
                "gclab: stale access to {address:#x}{whence}, in the heap of the {collector} collector: collection \
                 {collection} freed this memory, {of} of step {step} (-DP; the block is at {block:#x}). Its live closures \
                 have moved, or none was found; a pointer into it is still used. With -DT and the address of a closure \
                 in it, a run prints what happened to that closure (-xm keeps addresses the same)",
                of = if state.is_large() { "a large object" } else { "a block" },
                step = state.step(),
            ),
            Some(Found { collector, state, .. }) => {
                write!(
                    self,
                    "gclab: segmentation fault at {address:#x}{whence}, in the heap of the {collector} collector: the \
                     block at {block:#x} is "
                )?;
                match state.step() {
                    BlockState::STEP_OUTSIDE => self.write_str("free, or was never in use")?,
                    // Blocks that were never in use have zeros.
                    0 if !state.is_large() => self.write_str("in the nursery, or was never in use")?,
                    _ => write!(self, "in use ({state:?})")?,
                }
                writeln!(self, ". {DEBUG}")
            }
        }
    }

    fn name_collectors(&mut self) -> std::fmt::Result {
        for (number, name) in collectors().enumerate() {
            let before = if number == 0 { " (collector: " } else { " or " };
            write!(self, "{before}{name}")?;
        }
        self.write_str(if collectors().next().is_some() { ")" } else { "" })
    }

    fn print(&self) {
        // SAFETY: the text is valid for the call.
        unsafe { libc::write(libc::STDERR_FILENO, self.text.as_ptr().cast(), self.length) };
    }
}

/// The next step.
const DEBUG: &str = "With -DS, a run checks the whole heap after each collection, and names the first wrong pointer";

/// Installs the handler, once for the process.
fn install() {
    // Relaxed: only one thread may go on.
    if cfg!(miri) || INSTALLED.swap(1, Relaxed) != 0 {
        return;
    }
    // SAFETY: zero is a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as Handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: as above.
    let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: both are valid for the call. The handler does what a handler may do.
    if unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, &raw mut old) } == 0 {
        OLD_FLAGS.store(old.sa_flags as u64, Relaxed);
        // Release: whoever sees the handler finds its flags.
        OLD_HANDLER.store(old.sa_sigaction as u64, Release);
    }
}

type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// Prints the message of a fault, unless the handler that was there before knows what to do. The
/// access happens again when this one returns.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system passes a valid `info`, and for this signal it has an address.
    let (address, code) = unsafe { ((*info).si_addr() as u64, (*info).si_code) };
    // The kernel knows no address that cannot exist.
    let address = (code != SI_KERNEL).then_some(address);
    if address.is_none_or(|address| find(address).is_none()) {
        call_old(signal, info, context);
        // Sent by a process, or mended, or none of ours.
        if code <= 0 || !is_default(signal) || !WATCHED.iter().any(Place::is_taken) {
            return;
        }
    }
    Line::of(address).print();
    set_default(signal);
}

/// The code of a fault that the kernel has no address for.
const SI_KERNEL: libc::c_int = 128;

/// Calls the handler that was there before; where there was none, the system ends the process.
fn call_old(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // Acquire: see `install`.
    let old = OLD_HANDLER.load(Acquire) as usize;
    if old == libc::SIG_DFL || old == libc::SIG_IGN {
        set_default(signal);
    } else if OLD_FLAGS.load(Relaxed) as libc::c_int & libc::SA_SIGINFO != 0 {
        // SAFETY: a handler of this type was installed with these flags.
        unsafe { std::mem::transmute::<usize, Handler>(old)(signal, info, context) }
    } else {
        // SAFETY: a handler of the older type was installed.
        unsafe { std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(old)(signal) }
    }
}

/// Whether the signal ends the process.
fn is_default(signal: libc::c_int) -> bool {
    // SAFETY: zero is a valid `sigaction`.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: it is valid for the call, which changes nothing.
    unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    now.sa_sigaction == libc::SIG_DFL
}

/// The signal ends the process when it comes again.
fn set_default(signal: libc::c_int) {
    // SAFETY: zero is a valid `sigaction`, the system's own handler.
    let default: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: it is valid for the call.
    unsafe { libc::sigaction(signal, &raw const default, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockAllocator;
    use crate::memory::MemoryConfig;

    fn text(address: Option<u64>) -> String {
        let line = Line::of(address);
        String::from_utf8_lossy(&line.text[..line.length]).into_owned()
    }

    fn allocator(protects: bool) -> BlockAllocator {
        allocator_of("lazy", protects)
    }

    fn allocator_of(collector: &'static str, protects: bool) -> BlockAllocator {
        let mut blocks = BlockAllocator::new(&MemoryConfig {
            reserve: Bytes::mib(16),
            ..MemoryConfig::default()
        })
        .unwrap();
        if protects {
            blocks.protect_freed().unwrap();
        }
        blocks.watch(collector);
        blocks
    }

    #[test]
    fn a_message_says_the_state_of_the_block_until_the_heap_ends() {
        let mut blocks = allocator(false);
        let base = blocks.base();
        let states = [
            BlockState::NURSERY,
            BlockState::of_generation(1),
            BlockState::of_generation(1).large(),
        ];
        let says = |at: Addr, what: &str| {
            let told = text(Some(at.0 as u64 + 8));
            let expected = format!(
                "gclab: segmentation fault at {:#x}, in the heap of the lazy collector: the block at {:#x} is {what}. ",
                at.0 + 8,
                at.0
            );
            assert!(told.starts_with(&expected) && told.ends_with('\n'), "{told}");
        };
        let runs = states.map(|state| {
            let run = blocks.allocate(1).unwrap();
            blocks.set_state(run, state);
            run
        });
        says(runs[0].start(), "in the nursery, or was never in use");
        says(runs[1].start(), "in use (step 2)");
        says(runs[2].start(), "in use (step 2, large)");
        blocks.free(runs[1]);
        says(runs[1].start(), "free, or was never in use");
        drop(blocks);
        assert!(text(Some(base.0 as u64)).contains("outside every heap"));
        assert!(text(None).contains("cannot exist"));
    }

    #[test]
    fn each_collector_that_it_may_concern_is_named_once() {
        // Other tests have heaps, too.
        let heaps = ["first", "second", "first"].map(|name| allocator_of(name, false));
        for told in [text(Some(16)), text(None)] {
            let (_, names) = told.split_once(" (collector: ").expect(&told);
            let (names, _) = names.split_once(')').expect(&told);
            let count = |name| names.split(" or ").filter(|each| *each == name).count();
            assert_eq!(["first", "second"].map(count), [1, 1], "{told}");
        }
        drop(heaps);
    }

    #[test]
    fn freed_pages_are_found_until_they_are_in_use_again() {
        let mut blocks = allocator(true);
        let [first, second] = [2, 1].map(|count| {
            let run = blocks.allocate(count).unwrap();
            blocks.set_state(run, BlockState::of_step(1));
            run
        });
        let freed = |at: Addr| find(at.0 as u64).and_then(|found| found.freed);
        blocks.collection_begins();
        blocks.free(first);
        blocks.collection_ended(true);
        let expected = Freed {
            collection: 1,
            state: BlockState::of_step(1),
        };
        assert_eq!([first, second].map(|run| freed(run.start())), [Some(expected), None]);
        assert_eq!(freed(first.start() + Bytes(4096)), Some(expected));
        let at = first.start().0 as u64 + 8;
        let told = text(Some(at));
        let words = format!(
            "gclab: stale access to {at:#x}, in the heap of the lazy collector: collection 1 freed this memory, a block \
             of step 1 "
        );
        assert!(told.starts_with(&words) && told.ends_with('\n'), "{told}");
        assert!(blocks.release_held());
        assert_eq!(freed(first.start()), None);
    }
}
