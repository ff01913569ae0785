//! The generator of random programs.
//!
//! Every sublist of a program is also a program, so shrinking drops operations: each index in an
//! operation is taken modulo the number of things that exist.

use super::program::{Op, Program, Request, Setting, Shape, Var, Words};
use proptest::prelude::*;

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
        proptest::option::weighted(0.7, prop_oneof![1usize..10, 1usize..400]),
    );
    let limit = (proptest::option::weighted(0.25, 2usize..6), 0u8..11);
    let team = (1u32..5, any::<bool>());
    let most_overhead = prop_oneof![Just(0u64), 1u64..1000, Just(1_000_000)];
    let letters = (
        0u64..3,
        1u64..300,
        1u64..9,
        prop_oneof![Just(0u64), Just(61_440)],
        most_overhead,
    );
    let letters = letters.prop_map(|(policy, overhead, window, heap, most)| [policy, overhead, window, heap, most]);
    let letters = proptest::option::weighted(0.8, letters);
    (area, old, odd, limit, team, letters).prop_map(
        |(
            (area_blocks, chunk_blocks, large_kib),
            (tenths, old_min_kib, generations),
            (hint_kib, stress, slice_words),
            (limit_mib, min_free),
            (gc_threads, balance_all),
            ocaml,
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
                slice_words,
                limit_mib,
                min_free,
                gc_threads,
                balance_all,
                ocaml,
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
        198..203 => Op::Collect(Request::Minor),
        203..207 => Op::Collect(Request::Slice(Words(usize::from(a) * 8))),
        207..209 => Op::Collect(Request::Cycle),
        209..212 => Op::Collect(Request::Full),
        212..213 => Op::Collect(Request::Compact),
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
