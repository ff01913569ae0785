//! Address space: memory from the kernel and back to it. This module knows nothing of blocks.
//!
//! # Terms
//!
//! * **reserve**: take addresses without memory. A [`Reservation`] is one contiguous range for
//!   everything that a heap will ever hold.
//! * **commit**: make a part of the reservation usable. The memory itself comes with the first
//!   touch of a page; for huge pages that touch happens here.
//! * **decommit**: return the memory of a part to the system. Its addresses stay reserved and read
//!   as zeros when they are next committed.
//! * **side table**: a `Table` with one entry for each unit of the reservation, mapped without
//!   memory and touched lazily.
//! * **protect**: take the access to a part away. Its contents stay, and a use of it is a fault.
//! * **request**: a moment at which memory may be refused. [`Requests`] counts them and can refuse
//!   the n-th one on purpose.
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
pub(crate) use table::{Table, ZeroValid};

#[cfg(miri)]
use crate::miri_libc as libc;
use crate::words::{Addr, Bytes};

/// The size and alignment of a huge page on the machines we know (x86-64, and AArch64 with 4 KiB
/// pages).
pub(crate) const HUGE_PAGE: Bytes = Bytes::mib(2);

/// The kernel's page, the unit of commit, decommit and residency.
pub(crate) const PAGE: Bytes = Bytes::kib(4);

/// The demands of a heap on the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryConfig {
    /// Address space to reserve, 2 MiB to 1 TiB, rounded up to 2 MiB. The reservation is smaller
    /// where the kernel refuses this size (`ulimit -v`). Sanitizers and valgrind need a few GiB
    /// here.
    pub reserve: Bytes,
    /// Where the reservation is to begin, rounded down to 2 MiB. The kernel chooses another address
    /// if the range is not free there. `None` leaves the choice to it.
    pub near: Option<Addr>,
    /// Ask for huge pages wherever 2 MiB of heap fill one, as long as they are cheap. `false` asks
    /// for small pages, even where the system's default is always huge ones.
    pub huge_pages: bool,
    /// Never hold more memory than this (`-M`), side tables and other charges included. `None`: no
    /// limit but the reservation.
    pub limit: Option<Bytes>,
    /// Refuse the request for memory with this number, counted from 1 (`-DF<n>`). Requests are the
    /// heap's reservation, its side tables, megablocks, and all charges in addition to them.
    pub refuse: Option<u64>,
}

/// 1 TiB (as GHC's `-xr`), huge pages on, no limit.
impl Default for MemoryConfig {
    fn default() -> MemoryConfig {
        MemoryConfig {
            reserve: Bytes::gib(1024),
            near: None,
            huge_pages: true,
            limit: None,
            refuse: None,
        }
    }
}

/// The kernel refused, or a request was refused before the kernel was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Not even the smallest useful reservation could be had.
    #[error(
        "cannot reserve {size} of address space: {reason} (a smaller reservation, as by -xr1g, or a larger `ulimit -v` would help)"
    )]
    Reserve {
        /// The size of the last attempt.
        size: Bytes,
        /// The system's message.
        reason: String,
    },
    /// A part of the reservation could not be made usable.
    #[error("cannot commit {size} of memory at {at}: {reason}")]
    Commit {
        /// The start of the part.
        at: Addr,
        /// The length of the part.
        size: Bytes,
        /// The system's message.
        reason: String,
    },
    /// A request was refused on purpose, to test the consequences ([`Requests`]).
    #[error("request {number} for memory was refused on purpose (-DF{number})")]
    OnPurpose {
        /// The number of the request, counted from 1.
        number: u64,
    },
    /// Memory could not be returned to the system (locked pages, for example).
    #[error("cannot give back {size} of memory at {at}: {reason}")]
    Decommit {
        /// The start of the part.
        at: Addr,
        /// The length of the part.
        size: Bytes,
        /// The system's message.
        reason: String,
    },
}

/// The message of the system call that failed last on this thread.
fn system_message() -> String {
    std::io::Error::last_os_error().to_string()
}

/// Maps fresh anonymous memory anywhere, uncharged (`MAP_NORESERVE`).
fn map(size: Bytes, protection: libc::c_int, near: Option<Addr>) -> Result<*mut libc::c_void, MemoryError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let near = near.map_or(std::ptr::null_mut(), Addr::as_mut_ptr);
    // SAFETY: without MAP_FIXED the kernel picks free addresses, and `near` is a hint; no existing
    // mapping is touched.
    let at = unsafe { libc::mmap(near, size.0, protection, flags, -1, 0) };
    if at == libc::MAP_FAILED {
        return Err(MemoryError::Reserve {
            size,
            reason: system_message(),
        });
    }
    Ok(at)
}

/// Unmaps a range.
///
/// # Safety
/// [`map`] mapped the whole range, the caller owns it, and no reference or pointer into it is used
/// afterwards.
unsafe fn unmap(at: Addr, size: Bytes) {
    if size.0 > 0 {
        // SAFETY: the caller owns the range. The result is ignored: the call can fail only for a
        // malformed range.
        unsafe { libc::munmap(at.as_mut_ptr(), size.0) };
    }
}
