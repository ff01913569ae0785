//! One child process: it starts in a process group of its own, the runner waits for it with a
//! deadline, and the kernel reports its use of resources.
//!
//! Standard output and error go to files in a scratch folder, so no pipe can fill up, and the
//! runner reads nothing while it measures a run: between start and end it sleeps in `poll`. The
//! child dies with the runner (`PR_SET_PDEATHSIG`), even if SIGKILL ends the runner: a run without
//! a record must not disturb the next one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::stop::Stop;
use super::system::{self, Reaped};

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal, which did not come from the runner.
    Signal(i32),
    /// The runner killed it at the deadline.
    Timeout,
    /// The runner killed it because of a signal to stop. Such a run does not count.
    Interrupted,
}

/// A child that has ended, as the operating system saw it.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Time from just before its start until its end was noticed.
    pub wall: Duration,
    /// The resources that it used.
    pub used: Reaped,
    /// All of standard output, with invalid text replaced; at most 1 MiB.
    pub stdout: String,
    /// The end of standard error, at most 4 KiB.
    pub stderr_tail: String,
}

/// A run prints one line on standard output, and a table of its heap profile, with names of up to
/// 4000 letters; a program that prints more than this is broken.
const MOST_STDOUT: u64 = 1 << 20;
/// Enough for a panic's message and a short backtrace.
const STDERR_TAIL: u64 = 4 << 10;

/// Runs `command` to its end, at most for `timeout`, with its output in files in `scratch`.
///
/// # Errors
/// If the process cannot be started or waited for. A child that fails is no error here.
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
    system::die_with_parent(&mut command);

    let started = Instant::now();
    let child = command.spawn()?;
    let waited = system::descriptor(&child).and_then(|fd| wait_until(fd.as_fd(), started + timeout, stop));
    let wall = started.elapsed();
    // This kills the child, if it still runs, and the processes that it left behind, which would
    // disturb the next run. The child is not yet reaped, so no other process group can have its
    // number; killing a dead process changes nothing.
    system::kill_group(&child);
    let used = system::reap(child)?;
    let end = match (waited?, used.status) {
        (WakeReason::Ended, Err(signal)) => End::Signal(signal),
        (WakeReason::Ended, Ok(status)) => End::Exit(status),
        (WakeReason::Deadline, _) => End::Timeout,
        (WakeReason::Stop, _) => End::Interrupted,
    };
    Ok(Finished {
        end,
        wall,
        used,
        stdout: text_from(&mut stdout, SeekFrom::Start(0), MOST_STDOUT)?,
        stderr_tail: tail(&mut stderr)?,
    })
}

/// Why the runner stops waiting for a child.
enum WakeReason {
    Ended,
    Deadline,
    Stop,
}

/// Sleeps until the child has ended (it stays a zombie until it is reaped), the deadline has
/// passed, or a signal to stop has come.
fn wait_until(child: BorrowedFd<'_>, deadline: Instant, stop: &Stop) -> io::Result<WakeReason> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let [ended, _] = system::wait_readable([child, stop.readable()], left)?;
        if stop.signal().is_some() {
            return Ok(WakeReason::Stop);
        }
        if ended {
            return Ok(WakeReason::Ended);
        }
        if Instant::now() >= deadline {
            return Ok(WakeReason::Deadline);
        }
    }
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
    fn an_exit_status_and_the_output() {
        let finished = sh("echo out; echo err >&2; exit 7", LONG);
        assert_eq!(
            (finished.end, finished.stdout.as_str(), finished.stderr_tail.as_str()),
            (End::Exit(7), "out\n", "err\n")
        );
        assert!(
            finished.used.max_rss > 100 << 10,
            "a shell needs more than {} bytes",
            finished.used.max_rss
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
        // After the kill it is gone, or a zombie that init has yet to collect.
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
