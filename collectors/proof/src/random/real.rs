//! Closures of random programs, read and written by their shapes.

use super::account::Owned;
use super::shapes::{
    ArrayBox, ArrayBoxFields, Cell, CellFields, Cons, ConsFields, Int, IntFields, Mixed, MixedFields, Nil, Owner,
    OwnerFields, Pointers, Shape, Strict, StrictFields, VarBox, VarBoxFields, Wide, WideFields, all_pointers, letter,
    pattern, wide_words,
};
use gclab_core::closure::RecordShape;
use gclab_core::mutator::{
    Any, ByteArray, Distinct, Foreign, Gc, MutArray, MutByteArray, MutVar, MutWordArray, MutatorKind, NoGc, Record,
};
use std::sync::atomic::Ordering::Relaxed;

/// A closure, with its type where it is not [`Any`].
#[derive(Clone, Copy)]
pub(super) enum Real<'m, 'h> {
    Any(Gc<'m, 'h, Any>),
    Var(Gc<'m, 'h, MutVar<Any>>),
    Array(Gc<'m, 'h, MutArray<Any>>),
    Foreign(Gc<'m, 'h, Foreign<Owned>>),
}

pub(super) fn cast<'m, 'h, T: Distinct>(gc: Gc<'m, 'h, Any>) -> Result<Gc<'m, 'h, T>, String> {
    gc.downcast::<T>()
        .ok_or_else(|| format!("a {} is a {}", T::INFO.name, gc.info().name))
}

impl<'m, 'h> Real<'m, 'h> {
    /// The word in slots that point to it.
    pub(super) fn word(self) -> u64 {
        match self {
            Real::Any(gc) => gc.to_word(),
            Real::Var(gc) => gc.to_word(),
            Real::Array(gc) => gc.to_word(),
            Real::Foreign(gc) => gc.to_word(),
        }
    }

    fn any(self) -> Result<Gc<'m, 'h, Any>, String> {
        match self {
            Real::Any(gc) => Ok(gc),
            _ => Err("the box does not contain a box".to_owned()),
        }
    }

    /// The content, if `shape` is a box; otherwise the closure itself.
    pub(super) fn unboxed<M: MutatorKind>(self, m: &NoGc<'h, M>, shape: Shape) -> Result<Real<'m, 'h>, String> {
        Ok(match shape {
            Shape::VarBox => Real::Var(cast::<VarBox>(self.any()?)?.inner(m)),
            Shape::ArrayBox(_) => Real::Array(cast::<ArrayBox>(self.any()?)?.inner(m)),
            Shape::Owner(_) => Real::Foreign(cast::<Owner>(self.any()?)?.inner(m)),
            _ => self,
        })
    }

    /// The target of slot `index`.
    pub(super) fn slot<M: MutatorKind>(
        self,
        m: &NoGc<'h, M>,
        shape: Shape,
        index: usize,
    ) -> Result<Option<Gc<'m, 'h, Any>>, String> {
        Ok(match self.unboxed(m, shape)? {
            Real::Var(gc) => gc.read(m),
            Real::Array(gc) => gc.get(m, index),
            Real::Foreign(_) => None,
            Real::Any(gc) => match shape {
                Shape::Record { .. } => cast::<Record>(gc)?.get(m, index),
                _ => self.fixed_slots(m, shape)?[index],
            },
        })
    }

    /// The targets of all slots, in order.
    pub(super) fn slots<M: MutatorKind>(
        self,
        m: &NoGc<'h, M>,
        shape: Shape,
    ) -> Result<Vec<Option<Gc<'m, 'h, Any>>>, String> {
        Ok(match self {
            Real::Var(gc) => vec![gc.read(m)],
            Real::Array(gc) => (0..gc.len()).map(|i| gc.get(m, i)).collect(),
            Real::Foreign(_) => vec![],
            Real::Any(gc) => match shape {
                Shape::Record { pointers, .. } => {
                    let gc = cast::<Record>(gc)?;
                    (0..pointers as usize).map(|i| gc.get(m, i)).collect()
                }
                _ => self.fixed_slots(m, shape)?,
            },
        })
    }

    fn fixed_slots<M: MutatorKind>(
        self,
        m: &NoGc<'h, M>,
        shape: Shape,
    ) -> Result<Vec<Option<Gc<'m, 'h, Any>>>, String> {
        let gc = self.any()?;
        Ok(match shape {
            Shape::Cons => {
                let gc = cast::<Cons>(gc)?;
                vec![gc.head(m), gc.tail(m)]
            }
            Shape::Cell => vec![cast::<Cell>(gc)?.next(m)],
            Shape::Strict => vec![Some(cast::<Strict>(gc)?.to(m))],
            Shape::Mixed => {
                let gc = cast::<Mixed>(gc)?;
                vec![gc.first(m), gc.second(m), gc.third(m)]
            }
            Shape::Wide => {
                let gc = cast::<Wide>(gc)?;
                vec![gc.first(m), gc.second(m), gc.third(m)]
            }
            Shape::Pointers => all_pointers(m, cast::<Pointers>(gc)?).to_vec(),
            _ => vec![],
        })
    }

    /// Overwrites slot `index`, which is mutable.
    pub(super) fn set_slot<M: MutatorKind>(
        self,
        m: &NoGc<'h, M>,
        shape: Shape,
        index: usize,
        value: Option<Gc<'_, 'h, Any>>,
    ) -> Result<(), String> {
        match self.unboxed(m, shape)? {
            Real::Var(gc) => gc.write(m, value),
            Real::Array(gc) => gc.set(m, index, value),
            Real::Foreign(_) => {}
            Real::Any(gc) => match shape {
                Shape::Cell => cast::<Cell>(gc)?.set_next(m, value),
                Shape::Mixed => cast::<Mixed>(gc)?.set_second(m, value),
                Shape::Wide => cast::<Wide>(gc)?.set_third(m, value),
                _ => cast::<Record>(gc)?.set(m, index, value),
            },
        }
        Ok(())
    }

    /// Overwrites byte `at`. In a record or an array of words, fills the word around it with the
    /// byte.
    pub(super) fn set_byte(self, shape: Shape, at: usize, byte: u8) -> Result<(), String> {
        match shape {
            Shape::MutBytes(_) => cast::<MutByteArray>(self.any()?)?.bytes()[at].store(byte, Relaxed),
            Shape::MutWords(_) => {
                cast::<MutWordArray>(self.any()?)?.words()[at / 8].store(u64::from_ne_bytes([byte; 8]), Relaxed)
            }
            _ => cast::<Record>(self.any()?)?.data()[at / 8].store(u64::from_ne_bytes([byte; 8]), Relaxed),
        }
        Ok(())
    }

    /// Checks that it has the shape `shape` and the data that follow from `seed` and `bytes`.
    pub(super) fn check_data<M: MutatorKind>(
        self,
        m: &NoGc<'h, M>,
        shape: Shape,
        seed: u64,
        bytes: &[u8],
    ) -> Result<(), String> {
        let right = match (self, shape) {
            (Real::Var(_), Shape::Var) => true,
            (Real::Array(gc), Shape::Array(len)) => gc.len() == len as usize,
            (Real::Foreign(gc), Shape::Foreign(_)) => gc.value(m).number() == seed,
            (Real::Any(gc), _) => data_is_right(m, gc, shape, seed, bytes)?,
            _ => false,
        };
        if right {
            Ok(())
        } else {
            Err(format!("the data of a {shape:?} changed"))
        }
    }
}

fn data_is_right<'h, M: MutatorKind>(
    m: &NoGc<'h, M>,
    gc: Gc<'_, 'h, Any>,
    shape: Shape,
    seed: u64,
    expected: &[u8],
) -> Result<bool, String> {
    Ok(match shape {
        Shape::Nil => cast::<Nil>(gc).is_ok(),
        Shape::Int => cast::<Int>(gc)?.value(m) == seed,
        Shape::Cons => cast::<Cons>(gc)?.value(m) == seed,
        Shape::Cell => cast::<Cell>(gc)?.value(m) == seed,
        Shape::Strict => cast::<Strict>(gc).is_ok(),
        Shape::Mixed => {
            let gc = cast::<Mixed>(gc)?;
            (gc.real(m), gc.letter(m), gc.sign(m), gc.truth(m))
                == (seed as f64, letter(seed), seed as i32, seed.is_multiple_of(2))
        }
        Shape::Wide => wide_words(m, cast::<Wide>(gc)?).iter().all(|&word| word == seed),
        Shape::Pointers => cast::<Pointers>(gc).is_ok(),
        Shape::VarBox => cast::<VarBox>(gc)?.value(m) == seed,
        Shape::ArrayBox(_) => cast::<ArrayBox>(gc)?.value(m) == seed,
        Shape::Owner(_) => cast::<Owner>(gc)?.value(m) == seed,
        Shape::Bytes(len) => {
            let bytes = cast::<ByteArray>(gc)?.as_slice();
            bytes.len() == len as usize && (0..).zip(bytes).all(|(i, &byte)| byte == pattern(seed, i))
        }
        Shape::MutBytes(_) => {
            let bytes = cast::<MutByteArray>(gc)?.bytes();
            bytes.iter().map(|byte| byte.load(Relaxed)).eq(expected.iter().copied())
        }
        Shape::MutWords(_) => {
            let words = cast::<MutWordArray>(gc)?.words().iter();
            let bytes = words.flat_map(|word| word.load(Relaxed).to_ne_bytes());
            bytes.eq(expected.iter().copied())
        }
        Shape::Record { pointers, bytes } => {
            let gc = cast::<Record>(gc)?;
            let data = gc.data().iter().flat_map(|word| word.load(Relaxed).to_ne_bytes());
            gc.shape() == (RecordShape { pointers, bytes }) && data.eq(expected.iter().copied())
        }
        Shape::Var | Shape::Array(_) | Shape::Foreign(_) => false,
    })
}
