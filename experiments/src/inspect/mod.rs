//! `gclab inspect`: runs a workload and shows where its closures lie, as a map of the heap.
//!
//! The run notes the moves of closures and how long they have lived, so it is slower than a plain
//! one. Its heap is laid out and collected as in a plain run.

mod frames;
mod picture;
mod table;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_core::block::OutOfMemory;
use gclab_core::stats::Statistics;
use gclab_flags::Flags;
use gclab_heap_traverse::map::{HeapMap, MapRecorder, Recording, Want};
use gclab_programs::Executor;
use gclab_report::{HeapFacts, heap_map_page};
use gclab_results::{path_name, shell_line};
use gclab_sweep::registry::Registry;

use crate::common::{print, refuse};
use crate::exec::Selection;
use crate::heap::words::counted;
use crate::settings::Settings;
use crate::watched::{Watched, write_file};

/// The message for a run without a map.
const NO_COLLECTION: &str = "inspect: the run had no collection before its end; a smaller -A makes some";

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Flags stand between +RTS and -RTS, as for `gclab exec`. Without --at and --html the workload runs twice: the first run finds the last \
                  collection of the measured phase."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// Show the heap after this collection (the first is 1), or at the program's first marker of
    /// this name
    #[arg(long, value_name = "N|MARKER", value_parser = want)]
    at: Option<Want>,
    /// The pictures to print
    #[arg(
        long,
        value_name = "PICTURE",
        value_enum,
        value_delimiter = ',',
        default_value = "use,occupancy"
    )]
    show: Vec<picture::Shown>,
    /// Print the map as one JSON object instead of text
    #[arg(long, conflicts_with_all = ["show", "html"])]
    json: bool,
    /// Write a page with the maps of all collections to this file
    #[arg(long, value_name = "FILE", conflicts_with = "show")]
    html: Option<PathBuf>,
}

/// The moment that `--at` names.
fn want(text: &str) -> Result<Want, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text {
            "" => Err("expected the number of a collection, or the name of a marker".to_owned()),
            name => Ok(Want::Marker(name.to_owned())),
        };
    }
    match text.parse() {
        Ok(0) => Err("the first collection is 1".to_owned()),
        Ok(number) => Ok(Want::Collection(number)),
        Err(_) => Err("no run has that many collections".to_owned()),
    }
}

pub(crate) fn inspect(
    arguments: &Arguments,
    words: &[String],
    registry: &Registry,
    executor: &dyn Executor,
    settings: &Settings,
) -> ExitCode {
    let run = match Watched::new("inspect", &arguments.selection, words, registry, executor, settings) {
        Ok(watched) => Run { arguments, watched },
        Err(code) => return code,
    };
    let shown = match &arguments.html {
        Some(file) => run.page(file),
        None => run.one_map(),
    };
    match shown {
        Ok((text, None)) => print(&text),
        Ok((text, Some(error))) => {
            print(&text);
            run.watched.tell_exhausted(&error)
        }
        Err(code) => code,
    }
}

/// The text to print, and the error of a run that exhausted its heap after the maps.
type Shown = (String, Option<OutOfMemory>);

struct Run<'r> {
    arguments: &'r Arguments,
    watched: Watched<'r>,
}

/// After a failure, which has been printed, these return the exit status.
impl Run<'_> {
    /// The map that `--at` asks for, or of the last collection of the measured phase.
    fn one_map(&self) -> Result<Shown, ExitCode> {
        let mut want = match &self.arguments.at {
            Some(want) => want.clone(),
            None => Want::Collection(self.last_measured()?),
        };
        loop {
            let (recording, exhausted) = self.record(Some(&want), false)?;
            match (&recording.map, &self.arguments.at, recording.collections) {
                (Some(map), ..) => return Ok((self.text(map)?, exhausted)),
                // Of a concurrent collector, no two runs have the same collections.
                (None, None, fewer @ 1..) => want = Want::Collection(fewer),
                _ => return Err(self.without_map(self.missed(&want, &recording), exhausted)),
            }
        }
    }

    /// Prints why the moment has no map. Returns the exit status.
    fn without_map(&self, missed: String, exhausted: Option<OutOfMemory>) -> ExitCode {
        let refused = refuse(missed);
        exhausted.map_or(refused, |error| self.watched.tell_exhausted(&error))
    }

    /// Prints why there is no map at all. Returns the exit status.
    fn without_maps(&self, exhausted: Option<OutOfMemory>) -> ExitCode {
        match exhausted {
            Some(error) => self.watched.tell_exhausted(&error),
            None => refuse(NO_COLLECTION),
        }
    }

    /// The number of the last collection of the measured phase, or of a run that exhausts its heap.
    /// Only the second run prints statistics and writes profiles.
    fn last_measured(&self) -> Result<u64, ExitCode> {
        let counter = MapRecorder::new(None, false);
        let (statistics, exhausted) = self.run(self.watched.quiet_flags(), counter.clone())?;
        let phases = &statistics.phases;
        let number = match exhausted {
            // The program did not come to the end of its phase. The collection at the end of the
            // run leaves nothing.
            Some(_) => counter.finish().collections,
            None => phases.setup.collections + phases.measured.collections,
        };
        match number {
            0 => Err(self.without_maps(exhausted)),
            number => Ok(number),
        }
    }

    fn record(&self, want: Option<&Want>, animate: bool) -> Result<(Recording, Option<OutOfMemory>), ExitCode> {
        let mut flags = self.watched.checked.flags.clone();
        flags.config.follow_moves = true;
        let recorder = MapRecorder::new(want.cloned(), animate);
        let (_, exhausted) = self.run(flags, recorder.clone())?;
        Ok((recorder.finish(), exhausted))
    }

    /// Runs the workload. A run that exhausts its heap has statistics, too.
    fn run(&self, flags: Flags, recorder: MapRecorder) -> Result<(Statistics, Option<OutOfMemory>), ExitCode> {
        let ran = self.watched.run(flags, vec![Box::new(recorder)])?;
        Ok((ran.statistics, ran.end.err()))
    }

    /// The message for a moment that did not come.
    fn missed(&self, want: &Want, recording: &Recording) -> String {
        match want {
            Want::Collection(number) => format!(
                "inspect: the run had {}, --at asks for number {number}; a smaller -A makes more",
                counted(recording.collections, "collection")
            ),
            Want::Marker(name) if recording.markers.is_empty() => {
                format!(
                    "inspect: --at {name}: the program {} has no markers",
                    self.watched.checked.workload.name
                )
            }
            Want::Marker(name) => format!(
                "inspect: --at {name}: the program has no such marker; it has {}",
                recording.markers.join(", ")
            ),
        }
    }

    /// The command that runs the workload in the same way.
    fn command(&self) -> String {
        let mut command = self.watched.program("exec");
        if !self.watched.words.is_empty() {
            command.push("+RTS".to_owned());
            command.extend(self.watched.words.iter().cloned());
        }
        shell_line(&command)
    }

    fn text(&self, map: &HeapMap) -> Result<String, ExitCode> {
        if self.arguments.json {
            let text = serde_json::to_string_pretty(map).map_err(|error| refuse(format!("inspect: {error}")))?;
            return Ok(text + "\n");
        }
        let mut text = format!("{}\n{}\n", self.command(), table::moment(&map.moment));
        for shown in &self.arguments.show {
            text += "\n";
            text += &picture::picture(map, *shown);
        }
        text += "\n";
        text += &table::tables(map);
        Ok(text)
    }

    /// Writes the page. Returns a line about it.
    fn page(&self, file: &Path) -> Result<Shown, ExitCode> {
        write_file("--html", file, &self.arguments.selection.args, |mut out| {
            let (recording, exhausted) = self.recording_for_page()?;
            let page = heap_map_page(&HeapFacts {
                title: &self.command(),
                facts: &facts(&recording),
                cautions: &cautions(&recording),
                data: &frames::json(&recording),
            });
            out.write_all(page.as_bytes())
                .map_err(|error| refuse(format!("--html {}: {error}", path_name(file))))?;
            Ok((format!("{}: {}\n", path_name(file), facts(&recording)), exhausted))
        })
    }

    fn recording_for_page(&self) -> Result<(Recording, Option<OutOfMemory>), ExitCode> {
        let (recording, exhausted) = self.record(self.arguments.at.as_ref(), true)?;
        match &self.arguments.at {
            Some(want) if recording.map.is_none() => Err(self.without_map(self.missed(want, &recording), exhausted)),
            _ if recording.frames.is_empty() => Err(self.without_maps(exhausted)),
            _ => Ok((recording, exhausted)),
        }
    }
}

/// The recording in one line.
fn facts(recording: &Recording) -> String {
    let (maps, collections) = (recording.frames.len(), recording.collections);
    let blocks = recording.frames.first().map_or(1, |frame| frame.tile_blocks);
    format!(
        "{} of {}, {} a tile",
        counted(maps, "map"),
        counted(collections, "collection"),
        counted(blocks, "block")
    )
}

/// All that a reader of the page should know before the picture.
fn cautions(recording: &Recording) -> Vec<String> {
    let mut cautions = Vec::new();
    if recording.stride > 1 {
        cautions.push(format!(
            "The run has many collections: one in {} has a map here.",
            recording.stride
        ));
    }
    let damaged = recording.frames.iter().find(|frame| frame.totals.damage.is_some());
    if let Some(frame) = damaged {
        cautions.push(format!(
            "The heap is damaged: after collection {} no closure begins where one should. Later figures cover only the sound parts; -DS says more.",
            frame.moment.collection
        ));
    }
    cautions
}
