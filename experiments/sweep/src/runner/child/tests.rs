//! Shell scripts as children, so that each way of ending really happens.

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

/// Longer than any test takes, even on a busy machine.
const LONG: Duration = Duration::from_secs(600);

/// Time limits for a test that must see one expire, each for a machine too busy for the one before.
const SHORT: [Duration; 4] = [
    Duration::from_millis(300),
    Duration::from_secs(3),
    Duration::from_secs(30),
    Duration::from_secs(120),
];

#[test]
fn an_exit_status_and_the_output() {
    let finished = sh("echo out; echo err >&2; exit 7", LONG);
    assert_eq!(
        (finished.end, finished.stdout.as_str(), &*finished.stderr_tail()),
        (End::Exit(7), "out\n", "err\n")
    );
    assert!(
        finished.used.max_rss > 100 << 10,
        "a shell needs more than {} bytes",
        finished.used.max_rss
    );
}

/// A loop in a process started by the child: the kernel's counters include it, but neither this
/// process nor the time before the child became a shell.
#[test]
fn counters_count_the_child_and_its_processes() {
    let (there, _) = crate::counters::available();
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
        // While a hypervisor has the processor, the counter's clock runs on, but CPU time does not.
        let (clock, wall) = (clock as f64 / 1e9, finished.wall.as_secs_f64());
        assert!(
            clock > 0.5 * cpu && clock < 2.0 * wall,
            "{clock} s of {cpu} s in {wall} s"
        );
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

/// A counter's descriptor in the child would keep the counter alive, and shift the numbers of the
/// child's files.
#[test]
fn the_child_has_no_descriptor_of_a_counter() {
    let finished = sh("ls -l /proc/self/fd", LONG);
    assert!(!finished.stdout.contains("perf_event"), "{}", finished.stdout);
}

#[test]
fn a_signal_is_not_an_exit_status() {
    assert_eq!(sh("kill -SEGV $$", LONG).end, End::Signal(libc::SIGSEGV));
}

#[test]
fn a_flood_on_standard_error_leaves_its_ends() {
    // 28 and 87 KiB: the latter is more than the runner keeps.
    for last in [2999, 8999] {
        let script = format!("i=0; while [ $i -le {last} ]; do echo line $i >&2; i=$((i+1)); done");
        let finished = sh(&script, LONG);
        assert_eq!(finished.end, End::Exit(0));
        let tail = finished.stderr_tail();
        let end = tail.strip_prefix("line 0\nline 1\n…\n").expect("its first lines");
        assert!(
            end.ends_with(&format!("line {last}\n")) && end.len() == STDERR_TAIL,
            "{tail}"
        );
    }
}

#[test]
fn a_flood_without_end_takes_no_disk_and_little_memory() {
    let floods = SHORT.map(|limit| move || sh("exec yes", limit));
    let finished = floods
        .iter()
        .map(|flood| flood())
        .find(|finished| finished.stdout_bytes > 4 << 20)
        .expect("4 MiB within two minutes");
    assert_eq!(
        (finished.end, finished.stdout.len()),
        (End::Timeout, MOST_STDOUT + 1 + MOST_END)
    );
    assert!(finished.stdout.starts_with("y\ny\n"));
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
    let finished = sh("setsid sleep 1000 & echo out", LONG);
    assert_eq!((finished.end, finished.stdout.as_str()), (End::Exit(0), "out\n"));
}

/// Runs a script that writes the number of a process to the file `$PID`. Returns how the script
/// ended, and the number, or none if the script did not get that far.
fn left_behind(script: &str, timeout: Duration) -> (Finished, Option<String>) {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("pid");
    let finished = sh(&format!("PID={}; {script}", file.display()), timeout);
    let number = std::fs::read_to_string(file).ok();
    let number = number.filter(|text| text.ends_with('\n'));
    (finished, number.map(|text| text.trim().into()))
}

/// The same with a time limit that the script reaches.
fn left_at_the_deadline(script: &str) -> String {
    let tries = SHORT.into_iter().find_map(|limit| {
        let (finished, number) = left_behind(script, limit);
        assert_eq!(finished.end, End::Timeout);
        assert!(finished.wall >= limit && finished.wall < LONG);
        number
    });
    tries.expect("the script begins within two minutes")
}

/// After the kill the process is gone, or a zombie that its new parent has yet to collect.
#[track_caller]
fn assert_gone(number: &str) {
    let begun = Instant::now();
    let gone = || std::fs::read_to_string(format!("/proc/{number}/stat")).map_or(true, |stat| stat.contains(") Z"));
    while !gone() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "process {number} is still there"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_deadline_kills_grandchildren_too() {
    assert_gone(&left_at_the_deadline("sleep 1000 & echo $! > $PID; wait"));
}

#[test]
fn a_process_that_leaves_the_group_does_not_survive_the_deadline() {
    assert_gone(&left_at_the_deadline("setsid sleep 1000 & echo $! > $PID; wait"));
}

#[test]
fn a_process_that_leaves_the_group_does_not_survive_the_run() {
    // The daemon's parent has left the group, too.
    let script = "setsid sh -c 'setsid sleep 1000 & echo $! > '$PID; exit 3";
    let (finished, daemon) = left_behind(script, LONG);
    assert_eq!(finished.end, End::Exit(3));
    assert_gone(&daemon.expect("the script wrote it"));
}
