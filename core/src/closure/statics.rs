//! Where the statics of this process lie, for who must not believe an address before it is read.

use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    /// The parts of loaded programs and libraries that can be read, as far as they were asked for; the last one that had what
    /// was asked for is the first.
    static LOADED: RefCell<Vec<Range<usize>>> = const { RefCell::new(Vec::new()) };
}

/// Whether the `size` bytes at `address` lie in a loaded program or library, so that they can be read.
pub(super) fn have(address: usize, size: usize) -> bool {
    if cfg!(miri) {
        return true;
    }
    let Some(end) = address.checked_add(size) else {
        return false;
    };
    let found = |parts: &mut Vec<Range<usize>>| {
        let at = parts.iter().position(|part| part.start <= address && end <= part.end);
        at.inspect(|&at| parts.swap(0, at)).is_some()
    };
    LOADED.with_borrow_mut(|parts| {
        found(parts) || {
            // A library may have been loaded since; or it is no static.
            *parts = loaded();
            found(parts)
        }
    })
}

fn loaded() -> Vec<Range<usize>> {
    /// Notes the parts of one program or library.
    ///
    /// # Safety
    /// As `dl_iterate_phdr` calls it; `parts` is a `Vec<Range<usize>>` that nobody else uses.
    unsafe extern "C" fn note(
        object: *mut libc::dl_phdr_info,
        _: libc::size_t,
        parts: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the caller's promise.
        let (object, parts) = unsafe { (&*object, &mut *parts.cast::<Vec<Range<usize>>>()) };
        // SAFETY: so many headers are there, for as long as the object is loaded, which it is during the call.
        let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
        for header in headers {
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_R != 0 {
                let start = object.dlpi_addr.wrapping_add(header.p_vaddr) as usize;
                parts.push(start..start.wrapping_add(header.p_memsz as usize));
            }
        }
        0
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    // SAFETY: calls `note` as it wants to be called, with a vector that nobody else uses.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut parts).cast()) };
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statics_are_had_and_other_memory_is_not() {
        static HERE: [u8; 100] = [1; 100];
        let on_the_heap = Box::new(0u64);
        assert!(have(HERE.as_ptr() as usize, 100));
        for other in [
            0,
            64,
            &raw const *on_the_heap as usize,
            (&raw const on_the_heap) as usize,
            usize::MAX - 3,
        ] {
            assert!(cfg!(miri) || !have(other, 64), "{other:#x}");
        }
    }
}
