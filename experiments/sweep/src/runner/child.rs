//! One child process: started in a process group of its own, waited for with a deadline, its use of resources taken from the kernel.
//!
//! Standard output and error go to files in a scratch folder, so that no pipe can fill up and nothing need be read while a run is being
//! measured: between start and end the runner sleeps in `poll`. The child dies with the runner (`PR_SET_PDEATHSIG`), even when that
//! is killed with SIGKILL: a run that nobody records must not disturb the next one.
//!
//! The system calls that std does not offer (`pidfd_open`, `poll`, `wait4`, `killpg`) are called through libc here and nowhere else.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::stop::Stop;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal, which did not come from the runner.
    Signal(i32),
    /// Killed by the runner at the deadline.
    Timeout,
    /// Killed by the runner because it was asked to stop. Such a run does not count.
    Interrupted,
}

/// What the operating system saw of a child.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// From just before its start until its end was noticed.
    pub wall: Duration,
    /// User CPU time.
    pub user: Duration,
    /// System CPU time.
    pub system: Duration,
    /// Largest resident set, bytes.
    pub max_rss: u64,
    /// Faults without and with reading from disk.
    pub faults: (u64, u64),
    /// Context switches, voluntary and not.
    pub switches: (u64, u64),
    /// All of standard output, as far as it is text; at most 1 MiB.
    pub stdout: String,
    /// The end of standard error, at most 4 KiB.
    pub stderr_tail: String,
}

/// A run prints one line on standard output, and a table of its heap profile, with names of up to 4000 letters; more than this is a program gone wrong.
const MOST_STDOUT: u64 = 1 << 20;
/// Enough for a panic's message and a short backtrace.
const STDERR_TAIL: u64 = 4 << 10;

/// Runs `command` to its end, at most for `timeout`, with its output in files in `scratch`.
///
/// # Errors
/// When the process cannot be started or waited for; a child that fails is no error here.
pub fn run(mut command: Command, scratch: &Path, timeout: Duration, stop: &Stop) -> io::Result<Finished> {
    let capture = |name: &str| {
        File::options()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(scratch.join(name))
    };
    let (mut stdout, mut stderr) = (capture("stdout")?, capture("stderr")?);
    command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .process_group(0);
    die_with_parent(&mut command);

    let started = Instant::now();
    let pid = command.spawn()?.id() as libc::pid_t;
    let waited = wait_until(pid, started + timeout, stop);
    let wall = started.elapsed();
    // The child, if it still runs, and whatever it left behind, which would disturb the next run. Not yet reaped, it keeps the
    // group's number from being given to another; killing the dead changes nothing.
    kill_group(pid);
    let (status, usage) = reap(pid)?;
    let end = match waited? {
        Woken::Ended if libc::WIFSIGNALED(status) => End::Signal(libc::WTERMSIG(status)),
        Woken::Ended => End::Exit(libc::WEXITSTATUS(status)),
        Woken::Deadline => End::Timeout,
        Woken::Stop => End::Interrupted,
    };
    Ok(Finished {
        end,
        wall,
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        max_rss: count(usage.ru_maxrss) * 1024,
        faults: (count(usage.ru_minflt), count(usage.ru_majflt)),
        switches: (count(usage.ru_nvcsw), count(usage.ru_nivcsw)),
        stdout: text_from(&mut stdout, SeekFrom::Start(0), MOST_STDOUT)?,
        stderr_tail: tail(&mut stderr)?,
    })
}

fn die_with_parent(command: &mut Command) {
    let parent = std::process::id() as libc::pid_t;
    let in_child = move || {
        // SAFETY: two system calls without pointers, allowed between fork and exec (async-signal-safe).
        let orphaned = unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
            // The runner may have died before the request was in force.
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

enum Woken {
    Ended,
    Deadline,
    Stop,
}

/// Sleeps until the child has ended (it stays a zombie until `reap`), the deadline has passed, or a stop was asked for.
fn wait_until(pid: libc::pid_t, deadline: Instant, stop: &Stop) -> io::Result<Woken> {
    // SAFETY: a system call without pointers; `pid` is our child and has not been reaped, so it names no other process.
    let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just returned this descriptor, so it is open and belongs to nobody else.
    let pidfd = unsafe { OwnedFd::from_raw_fd(raw as i32) };
    let descriptor = |fd: i32| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut fds = [descriptor(pidfd.as_raw_fd()), descriptor(stop.readable().as_raw_fd())];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // Rounded up, so that the deadline has passed when poll says so; capped for poll's int.
        let millis = left.as_micros().div_ceil(1000).min(60_000) as libc::c_int;
        // SAFETY: `fds` is an array of two valid pollfd and the length says so.
        let ready = unsafe { libc::poll(fds.as_mut_ptr(), 2, millis) };
        let error = io::Error::last_os_error();
        if ready < 0 && error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        if stop.signal().is_some() {
            return Ok(Woken::Stop);
        }
        if ready > 0 && fds[0].revents != 0 {
            return Ok(Woken::Ended);
        }
        if Instant::now() >= deadline {
            return Ok(Woken::Deadline);
        }
    }
}

fn kill_group(pid: libc::pid_t) {
    // SAFETY: a system call without pointers. The group is the child's own; if it is already gone the call fails, which is fine.
    unsafe { libc::killpg(pid, libc::SIGKILL) };
}

fn reap(pid: libc::pid_t) -> io::Result<(libc::c_int, libc::rusage)> {
    let mut status = 0;
    // SAFETY: rusage is plain integers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live variables of the types that wait4 writes.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            return Ok((status, usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(count(time.tv_sec)) + Duration::from_micros(count(time.tv_usec))
}

/// The kernel's counts are signed and never negative.
fn count(n: i64) -> u64 {
    n.max(0) as u64
}

fn tail(file: &mut File) -> io::Result<String> {
    let length = file.metadata()?.len();
    text_from(file, SeekFrom::Start(length.saturating_sub(STDERR_TAIL)), STDERR_TAIL)
}

fn text_from(file: &mut File, from: SeekFrom, most: u64) -> io::Result<String> {
    file.seek(from)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: Duration) -> Finished {
        let scratch = tempfile::tempdir().unwrap();
        let stop = Stop::listen().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, scratch.path(), timeout, &stop).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn an_exit_status_and_what_was_printed() {
        let finished = sh("echo out; echo err >&2; exit 7", LONG);
        assert_eq!(
            (finished.end, finished.stdout.as_str(), finished.stderr_tail.as_str()),
            (End::Exit(7), "out\n", "err\n")
        );
        assert!(
            finished.max_rss > 100 << 10,
            "a shell needs more than {} bytes",
            finished.max_rss
        );
    }

    #[test]
    fn a_signal_is_no_exit_status() {
        assert_eq!(sh("kill -SEGV $$", LONG).end, End::Signal(libc::SIGSEGV));
    }

    #[test]
    fn a_flood_on_standard_error_leaves_its_tail() {
        let finished = sh(
            "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done",
            LONG,
        );
        assert_eq!(finished.end, End::Exit(0));
        assert!(finished.stderr_tail.ends_with("line 2999\n") && finished.stderr_tail.len() as u64 == STDERR_TAIL);
    }

    #[test]
    fn the_deadline_kills_grandchildren_too() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("pid");
        let finished = sh(
            &format!("sleep 20 & echo $! > {}; wait", file.display()),
            Duration::from_millis(300),
        );
        assert_eq!(finished.end, End::Timeout);
        assert!(finished.wall >= Duration::from_millis(300) && finished.wall < Duration::from_secs(30));
        let grandchild: String = std::fs::read_to_string(file).unwrap().trim().into();
        // Killed, it is gone or a zombie that waits for the system to collect it.
        let gone =
            || std::fs::read_to_string(format!("/proc/{grandchild}/stat")).map_or(true, |stat| stat.contains(") Z"));
        assert!(
            (0..200).any(|_| gone() || {
                std::thread::sleep(Duration::from_millis(10));
                false
            }),
            "process {grandchild} is still there"
        );
    }
}
