//! Random programs: their operations, their generator, their printed form.
//!
//! A program is a list of operations on variables (`l` slots of frames, `g` global variables) of
//! two heaps. Every sublist is a program, too, so shrinking drops operations: each index in an
//! operation is taken modulo the number of things that exist.

use super::shapes::Shape;
use super::table::Shared;
use gclab_core::collector::Collector;
use gclab_core::config::{Config, FromGeneration, HeapHint};
use gclab_core::words::Bytes;
use proptest::prelude::*;
use std::fmt;

/// A variable: of the open frames if the lowest two bits are not 3, of the globals otherwise.
#[derive(Clone, Copy)]
pub(super) struct Var(pub u8);

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_global() { 'g' } else { 'l' };
        write!(f, "{kind}{}", self.index())
    }
}

impl Var {
    /// Slot `index` of the open frames.
    pub(super) const fn local(index: u8) -> Var {
        Var(index * 4)
    }

    /// Global variable `index`.
    pub(super) const fn global(index: u8) -> Var {
        Var(index * 4 + 3)
    }

    pub(super) fn is_global(self) -> bool {
        self.0 % 4 == 3
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0 / 4)
    }
}

/// One operation of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// `to` = a new closure with the pointers `args`.
    New {
        to: Var,
        shape: Shape,
        args: [Var; 3],
    },
    /// `to` = slot `slot` of `from`.
    Load {
        to: Var,
        from: Var,
        slot: usize,
    },
    /// A mutable slot of `into`, chosen by `slot`, = `value` (null if there is none).
    Store {
        into: Var,
        slot: usize,
        value: Option<Var>,
    },
    /// A mutable byte of `into` = `byte`.
    Poke {
        into: Var,
        at: usize,
        byte: u8,
    },
    Copy {
        to: Var,
        from: Var,
    },
    Clear {
        var: Var,
    },
    /// Puts `length` conses in front of `onto`.
    List {
        onto: Var,
        length: usize,
    },
    /// As [`Op::List`], and makes a weak handle for each cons.
    Watch {
        onto: Var,
        length: usize,
    },
    /// Puts `count` conses with a byte array each in front of `onto`, and overwrites `via`: much
    /// memory, few pointers.
    Hoard {
        onto: Var,
        via: Var,
        count: usize,
    },
    /// Allocates `count` closures that are garbage at once.
    Churn {
        shape: Shape,
        count: usize,
    },
    /// Does `count` stores to slots all over `into`. Every other value is a new closure, the rest
    /// are `value`.
    Storm {
        into: Var,
        value: Var,
        count: usize,
    },
    Collect {
        major: bool,
    },
    /// Makes a handle for `var`, or drops the handle if `var` is null.
    Hold {
        handle: usize,
        var: Var,
    },
    Open {
        to: Var,
        handle: usize,
    },
    /// Makes a weak handle for `var`, or drops the handle if `var` is null.
    HoldWeak {
        handle: usize,
        var: Var,
    },
    OpenWeak {
        to: Var,
        handle: usize,
    },
    /// Makes `roots` the named roots of the heap.
    Name {
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
        count: usize,
    },
    /// Leaves this heap and continues in heap `heap`.
    Switch {
        heap: usize,
    },
    /// In a program of several threads: an operation on data that threads share.
    Shared(Shared),
}

/// The flags of one heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub area_blocks: usize,
    /// The chunk size, `-n`.
    pub chunk_blocks: Option<usize>,
    pub large_kib: Option<usize>,
    pub factor: f64,
    pub old_min_kib: usize,
    pub generations: u32,
    /// The size of `-H`; 0 for `-H` without a size.
    pub hint_kib: Option<usize>,
    pub stress: Option<u64>,
    pub limit_mib: Option<usize>,
    /// The least free memory, `-m`, in percent.
    pub min_free: u8,
    /// The number of GC threads, `-qn`, for collectors that have it.
    pub gc_threads: u32,
    /// Whether all collections balance work (`-qb0`), or those of the default.
    pub balance_all: bool,
}

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
            limit_mib: None,
            min_free: 3,
            gc_threads: 2,
            balance_all: true,
        }
    }
}

impl Setting {
    /// The setting as configuration for collector `C`.
    pub(super) fn config<C: Collector>(&self) -> Config {
        let (least, most) = C::DESCRIPTION.generations;
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
            min_free: f64::from(self.min_free),
            max_heap: self.limit_mib.map(|mib| Bytes(mib << 20)),
            reserve: Bytes(1 << 30),
            huge_pages: false,
            gc_threads: self.gc_threads,
            load_balance: (!self.balance_all).then_some(FromGeneration::From(1)),
            ..Config::default()
        }
    }
}

/// A program for two heaps.
#[derive(Clone)]
pub(super) struct Program {
    pub settings: [Setting; 2],
    pub ops: Vec<Op>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (heap, setting) in self.settings.iter().enumerate() {
            writeln!(f, "\nheap {heap}: {setting:?}")?;
        }
        self.ops.iter().try_for_each(|op| writeln!(f, "  {op:?}"))
    }
}

pub(super) fn setting() -> impl Strategy<Value = Setting> {
    let area = (
        1usize..64,
        proptest::option::of(1usize..12),
        proptest::option::of(1usize..256),
    );
    let old = (10u32..40, prop_oneof![Just(0usize), 4usize..256, Just(1024)], 1u32..5);
    let odd = (
        proptest::option::weighted(0.2, prop_oneof![Just(0usize), 1usize..2000]),
        proptest::option::weighted(0.3, 1u64..60),
    );
    let limit = (proptest::option::weighted(0.25, 2usize..6), 0u8..11);
    let team = (1u32..5, any::<bool>());
    (area, old, odd, limit, team).prop_map(
        |(
            (area_blocks, chunk_blocks, large_kib),
            (tenths, old_min_kib, generations),
            (hint_kib, stress),
            (limit_mib, min_free),
            (gc_threads, balance_all),
        )| {
            Setting {
                area_blocks,
                chunk_blocks,
                large_kib,
                factor: f64::from(tenths) / 10.0,
                old_min_kib,
                generations,
                hint_kib,
                stress,
                limit_mib,
                min_free,
                gc_threads,
                balance_all,
            }
        },
    )
}

/// Programs of up to `length` operations.
pub(super) fn programs(length: usize) -> impl Strategy<Value = Program> {
    let op = (0u8..=255, any::<u8>(), any::<u8>(), any::<u8>(), any::<u16>());
    let ops = proptest::collection::vec(op.prop_map(decode), 1..=length);
    (setting(), setting(), ops).prop_map(|(first, second, ops)| Program {
        settings: [first, second],
        ops,
    })
}

/// A size in words: mostly small, sometimes that of a block, rarely that of several blocks.
pub(super) fn size(n: u16) -> u32 {
    let n = u32::from(n);
    match n % 16 {
        0..=10 => n / 16 % 24,
        11..=13 => n / 16 % 600,
        // Sizes around the least size of a large object.
        14 => 395 + n / 16 % 24,
        _ => n / 16,
    }
}

fn shape(kind: u8, n: u16) -> Shape {
    let size = size(n);
    match kind % 16 {
        0 => Shape::Nil,
        1 => Shape::Int,
        2 | 3 => Shape::Cons,
        4 | 5 => Shape::Cell,
        6 => Shape::Strict,
        7 => Shape::Mixed,
        8 => Shape::VarBox,
        9 | 10 => Shape::ArrayBox(size),
        // Rarely a megablock.
        11 if n % 128 == 127 => Shape::Bytes(size * 256),
        11 => Shape::Bytes(size * 4),
        12 if n.is_multiple_of(3) => Shape::MutWords(size),
        12 => Shape::MutBytes(size * 3),
        13 | 14 => Shape::Record {
            pointers: size / 2,
            bytes: u32::from(n) % 61,
        },
        _ if n.is_multiple_of(2) => Shape::Wide,
        _ => Shape::Pointers,
    }
}

/// Decodes an operation from random numbers.
pub(super) fn decode((kind, a, b, c, n): (u8, u8, u8, u8, u16)) -> Op {
    let (x, y, z) = (Var(a), Var(b), Var(c));
    let (at, count) = (usize::from(n), size(n) as usize);
    match kind {
        0..70 => Op::New {
            to: x,
            shape: shape(c, n),
            args: [y, Var(b.rotate_left(3)), z],
        },
        70..100 => Op::Load {
            to: x,
            from: y,
            slot: at,
        },
        100..140 => Op::Store {
            into: x,
            slot: at,
            value: (c > 30).then_some(y),
        },
        140..148 => Op::Poke { into: x, at, byte: b },
        148..158 => Op::Copy { to: x, from: y },
        158..170 => Op::Clear { var: x },
        170..172 => Op::Hoard {
            onto: x,
            via: y,
            count: at % 256,
        },
        172..176 => Op::List { onto: x, length: count },
        176..178 => Op::Watch { onto: x, length: count },
        178..186 => Op::Churn {
            shape: shape(c, u16::from(a)),
            count,
        },
        186..198 => Op::Storm {
            into: x,
            value: y,
            count,
        },
        198..207 => Op::Collect { major: false },
        207..213 => Op::Collect { major: true },
        213..217 => Op::Hold { handle: at % 6, var: x },
        217..221 => Op::Open { to: x, handle: at % 6 },
        221..226 => Op::HoldWeak { handle: at % 6, var: x },
        226..231 => Op::OpenWeak { to: x, handle: at % 6 },
        231..233 => Op::Name { roots: [x, y, z] },
        233..241 => Op::Enter,
        241..246 => Op::Leave,
        246..248 => Op::Unwind,
        248..250 => Op::PanicInside,
        250..253 => Op::Other { count: at % 16 },
        253.. => Op::Switch { heap: at % 2 },
    }
}
