//! Copying the words of a closure.

/// Copy `words` words from `from` to `to`.
///
/// The sizes that nearly all closures have are copied by straight code: a predicted constant size frees the next
/// address from the header's load.
///
/// # Safety
/// Both are valid for `words` words and do not overlap.
#[inline(always)]
pub(super) unsafe fn copy_words(from: *const u64, to: *mut u64, words: usize) {
    /// # Safety
    /// As for `copy_words`, for `N` words.
    #[inline(always)]
    unsafe fn fixed<const N: usize>(from: *const u64, to: *mut u64) {
        // SAFETY: the caller vouches for `N` words.
        unsafe { to.cast::<[u64; N]>().write(from.cast::<[u64; N]>().read()) }
    }
    // SAFETY: passed on.
    unsafe {
        match words {
            2 => fixed::<2>(from, to),
            3 => fixed::<3>(from, to),
            4 => fixed::<4>(from, to),
            5 => fixed::<5>(from, to),
            6 => fixed::<6>(from, to),
            _ => copy_run(from, to, words),
        }
    }
}

/// # Safety
/// As for [`copy_words`].
#[inline(always)]
unsafe fn copy_run(from: *const u64, to: *mut u64, words: usize) {
    if words > 32 {
        // SAFETY: passed on.
        return unsafe { to.copy_from_nonoverlapping(from, words) };
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
            unsafe { copy_words(from.as_ptr(), to.as_mut_ptr(), words) };
            assert_eq!(to[..words], from[..words]);
            assert!(to[words..].iter().all(|&w| w == 0), "{words} words: more was written");
        }
    }
}
