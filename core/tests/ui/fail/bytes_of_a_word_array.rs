//! Two threads could read and write the same memory in two sizes at once.

use gclab_core::mutator::{MutWordArray, Mutator, MutatorKind, Root};

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &Root<'_, 'h, MutWordArray>) {
    let (words, bytes) = (root.get(m).words(), root.get(m).bytes());
    std::thread::scope(|s| {
        s.spawn(|| words[0].store(1, std::sync::atomic::Ordering::Relaxed));
        s.spawn(|| bytes[0].store(1, std::sync::atomic::Ordering::Relaxed));
    });
}

fn main() {}
