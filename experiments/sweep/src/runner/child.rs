//! One child process: it starts in a process group of its own, the runner waits for it with a
//! deadline, and the kernel reports its use of resources.
//!
//! Standard output and error are pipes. The runner sleeps in `poll` between start and end, and
//! reads when the child prints; it keeps the beginning of one and the end of the other. So a child
//! that prints without end fills neither the disk nor the runner's memory. The child dies with the
//! runner (`PR_SET_PDEATHSIG`), even if SIGKILL ends the runner: a run without a record must not
//! disturb the next one.
//!
//! A process that a run leaves behind must not disturb the next run either. The runner kills the
//! child's process group, and then every orphan that left the group: the kernel makes those its
//! children (`PR_SET_CHILD_SUBREAPER`).

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::stop::Stop;
use super::system::{self, Reaped};

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
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
pub(crate) struct Finished {
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
const MOST_STDOUT: usize = 1 << 20;
/// Enough for a panic's message and a short backtrace.
const STDERR_TAIL: usize = 4 << 10;
/// The bytes that one read takes from a pipe: what a pipe of Linux holds.
const PIPE: usize = 64 << 10;

/// Runs `command` to its end, at most for `timeout`.
///
/// # Errors
/// If the process cannot be started or waited for. A child that fails is no error here.
pub(super) fn run(mut command: Command, timeout: Duration, stop: &Stop) -> io::Result<Finished> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    system::die_with_parent(&mut command);

    let started = Instant::now();
    let mut child = spawn(&mut command)?;
    let number = child.id();
    let mut output = Output {
        stdout: Pipe::new(child.stdout.take(), Keep::Beginning),
        stderr: Pipe::new(child.stderr.take(), Keep::End),
    };
    let waited = system::descriptor(&child).and_then(|fd| wait_until(fd.as_fd(), started + timeout, stop, &mut output));
    let wall = started.elapsed();
    // This kills the child, if it still runs, and the processes that it left behind in its group.
    // The child is not yet reaped, so no other process group can have its number; killing a dead
    // process changes nothing.
    system::kill_group(&child);
    let reaped = system::reap(child);
    let mut running = running();
    running.remove(&number);
    system::kill_orphans(&running);
    drop(running);
    let used = reaped?;
    let end = match (waited?, used.status) {
        (WakeReason::Ended, Err(signal)) => End::Signal(signal),
        (WakeReason::Ended, Ok(status)) => End::Exit(status),
        (WakeReason::Deadline, _) => End::Timeout,
        (WakeReason::Stop, _) => End::Interrupted,
    };
    output.stdout.drain()?;
    output.stderr.drain()?;
    Ok(Finished {
        end,
        wall,
        used,
        stdout: output.stdout.text(),
        stderr_tail: output.stderr.text(),
    })
}

/// The process numbers of the children that [`run`] waits for in this process. Tests have several
/// at a time. The lock is held from the start of a child until its number is here, and while
/// orphans are killed: so no child is taken for an orphan.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    // Each change of the set is one call, so a panic leaves no half of one.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts `command`, and adopts the orphans that it may leave.
fn spawn(command: &mut Command) -> io::Result<Child> {
    system::adopt_orphans();
    let mut running = running();
    let child = command.spawn()?;
    running.insert(child.id());
    Ok(child)
}

/// Why the runner stops waiting for a child.
enum WakeReason {
    Ended,
    Deadline,
    Stop,
}

/// Sleeps until the child has ended (it stays a zombie until it is reaped), the deadline has
/// passed, or a signal to stop has come. Reads the output meanwhile.
fn wait_until(child: BorrowedFd<'_>, deadline: Instant, stop: &Stop, output: &mut Output) -> io::Result<WakeReason> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let [ended, _, stdout, stderr] = system::wait_readable(
            [
                Some(child),
                Some(stop.readable()),
                output.stdout.readable(),
                output.stderr.readable(),
            ],
            left,
        )?;
        if stdout {
            output.stdout.read()?;
        }
        if stderr {
            output.stderr.read()?;
        }
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

/// The output of a child.
struct Output {
    stdout: Pipe<std::process::ChildStdout>,
    stderr: Pipe<std::process::ChildStderr>,
}

/// The part of an output that is kept.
#[derive(Clone, Copy)]
enum Keep {
    /// The first [`MOST_STDOUT`] bytes.
    Beginning,
    /// The last [`STDERR_TAIL`] bytes.
    End,
}

/// One end of a pipe that a child writes to, and the bytes that are kept.
struct Pipe<P> {
    /// The pipe; `None` once all its writers have closed it.
    from: Option<P>,
    keep: Keep,
    bytes: Vec<u8>,
}

impl<P: Read + AsFd> Pipe<P> {
    fn new(from: Option<P>, keep: Keep) -> Pipe<P> {
        Pipe {
            from,
            keep,
            bytes: Vec::new(),
        }
    }

    fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.from.as_ref().map(AsFd::as_fd)
    }

    /// Reads once. The pipe is readable, so this does not wait.
    fn read(&mut self) -> io::Result<()> {
        let Some(from) = &mut self.from else {
            return Ok(());
        };
        let mut buffer = [0; PIPE];
        let bytes = match from.read(&mut buffer) {
            Ok(length) => &buffer[..length],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            self.from = None;
        }
        match self.keep {
            Keep::Beginning => {
                let room = MOST_STDOUT - self.bytes.len();
                self.bytes.extend(&bytes[..bytes.len().min(room)]);
            }
            Keep::End => {
                self.bytes.extend(bytes);
                let surplus = self.bytes.len().saturating_sub(STDERR_TAIL);
                self.bytes.drain(..surplus);
            }
        }
        Ok(())
    }

    /// Reads the rest after the end of the child: at most what a pipe holds, since a process that
    /// left the child's group may still write to it.
    fn drain(&mut self) -> io::Result<()> {
        const MOST_READS: usize = 16;
        for _ in 0..MOST_READS {
            let readable = system::wait_readable([self.readable()], Duration::ZERO)?;
            if self.from.is_none() || readable == [false] {
                break;
            }
            self.read()?;
        }
        Ok(())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: Duration) -> Finished {
        let stop = Stop::listen().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, timeout, &stop).unwrap()
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
        assert!(finished.stderr_tail.ends_with("line 2999\n") && finished.stderr_tail.len() == STDERR_TAIL);
    }

    #[test]
    fn a_flood_without_end_takes_no_disk_and_little_memory() {
        let finished = sh("exec yes", Duration::from_millis(500));
        assert_eq!((finished.end, finished.stdout.len()), (End::Timeout, MOST_STDOUT));
        assert!(finished.stdout.starts_with("y\ny\n"));
    }

    #[test]
    fn a_process_that_leaves_the_group_does_not_hold_up_the_end() {
        // It keeps the pipes open for longer than the test may take.
        let finished = sh("setsid sleep 20 & echo out", LONG);
        assert_eq!((finished.end, finished.stdout.as_str()), (End::Exit(0), "out\n"));
        assert!(finished.wall < Duration::from_secs(10), "{:?}", finished.wall);
    }

    /// Runs a script that starts a process and writes its number to the file `$PID`. Returns that
    /// number, too.
    fn left_behind(script: &str, timeout: Duration) -> (Finished, String) {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("pid");
        let finished = sh(&format!("PID={}; {script}", file.display()), timeout);
        let number: String = std::fs::read_to_string(file).unwrap().trim().into();
        (finished, number)
    }

    /// After the kill a process is gone, or a zombie that its new parent has yet to collect.
    fn assert_gone(number: &str) {
        let gone = || std::fs::read_to_string(format!("/proc/{number}/stat")).map_or(true, |stat| stat.contains(") Z"));
        assert!(
            (0..200).any(|_| gone() || {
                std::thread::sleep(Duration::from_millis(10));
                false
            }),
            "process {number} is still there"
        );
    }

    #[test]
    fn the_deadline_kills_grandchildren_too() {
        let (finished, grandchild) = left_behind("sleep 20 & echo $! > $PID; wait", Duration::from_millis(300));
        assert_eq!(finished.end, End::Timeout);
        assert!(finished.wall >= Duration::from_millis(300) && finished.wall < Duration::from_secs(30));
        assert_gone(&grandchild);
    }

    #[test]
    fn a_process_that_leaves_the_group_does_not_survive_the_deadline() {
        let (finished, daemon) = left_behind("setsid sleep 20 & echo $! > $PID; wait", Duration::from_millis(300));
        assert_eq!(finished.end, End::Timeout);
        assert_gone(&daemon);
    }

    #[test]
    fn a_process_that_leaves_the_group_does_not_survive_the_run() {
        // The daemon's parent has left the group, too.
        let script = "setsid sh -c 'setsid sleep 20 & echo $! > '$PID; exit 3";
        let (finished, daemon) = left_behind(script, LONG);
        assert_eq!(finished.end, End::Exit(3));
        assert_gone(&daemon);
    }
}
