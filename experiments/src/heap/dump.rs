//! `gclab heap dump`: runs a workload and writes its heap to a file, as one of its collections
//! leaves it.
//!
//! At the very end of a run nothing is reachable: the program has left its frames. So the heap is
//! taken after a collection: the one that `--at-gc` names, or the major one that leaves most alive,
//! which a first run finds. The heap goes to `FILE.part` first, and gets its name when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args as ClapArgs;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::stats::Statistics;
use gclab_core::words::Bytes;
use gclab_core::world::Stopped;
use gclab_flags::Flags;
use gclab_heap_traverse::graph::{HeapGraph, write_snapshot};

use gclab_programs::Executor;
use gclab_sweep::registry::Registry;
use gclab_sweep::text::counted;

use super::words::size;
use crate::common::{print, refuse};
use crate::exec::Selection;
use crate::settings::Settings;
use crate::watched::{Watched, write_file};

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
    let watched = match Watched::new("heap dump", &arguments.selection, words, registry, executor, settings) {
        Ok(watched) => watched,
        Err(code) => return code,
    };
    match write_file("-o", &arguments.output, &arguments.selection.args, |out| {
        write_heap(arguments, &watched, out)
    }) {
        Ok(text) => print(&text),
        Err(code) => code,
    }
}

/// Returns the text to print. After a failure, which has been printed, it returns the exit status.
fn write_heap(arguments: &Arguments, watched: &Watched<'_>, out: File) -> Result<String, ExitCode> {
    let at = match arguments.at_gc {
        Some(at) => at,
        None => most_alive(watched)?,
    };
    let state = Arc::new(Mutex::new(State {
        at,
        seen: 0,
        out: Some(out),
        written: None,
    }));
    let (checksum, statistics) = run(watched, watched.checked.flags.clone(), Box::new(Dumper(state.clone())))?;
    let file = arguments.output.display();
    let collections = statistics.collections_count();
    let state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let written = match &state.written {
        Some(Ok(written)) => written,
        Some(Err(error)) => return Err(refuse(format!("-o {file}: {error}"))),
        None => {
            let asked = if arguments.at_gc.is_some() {
                "--at-gc asks for"
            } else {
                "the first run chose"
            };
            return Err(refuse(format!(
                "heap dump: the run had {}, {asked} number {at}; a smaller -A makes more",
                counted(collections as usize, "collection")
            )));
        }
    };
    let name = watched.checked.workload.name;
    Ok(format!(
        "{name} checksum={checksum}\n{file}: {} in {}, {}, as collection {at} of {collections} left them\n",
        size(written.bytes),
        counted(written.closures as usize, "closure"),
        counted(written.pointers as usize, "pointer")
    ))
}

/// The number of the major collection that leaves most alive; of any collection, if no major one
/// leaves anything. Only the second run prints statistics and writes heap profiles.
fn most_alive(watched: &Watched<'_>) -> Result<u64, ExitCode> {
    let most = Arc::new(Mutex::new(MostAlive::default()));
    run(watched, watched.quiet_flags(), Box::new(Finder(most.clone())))?;
    let most = most.lock().unwrap_or_else(PoisonError::into_inner);
    let none = "heap dump: no collection of the run left anything alive; a smaller -A makes it collect in between";
    most.best.map(|best| best.number).ok_or_else(|| refuse(none))
}

fn run(watched: &Watched<'_>, flags: Flags, listener: Box<dyn Listener>) -> Result<(u64, Statistics), ExitCode> {
    let ran = watched.run(flags, vec![listener])?;
    if let Some(table) = &ran.profile {
        print(table);
    }
    let checksum = ran.end.map_err(|error| watched.tell_exhausted(&error))?;
    Ok((checksum, ran.statistics))
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
