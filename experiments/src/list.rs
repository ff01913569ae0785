//! `gclab list`: collectors, workloads or flags, as a table for people or as JSON for programs.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gclab_flags::{FLAGS, FlagSpec, honours};
use gclab_sweep::registry::{Registry, usage};
use serde_json::{Value, json};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to list [default: all names]
    what: Option<What>,
    /// Print an array of JSON objects with `name`
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    Collectors,
    Workloads,
    Flags,
}

pub(crate) fn list(arguments: &Arguments, registry: &Registry) -> ExitCode {
    let Some(what) = arguments.what else {
        if arguments.json {
            return crate::common::refuse("list: --json of what? gclab list collectors --json, workloads or flags");
        }
        return crate::common::print(&all(registry));
    };
    let text = match (what, arguments.json) {
        (What::Collectors, true) => pretty(registry.collectors.iter().map(|collector| {
            json!({
                "name": collector.name, "summary": collector.summary, "moves": collector.moves,
                "parallel": collector.parallel, "honours": honours(collector).map(plain).collect::<Vec<_>>(), "own": collector.own_flags().map(|flag| json!({
                    "name": flag.name, "default": flag.default, "range": [flag.least, flag.most], "meaning": flag.meaning,
                })).collect::<Vec<_>>(), "generations": [collector.generations.0, collector.generations.1],
            })
        })),
        (What::Workloads, true) => pretty(registry.workloads.iter().map(|workload| {
            let arguments = workload.args.iter().map(|arg| json!({ "name": arg.name, "expected": arg.expected(), "default": arg.default_text(), "meaning": arg.meaning }));
            let stress = &workload.stress;
            json!({
                "name": workload.name, "summary": workload.summary, "arguments": arguments.collect::<Vec<_>>(),
                "checksum": workload.checksum, "test": workload.test.args, "test_checksum": workload.test.checksum,
                "bench": workload.bench,
                "stress": { "args": stress.args, "every": stress.every, "parallel": stress.parallel },
            })
        })),
        (What::Flags, true) => pretty(FLAGS.iter().map(|flag| {
            json!({
                "name": plain(flag), "form": flag.form(), "key": flag.toml, "kind": flag.kind.name(), "default": flag.default,
                "range": flag.kind.range().map(|(least, most)| [least, most]), "meaning": flag.meaning, "differs_from_ghc": flag.ghc,
                "collectors": registry.honouring(flag),
            })
        })),
        (What::Collectors, false) => columns(registry.collectors.iter().map(|collector| {
            let honours: Vec<String> = honours(collector).map(|flag| format!("-{}", flag.name)).collect();
            let own: String = collector.own_flags().map(|flag| {
                format!("\n--own={}=<n> ({} to {}, default {}): {}", flag.name, flag.least, flag.most, flag.default, flag.meaning)
            }).collect();
            (collector.name.to_owned(), format!("{}\nhonours {}{own}", collector.summary, honours.join(" ")))
        })),
        (What::Workloads, false) => columns(registry.workloads.iter().map(|workload| {
            let usage = usage(workload);
            let arguments = usage.split_once('\n').map_or("", |(_, lines)| lines);
            (workload.name.to_owned(), format!("{}\n{arguments}", workload.summary).trim_end().to_owned())
        })),
        (What::Flags, false) => columns(FLAGS.iter().map(|flag| {
            let ghc = flag.ghc.map_or_else(String::new, |differs| format!("\nGHC: {differs}"));
            (flag.form(), format!("{} (default: {}){ghc}", flag.meaning, flag.default))
        })),
    };
    crate::common::print(&text)
}

/// A flag's name without dashes.
fn plain(flag: &FlagSpec) -> &'static str {
    flag.name.trim_start_matches('-')
}

/// All names, a line for each kind.
fn all(registry: &Registry) -> String {
    let flags: Vec<String> = FLAGS.iter().map(|flag| format!("-{}", flag.name)).collect();
    let rows = [
        ("collectors", registry.collector_names().join(" ")),
        ("workloads", registry.workload_names().join(" ")),
        ("flags", flags.join(" ")),
    ];
    let rows = rows.map(|(kind, names)| (kind.to_owned(), names));
    columns(rows.into_iter()) + "\n`gclab list collectors`, `workloads` or `flags` says more about each.\n"
}

fn pretty(objects: impl Iterator<Item = Value>) -> String {
    let array = Value::Array(objects.collect());
    format!("{array:#}\n")
}

/// The most columns of a line.
const COLUMNS: usize = 80;

/// Names in the first column, lines of text in the second.
fn columns(rows: impl Iterator<Item = (String, String)>) -> String {
    let rows: Vec<_> = rows.collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, lines) in rows {
        for (index, line) in lines.lines().enumerate() {
            let name = if index == 0 { name.as_str() } else { "" };
            text.push_str(folded(&format!("{name:width$}  {line}"), width + 2).trim_end());
            text.push('\n');
        }
    }
    text
}

/// A line as one or more lines that fit; those after the first are indented.
fn folded(line: &str, indent: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (index, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > COLUMNS {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text
}
