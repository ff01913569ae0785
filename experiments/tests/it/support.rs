//! A working folder for each test, and `gclab` in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use gclab_results::ResultsDir;
use tempfile::TempDir;

/// An empty working folder.
pub(crate) struct Bench {
    folder: TempDir,
}

/// The exit status and output of a command.
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

    /// Makes `NAME/gclab`: a copy of gclab that does the same, and is another file.
    pub(crate) fn build(&self, name: &str) {
        let folder = self.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("gclab");
        fs::copy(env!("CARGO_BIN_EXE_gclab"), &file).unwrap();
        // The loader ignores what follows the last section.
        let mut copy = fs::File::options().append(true).open(file).unwrap();
        copy.write_all(name.as_bytes()).unwrap();
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gclab"));
        command
            .args(words)
            .current_dir(self.path())
            .env_remove("GCLABRTS")
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

    /// The one results folder.
    #[track_caller]
    pub(crate) fn results(&self) -> ResultsDir {
        let folders = self.folders();
        assert_eq!(folders.len(), 1, "{folders:?}");
        ResultsDir::open(&folders[0]).unwrap()
    }
}

/// An experiment of two collectors, two works and two settings, `repeat` times: 8 × `repeat` runs
/// of a few milliseconds.
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
