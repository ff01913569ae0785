//! The system calls that std does not offer, as safe functions. Only this module of the crate has
//! unsafe code.

#![allow(unsafe_code, reason = "system calls through libc")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;

/// How a child process ended, and the resources that it used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaped {
    /// The exit status, or the signal as an error.
    pub status: Result<i32, i32>,
    /// User CPU time.
    pub user: Duration,
    /// System CPU time.
    pub system: Duration,
    /// Largest resident set, bytes. The copy of this process that became the child counts too.
    pub max_rss: u64,
    /// Page faults without and with reading from disk.
    pub faults: (u64, u64),
    /// Context switches, voluntary and involuntary.
    pub switches: (u64, u64),
}

/// Makes the kernel kill the child with SIGKILL when this process dies.
pub(super) fn die_with_parent(command: &mut Command) {
    let parent = std::process::id() as libc::pid_t;
    let in_child = move || {
        // SAFETY: two system calls without pointers, allowed between fork and exec
        // (async-signal-safe).
        let orphaned = unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
            // The parent may have died before the request took effect.
            libc::getppid() != parent
        };
        if orphaned {
            Err(io::Error::from_raw_os_error(libc::ESRCH))
        } else {
            Ok(())
        }
    };
    // SAFETY: the closure allocates nothing, takes no lock, and makes only async-signal-safe calls.
    unsafe { command.pre_exec(in_child) };
}

/// A descriptor of the process `child`, readable when it has ended.
///
/// # Errors
/// If the system refuses one.
pub(super) fn descriptor(child: &Child) -> io::Result<OwnedFd> {
    // SAFETY: a system call without pointers.
    let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just returned this descriptor, so it is open and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(raw as i32) })
}

/// Sleeps until one of the descriptors is readable or `most` has passed; `None` is never readable.
/// Returns whether each is readable; none may be, before the time is over, because of a signal.
///
/// # Errors
/// If the system refuses.
pub(super) fn wait_readable<const N: usize>(fds: [Option<BorrowedFd<'_>>; N], most: Duration) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| libc::pollfd {
        // The kernel passes over negative descriptors.
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    });
    // Rounded up, so that `most` has passed when poll returns; capped to fit poll's int.
    let millis = most.as_micros().div_ceil(1000).min(60_000) as libc::c_int;
    // SAFETY: `polled` is an array of N valid pollfd, and the length says so.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, millis) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::Interrupted => Ok([false; N]),
            _ => Err(error),
        };
    }
    Ok(polled.map(|fd| fd.revents != 0))
}

/// Kills the process group that `child` leads. If the group is gone already, nothing happens.
pub(super) fn kill_group(child: &Child) {
    // SAFETY: a system call without pointers.
    unsafe { libc::killpg(child.id() as libc::pid_t, libc::SIGKILL) };
}

/// Waits for the end of `child` and collects it.
///
/// # Errors
/// If the system refuses.
pub(super) fn reap(child: Child) -> io::Result<Reaped> {
    let pid = child.id() as libc::pid_t;
    let mut status = 0;
    // SAFETY: rusage is plain integers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live variables of the types that wait4 writes.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(Reaped {
        status: if libc::WIFSIGNALED(status) {
            Err(libc::WTERMSIG(status))
        } else {
            Ok(libc::WEXITSTATUS(status))
        },
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        max_rss: count(usage.ru_maxrss) * 1024,
        faults: (count(usage.ru_minflt), count(usage.ru_majflt)),
        switches: (count(usage.ru_nvcsw), count(usage.ru_nivcsw)),
    })
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(count(time.tv_sec)) + Duration::from_micros(count(time.tv_usec))
}

/// The kernel's counts are signed and never negative.
fn count(n: i64) -> u64 {
    n.max(0) as u64
}
