//! One child process: it starts in its own process group, the runner waits for it with a deadline,
//! and the kernel reports its resource usage.
//!
//! Standard output and error are pipes. The runner sleeps in `poll` between start and end, and
//! reads when the child prints; it keeps the beginning of one and the end of the other. So a child
//! that prints endlessly fills neither the disk nor the runner's memory. The child dies with the
//! runner (`PR_SET_PDEATHSIG`), even if SIGKILL ends the runner: a run without a record must not
//! disturb the next one. Processes that the child started survive: the next runner of the folder
//! kills them (`leftover`).
//!
//! A process that a run leaves behind must not disturb the next run either. The runner kills the
//! child's process group, and then every orphan that left the group: the kernel makes those its
//! children (`PR_SET_CHILD_SUBREAPER`).

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gclab_results::Counters;

use super::counters::Open;
use super::leftover::{self, NOTHING};
use super::pipe::{MOST_STDOUT, Pipe};
use super::stop::Stop;
use super::system::{self, Reaped};
use crate::text::{FIRST_LINES, cut};

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
    /// The beginning of standard output, at most 1 MiB, with invalid text replaced. What follows it
    /// is dropped, except for the last 64 KiB.
    pub stdout: String,
    /// Bytes of standard output.
    pub stdout_bytes: u64,
    /// SHA-256 of all of standard output, if it was asked for.
    pub stdout_hash: Option<[u8; 32]>,
    /// Standard error: the first 4 KiB and the last 64 KiB.
    pub stderr: String,
    /// The counts of the performance counters.
    pub counters: Option<Counters>,
}

impl Finished {
    /// The end of standard error, at most 4 KiB, behind its first lines if it is longer.
    pub(crate) fn stderr_tail(&self) -> String {
        let text = &self.stderr;
        let Some(from) = text.len().checked_sub(STDERR_TAIL + 1) else {
            return text.clone();
        };
        let from = (from + 1..=text.len()).find(|at| text.is_char_boundary(*at));
        let lines = text.lines().filter(|line| !line.trim().is_empty()).take(FIRST_LINES);
        let first: String = lines.map(|line| cut(line, LONGEST_LINE) + "\n").collect();
        format!("{first}…\n{}", &text[from.unwrap_or(0)..])
    }
}

/// Settings of a child that are not part of its command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// The longest time that it may take.
    pub timeout: Duration,
    /// Whether its standard output is hashed.
    pub hashes: bool,
    /// The most address space, in bytes.
    pub address_space: Option<u64>,
}

/// Enough for a panic's message and a short backtrace.
const STDERR_TAIL: usize = 4 << 10;
/// The most characters of a first line of standard error in a record.
const LONGEST_LINE: usize = 1000;

/// Runs `command` to its end, within `limits`. Its standard input is `stdin`, or empty.
///
/// # Errors
/// If the process cannot be started or waited for. A child that fails is not an error here.
pub(super) fn run(mut command: Command, stdin: Option<File>, limits: Limits, stop: &Stop) -> io::Result<Finished> {
    command
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    system::die_with_parent(&mut command);
    if let Some(bytes) = limits.address_space {
        system::limit_address_space(&mut command, bytes);
    }

    let counters = Open::all();
    let started = Instant::now();
    let mut child = spawn(&mut command)?;
    let number = child.id();
    leftover::note(number);
    let mut output = Output {
        stdout: Pipe::new(child.stdout.take(), MOST_STDOUT, limits.hashes),
        stderr: Pipe::new(child.stderr.take(), STDERR_TAIL, false),
    };
    let deadline = started + limits.timeout;
    let waited = system::descriptor(&child).and_then(|fd| wait_until(fd.as_fd(), deadline, stop, &mut output));
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
    leftover::note(NOTHING);
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
        stdout_bytes: output.stdout.count,
        stdout_hash: output.stdout.hash.map(|hash| hash.finalize()),
        stderr: output.stderr.text(),
        counters: counters.read(),
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

/// Writes a program for a test. No child may start meanwhile: until its exec it would hold the file
/// open for writing, and the system does not run such files.
#[cfg(test)]
pub(crate) fn write_program(path: &std::path::Path, text: &str) {
    let _none_starts = running();
    std::fs::write(path, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).unwrap();
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

#[cfg(test)]
mod tests;
