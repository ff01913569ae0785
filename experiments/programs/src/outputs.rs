//! The files that a run writes.
//!
//! A run that is refused must leave the previous run's files unchanged. So each file is opened
//! without changing it. Text for it is held back until the program starts ([`Outputs::begin`]):
//! then the file is emptied, and the held text written. If the program never starts, files created
//! here are removed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gclab_core::config::Breakdown;
use gclab_core::stats::render::path_name;

use crate::request::Request;

/// The purpose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// `-s<file>`.
    Statistics,
    /// `.hp`.
    HeapProfile,
    /// `.prof`: a time profile, sets of retainers, or first the one and then the other.
    Report,
    /// `.eventlog`.
    EventLog,
}

/// A file, its purpose, and the words for it in a message.
type Wanted = (Purpose, &'static str, PathBuf);

/// The files of a run.
#[derive(Debug)]
pub(crate) struct Outputs {
    files: Vec<(Purpose, &'static str, PathBuf, Output)>,
    /// The files that are new.
    made: Vec<PathBuf>,
    begun: bool,
}

/// An open file, or another place for text. Clones write to the same place.
#[derive(Debug, Clone)]
pub(crate) struct Output(Arc<Mutex<State>>);

enum State {
    /// The program has not started.
    Held {
        to: Box<dyn Write + Send>,
        /// The file to empty. A device is not one.
        file: Option<File>,
        text: Vec<u8>,
    },
    Open(Box<dyn Write + Send>),
    /// The held text could not be written.
    Failed(io::ErrorKind),
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            State::Held { .. } => "Held",
            State::Open(_) => "Open",
            State::Failed(_) => "Failed",
        })
    }
}

/// The files of a run, with their purposes.
#[derive(Default)]
struct Known(Vec<(fs::Metadata, &'static str, PathBuf)>);

impl Known {
    /// Adds a file that is written.
    ///
    /// # Errors
    /// A message, if it has another purpose. Devices may have several.
    fn add(&mut self, there: fs::Metadata, what: &'static str, path: &Path) -> Result<(), String> {
        let place = |of: &fs::Metadata| (of.dev(), of.ino());
        let same = self.0.iter().find(|(other, ..)| place(other) == place(&there));
        if let Some((_, other, first)) = same.filter(|_| there.is_file()) {
            return Err(format!(
                "{what} {}: the {other} {} is the same file; each needs its own name",
                path_name(path),
                path_name(first)
            ));
        }
        self.0.push((there, what, path.to_owned()));
        Ok(())
    }
}

impl Outputs {
    /// Opens the files that the flags ask for, and checks that no two are one, and none an input.
    ///
    /// # Errors
    /// A message with the file that cannot be written, or has two purposes. All files are as
    /// before.
    pub(crate) fn open(request: &Request<'_>) -> Result<Outputs, String> {
        let mut outputs = Outputs {
            files: Vec::new(),
            made: Vec::new(),
            begun: false,
        };
        let mut known = Known::default();
        // Whatever the workload reads.
        for word in request.program {
            if let Ok(there) = fs::metadata(word) {
                known.0.push((there, "input", PathBuf::from(word)));
            }
        }
        if let Some((file, path)) = request.record {
            let there = file.metadata();
            let there = there.map_err(|error| format!("record {}: {error}", path_name(path)))?;
            known.add(there, "record", path)?;
        }
        for (purpose, what, path) in wanted(request)? {
            let problem = |error: io::Error| format!("{what} {}: {error}", path_name(&path));
            let file = outputs.open_file(&path).map_err(problem)?;
            let there = file.metadata().map_err(problem)?;
            let is_file = there.is_file();
            known.add(there, what, &path)?;
            let emptied = is_file.then(|| file.try_clone()).transpose().map_err(problem)?;
            let output = Output::holding(Box::new(file), emptied);
            outputs.files.push((purpose, what, path, output));
        }
        Ok(outputs)
    }

    /// Opens a file and changes nothing in it. If the path is a link to a file that is not there,
    /// the new file is that one, not the link.
    fn open_file(&mut self, path: &Path) -> io::Result<File> {
        let is_new = fs::metadata(path).is_err();
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        if is_new {
            self.made.extend(fs::canonicalize(path).ok());
        }
        Ok(file)
    }

    /// The file for a purpose, if the flags ask for one.
    pub(crate) fn file(&self, purpose: Purpose) -> Option<Output> {
        let file = self.files.iter().find(|file| file.0 == purpose);
        file.map(|(.., output)| output.clone())
    }

    /// Adds a place that is not a file: standard output.
    pub(crate) fn add(&mut self, purpose: Purpose, what: &'static str, to: Box<dyn Write + Send>) -> Output {
        let output = Output::holding(to, None);
        self.files.push((purpose, what, PathBuf::new(), output.clone()));
        output
    }

    /// The program starts: the files are emptied, and the held text is written.
    ///
    /// # Errors
    /// A message with the file that cannot be written. That of statistics is not an error yet: the
    /// statistics go to standard error instead, when there are any.
    pub(crate) fn begin(&mut self) -> Result<(), String> {
        self.begun = true;
        let mut problem = None;
        for (purpose, what, path, output) in &self.files {
            if let Err(error) = output.begin()
                && *purpose != Purpose::Statistics
                && !is_closed_pipe(path, &error)
            {
                problem.get_or_insert(format!("{}: {error}", format!("{what} {}", path_name(path)).trim_end()));
            }
        }
        problem.map_or(Ok(()), Err)
    }
}

/// Whether this is standard output whose reader has gone, which is not an error (`| head`).
fn is_closed_pipe(path: &Path, error: &io::Error) -> bool {
    path.as_os_str().is_empty() && error.kind() == io::ErrorKind::BrokenPipe
}

impl Drop for Outputs {
    fn drop(&mut self) {
        if !self.begun {
            for path in &self.made {
                // A file that stays is empty.
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Output {
    fn holding(to: Box<dyn Write + Send>, file: Option<File>) -> Output {
        Output(Arc::new(Mutex::new(State::Held {
            to,
            file,
            text: Vec::new(),
        })))
    }

    fn begin(&self) -> io::Result<()> {
        let mut state = self.lock();
        let State::Held { mut to, file, text } = std::mem::replace(&mut *state, State::Failed(io::ErrorKind::Other))
        else {
            return Ok(());
        };
        let emptied = file.map_or(Ok(()), |file| file.set_len(0));
        let written = emptied.and_then(|()| to.write_all(&text)).and_then(|()| to.flush());
        *state = match &written {
            Ok(()) => State::Open(to),
            Err(error) => State::Failed(error.kind()),
        };
        written
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while writing left half a line at worst.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.lock() {
            State::Held { text, .. } => text.write(bytes),
            State::Open(to) => to.write(bytes),
            State::Failed(kind) => Err((*kind).into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut *self.lock() {
            State::Held { .. } => Ok(()),
            State::Open(to) => to.flush(),
            State::Failed(kind) => Err((*kind).into()),
        }
    }
}

/// The files that the flags ask for.
///
/// # Errors
/// A message if the flags name a file for a log that has none.
fn wanted(request: &Request<'_>) -> Result<Vec<Wanted>, String> {
    let config = &request.flags.config;
    let mut wanted = Vec::new();
    let statistics = request.flags.stats.file.clone();
    wanted.extend(
        statistics
            .filter(|path| path.as_os_str() != "stderr")
            .map(|path| (Purpose::Statistics, "statistics file", path)),
    );
    let breakdown = config.profile.breakdown;
    if breakdown.is_some() {
        let path = format!("{}.hp", stem(request));
        wanted.push((Purpose::HeapProfile, "heap profile", path.into()));
    }
    let report = || format!("{}.prof", stem(request)).into();
    if config.time_profile.is_some() {
        wanted.push((Purpose::Report, "time profile", report()));
    } else if breakdown == Some(Breakdown::Retainer) {
        wanted.push((Purpose::Report, "heap profile", report()));
    }
    wanted.extend(log_path(request)?.map(|path| (Purpose::EventLog, "event log", path)));
    Ok(wanted)
}

/// The path of the files of profiles, without their endings.
pub(crate) fn stem(request: &Request<'_>) -> String {
    let given = request.profile.or(request.flags.profile_stem.as_deref());
    given.map_or_else(|| request.workload.to_owned(), |stem| stem.display().to_string())
}

/// The file of the event log that the flags ask for; `None` for none, and for a log as text.
///
/// # Errors
/// A message if the flags name a file for a log that has none.
pub(crate) fn log_path(request: &Request<'_>) -> Result<Option<PathBuf>, String> {
    let option = &request.flags.log;
    if !option.is_file() {
        return option.file.as_ref().map_or(Ok(None), |file| {
            let file = path_name(file);
            let why = if option.text && option.classes.is_some() {
                "-v prints the log as text instead; the last of -l and -v wins"
            } else {
                "-l asks for one"
            };
            Err(format!("-ol{file} is for the file of an event log: {why}"))
        });
    }
    let path = option.file.clone();
    Ok(Some(
        path.unwrap_or_else(|| format!("{}.eventlog", request.workload).into()),
    ))
}
