//! The closures of random programs: every kind, every odd size. They are made here; `real` reads
//! and writes them.
//!
//! Each array, variable and closure with memory outside the heap lies in a box that knows its type
//! statically, so a program needs no downcast to use it.

use super::account::{Account, Owned};
use gclab_core::closure::{Closure, Mut, Ptr, RecordShape};
use gclab_core::mutator::{Any, Foreign, Gc, MutArray, MutVar, Mutator, MutatorKind, NoGc};
use gclab_core::words::Bytes;

#[derive(Closure)]
pub(super) struct Nil;

#[derive(Closure)]
#[allow(dead_code)]
pub(super) struct Int {
    value: u64,
}

#[derive(Closure)]
#[allow(dead_code)]
pub(super) struct Cons {
    head: Option<Ptr<Any>>,
    value: u64,
    tail: Option<Ptr<Any>>,
}

#[derive(Closure)]
#[allow(dead_code)]
pub(super) struct Cell {
    value: u64,
    next: Mut<Any>,
}

#[derive(Closure)]
#[allow(dead_code)]
pub(super) struct Strict {
    to: Ptr<Any>,
}

#[derive(Closure)]
#[allow(dead_code)]
pub(super) struct Mixed {
    real: f64,
    first: Option<Ptr<Any>>,
    letter: char,
    second: Mut<Any>,
    sign: i32,
    third: Option<Ptr<Any>>,
    truth: bool,
}

#[derive(Closure)]
#[allow(dead_code)]
pub(super) struct VarBox {
    value: u64,
    inner: Ptr<MutVar<Any>>,
}

#[derive(Closure)]
#[allow(dead_code)]
pub(super) struct ArrayBox {
    value: u64,
    inner: Ptr<MutArray<Any>>,
}

#[derive(Closure)]
#[allow(dead_code)]
pub(super) struct Owner {
    value: u64,
    inner: Ptr<Foreign<Owned>>,
}

/// `Wide`: 251 words and three pointers; `Pointers`: 254 pointers. The largest closures of fixed
/// layout.
macro_rules! wide {
    ($($w:ident)*; $($p:ident)*) => {
        #[derive(Closure)]
        #[allow(dead_code)]
        pub(super) struct Wide { first: Option<Ptr<Any>>, $($w: u64,)* second: Option<Ptr<Any>>, third: Mut<Any> }

        #[derive(Closure)]
        #[allow(dead_code)]
        pub(super) struct Pointers { $($w: Option<Ptr<Any>>,)* $($p: Option<Ptr<Any>>),* }

        fn wide<'m, 'h>(seed: u64, args: Args<'m, 'h>) -> WideInit<'m, 'h> {
            Wide::new(args[0], $({ let _ = stringify!($w); seed },)* args[1], args[2])
        }
        pub(super) fn wide_words<'h, M: MutatorKind>(m: &NoGc<'h, M>, gc: Gc<'_, 'h, Wide>) -> [u64; 251] {
            [$(WideFields::$w(gc, m)),*]
        }
        fn pointers<'m, 'h>(args: Args<'m, 'h>) -> PointersInit<'m, 'h> {
            Pointers::new($({ let _ = stringify!($w); args[0] },)* $({ let _ = stringify!($p); args[1] }),*)
        }
        pub(super) fn all_pointers<'m, 'h, M: MutatorKind>(
            m: &NoGc<'h, M>,
            gc: Gc<'m, 'h, Pointers>,
        ) -> [Option<Gc<'m, 'h, Any>>; 254] {
            [$(PointersFields::$w(gc, m),)* $(gc.$p(m)),*]
        }
    };
}

wide! {
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9
    d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9
    g0 g1 g2 g3 g4 g5 g6 g7 g8 g9 h0 h1 h2 h3 h4 h5 h6 h7 h8 h9 i0 i1 i2 i3 i4 i5 i6 i7 i8 i9
    j0 j1 j2 j3 j4 j5 j6 j7 j8 j9 k0 k1 k2 k3 k4 k5 k6 k7 k8 k9 l0 l1 l2 l3 l4 l5 l6 l7 l8 l9
    m0 m1 m2 m3 m4 m5 m6 m7 m8 m9 n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 o0 o1 o2 o3 o4 o5 o6 o7 o8 o9
    p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 q0 q1 q2 q3 q4 q5 q6 q7 q8 q9 r0 r1 r2 r3 r4 r5 r6 r7 r8 r9
    s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 u0 u1 u2 u3 u4 u5 u6 u7 u8 u9
    v0 v1 v2 v3 v4 v5 v6 v7 v8 v9 w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 x0 x1 x2 x3 x4 x5 x6 x7 x8 x9
    y0 y1 y2 y3 y4 y5 y6 y7 y8 y9 z0; z1 z2 z3
}

/// The kind of a closure, with its size where that varies. `Var`, `Array` and `Foreign` are the
/// contents of boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No pointers and no data.
    Nil,
    /// A word of data.
    Int,
    /// Two pointers around a word of data.
    Cons,
    /// A word of data and a mutable pointer.
    Cell,
    /// A pointer that is never null; [`Shape::Nil`] if there is nothing to point to.
    Strict,
    /// Data of four types between pointers, one of them mutable.
    Mixed,
    /// 251 words of data and three pointers: as large as closures of fixed layout can be.
    Wide,
    /// 254 pointers: as large as closures of fixed layout can be.
    Pointers,
    /// A word of data and a pointer to a mutable variable.
    VarBox,
    /// A word of data and a pointer to a mutable array of this many pointers.
    ArrayBox(u32),
    /// A word of data and a pointer to a closure that owns this many bytes outside the heap.
    Owner(u32),
    /// An immutable array of this many bytes.
    Bytes(u32),
    /// A mutable array of this many bytes.
    MutBytes(u32),
    /// A mutable array of this many words.
    MutWords(u32),
    /// A record, whose layout is only known at run time.
    Record {
        /// The number of mutable pointers.
        pointers: u32,
        /// The number of mutable bytes.
        bytes: u32,
    },
    /// The mutable variable in a [`Shape::VarBox`].
    Var,
    /// The mutable array in a [`Shape::ArrayBox`].
    Array(u32),
    /// The closure in a [`Shape::Owner`].
    Foreign(u32),
}

/// The pointers that a new closure starts with.
pub(super) type Args<'m, 'h> = [Option<Gc<'m, 'h, Any>>; 3];

impl Shape {
    /// The size in words; the size of a box includes its content.
    pub(super) fn words(self) -> u64 {
        match self {
            Shape::Nil => 1,
            Shape::Int | Shape::Strict | Shape::Var | Shape::Foreign(_) => 2,
            Shape::Cell => 3,
            Shape::Cons => 4,
            Shape::Mixed => 8,
            Shape::Wide | Shape::Pointers => 255,
            Shape::VarBox => 3 + Shape::Var.words(),
            Shape::ArrayBox(len) => 3 + Shape::Array(len).words(),
            Shape::Owner(bytes) => 3 + Shape::Foreign(bytes).words(),
            Shape::Array(len) => 2 + u64::from(len),
            Shape::Bytes(len) | Shape::MutBytes(len) => 2 + u64::from(len).div_ceil(8),
            Shape::MutWords(len) => 2 + u64::from(len),
            Shape::Record { pointers, bytes } => 2 + u64::from(pointers) + u64::from(bytes).div_ceil(8),
        }
    }

    /// The first contents of its slots, as indices of the arguments; [`alloc`] follows the same
    /// rule.
    pub(super) fn initial_slots(self) -> Vec<Option<usize>> {
        match self {
            Shape::Nil | Shape::Int | Shape::Foreign(_) => vec![],
            Shape::Bytes(_) | Shape::MutBytes(_) | Shape::MutWords(_) => vec![],
            Shape::Cons => vec![Some(0), Some(1)],
            Shape::Cell | Shape::Strict | Shape::Var => vec![Some(0)],
            Shape::Mixed | Shape::Wide => vec![Some(0), Some(1), Some(2)],
            Shape::Pointers => (0..254).map(|i| Some(usize::from(i >= 251))).collect(),
            Shape::Array(len) => vec![Some(0); len as usize],
            Shape::Record { pointers, .. } => vec![None; pointers as usize],
            Shape::VarBox | Shape::ArrayBox(_) | Shape::Owner(_) => unreachable!("a box has its content's slots"),
        }
    }

    /// The shape of its content, if it is a box.
    pub(super) fn inner(self) -> Option<Shape> {
        match self {
            Shape::VarBox => Some(Shape::Var),
            Shape::ArrayBox(len) => Some(Shape::Array(len)),
            Shape::Owner(bytes) => Some(Shape::Foreign(bytes)),
            _ => None,
        }
    }

    /// Whether it is the content of a box.
    pub(super) fn is_content(self) -> bool {
        matches!(self, Shape::Var | Shape::Array(_) | Shape::Foreign(_))
    }

    /// A mutable slot of it, or of a box's content, chosen by `n`.
    pub(super) fn mutable_slot(self, n: usize) -> Option<usize> {
        match self.inner().unwrap_or(self) {
            Shape::Cell | Shape::Var => Some(0),
            Shape::Mixed => Some(1),
            Shape::Wide => Some(2),
            Shape::Array(slots) | Shape::Record { pointers: slots, .. } => n.checked_rem(slots as usize),
            _ => None,
        }
    }

    /// The number of mutable bytes.
    pub(super) fn mutable_bytes(self) -> usize {
        match self {
            Shape::MutBytes(len) => len as usize,
            Shape::MutWords(len) => 8 * len as usize,
            Shape::Record { bytes, .. } => bytes as usize / 8 * 8,
            _ => 0,
        }
    }
}

/// Byte `i` of an immutable byte array.
pub(super) fn pattern(seed: u64, i: usize) -> u8 {
    (seed as usize).wrapping_mul(31).wrapping_add(i) as u8
}

pub(super) fn letter(seed: u64) -> char {
    char::from_u32(0x61 + seed as u32 % 26).expect("a letter")
}

/// Allocates a closure of `shape`. `args` returns its first pointers, once there is room for it. If
/// it ends early, `account` has the words of the content of a box that has no box.
pub(super) fn alloc<'m, 'h, M: MutatorKind>(
    m: &'m mut Mutator<'h, M>,
    shape: Shape,
    seed: u64,
    account: &Account,
    args: impl for<'x> Fn(&'x NoGc<'h, M>) -> Args<'x, 'h>,
) -> Gc<'m, 'h, Any> {
    let closure = match shape {
        Shape::Nil => m.alloc(|_| Nil::new()).erase(),
        Shape::Int => m.alloc(|_| Int::new(seed)).erase(),
        Shape::Cons => m.alloc(|m| Cons::new(args(m)[0], seed, args(m)[1])).erase(),
        Shape::Cell => m.alloc(|m| Cell::new(seed, args(m)[0])).erase(),
        Shape::Strict => m.alloc(|m| Strict::new(args(m)[0].expect("not null"))).erase(),
        Shape::Mixed => {
            let (real, letter, sign, truth) = (seed as f64, letter(seed), seed as i32, seed.is_multiple_of(2));
            m.alloc(|m| Mixed::new(real, args(m)[0], letter, args(m)[1], sign, args(m)[2], truth))
                .erase()
        }
        Shape::Wide => m.alloc(|m| wide(seed, args(m))).erase(),
        Shape::Pointers => m.alloc(|m| pointers(args(m))).erase(),
        Shape::VarBox => m.frame(|m, [var]| {
            let var = var.put(m.alloc(|m| MutVar::new(args(m)[0])));
            account.count(Shape::Var.words());
            m.alloc(|m| VarBox::new(seed, var.get(m))).erase()
        }),
        Shape::ArrayBox(len) => m.frame(|m, [array]| {
            let array = array.put(m.alloc_array(len as usize, |m| args(m)[0]));
            account.count(Shape::Array(len).words());
            m.alloc(|m| ArrayBox::new(seed, array.get(m))).erase()
        }),
        Shape::Owner(bytes) => m.frame(|m, [owner]| {
            let value = account.value(seed);
            let owner = owner.put(m.alloc_foreign(value, Bytes(bytes as usize)));
            account.own(seed, u64::from(bytes));
            account.count(Shape::Foreign(bytes).words());
            m.alloc(|m| Owner::new(seed, owner.get(m))).erase()
        }),
        Shape::Bytes(len) if seed.is_multiple_of(2) => {
            let bytes: Vec<u8> = (0..len as usize).map(|i| pattern(seed, i)).collect();
            m.alloc_bytes(&bytes).erase()
        }
        Shape::Bytes(len) => m
            .alloc_bytes_with(len as usize, |_, bytes| {
                (0..).zip(bytes).for_each(|(i, byte)| *byte = pattern(seed, i))
            })
            .erase(),
        Shape::MutBytes(len) => m.alloc_mut_bytes(len as usize).erase(),
        Shape::MutWords(len) => m.alloc_mut_words(len as usize).erase(),
        Shape::Record { pointers, bytes } => m.alloc_record(RecordShape { pointers, bytes }).erase(),
        Shape::Var | Shape::Array(_) | Shape::Foreign(_) => unreachable!("these lie in boxes"),
    };
    account.count(shape.words() - shape.inner().map_or(0, Shape::words));
    closure
}
