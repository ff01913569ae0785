//! Address space: what the kernel gives and takes back. Knows nothing of blocks.
//!
//! # Terms
//!
//! * **reserve**: take addresses without memory. A [`Reservation`] is one contiguous range, for all that a heap will ever hold.
//! * **commit**: make a part of the reservation usable. Memory itself comes with the first touch of a page, which for huge pages is here.
//! * **decommit**: give the memory of a part back; its addresses stay reserved and read as zeros when next committed.
//! * **side table**: a [`Table`] with an entry per something in the reservation, mapped without memory and touched lazily.
//!
//! * **request**: a moment at which memory may be refused; whoever wants the n-th one refused says so to [`Requests`].
//!
//! Failures are values, [`MemoryError`].

mod huge_pages;
mod physical;
mod requests;
mod reservation;
mod table;

pub(crate) use physical::physical_memory;
pub use requests::Requests;
pub use reservation::Reservation;
pub use table::{Table, ZeroValid};

#[cfg(miri)]
use crate::miri_libc as libc;
use crate::words::{Addr, Bytes};

/// The size and alignment of a huge page on the machines we know (x86-64, and AArch64 with 4 KiB pages).
pub const HUGE_PAGE: Bytes = Bytes::mib(2);

/// The kernel's page, the unit of commit, decommit and residency.
pub const PAGE: Bytes = Bytes::kib(4);

/// What a heap asks of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryConfig {
    /// Address space to reserve, rounded up to 2 MiB; 2 MiB to 1 TiB. Less is taken where the kernel refuses this much
    /// (`ulimit -v`). Sanitizers and valgrind want a few GiB here.
    pub reserve: Bytes,
    /// Ask for huge pages wherever 2 MiB of heap fill one, as long as they are cheap. Off asks for none, even where the system's default is always.
    pub huge_pages: bool,
    /// Never hold more memory than this (`-M`), side tables and other charges included; `None` for no limit but the reservation.
    pub limit: Option<Bytes>,
    /// Refuse the request for memory of this number, from 1 (`-DF<n>`): the heap's reservation, its side tables, megablocks, and whatever is
    /// charged beside them.
    pub refuse: Option<u64>,
}

/// 1 TiB (as GHC's `-xr`), huge pages on, no limit.
impl Default for MemoryConfig {
    fn default() -> MemoryConfig {
        MemoryConfig {
            reserve: Bytes::gib(1024),
            huge_pages: true,
            limit: None,
            refuse: None,
        }
    }
}

/// The kernel said no, or was not even asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Not even the smallest useful reservation could be had.
    #[error(
        "cannot reserve {size} of address space: {reason} (a smaller reservation, as by -xr1g, or a larger `ulimit -v` would help)"
    )]
    Reserve {
        /// What was asked for in the last attempt.
        size: Bytes,
        /// The system's message.
        reason: String,
    },
    /// A part of the reservation could not be made usable.
    #[error("cannot commit {size} of memory at {at}: {reason}")]
    Commit {
        /// Where the part begins.
        at: Addr,
        /// How long it is.
        size: Bytes,
        /// The system's message.
        reason: String,
    },
    /// A request was refused to see what happens then ([`Requests`]).
    #[error("request {number} for memory was refused on purpose (-DF{number})")]
    OnPurpose {
        /// Which request it was, from 1.
        number: u64,
    },
    /// Memory could not be given back (locked pages, for example).
    #[error("cannot give back {size} of memory at {at}: {reason}")]
    Decommit {
        /// Where the part begins.
        at: Addr,
        /// How long it is.
        size: Bytes,
        /// The system's message.
        reason: String,
    },
}

/// The message of the system call that failed last on this thread.
fn system_message() -> String {
    std::io::Error::last_os_error().to_string()
}

/// Maps fresh anonymous memory anywhere, uncharged (`MAP_NORESERVE`), or says why not.
fn map(size: Bytes, protection: libc::c_int) -> Result<Addr, MemoryError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: without MAP_FIXED the kernel picks free addresses; no existing mapping is touched.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), size.0, protection, flags, -1, 0) };
    if at == libc::MAP_FAILED {
        return Err(MemoryError::Reserve {
            size,
            reason: system_message(),
        });
    }
    Ok(Addr::of(at))
}

/// Unmaps a range.
///
/// # Safety
/// The range was mapped by [`map`], belongs to the caller, and nothing refers to it any more.
unsafe fn unmap(at: Addr, size: Bytes) {
    if size.0 > 0 {
        // SAFETY: the caller's promise. The result is ignored: it can fail only for a malformed range.
        unsafe { libc::munmap(at.as_mut_ptr(), size.0) };
    }
}
