//! The system calls that std does not offer, as safe functions. Only this module of the crate has
//! unsafe code.

#![allow(unsafe_code, reason = "system calls through libc")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;

/// Makes the kernel close a descriptor in children that become other programs.
///
/// # Errors
/// If the system refuses.
pub(super) fn close_on_exec(file: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: a system call without pointers, on a descriptor that `file` holds open.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

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

/// Limits the address space of the child to these bytes, as `ulimit -v` does.
pub(super) fn limit_address_space(command: &mut Command, bytes: u64) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    let in_child = move || {
        // SAFETY: a system call with a pointer to a live variable of the type that it reads,
        // allowed between fork and exec (async-signal-safe).
        let refused = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) } != 0;
        if refused {
            Err(io::Error::last_os_error())
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

/// Makes this process the parent of all orphans among its descendants: a process whose parent ends
/// becomes a child of this process, not of init. [`kill_orphans`] finds it here.
pub(super) fn adopt_orphans() {
    // SAFETY: a system call without pointers. A kernel that refuses it leaves orphans to init.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong) };
}

/// Kills the orphans that this process has adopted, and the orphans that they leave in turn. A
/// child is not an orphan if its number is in `running`, or if it is in the process group of this
/// process, as commands are that this process itself runs.
pub(super) fn kill_orphans(running: &BTreeSet<u32>) {
    // SAFETY: a system call without pointers.
    let own_group = unsafe { libc::getpgrp() };
    while has_children() {
        let orphan = |child: &Process| !running.contains(&child.number) && child.group != own_group;
        let killed = children().iter().filter(|child| orphan(child) && kill(child)).count();
        if killed == 0 {
            return;
        }
    }
}

/// A process of the machine.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) number: u32,
    parent: u32,
    pub(super) group: libc::pid_t,
    pub(super) session: libc::pid_t,
    /// Whether it has ended, and its parent has yet to collect it.
    pub(super) is_dead: bool,
}

/// All processes, as `/proc` lists them.
pub(super) fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let process = |number: u32| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name of the program is in parentheses, and may contain some. State, parent, group and
        // session follow.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        Some(Process {
            number,
            is_dead: ["Z", "X"].contains(&fields.next()?),
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            session: fields.next()?.parse().ok()?,
        })
    };
    numbers.filter_map(process).collect()
}

/// The session of this process.
pub(super) fn session() -> libc::pid_t {
    // SAFETY: a system call without pointers; 0 is the caller.
    unsafe { libc::getsid(0) }
}

/// Kills the processes of a group. Returns whether there were any that the system let it kill.
pub(super) fn kill_group_of(group: libc::pid_t) -> bool {
    // SAFETY: a system call without pointers.
    unsafe { libc::killpg(group, libc::SIGKILL) == 0 }
}

/// Whether this process has any child, running or not.
fn has_children() -> bool {
    // SAFETY: siginfo is plain data, for which all zeros is a value, and the pointer is to a live
    // variable of the type that waitid writes.
    let answer = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_ALL, 0, &raw mut info, options)
    };
    answer == 0
}

/// All children of this process.
fn children() -> Vec<Process> {
    let own = std::process::id();
    let mut all = processes();
    all.retain(|process| process.parent == own);
    all
}

/// Kills a child and waits for its end. Returns whether the system let it.
fn kill(child: &Process) -> bool {
    let number = child.number as libc::pid_t;
    // SAFETY: system calls with a null pointer, which waitpid takes for no status. A child keeps
    // its number until it is waited for, so no other process has it.
    unsafe { libc::kill(number, libc::SIGKILL) == 0 && libc::waitpid(number, std::ptr::null_mut(), 0) == number }
}

/// Kills the process group that `child` leads. If the group is gone already, nothing happens.
pub(super) fn kill_group(child: &Child) {
    kill_group_of(child.id() as libc::pid_t);
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
