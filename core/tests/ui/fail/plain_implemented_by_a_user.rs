//! A user's type could claim to be a pointer when it is not, or not to be one when it is.

use gclab_core::closure::Closure;
use gclab_core::closure::{Field, Plain};

#[derive(Clone, Copy)]
struct Address(u64);

impl Plain for Address {
    fn to_word(self) -> u64 {
        self.0
    }
    fn from_word(word: u64) -> Self {
        Address(word)
    }
}

#[derive(Closure)]
struct Holder {
    address: Address,
}

impl Field for Address {
    const POINTER: bool = true;
    type Init<'m, 'h> = u64;
    type View<'m, 'h> = u64;
    fn encode(value: u64) -> u64 {
        value
    }
    unsafe fn decode<'m, 'h>(word: u64) -> u64 {
        word
    }
}

fn main() {}
