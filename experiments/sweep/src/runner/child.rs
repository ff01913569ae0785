//! One child process: it starts in a process group of its own, the runner waits for it with a
//! deadline, and the kernel reports its use of resources.
//!
//! Standard output and error are pipes. The runner sleeps in `poll` between start and end, and
//! reads when the child prints; it keeps the beginning of one and the end of the other. So a child
//! that prints without end fills neither the disk nor the runner's memory. The child dies with the
//! runner (`PR_SET_PDEATHSIG`), even if SIGKILL ends the runner: a run without a record must not
//! disturb the next one. The processes that the child has started do not: the next runner of the
//! folder kills them (`leftover`).
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
    /// is dropped, but for the last 64 KiB.
    pub stdout: String,
    /// Bytes of standard output.
    pub stdout_bytes: u64,
    /// SHA-256 of all of standard output, if it was asked for.
    pub stdout_hash: Option<[u8; 32]>,
    /// The end of standard error, at most 64 KiB.
    pub stderr: String,
    /// The counts of the performance counters.
    pub counters: Option<Counters>,
}

impl Finished {
    /// The end of standard error, at most 4 KiB.
    pub(crate) fn stderr_tail(&self) -> &str {
        let from = self.stderr.len().saturating_sub(STDERR_TAIL);
        let from = (from..=self.stderr.len()).find(|at| self.stderr.is_char_boundary(*at));
        &self.stderr[from.unwrap_or(0)..]
    }
}

/// The settings of a child that are not part of its command.
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

/// Runs `command` to its end, within `limits`. Its standard input is `stdin`, or empty.
///
/// # Errors
/// If the process cannot be started or waited for. A child that fails is no error here.
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
        stderr: Pipe::new(child.stderr.take(), 0, false),
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
mod tests {
    use super::super::pipe::MOST_END;
    use super::*;

    fn sh(script: &str, timeout: Duration) -> Finished {
        let stop = Stop::listen().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let limits = Limits {
            timeout,
            hashes: true,
            address_space: None,
        };
        run(command, None, limits, &stop).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn an_exit_status_and_the_output() {
        let finished = sh("echo out; echo err >&2; exit 7", LONG);
        assert_eq!(
            (finished.end, finished.stdout.as_str(), finished.stderr_tail()),
            (End::Exit(7), "out\n", "err\n")
        );
        assert!(
            finished.used.max_rss > 100 << 10,
            "a shell needs more than {} bytes",
            finished.used.max_rss
        );
    }

    /// A loop in a process that the child starts: the counters of the kernel count it, and they
    /// count neither this process nor the time before the child became a shell.
    #[test]
    fn counters_count_the_child_and_its_processes() {
        let (there, _) = super::super::counters::available();
        let finished = sh("sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done' & wait", LONG);
        let Some(counters) = finished.counters.clone() else {
            assert!(there.is_empty(), "{there:?} are there, and none was read");
            return;
        };
        let has = |key: &str| there.iter().any(|name| name == key);
        assert_eq!(counters.task_clock_ns.is_some(), has("task_clock_ns"), "{counters:?}");
        assert_eq!(counters.instructions.is_some(), has("instructions"), "{counters:?}");
        let cpu = (finished.used.user + finished.used.system).as_secs_f64();
        if let Some(clock) = counters.task_clock_ns {
            let clock = clock as f64 / 1e9;
            assert!(clock > 0.5 * cpu && clock < 1.5 * cpu + 0.02, "{clock} s of {cpu} s");
        }
        if let Some(faults) = counters.page_faults {
            let all = finished.used.faults.0 + finished.used.faults.1;
            assert!(faults > 20 && faults <= all, "{faults} of {all} page faults");
        }
        if let Some(switches) = counters.context_switches {
            assert!(switches >= 1, "the shell waits");
        }
        if let Some(instructions) = counters.instructions {
            assert!(instructions > 100_000, "{instructions}");
        }
    }

    /// A descriptor of a counter in the child would keep the counter alive, and shift the numbers
    /// of its files.
    #[test]
    fn the_child_has_no_descriptor_of_a_counter() {
        let finished = sh("ls -l /proc/self/fd", LONG);
        assert!(!finished.stdout.contains("perf_event"), "{}", finished.stdout);
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
        assert!(finished.stderr_tail().ends_with("line 2999\n") && finished.stderr_tail().len() == STDERR_TAIL);
    }

    #[test]
    fn a_flood_without_end_takes_no_disk_and_little_memory() {
        let finished = sh("exec yes", Duration::from_millis(500));
        assert_eq!(
            (finished.end, finished.stdout.len()),
            (End::Timeout, MOST_STDOUT + 1 + MOST_END)
        );
        assert!(finished.stdout.starts_with("y\ny\n") && finished.stdout_bytes > 4 << 20);
    }

    #[test]
    fn the_end_of_a_flood_is_kept_and_all_of_it_is_hashed() {
        let finished = sh("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last words", LONG);
        assert!(finished.stdout.ends_with("x\nlast words\n"));
        assert_eq!(finished.stdout_bytes, 3_000_012);
        let mut whole = vec![b'x'; 3_000_000];
        whole.extend(b"\nlast words\n");
        assert_eq!(finished.stdout_hash, Some(hmac_sha256::Hash::hash(&whole)));
    }

    #[test]
    fn a_child_reads_the_file_that_it_is_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        std::fs::write(&path, "from a file").unwrap();
        let limits = Limits {
            timeout: LONG,
            ..Limits::default()
        };
        let stop = Stop::listen().unwrap();
        let read = |stdin| run(Command::new("cat"), stdin, limits, &stop).unwrap().stdout;
        assert_eq!(read(Some(File::open(&path).unwrap())), "from a file");
        assert_eq!(read(None), "", "nothing, not the terminal");
    }

    #[test]
    fn a_limit_of_address_space_holds_for_the_child() {
        let limits = Limits {
            timeout: LONG,
            address_space: Some(300 << 20),
            ..Limits::default()
        };
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v"]);
        let finished = run(command, None, limits, &Stop::listen().unwrap()).unwrap();
        assert_eq!(finished.stdout.trim(), (300 << 10).to_string());
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
