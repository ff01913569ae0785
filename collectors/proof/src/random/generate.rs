//! The generator of random programs.
//!
//! They draw numbers, from which a program follows ([`Numbers`]): every list of operations is a
//! program, since an index in an operation is taken modulo the number of things that exist.

use super::numbers::Numbers;
use super::program::{Op, Program, Request, Setting, Shape, Var, Words};
use super::table::Shared;
use proptest::prelude::*;

/// The numbers of a setting.
pub(super) const SETTING: usize = 19;

/// Bytes of OCaml's initial heap, where it is not the default.
const INITIAL_HEAP: u32 = 61_440;

pub(super) fn setting() -> impl Strategy<Value = [u32; SETTING]> {
    let area = (
        1u32..64,
        proptest::option::of(1u32..12),
        proptest::option::of(1u32..256),
    );
    let old = (10u32..40, prop_oneof![Just(0u32), 4u32..256, Just(1024)], 1u32..5);
    let odd = (
        proptest::option::weighted(0.2, prop_oneof![Just(0u32), 1u32..2000]),
        proptest::option::weighted(0.3, 1u32..60),
        proptest::option::weighted(0.7, prop_oneof![1u32..10, 1u32..400]),
    );
    let limit = (proptest::option::weighted(0.25, 2u32..6), 0u8..11);
    let team = (1u32..5, any::<bool>());
    let most_overhead = prop_oneof![Just(0u32), 1u32..1000, Just(1_000_000)];
    let letters = (
        0u32..3,
        1u32..300,
        1u32..9,
        prop_oneof![Just(0u32), Just(INITIAL_HEAP)],
        most_overhead,
    );
    let letters = proptest::option::weighted(0.8, letters);
    (area, old, odd, limit, team, letters).prop_map(
        |(
            (area, chunk, large),
            (tenths, old_min, generations),
            (hint, stress, slice),
            (limit, min_free),
            team,
            letters,
        )| {
            let (policy, overhead, window, initial, most) = letters.unwrap_or((0, 1, 1, 0, 0));
            [
                area - 1,
                chunk.unwrap_or(0),
                large.unwrap_or(0),
                tenths - 10,
                old_min,
                generations - 1,
                hint.map_or(0, |kib| kib + 1),
                stress.unwrap_or(0),
                slice.unwrap_or(0),
                limit.map_or(0, |mib| mib - 1),
                min_free.into(),
                team.0 - 1,
                team.1.into(),
                letters.is_some().into(),
                policy,
                overhead - 1,
                window - 1,
                initial / INITIAL_HEAP,
                most,
            ]
        },
    )
}

/// The setting that follows from the first numbers.
pub(super) fn decode_setting(numbers: &[u32]) -> Setting {
    let [
        area,
        chunk,
        large,
        tenths,
        old_min,
        generations,
        hint,
        stress,
        slice,
        limit,
        min_free,
        team @ ..,
        policy,
        overhead,
        window,
        initial,
        most,
    ]: [u32; SETTING] = *numbers.first_chunk().expect("a setting has so many numbers");
    let [gc_threads, balance, letters] = team;
    let option = |number: u32| (number > 0).then_some(number as usize);
    let letters = (letters > 0).then_some([policy, overhead + 1, window + 1, initial * INITIAL_HEAP, most]);
    Setting {
        area_blocks: 1 + area as usize,
        chunk_blocks: option(chunk),
        large_kib: option(large),
        factor: f64::from(10 + tenths) / 10.0,
        old_min_kib: old_min as usize,
        generations: 1 + generations,
        hint_kib: option(hint).map(|kib| kib - 1),
        stress: option(stress).map(|every| every as u64),
        slice_words: option(slice),
        limit_mib: option(limit).map(|mib| mib + 1),
        min_free: min_free as u8,
        gc_threads: 1 + gc_threads,
        balance_all: balance > 0,
        ocaml: letters.map(|letters| letters.map(u64::from)),
    }
}

/// Programs of up to `length` operations.
pub(super) fn programs(length: usize) -> impl Strategy<Value = Numbers> {
    let ops = proptest::collection::vec(op(), 1..=length);
    (setting(), setting(), ops).prop_map(|(first, second, ops)| Numbers {
        head: [first, second].concat(),
        ops,
    })
}

/// An operation of thread 0.
pub(super) fn op() -> impl Strategy<Value = [u32; 6]> {
    let numbers = (0u8..=255, any::<u8>(), any::<u8>(), any::<u8>(), any::<u16>());
    numbers.prop_map(|(kind, a, b, c, n)| [0, kind.into(), a.into(), b.into(), c.into(), n.into()])
}

/// An operation of thread 0 on data that threads share.
pub(super) fn shared_op() -> impl Strategy<Value = [u32; 6]> {
    (0u8..12, any::<u16>()).prop_map(|(kind, n)| [0, SHARED + u32::from(kind), 0, 0, 0, n.into()])
}

pub(super) fn decode_program(numbers: &Numbers) -> Program {
    Program {
        settings: [decode_setting(&numbers.head), decode_setting(&numbers.head[SETTING..])],
        ops: numbers.ops.iter().map(decode).collect(),
    }
}

/// A size in words: mostly small, sometimes that of a block, rarely that of several blocks.
fn size(n: u16) -> u32 {
    let n = u32::from(n);
    match n % 16 {
        0..=10 => n / 16 % 24,
        11..=13 => n / 16 % 600,
        // Sizes around the smallest large object.
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
        13 => Shape::Record {
            pointers: size / 2,
            bytes: u32::from(n) % 61,
        },
        // From zero to more than the heap has.
        14 => Shape::Owner(u32::from(n) << (n % 8)),
        _ if n.is_multiple_of(2) => Shape::Wide,
        _ => Shape::Pointers,
    }
}

/// The first kind of operations on data that threads share.
const SHARED: u32 = 256;

/// The operation that follows from its numbers.
pub(super) fn decode(&[_, kind, a, b, c, n]: &[u32; 6]) -> Op {
    let (a, b, c, n) = (a as u8, b as u8, c as u8, n as u16);
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
        148..154 => Op::Copy { to: x, from: y },
        154..158 => Op::Finalise {
            var: x,
            last: c % 3 == 0,
            panics: b % 4 == 3,
        },
        158..170 => Op::Clear { var: x },
        170..172 => Op::Hoard {
            onto: x,
            via: y,
            count: at % 256,
        },
        172..175 => Op::List { onto: x, length: count },
        175 => Op::Chain {
            from: x,
            via: y,
            length: at % 64,
        },
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
        198..203 => Op::Collect(Request::Minor),
        203..207 => Op::Collect(Request::Slice(Words(usize::from(a) * 8))),
        207..209 => Op::Collect(Request::Cycle),
        209..212 => Op::Collect(Request::Full),
        212..213 => Op::Collect(Request::Compact),
        213..217 => Op::Hold { handle: at % 6, var: x },
        217..221 => Op::Open { to: x, handle: at % 6 },
        221..224 => Op::HoldWeak { handle: at % 6, var: x },
        224..227 => Op::OpenWeak { to: x, handle: at % 6 },
        227..229 => Op::Tie { key: x, value: y },
        229..231 => Op::OpenEphemeron { to: x, index: at },
        231..233 => Op::Name { roots: [x, y, z] },
        233..241 => Op::Enter,
        241..246 => Op::Leave,
        246..248 => Op::Unwind,
        248..250 => Op::PanicInside,
        250..253 => Op::Other { count: at % 16 },
        253..SHARED => Op::Switch { heap: at % 2 },
        SHARED.. => Op::Shared(shared(kind - SHARED, n)),
    }
}

fn shared(kind: u32, n: u16) -> Shared {
    match kind {
        0..3 => Shared::Send {
            length: size(n) as usize,
        },
        3..6 => Shared::Receive { cell: usize::from(n) },
        6..10 => Shared::Swap { cell: usize::from(n) },
        10 => Shared::Safepoint,
        _ => Shared::Blocking,
    }
}
