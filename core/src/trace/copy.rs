//! Copying a closure into a lane.

use super::lane::Cursor;
use crate::closure::{ClosureRef, Header, VARIABLE};

/// Words of the largest closure that is copied by code of its own.
const SMALL: usize = 6;

/// Copy a closure to where `cursor` is, and give its new address; `refill` finds room for so many words if there is none. Sizes that nearly all closures have are copied by code of their own:
/// a predicted constant size frees the address of the next copy from the load of this one's header.
///
/// # Safety
/// `closure` is a closure with this header; in parallel, its first word may be a forwarding address by now. What lies between `free` and `limit` of the cursor, and of the one that `refill` gives, is
/// to-space that nobody else has, and the latter has the room that was asked for.
#[inline(always)]
pub(super) unsafe fn copy_closure<const PARALLEL: bool>(
    closure: ClosureRef,
    header: Header,
    cursor: &mut Cursor,
    refill: impl FnOnce(Cursor, usize) -> Cursor,
) -> *mut u64 {
    let payload = usize::from(header.words());
    let words = if payload < SMALL {
        SMALL
    } else if header.words() != VARIABLE {
        1 + payload
    } else {
        // SAFETY: the caller's promise.
        unsafe { closure.extent_from(header) }.words.0
    };
    if !cursor.has_room(words) {
        *cursor = refill(*cursor, words);
    }
    let to = cursor.free;
    // SAFETY: the caller vouches for the closure; to-space has room for it, and is not from-space.
    let words = unsafe {
        match payload {
            1 => fixed::<PARALLEL, 2, 1>(closure, header, to),
            2 => fixed::<PARALLEL, 3, 2>(closure, header, to),
            3 => fixed::<PARALLEL, 4, 3>(closure, header, to),
            4 => fixed::<PARALLEL, 5, 4>(closure, header, to),
            5 => fixed::<PARALLEL, 6, 5>(closure, header, to),
            0 => fixed::<PARALLEL, 1, 0>(closure, header, to),
            _ if PARALLEL => {
                to.write(header.0);
                1 + copy_run(closure.0.add(1), to.add(1), words - 1)
            }
            _ => copy_run(closure.0, to, words),
        }
    };
    cursor.free = to.wrapping_add(words);
    to
}

/// Copy a closure of `N` words, `PAYLOAD` (one less) without its header, and give their number. In parallel the header is not read again.
///
/// # Safety
/// As for [`copy_run`], for `N` words; they are a closure with this header.
#[inline(always)]
unsafe fn fixed<const PARALLEL: bool, const N: usize, const PAYLOAD: usize>(
    closure: ClosureRef,
    header: Header,
    to: *mut u64,
) -> usize {
    // SAFETY: the caller vouches for `N` words.
    unsafe {
        if PARALLEL {
            let payload = closure.0.add(1).cast::<[u64; PAYLOAD]>().read();
            to.write(header.0);
            to.add(1).cast::<[u64; PAYLOAD]>().write(payload);
        } else {
            to.cast::<[u64; N]>().write(closure.0.cast::<[u64; N]>().read());
        }
    };
    N
}

/// Copy `words` words from `from` to `to`, and give their number.
///
/// # Safety
/// Both are valid for `words` words and do not overlap.
#[inline(always)]
unsafe fn copy_run(from: *const u64, to: *mut u64, words: usize) -> usize {
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
    while at < words {
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
            // SAFETY: both have 100 words at least.
            unsafe { copy_run(from.as_ptr(), to.as_mut_ptr(), words) };
            assert_eq!(to[..words], from[..words]);
            assert!(to[words..].iter().all(|&w| w == 0), "{words} words: more was written");
        }
    }
}
