//! A working folder for each test, with `gclab` in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gclab_results::ResultsDir;
use tempfile::TempDir;

/// An empty working folder.
pub(crate) struct Bench {
    folder: TempDir,
}

/// A command's exit status and output.
#[derive(Debug)]
pub(crate) struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Done {
        let output = command.output().unwrap();
        Done {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Both streams, for failure messages.
    pub(crate) fn all(&self) -> String {
        format!(
            "exit {:?}\n-- stdout\n{}\n-- stderr\n{}",
            self.code, self.stdout, self.stderr
        )
    }

    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, Some(code), "{}", self.all());
        self
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    /// Makes `NAME/gclab`: a different file that does the same as gclab.
    pub(crate) fn build(&self, name: &str) {
        let folder = self.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        // The loader ignores what follows the last section.
        self.shell(
            "cp \"$0\" \"$1/gclab\" && printf %s \"$1\" >> \"$1/gclab\"",
            &[env!("CARGO_BIN_EXE_gclab"), name],
        );
    }

    /// Makes a copy of gclab.
    pub(crate) fn copy_of_gclab(&self, name: &str) -> PathBuf {
        self.shell("cp \"$0\" \"$1\"", &[env!("CARGO_BIN_EXE_gclab"), name]);
        self.path().join(name)
    }

    /// Makes a program from a shell script.
    pub(crate) fn script(&self, name: &str, text: &str) {
        let text = format!("#!/bin/sh\n{text}\n");
        self.shell("printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"", &[name, &text]);
    }

    /// Runs a shell command that makes a program. (If this process wrote it, a child started by
    /// another test could hold the file open, and the system does not run a file that is open for
    /// writing.)
    fn shell(&self, line: &str, words: &[&str]) {
        let mut command = Command::new("sh");
        command.args(["-c", line]).args(words).current_dir(self.path());
        Done::of(&mut command).exits(0);
    }

    /// Lets the runs of [`gated`] continue.
    pub(crate) fn open_gate(&self) {
        self.write("go", "");
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gclab"));
        command
            .args(words)
            .current_dir(self.path())
            .env_remove("GCLABRTS")
            .env_remove("GCLAB_OCAMLRUNPARAM")
            .env_remove("GHCRTS")
            .stdin(Stdio::null());
        command
    }

    /// Runs `gclab` with these words to its end.
    pub(crate) fn gclab(&self, words: &[&str]) -> Done {
        Done::of(&mut self.command(words))
    }

    /// Starts `gclab` with these words and lets it run.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        self.command(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// The folders under `results/runs`, by name. A visible folder has a plan, even if its runner
    /// was killed.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join("results/runs")).into_iter().flatten();
        let visible = entries
            .map(|entry| entry.unwrap())
            .filter(|entry| !entry.file_name().to_str().unwrap().starts_with('.'));
        let mut folders: Vec<_> = visible.map(|entry| entry.path()).collect();
        folders.sort();
        for folder in &folders {
            assert!(folder.join("plan.json").is_file(), "{} has no plan", folder.display());
        }
        folders
    }

    /// The only results folder.
    #[track_caller]
    pub(crate) fn results(&self) -> ResultsDir {
        let folders = self.folders();
        assert_eq!(folders.len(), 1, "{folders:?}");
        ResultsDir::open(&folders[0]).unwrap()
    }
}

/// Waits until a condition holds, however slow the machine is.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{what}: not within two minutes"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal to a child.
#[track_caller]
pub(crate) fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Whether a process has ended: it does not exist or is a zombie.
pub(crate) fn is_gone(number: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", number.trim())).map_or(true, |stat| stat.contains(") Z"))
}

/// A child of this process that runs `gclab exec`.
pub(crate) fn exec_of(runner: &Child) -> Option<String> {
    let list = fs::read_to_string(format!("/proc/{0}/task/{0}/children", runner.id())).unwrap_or_default();
    let is_exec =
        |pid: &&str| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("exec\0"));
    list.split_whitespace().find(is_exec).map(str::to_owned)
}

/// An experiment with one program, run `repeat` times, that ends with status `end`. The first
/// `free` runs end at once; later ones wait for [`Bench::open_gate`].
pub(crate) fn gated(free: u32, repeat: u32, end: &str) -> String {
    let script = format!(
        "echo run >> started; test $(wc -l < started) -le {free} || until test -e go; do sleep 0.02; done; {end}"
    );
    format!("repeat = {repeat}\n[[program]]\nname = \"gated\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n")
}

/// An experiment with two collectors, two workloads and two settings, `repeat` times: 8 × `repeat`
/// runs of a few milliseconds.
pub(crate) fn tiny(repeat: u32) -> String {
    format!(
        r#"question = "Does it work?"
collectors = ["two-space", "copying"]
workloads = [{{ name = "binary_trees", args = [6] }}, {{ name = "long_list", args = [100, 1000] }}]
repeat = {repeat}
seed = 7
[flags]
F = 1.5
[sweep]
A = ["64k", "1m"]
"#
    )
}
