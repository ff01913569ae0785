//! Runs of a workload with listeners: `gclab inspect` and `gclab heap dump` look at its heap.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gclab_core::block::OutOfMemory;
use gclab_core::events::Listener;
use gclab_core::heap::EXIT_HEAP_EXHAUSTED;
use gclab_core::stats::Statistics;
use gclab_flags::Flags;
use gclab_programs::{Ended, Executor, end_by};
use gclab_results::path_name;
use gclab_sweep::registry::Registry;

use crate::common::{EXIT_PANIC, refuse};
use crate::exec::{Checked, Selection, checked};
use crate::given::given;
use crate::input::may_write;
use crate::settings::Settings;

/// A checked command line whose workload can be run several times.
pub(crate) struct Watched<'r> {
    /// `inspect` or `heap dump`.
    command: &'static str,
    selection: &'r Selection,
    pub(crate) checked: Checked,
    pub(crate) words: Vec<String>,
    executor: &'r dyn Executor,
    settings: &'r Settings,
}

/// A run that finished or exhausted its heap.
pub(crate) struct Ran {
    /// Its checksum, or the error of an exhausted heap.
    pub(crate) end: Result<u64, OutOfMemory>,
    pub(crate) statistics: Statistics,
    /// The table of the heap profile that it has written, if any.
    pub(crate) profile: Option<String>,
}

/// After a failure, which has been printed, methods return the exit status.
impl<'r> Watched<'r> {
    pub(crate) fn new(
        command: &'static str,
        selection: &'r Selection,
        words: &[String],
        registry: &Registry,
        executor: &'r dyn Executor,
        settings: &'r Settings,
    ) -> Result<Watched<'r>, ExitCode> {
        let words = selection.words(words);
        let given = given(&words, settings);
        let checked = given.and_then(|given| checked(command, selection, &given, registry));
        Ok(Watched {
            command,
            selection,
            checked: checked.map_err(refuse)?,
            words,
            executor,
            settings,
        })
    }

    /// The words of the command `command` for the same run, without flags.
    pub(crate) fn program(&self, command: &str) -> Vec<String> {
        self.checked.program(command, self.selection)
    }

    /// The flags without what prints or writes files: for a run before the one that users see.
    pub(crate) fn quiet_flags(&self) -> Flags {
        let mut quiet = self.checked.flags.clone();
        let default = Flags::default();
        (quiet.stats, quiet.config.profile, quiet.config.time_profile) = (default.stats, default.config.profile, None);
        quiet.log = default.log;
        quiet
    }

    /// Runs the workload with these flags.
    pub(crate) fn run(&self, flags: Flags, listeners: Vec<Box<dyn Listener>>) -> Result<Ran, ExitCode> {
        let checked = Checked {
            flags,
            args: self.checked.args.clone(),
            ..self.checked
        };
        let program = self.program(self.command);
        let done = self
            .executor
            .execute(&checked.request(&program, &self.words), listeners);
        let profile = done.profile.map(|profile| profile.table);
        let ran = |end, statistics| {
            Ok(Ran {
                end,
                statistics,
                profile,
            })
        };
        match (done.ended, done.statistics) {
            (Ended::Checksum(checksum, _), Some(statistics)) => ran(Ok(checksum), statistics),
            (Ended::Checksum(..), None) => Err(refuse(format!("{}: the run has no figures", self.command))),
            (Ended::Exhausted(error), Some(statistics)) => ran(Err(error), statistics),
            (Ended::Exhausted(error), None) => Err(self.tell_exhausted(&error)),
            (Ended::Refused(problem), _) => Err(refuse(problem)),
            (Ended::Broken(problem), _) => Err(checked.tell_damaged(&problem)),
            (Ended::Panicked, _) => Err(ExitCode::from(EXIT_PANIC)),
            (Ended::Interrupted(signal), _) => Err(ExitCode::from(end_by(signal))),
        }
    }

    /// Prints why a heap is exhausted.
    pub(crate) fn tell_exhausted(&self, error: &OutOfMemory) -> ExitCode {
        self.checked.tell_exhausted(error, self.settings);
        ExitCode::from(EXIT_HEAP_EXHAUSTED as u8)
    }
}

/// Has `write` make the file that `option` names, and that is none of the arguments of the workload.
/// The file has another name until it is whole, and is removed after a failure.
pub(crate) fn write_file<T>(
    option: &str,
    file: &Path,
    arguments: &[String],
    write: impl FnOnce(File) -> Result<T, ExitCode>,
) -> Result<T, ExitCode> {
    let refused = |problem: String| refuse(format!("{option} {}: {problem}", path_name(file)));
    let inputs: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    may_write(file, option, &inputs).map_err(refuse)?;
    if file.is_dir() {
        // Otherwise only the rename after the run would fail.
        return Err(refused("is a folder: name a file in it".to_owned()));
    }
    let problem = |error: io::Error| refused(error.to_string());
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = write(File::create(&part).map_err(problem)?)
        .and_then(|written| fs::rename(&part, file).map(|()| written).map_err(problem));
    if written.is_err() {
        // The command has failed already; it need not say that a file cannot be removed.
        let _ = fs::remove_file(&part);
    }
    written
}
