//! `gclab heap analyse`: which objects hold the memory in the heap of a file.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args as ClapArgs;
use gclab_heap_traverse::picture::{Label, icicle};
use gclab_snapshot::{Options, Snapshot};
use gclab_sweep::tell;

use super::analysis::Analysis;
use super::text;
use crate::common::{print, refuse};

/// Census, dominators and paths of the heap in a file
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// A snapshot of V8 (Chrome, Node.js, Deno: .heapsnapshot) or a heap dump of a JVM (.hprof),
    /// plain or gzip
    file: PathBuf,
    /// Number of objects, types and names to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Show a shortest path from the root to the object with this id
    #[arg(long, value_name = "ID", value_parser = id)]
    path_to: Option<u64>,
    /// Write the dominator tree to this file, as a picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print on standard error how long reading and the dominators took
    #[arg(long)]
    times: bool,
}

/// An object's id as the analysis prints it: decimal, or hexadecimal behind `0x`, with or without
/// an `@` before it.
fn id(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    number.map_err(|_| "expected the id of an object, as the analysis prints it: 1234 or 0x4d2".to_owned())
}

pub(crate) fn analyse(arguments: &Arguments) -> ExitCode {
    let start = Instant::now();
    let snapshot = match Snapshot::open(&arguments.file, Options::all()) {
        Ok(snapshot) => snapshot,
        Err(error) => return refuse(error),
    };
    let file = arguments.file.display().to_string();
    let read = start.elapsed().as_secs_f64();
    let analysis = match Analysis::of(&snapshot) {
        Ok(analysis) => analysis,
        Err(error) => return refuse(format!("{file}: {error}")),
    };
    if arguments.times {
        let megabytes = snapshot.bytes() as f64 / 1e6;
        let rest = start.elapsed().as_secs_f64() - read;
        tell!(
            "read {megabytes:.1} MB in {read:.3} s ({:.0} MB/s); dominators and retained sizes in {rest:.3} s",
            megabytes / read
        );
    }
    let path = match arguments.path_to.map(|id| analysis.path_to(id)).transpose() {
        Ok(path) => path,
        Err(problem) => return refuse(format!("{file}: {problem}")),
    };
    if let Some(svg) = &arguments.svg
        && let Err(error) = fs::write(svg, picture(&file, &analysis))
    {
        return refuse(format!("--svg {}: {error}", svg.display()));
    }
    if arguments.json {
        let report = analysis.report(&file, arguments.top, path);
        let text = serde_json::to_string_pretty(&report).expect("plain data is JSON");
        return print(&(text + "\n"));
    }
    print(&text::text(&file, &analysis, arguments.top, path.as_ref()))
}

fn picture(file: &str, analysis: &Analysis<'_>) -> String {
    let all = analysis.retained[0];
    let title = format!(
        "{file}: {} in {} objects, by dominator",
        text::size(all),
        analysis.dominators.reached().len()
    );
    icicle(&title, &analysis.dominators, &analysis.retained, &|node| {
        let object = analysis.object(node);
        let name = text::shown(&object);
        Label {
            long: format!(
                "{name} @{}: retains {} ({:.1} %), itself {}",
                object.id,
                text::size(object.retained_size),
                text::percent(object.retained_size, all),
                text::size(object.self_size)
            ),
            short: if object.name.is_empty() {
                name
            } else {
                text::cut(&object.name)
            },
            colour: usize::from(analysis.snapshot.node(node).type_index()),
        }
    })
}
