//! `gclab heap analyse`: which objects hold the memory in the heap of a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args as ClapArgs, ValueEnum};
use gclab_core::heap::default_limit;
use gclab_core::words::Bytes;
use gclab_core::words::size::size_text;
use gclab_heap_traverse::analysis::Analysis;
use gclab_results::shell_line;
use gclab_snapshot::{Error, Options, Problem, Snapshot};
use gclab_sweep::tell;

use super::arguments::{Extent, id, limit};
use super::holders::{self, Findings, findings};
use super::page::{self, Class, Contents};
use super::questions::{self, Question};
use super::{json, stacks, tables, text, words};
use crate::common::{print, print_by, refuse};
use crate::input;

/// Show which classes and which objects hold the memory, in the heap of a file
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// A snapshot of V8 (Chrome, Node.js, Deno: .heapsnapshot) or a heap dump of a JVM or of
    /// Android (.hprof), plain or gzip; `-` is standard input. With --exe a core file
    file: PathBuf,
    /// The executable of a core file, which `gcore PID` writes: a program of GHC
    #[arg(long, value_name = "PROGRAM")]
    exe: Option<PathBuf>,
    /// Of several heap dumps in one file, analyse the one with this number [default: the last]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "exe")]
    dump: Option<u32>,
    #[command(flatten)]
    extent: Extent,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Show a shortest path from the root to the object with this id
    #[arg(long, value_name = "ID", value_parser = id, conflicts_with = "Question")]
    path_to: Option<u64>,
    #[command(flatten)]
    question: Question,
    /// Write what holds the memory to this file, as a page for a browser
    #[arg(long, value_name = "FILE", conflicts_with = "Question")]
    html: Option<PathBuf>,
    /// Print the tree of holders, by class, for other programs
    #[arg(long, value_enum, conflicts_with_all = ["json", "Question"])]
    format: Option<Format>,
    /// Write objects, references and classes as tables to this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "Question")]
    csv: Option<PathBuf>,
    /// Read at most this many bytes of the file, unpacked [default: half of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = limit)]
    limit: Option<Bytes>,
    /// Print on standard error how long reading and the dominators took
    #[arg(long)]
    times: bool,
}

/// A form of the tree of holders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line a stack, `A;B;C 1234`, for speedscope and flamegraph.pl
    Folded,
    /// A profile of objects and bytes for `pprof`
    Pprof,
}

pub(crate) fn analyse(arguments: &Arguments) -> ExitCode {
    if let Some(html) = &arguments.html
        && let Err(message) = input::may_write(html, "--html", [&arguments.file].into_iter().chain(&arguments.exe))
    {
        return refuse(message);
    }
    let start = Instant::now();
    let snapshot = match open(
        &arguments.file,
        arguments.limit,
        arguments.dump,
        arguments.exe.as_deref(),
    ) {
        Ok(snapshot) => snapshot,
        Err(message) => return refuse(message),
    };
    let file = input::name(&arguments.file);
    let read = start.elapsed().as_secs_f64();
    let analysis = match Analysis::of(&snapshot) {
        Ok(analysis) => analysis,
        Err(error) => return refuse(format!("{file}: {error}")),
    };
    if arguments.times {
        let megabytes = snapshot.bytes() as f64 / 1e6;
        let rest = start.elapsed().as_secs_f64() - read;
        tell!(
            "read {megabytes:.1} MB in {read:.3} s ({:.0} MB/s); dominators, retained sizes and classes in {rest:.3} s",
            megabytes / read
        );
    }
    let again = again(&arguments.file, arguments.dump, arguments.exe.as_deref());
    match arguments.question.answer(&analysis, arguments.extent) {
        Ok(None) => {}
        Ok(Some(answer)) if arguments.json => return json::write(&file, &answer),
        Ok(Some(answer)) => {
            return print(&questions::text(
                again.as_deref(),
                &analysis,
                &answer,
                arguments.extent.top,
            ));
        }
        Err(message) => return refuse(format!("{file}: {message}")),
    }
    let path = match arguments.path_to.map(|id| (id, analysis.path_to(id))) {
        None => None,
        Some((_, Ok(Some(path)))) => Some(path),
        Some((id, Ok(None))) => {
            return refuse(format!(
                "{file}: no object has the id {id}; `--top` lists some that exist"
            ));
        }
        Some((_, Err(error))) => return refuse(format!("{file}: {error}")),
    };
    if let Some(folder) = &arguments.csv
        && let Err(error) = tables::write(folder, &analysis)
    {
        return refuse(format!("--csv {}: {error}", folder.display()));
    }
    if let Some(html) = &arguments.html
        && let Err(message) = page(html, &file, &analysis)
    {
        return refuse(message);
    }
    if let Some(format) = arguments.format {
        return match holders::merged(&analysis) {
            Ok(merged) if format == Format::Folded => print(&stacks::folded(&merged)),
            Ok(merged) => print_by(|out| out.write_all(&stacks::pprof(&merged))),
            Err(error) => refuse(format!("{file}: {error}")),
        };
    }
    if arguments.json {
        return match json::report(&file, &analysis, arguments.extent, path.as_deref()) {
            Ok(report) => json::write(&file, &report),
            Err(error) => refuse(format!("{file}: {error}")),
        };
    }
    match text::text(again.as_deref(), &analysis, arguments.extent, path.as_deref()) {
        Ok(text) => print(&text),
        Err(error) => refuse(format!("{file}: {error}")),
    }
}

/// Writes the page of an analysis.
fn page(path: &Path, file: &str, analysis: &Analysis<'_>) -> Result<(), String> {
    let Findings {
        merged,
        suspects,
        classes,
        ..
    } = findings(analysis, page::CLASSES, false).map_err(|error| format!("{file}: {error}"))?;
    let classes = classes.into_iter().map(|own| Class {
        name: words::class(analysis, own.figures.first),
        figures: vec![
            own.retained as i64,
            own.figures.shallow as i64,
            i64::from(own.figures.count),
        ],
        largest: own.largest,
    });
    let objects = words::counted(analysis.snapshot().node_count(), "object");
    page::write(
        path,
        &Contents {
            title: &text::headline(analysis, &suspects),
            facts: &format!("{file}: {} in {objects}", words::size(analysis.reached_size())),
            analysis,
            merged: &merged,
            suspects: suspects.iter().collect(),
            columns: &[("retained", "bytes"), ("itself", "bytes"), ("objects", "count")],
            classes: classes.collect(),
            all_classes: analysis.classes().len(),
            growth: false,
        },
    )
}

/// The arguments of a command that reads the same file, for a shell. Standard input has been read.
pub(super) fn again(file: &Path, dump: Option<u32>, exe: Option<&Path>) -> Option<String> {
    let exe = exe.map(|exe| ["--exe".to_owned(), exe.display().to_string()]);
    let dump = dump.map(|dump| ["--dump".to_owned(), dump.to_string()]);
    let mut words = vec![file.display().to_string()];
    words.extend(exe.into_iter().chain(dump).flatten());
    (!input::is_standard_input(file)).then(|| shell_line(&words))
}

/// Reads a snapshot or a dump, which is read several times, and tells its faults.
///
/// # Errors
/// The message for a file that cannot be read.
pub(super) fn open(
    file: &Path,
    limit: Option<Bytes>,
    dump: Option<u32>,
    exe: Option<&Path>,
) -> Result<Snapshot, String> {
    let most = limit.unwrap_or(Bytes(default_limit().0 / 2));
    let options = Options {
        limit: most.0 as u64,
        dump,
        interpret: true,
        ..Options::all()
    };
    let name = input::name(file);
    let read = match (input::seekable(file), exe) {
        (Ok(opened), None) => Snapshot::of_file(&opened, &name, options),
        (Ok(opened), Some(exe)) => {
            let program = fs::read(exe).map_err(|error| format!("--exe {}: {error}", exe.display()))?;
            Snapshot::read_core(opened, &program, &name, options)
        }
        (Err(error), _) => Err(Error::cannot_open(&name, error)),
    };
    let snapshot = read.map_err(|error| unread(&error, file, limit))?;
    for warning in snapshot.warnings() {
        tell!("gclab: warning: {name}: {warning}");
    }
    Ok(snapshot)
}

/// The message for a file that cannot be read.
fn unread(error: &Error, path: &Path, asked: Option<Bytes>) -> String {
    match error.problem() {
        Problem::TooLong { limit } => {
            let (size, half) = match asked {
                Some(asked) => (size_text(asked), ""),
                None => (words::size(*limit), ", half of the memory"),
            };
            format!(
                "{}: more than {size} unpacked{half}; `--limit` raises that",
                error.file()
            )
        }
        Problem::NotASnapshot { .. } | Problem::Open(_) => format!("{error}{}", input::hint(path)),
        Problem::Core(text) if text.starts_with("this core file is damaged") => match input::hint(path) {
            hint if hint.is_empty() => {
                let end = fs::metadata(path).map_or(0, |file| file.len());
                format!("{error}; the file ends at byte {end}, and may be cut off")
            }
            hint => format!("{}: not a core file, for which --exe is{hint}", error.file()),
        },
        _ => match input::kind(path) {
            Some((_, command, _)) if !command.starts_with("heap analyse") => {
                format!("{}: not a heap snapshot{}", error.file(), input::hint(path))
            }
            _ => error.to_string(),
        },
    }
}
