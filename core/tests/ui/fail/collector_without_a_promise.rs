//! A collector or an allocator promises to keep reachable closures, so the impl must be `unsafe`.

use gclab_core::collector::Alloc;
use gclab_core::words::{Addr, Bytes, Words};

#[derive(Default)]
struct Nowhere;

impl Alloc for Nowhere {
    fn reserve(&self, _: Words) -> Option<Addr> {
        Some(Addr(8))
    }
    fn commit(&self, _: Addr, _: Words) {}
    fn restrict(&self, _: Option<Words>) {}
    fn allocated(&self) -> Bytes {
        Bytes(0)
    }
    fn take_allocated(&self) -> Bytes {
        Bytes(0)
    }
}

fn main() {}
