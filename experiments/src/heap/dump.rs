//! `gclab heap dump`: runs a workload and writes its heap to a file, as one of its collections
//! leaves it.
//!
//! At the very end of a run nothing is reachable: the program has left its frames. So the heap is
//! taken after a collection: the one that `--at-gc` names, or the major one that leaves most alive,
//! which a first run finds. The heap goes to `FILE.part` first, and gets its name when it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args as ClapArgs;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::heap::EXIT_HEAP_EXHAUSTED;
use gclab_core::stats::Statistics;
use gclab_core::words::Bytes;
use gclab_core::world::Stopped;
use gclab_flags::Flags;
use gclab_heap_traverse::graph::{HeapGraph, write_snapshot};

use gclab_programs::{Ended, Executor, end_by};
use gclab_sweep::registry::Registry;
use gclab_sweep::text::counted;

use super::words::size;
use crate::common::{print, refuse};
use crate::exec::{Checked, Selection, checked};
use crate::given::given;
use crate::settings::Settings;

/// Size of the buffer in front of the file, in bytes.
const BUFFER: usize = 1 << 20;

/// Run a workload and write its heap for Chrome's developer tools, memlab and `gclab heap analyse`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Flags stand between +RTS and -RTS, as for `gclab exec`. Without --at-gc the workload runs twice: the first run finds the major \
                  collection that leaves most alive."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// The file to write: a .heapsnapshot
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Take the heap as this collection leaves it; the first is 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    at_gc: Option<u64>,
}

pub(crate) fn dump(
    arguments: &Arguments,
    words: &[String],
    registry: &Registry,
    executor: &dyn Executor,
    settings: &Settings,
) -> ExitCode {
    let words = &arguments.selection.words(words);
    let given = given(words, settings);
    let checked = match given.and_then(|given| checked("heap dump", &arguments.selection, &given, registry)) {
        Ok(checked) => checked,
        Err(message) => return refuse(message),
    };
    if arguments.output.is_dir() {
        // Otherwise only the rename after the run would fail.
        return refuse(format!(
            "-o {0}: is a folder: name a file in it",
            arguments.output.display()
        ));
    }
    let part = part(&arguments.output);
    let out = match File::create(&part) {
        Ok(out) => out,
        Err(error) => return refuse(format!("-o {}: {error}", arguments.output.display())),
    };
    let run = Run {
        arguments,
        checked,
        words,
        executor,
        settings,
    };
    let done = run.dump(out).and_then(|done| {
        fs::rename(&part, &arguments.output)
            .map_err(|error| refuse(format!("-o {}: {error}", arguments.output.display())))?;
        Ok(done)
    });
    match done {
        Ok(text) => print(&text),
        Err(code) => {
            // The command has failed already; a file that cannot be removed is no second message.
            let _ = fs::remove_file(&part);
            code
        }
    }
}

/// Where a file is until it is whole.
pub(crate) fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

struct Run<'r> {
    arguments: &'r Arguments,
    checked: Checked,
    words: &'r [String],
    executor: &'r dyn Executor,
    settings: &'r Settings,
}

impl Run<'_> {
    /// Returns the text to print. After a failure, which has been printed, it returns the exit
    /// status.
    fn dump(&self, out: File) -> Result<String, ExitCode> {
        let at = match self.arguments.at_gc {
            Some(at) => at,
            None => self.most_alive()?,
        };
        let state = Arc::new(Mutex::new(State {
            at,
            seen: 0,
            out: Some(out),
            written: None,
        }));
        let (checksum, statistics) = self.run(&self.checked, vec![Box::new(Dumper(state.clone()))])?;
        let file = self.arguments.output.display();
        let collections = statistics.collections_count();
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match &state.written {
            Some(Ok(written)) => written,
            Some(Err(error)) => return Err(refuse(format!("-o {file}: {error}"))),
            None => {
                let asked = if self.arguments.at_gc.is_some() {
                    "--at-gc asks for"
                } else {
                    "the first run chose"
                };
                let problem = format!(
                    "the run had {}, {asked} number {at}",
                    counted(collections as usize, "collection")
                );
                return Err(refuse(format!("heap dump: {problem}; a smaller -A makes more")));
            }
        };
        let name = self.checked.workload.name;
        Ok(format!(
            "{name} checksum={checksum}\n{file}: {} in {}, {}, as collection {at} of {collections} left them\n",
            size(written.bytes),
            counted(written.closures as usize, "closure"),
            counted(written.pointers as usize, "pointer")
        ))
    }

    /// The number of the major collection that leaves most alive; of any collection, if no major
    /// one leaves anything. Only the second run prints statistics and writes heap profiles.
    fn most_alive(&self) -> Result<u64, ExitCode> {
        let mut quiet = self.checked.flags.clone();
        (quiet.stats, quiet.config.profile) = (Flags::default().stats, Flags::default().config.profile);
        let quiet = Checked {
            flags: quiet,
            args: self.checked.args.clone(),
            ..self.checked
        };
        let most = Arc::new(Mutex::new(MostAlive::default()));
        self.run(&quiet, vec![Box::new(Finder(most.clone()))])?;
        let most = most.lock().unwrap_or_else(PoisonError::into_inner);
        let none = "heap dump: no collection of the run left anything alive; a smaller -A makes it collect in between";
        most.best.map(|best| best.number).ok_or_else(|| refuse(none))
    }

    fn run(&self, checked: &Checked, listeners: Vec<Box<dyn Listener>>) -> Result<(u64, Statistics), ExitCode> {
        let program = checked.program("heap dump", &self.arguments.selection);
        let done = self.executor.execute(&checked.request(&program, self.words), listeners);
        if let Some(profile) = &done.profile {
            print(&profile.table);
        }
        match (done.ended, done.statistics) {
            (Ended::Checksum(checksum, _), Some(statistics)) => Ok((checksum, statistics)),
            (Ended::Checksum(..), None) => Err(refuse("heap dump: the run has no figures")),
            (Ended::Exhausted(error), _) => {
                checked.tell_exhausted(&error, self.settings);
                Err(ExitCode::from(EXIT_HEAP_EXHAUSTED as u8))
            }
            (Ended::Refused(problem), _) => Err(refuse(problem)),
            (Ended::Broken(problem), _) => Err(checked.tell_damaged(&problem)),
            (Ended::Interrupted(signal), _) => Err(ExitCode::from(end_by(signal))),
        }
    }
}

/// Finds the collection that leaves most alive.
struct Finder(Arc<Mutex<MostAlive>>);

#[derive(Debug, Default)]
struct MostAlive {
    seen: u64,
    best: Option<Candidate>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    major: bool,
    live: Bytes,
    /// The collection's number, from 1.
    number: u64,
}

impl Listener for Finder {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { collection, .. } = event.kind {
            let mut most = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            most.seen += 1;
            let (major, live) = (collection.work.is_major(), collection.work.live);
            // Of equals the first. A collection at the end of the run may leave nothing, major or
            // minor.
            if live > Bytes::ZERO && most.best.is_none_or(|best| (major, live) > (best.major, best.live)) {
                let number = most.seen;
                most.best = Some(Candidate { major, live, number });
            }
        }
    }
}

/// Writes the heap after one collection.
struct Dumper(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The collection that is written, from 1.
    at: u64,
    seen: u64,
    out: Option<File>,
    written: Option<Result<Written, io::Error>>,
}

/// The size of the heap that was written.
#[derive(Debug)]
struct Written {
    closures: u32,
    pointers: u32,
    bytes: u64,
}

impl Listener for Dumper {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { stopped, .. } = event.kind {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.seen += 1;
            if state.seen == state.at
                && let Some(out) = state.out.take()
            {
                state.written = Some(write(stopped, out));
            }
        }
    }
}

fn write(stopped: &Stopped<'_>, out: File) -> io::Result<Written> {
    let heap = HeapGraph::of(stopped).map_err(io::Error::other)?;
    write_snapshot(&heap, BufWriter::with_capacity(BUFFER, out))?.flush()?;
    let nodes = heap.graph().node_count();
    Ok(Written {
        closures: heap.closures(),
        pointers: (nodes - heap.closures()..nodes)
            .map(|node| heap.graph().row(node).len() as u32)
            .sum(),
        bytes: (0..nodes).map(|node| heap.size(node)).sum(),
    })
}
