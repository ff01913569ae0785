//! Copying a closure into a workspace.

use super::workspace::CopyBuffer;
use crate::closure::{ClosureRef, Header, VARIABLE, byte_array_words};
use crate::words::Words;

/// Words of the largest closure with its own copying code.
const SMALL: usize = 6;

/// Words of the largest closure that the loop copies.
const LARGEST: Words = Words(32);

/// Copies a closure into `buffer`, and returns its new address. `refill` finds room for a number of
/// words if the buffer has none. The most common sizes have their own copying code: with a
/// predicted constant size, the address of the next copy does not depend on the load of this one's
/// header.
///
/// # Safety
/// `closure` is a closure with this header; in parallel, its first word may be a forwarding address
/// by now. No other thread uses the to-space between `free` and `limit` of the buffer, nor of the
/// one that `refill` returns, which has the room that was asked for.
#[inline(always)]
pub(super) unsafe fn copy_closure(
    closure: ClosureRef,
    header: Header,
    buffer: &mut CopyBuffer,
    refill: impl FnOnce(CopyBuffer, Words) -> CopyBuffer,
) -> ClosureRef {
    let payload = usize::from(header.words());
    let words = if payload < SMALL {
        SMALL
    } else if header.words() != VARIABLE {
        1 + payload
    } else {
        // SAFETY: the caller's promise.
        unsafe { closure.extent_from(header) }.words.0
    };
    if !buffer.has_room(Words(words)) {
        *buffer = refill(*buffer, Words(words));
    }
    let to = buffer.free;
    // SAFETY: the caller vouches for the closure; to-space has room for it, and is not from-space.
    let words = unsafe {
        match payload {
            1 => fixed::<2, 1>(closure, header, to),
            2 => fixed::<3, 2>(closure, header, to),
            3 => fixed::<4, 3>(closure, header, to),
            4 => fixed::<5, 4>(closure, header, to),
            5 => fixed::<6, 5>(closure, header, to),
            0 => fixed::<1, 0>(closure, header, to),
            _ => {
                to.write(header.0);
                1 + copy_run(closure.0.add(1), to.add(1), words - 1)
            }
        }
    };
    buffer.free = to.wrapping_add(words);
    ClosureRef(to)
}

/// [`copy_closure`] for the loop, of a closure with pointers that is not a large object. Copies
/// nothing and returns `None` if the closure is too large for the loop, or the buffer has too
/// little room.
///
/// # Safety
/// As for [`copy_closure`].
#[inline(always)]
pub(super) unsafe fn copy_pointers(closure: ClosureRef, header: Header, buffer: &mut CopyBuffer) -> Option<ClosureRef> {
    let to = buffer.free;
    if !buffer.has_room(Words(SMALL)) {
        return None;
    }
    // SAFETY: the caller vouches for the closure; to-space has room for it, and is not from-space.
    let words = unsafe {
        match header.words() {
            1 => fixed::<2, 1>(closure, header, to),
            2 => fixed::<3, 2>(closure, header, to),
            3 => fixed::<4, 3>(closure, header, to),
            4 => fixed::<5, 4>(closure, header, to),
            5 => fixed::<6, 5>(closure, header, to),
            _ => {
                let words = closure.extent_with_pointers(header).words;
                if words > LARGEST || !buffer.has_room(words) {
                    return None;
                }
                word_by_word(closure, header, to, words)
            }
        }
    };
    buffer.free = to.wrapping_add(words);
    Some(ClosureRef(to))
}

/// [`copy_pointers`] for a closure without pointers.
///
/// # Safety
/// As for [`copy_closure`]. The closure has no pointers.
#[inline(always)]
pub(super) unsafe fn copy_flat(closure: ClosureRef, header: Header, buffer: &mut CopyBuffer) -> Option<ClosureRef> {
    let to = buffer.free;
    let words = if header.words() == VARIABLE {
        // SAFETY: a closure of variable size without pointers is a byte array, which has its size
        // in bytes after the header.
        byte_array_words(unsafe { *closure.0.add(1) } as usize)
    } else {
        Words(1 + usize::from(header.words()))
    };
    if words > LARGEST || !buffer.has_room(words) {
        return None;
    }
    // SAFETY: the caller vouches for the closure; to-space has room for it, and is not from-space.
    let words = unsafe { word_by_word(closure, header, to, words) };
    buffer.free = to.wrapping_add(words);
    Some(ClosureRef(to))
}

/// Copies a closure of `words` words without its header, and returns their number.
///
/// # Safety
/// As for [`fixed`].
#[inline(always)]
unsafe fn word_by_word(closure: ClosureRef, header: Header, to: *mut u64, words: Words) -> usize {
    // SAFETY: the caller vouches for `words` words.
    unsafe {
        to.write(header.0);
        let mut at = 1;
        while at + usize::from(mutant!("copy/copied-short")) < words.0 {
            to.add(at).write(closure.0.add(at).read());
            at += 1;
        }
    }
    words.0
}

/// Copies a closure of `N` words, `PAYLOAD` (one less) without its header, and returns `N`. The
/// header is not read again: in parallel it may be a forwarding address by now.
///
/// # Safety
/// As for [`copy_run`], for `N` words; they are a closure with this header.
#[inline(always)]
unsafe fn fixed<const N: usize, const PAYLOAD: usize>(closure: ClosureRef, header: Header, to: *mut u64) -> usize {
    // SAFETY: the caller vouches for `N` words.
    unsafe {
        to.write(header.0);
        to.add(1)
            .cast::<[u64; PAYLOAD]>()
            .write(closure.0.add(1).cast::<[u64; PAYLOAD]>().read());
    };
    N
}

/// Copies `words` words from `from` to `to`, and returns their number.
///
/// # Safety
/// Both are valid for `words` words and do not overlap.
#[inline(always)]
pub(in crate::trace) unsafe fn copy_run(from: *const u64, to: *mut u64, words: usize) -> usize {
    if words > 32 {
        // SAFETY: passed on.
        unsafe { to.copy_from_nonoverlapping(from, words) };
        return words;
    }
    let mut at = 0;
    while at + 4 <= words {
        // SAFETY: four words are left.
        unsafe {
            to.add(at)
                .cast::<[u64; 4]>()
                .write(from.add(at).cast::<[u64; 4]>().read())
        };
        at += 4;
    }
    while at + usize::from(mutant!("copy/copied-short")) < words {
        // SAFETY: a word is left.
        unsafe { to.add(at).write(from.add(at).read()) };
        at += 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_exactly_as_many_words() {
        let from: Vec<u64> = (1..=100).collect();
        for words in 1..=100 {
            let mut to = vec![0; 101];
            // SAFETY: both have at least 100 words.
            unsafe { copy_run(from.as_ptr(), to.as_mut_ptr(), words) };
            assert_eq!(to[..words], from[..words]);
            assert!(to[words..].iter().all(|&w| w == 0), "{words} words: more was written");
        }
    }
}
