//! Programs run in a child process, so that a panic inside a collection, a signal, and a program that
//! never ends are outcomes like any other, and end no other test.
//!
//! The child is the test's own executable. It runs the same test, and finds its task in an
//! environment variable when the test comes to the search that gave it. Then it ends: with the
//! status of a success, with [`FAILED`] and the fault on standard error, or otherwise with whatever
//! it said before it died.

use super::difference::caught;
use super::numbers::Numbers;
use std::env;
use std::io::{Write, stderr, stdout};
use std::process::{Command, exit};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The variable with a child's task.
const TASK: &str = "GCLAB_RANDOM_TASK";

/// The exit status of a child whose program differs from its reference, or panics.
const FAILED: i32 = 3;

/// How long a program may run: hundreds of times longer than any takes, even under Valgrind.
const LONGEST: Duration = Duration::from_secs(300);

/// The child's words for the number of the program that begins, and for its operations at the end.
const CASE: &str = "gclab-proof: program ";
const OPERATIONS: &str = "gclab-proof: operations ";

/// What a child does.
pub(super) enum Task {
    /// Runs the first `cases` programs of `seed`.
    Search { seed: u64, cases: u32 },
    /// Runs one program.
    Run(Numbers),
    /// Runs a program that failed once, by its number.
    Regression(usize),
    /// Does what the caller of [`in_child`] does.
    Work,
}

impl Task {
    fn to_text(&self) -> String {
        match self {
            Task::Search { seed, cases } => format!("search\n{seed}\n{cases}"),
            Task::Run(program) => format!("run\n{program}"),
            Task::Regression(number) => format!("regression\n{number}"),
            Task::Work => "work\n".to_owned(),
        }
    }

    fn read(text: &str) -> Option<Task> {
        let (kind, rest) = text.split_once('\n')?;
        Some(match kind {
            "search" => {
                let (seed, cases) = rest.split_once('\n')?;
                Task::Search {
                    seed: seed.parse().ok()?,
                    cases: cases.parse().ok()?,
                }
            }
            "run" => Task::Run(Numbers::read(rest)?),
            "regression" => Task::Regression(rest.parse().ok()?),
            "work" => Task::Work,
            _ => return None,
        })
    }
}

/// How a child ended.
pub(super) struct Ended {
    /// The fault, if there is one.
    pub fault: Option<String>,
    /// The number of the last program that began, of a search.
    pub case: usize,
    /// The operations of all programs, if there is no fault.
    pub ops: u64,
}

/// Has a child do `task` of the search that `owner` names.
///
/// # Errors
/// If there is no such child, with the reason.
pub(super) fn run(owner: &str, task: &Task) -> Result<Ended, String> {
    let own = env::current_exe().map_err(|error| format!("the test's executable is unknown: {error}"))?;
    let mut command = Command::new(own);
    // The harness names the thread of a test for the test.
    match thread::current().name() {
        Some(test) if test != "main" => command.args([test, "--exact", "--include-ignored", "--nocapture"]),
        _ => command.args(env::args_os().skip(1)),
    };
    let output = command
        .env(TASK, format!("{owner}\n{}", task.to_text()))
        .output()
        .map_err(|error| format!("the test cannot run itself in a child process: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let number = |words: &str| {
        let (_, after) = told.rsplit_once(words)?;
        after.lines().next()?.parse::<u64>().ok()
    };
    let ops = number(OPERATIONS);
    let fault = if output.status.success() {
        if ops.is_none() {
            return Err(format!(
                "the child process ended without a run. Call the search from the test's own thread, or give the thread \
                 that calls it the test's name: {command:?}"
            ));
        }
        None
    } else {
        let mut fault = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        if output.status.code() != Some(FAILED) {
            fault += &format!("\nthe process ended: {}", output.status);
        }
        Some(fault)
    };
    Ok(Ended {
        fault,
        case: number(CASE).unwrap_or(0) as usize,
        ops: ops.unwrap_or(0),
    })
}

/// Does `work` in a child process. `owner` tells this call from others of the same test.
///
/// # Panics
/// With what the child says, if it panics or crashes.
#[track_caller]
pub(crate) fn in_child(owner: &str, work: impl FnOnce()) {
    if task(owner).is_some() {
        end_with(|| caught(work).map(|()| 0));
    }
    if !is_child() {
        let fault = run(owner, &Task::Work).map_or_else(Some, |ended| ended.fault);
        if let Some(fault) = fault {
            panic!("{fault}");
        }
    }
}

/// Whether this process is a child.
pub(super) fn is_child() -> bool {
    env::var_os(TASK).is_some()
}

/// The task of this process, if it is a child of the search that `owner` names.
pub(super) fn task(owner: &str) -> Option<Task> {
    let text = env::var(TASK).ok()?;
    let (of, task) = text.split_once('\n')?;
    (of == owner).then(|| Task::read(task).expect("its parent wrote it"))
}

/// Does the work of this child, and ends it.
pub(super) fn end_with(work: impl FnOnce() -> Result<u64, String>) -> ! {
    thread::spawn(end_if_late);
    match work() {
        Ok(ops) => {
            let _ = writeln!(stdout(), "{OPERATIONS}{ops}");
            exit(0)
        }
        Err(why) => {
            let _ = writeln!(stderr(), "{why}");
            exit(FAILED)
        }
    }
}

/// When the program that runs began.
static BEGAN: Mutex<Option<Instant>> = Mutex::new(None);

/// Tells the parent that a program begins.
pub(super) fn begin(case: usize) {
    // Written directly: the harness may capture what `println` writes.
    let _ = writeln!(stdout(), "{CASE}{case}");
    *BEGAN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

/// Ends the process if a program runs too long.
fn end_if_late() {
    loop {
        thread::sleep(Duration::from_secs(1));
        let began = *BEGAN.lock().unwrap_or_else(PoisonError::into_inner);
        if began.is_some_and(|began| began.elapsed() > LONGEST) {
            let _ = writeln!(stderr(), "the program has not ended after {LONGEST:?}");
            exit(FAILED)
        }
    }
}
