//! The random programs of the tests as values: settings of two heaps, and operations.
//!
//! A program is a list of operations on variables of two heaps. A variable is a slot of an open
//! frame ([`l`]) or a global variable ([`g`]). `Debug` prints settings and operations as Rust does,
//! so a program that failed can be pasted into a test ([`replay`](crate::replay)).

pub use super::shapes::Shape;
pub use super::table::Shared;
use gclab_core::collector::Collector;
use gclab_core::config::{Config, FromGeneration, HeapHint, OcamlLetter, OcamlLetters};
pub use gclab_core::mutator::Request;
use gclab_core::words::Bytes;
pub use gclab_core::words::Words;
use std::fmt;

/// A variable: of the open frames if the lowest two bits are not 3, of the globals otherwise.
#[derive(Clone, Copy)]
pub struct Var(pub(super) u8);

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_global() { 'g' } else { 'l' };
        write!(f, "{kind}({})", self.index())
    }
}

/// Returns slot `index` of the open frames, modulo their number of slots.
///
/// # Panics
/// If `index` is 64 or more.
pub const fn l(index: u8) -> Var {
    assert!(index < 64, "the index of a variable is less than 64");
    Var(index * 4)
}

/// Returns global variable `index`, modulo the number of global variables.
///
/// # Panics
/// If `index` is 64 or more.
pub const fn g(index: u8) -> Var {
    assert!(index < 64, "the index of a variable is less than 64");
    Var(index * 4 + 3)
}

impl Var {
    pub(super) fn is_global(self) -> bool {
        self.0 % 4 == 3
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0 / 4)
    }
}

/// One operation of a program. An operation on a variable that is null, or on a closure without
/// such a slot, does nothing.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// `to` = a new closure with the pointers `args`.
    New {
        /// The variable of the new closure.
        to: Var,
        /// Its kind and size; not [`Shape::Var`], [`Shape::Array`] or [`Shape::Foreign`], which lie
        /// in boxes.
        shape: Shape,
        /// Its first pointers.
        args: [Var; 3],
    },
    /// `to` = slot `slot` of `from`.
    Load {
        /// The variable that is set.
        to: Var,
        /// The closure that is read.
        from: Var,
        /// A number that chooses the slot.
        slot: usize,
    },
    /// A mutable slot of `into`, chosen by `slot`, = `value` (null if there is none).
    Store {
        /// The closure that is changed.
        into: Var,
        /// A number that chooses the slot.
        slot: usize,
        /// The new content.
        value: Option<Var>,
    },
    /// A mutable byte of `into` = `byte`.
    Poke {
        /// The closure that is changed.
        into: Var,
        /// A number that chooses the byte.
        at: usize,
        /// The new content.
        byte: u8,
    },
    /// `to` = the closure of `from`.
    Copy {
        /// The variable that is set.
        to: Var,
        /// The variable that is read.
        from: Var,
    },
    /// Sets a variable to null.
    Clear {
        /// The variable that is set to null.
        var: Var,
    },
    /// Puts `length` conses in front of `onto`.
    List {
        /// The variable of the list.
        onto: Var,
        /// The number of new conses.
        length: usize,
    },
    /// As [`Op::List`], and makes a weak handle for each cons.
    Watch {
        /// The variable of the list.
        onto: Var,
        /// The number of new conses.
        length: usize,
    },
    /// Puts `count` conses with a byte array each in front of `onto`, and overwrites `via`: much
    /// memory, few pointers.
    Hoard {
        /// The variable of the list.
        onto: Var,
        /// The variable that is overwritten.
        via: Var,
        /// The number of new conses.
        count: usize,
    },
    /// Allocates `count` closures that are garbage at once.
    Churn {
        /// The kind and size of the closures; see [`Op::New`].
        shape: Shape,
        /// The number of closures.
        count: usize,
    },
    /// Does `count` stores to slots all over `into`. Every other value is a new closure, the rest
    /// are `value`.
    Storm {
        /// The closure that is changed.
        into: Var,
        /// The closure that is stored.
        value: Var,
        /// The number of stores.
        count: usize,
    },
    /// Collects, and compares the heap with its reference.
    Collect(Request),
    /// Makes a handle for `var`, or drops the handle if `var` is null.
    Hold {
        /// The number of the handle, 0 to 5.
        handle: usize,
        /// The variable that the handle is made for.
        var: Var,
    },
    /// `to` = the closure of a handle.
    Open {
        /// The variable that is set.
        to: Var,
        /// The number of the handle, 0 to 5.
        handle: usize,
    },
    /// Makes a weak handle for `var`, or drops the handle if `var` is null.
    HoldWeak {
        /// The number of the weak handle, 0 to 5.
        handle: usize,
        /// The variable that the weak handle is made for.
        var: Var,
    },
    /// `to` = the closure of a weak handle, null if it died.
    OpenWeak {
        /// The variable that is set.
        to: Var,
        /// The number of the weak handle, 0 to 5.
        handle: usize,
    },
    /// Makes an ephemeron.
    Tie {
        /// The variable of its key.
        key: Var,
        /// The variable of its value.
        value: Var,
    },
    /// Makes a chain of ephemerons: the first key is `from`, each value is a new closure and the next
    /// key.
    Chain {
        /// The variable of the first key.
        from: Var,
        /// The variable that is overwritten.
        via: Var,
        /// The number of ephemerons.
        length: usize,
    },
    /// `to` = the value of an ephemeron, unless its key has died.
    OpenEphemeron {
        /// The variable that is set.
        to: Var,
        /// A number that chooses the ephemeron.
        index: usize,
    },
    /// Registers a finaliser of the closure in `var`. A first one returns the closure to the
    /// program, which keeps it for a while.
    Finalise {
        /// The variable.
        var: Var,
        /// Whether it is a last finaliser.
        last: bool,
        /// Whether it ends in a panic. The program catches it around the operation that ran the
        /// finaliser, and continues with the next operation.
        panics: bool,
    },
    /// Makes `roots` the named roots of the heap.
    Name {
        /// The variables whose closures are named.
        roots: [Var; 3],
    },
    /// Opens a frame.
    Enter,
    /// Closes the innermost frame.
    Leave,
    /// Panics in the innermost frame; the panic is caught outside it.
    Unwind,
    /// Allocates, and panics in the initialiser.
    PanicInside,
    /// Does the next `count` operations on the other heap, while this one is entered.
    Other {
        /// The number of operations.
        count: usize,
    },
    /// Leaves this heap and continues in heap `heap`.
    Switch {
        /// The heap's number, 0 or 1.
        heap: usize,
    },
    /// In a program of several threads: an operation on data that threads share. In others it does
    /// nothing.
    Shared(Shared),
}

/// The flags of one heap.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The size of the allocation area in blocks of 4 KiB, `-A`.
    pub area_blocks: usize,
    /// The chunk size in blocks of 4 KiB, `-n`.
    pub chunk_blocks: Option<usize>,
    /// The bytes of large objects that make a collection due, in KiB, `-AL`.
    pub large_kib: Option<usize>,
    /// The growth of old generations, `-F`.
    pub factor: f64,
    /// The least size of old generations in KiB, `-o`.
    pub old_min_kib: usize,
    /// The number of generations, `-G`; the nearest number that the collector can have.
    pub generations: u32,
    /// The size of `-H` in KiB; 0 for `-H` without a size.
    pub hint_kib: Option<usize>,
    /// Collects at every allocation of this number, `-DZ`.
    pub stress: Option<u64>,
    /// The most words of work in a slice, `-DI`, for collectors that have it.
    pub slice_words: Option<usize>,
    /// The limit of memory in MiB, `-M`.
    pub limit_mib: Option<usize>,
    /// The least free memory, `-m`, in percent.
    pub min_free: u8,
    /// The number of GC threads, `-qn`, for collectors that have it.
    pub gc_threads: u32,
    /// Whether all collections balance work (`-qb0`), or those of the default.
    pub balance_all: bool,
    /// The letters `a`, `o`, `w`, `h` and `O` of `--ocaml`, for a collector that has them.
    pub ocaml: Option<[u64; 5]>,
}

/// The letters of [`Setting::ocaml`].
const LETTERS: [OcamlLetter; 5] = [
    OcamlLetter::Policy,
    OcamlLetter::SpaceOverhead,
    OcamlLetter::Window,
    OcamlLetter::InitialHeap,
    OcamlLetter::MaxOverhead,
];

impl Default for Setting {
    /// The smallest possible heap.
    fn default() -> Self {
        Setting {
            area_blocks: 1,
            chunk_blocks: None,
            large_kib: None,
            factor: 1.0,
            old_min_kib: 0,
            generations: 2,
            hint_kib: None,
            stress: None,
            slice_words: None,
            limit_mib: None,
            min_free: 3,
            gc_threads: 2,
            balance_all: true,
            ocaml: None,
        }
    }
}

impl Setting {
    /// The setting as configuration for collector `C`.
    pub(super) fn config<C: Collector>(&self) -> Config {
        let (least, most) = C::DESCRIPTION.generations;
        let mut letters = OcamlLetters::default();
        for (letter, value) in self.ocaml.iter().flat_map(|values| LETTERS.into_iter().zip(*values)) {
            letters.set(letter, Some(value));
        }
        Config {
            allocation_area: Bytes(self.area_blocks * 4096),
            chunk: self.chunk_blocks.map(|blocks| Bytes(blocks * 4096)),
            large_area: self.large_kib.map(|kib| Bytes(kib << 10)),
            old_factor: self.factor,
            old_min: Bytes(self.old_min_kib << 10),
            generations: self.generations.clamp(least, most),
            heap_hint: match self.hint_kib {
                None => HeapHint::None,
                Some(0) => HeapHint::Auto,
                Some(kib) => HeapHint::Size(Bytes(kib << 10)),
            },
            stress: self.stress,
            ocaml: letters,
            slice_limit: self.slice_words.map(Words),
            min_free: f64::from(self.min_free),
            max_heap: self.limit_mib.map(|mib| Bytes(mib << 20)),
            reserve: Bytes(1 << 30),
            huge_pages: false,
            protect_freed: std::env::var_os("GCLAB_RANDOM_PROTECT").is_some(),
            gc_threads: self.gc_threads,
            // For collectors that mark concurrently.
            own: vec![format!("markers={}", self.gc_threads)],
            load_balance: (!self.balance_all).then_some(FromGeneration::From(1)),
            ..Config::default()
        }
    }
}

/// A program for two heaps.
#[derive(Clone, Debug)]
pub struct Program {
    /// The flags of each heap.
    pub settings: [Setting; 2],
    /// The operations, the first on heap 0.
    pub ops: Vec<Op>,
}
