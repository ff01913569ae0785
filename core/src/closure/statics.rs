//! Where this process's statics are, for code that must check an address before reading it.

use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    /// The readable parts of loaded programs and libraries, as far as they were looked up, most
    /// recently found first.
    static LOADED: RefCell<Vec<Range<usize>>> = const { RefCell::new(Vec::new()) };
}

/// Whether the `size` bytes at `address` lie in a loaded program or library and can be read.
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
            // A library may have been loaded since, or the address is that of no static.
            *parts = loaded();
            found(parts)
        }
    })
}

fn loaded() -> Vec<Range<usize>> {
    /// Notes the parts of one program or library.
    ///
    /// # Safety
    /// `object` points to a valid `dl_phdr_info` of a loaded object, as in calls by
    /// `dl_iterate_phdr`; `parts` points to a `Vec<Range<usize>>` that no other code uses during
    /// the call.
    unsafe extern "C" fn note(
        object: *mut libc::dl_phdr_info,
        _: libc::size_t,
        parts: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the caller vouches for both pointers.
        let (object, parts) = unsafe { (&*object, &mut *parts.cast::<Vec<Range<usize>>>()) };
        // SAFETY: `dlpi_phnum` headers are there as long as the object is loaded, which it is
        // during the call.
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
    // SAFETY: `note` has the required signature, and no other code uses the vector.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut parts).cast()) };
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statics_are_recognised_and_other_memory_is_not() {
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
