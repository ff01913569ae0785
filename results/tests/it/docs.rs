//! `docs/results.md` agrees with the source. `UPDATE_DOCS=1` rewrites its tables.

use crate::synthetic;
use gclab_results::schema::{Documented, Field};
use gclab_results::{
    Axis, Build, Census, CollectionRecord, Conditions, Counters, Expectation, GcThread, Generation, HeapProfile,
    Latency, Machine, Manifest, MeteredLatency, Minimum, NamedBuild, Pauses, PlannedRun, Probe, Program, RunPhase,
    RunPhases, RunRecord, RunStats, Status,
};
use std::path::Path;

#[test]
fn the_page_of_the_format_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results.md");
    let page = std::fs::read_to_string(&path).expect("docs/results.md is there");
    let made = filled_in(&page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).expect("docs/results.md can be written");
    } else {
        assert!(
            page == made,
            "docs/results.md is out of date: UPDATE_DOCS=1 cargo test -p gclab-results docs"
        );
    }
}

/// The page with new text between each `<!-- name -->` and `<!-- end -->`.
fn filled_in(page: &str) -> String {
    let mut made = String::new();
    let mut skipping = false;
    for line in page.lines() {
        let mark = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        if mark == Some("end") {
            assert!(skipping, "an end without a beginning");
            skipping = false;
        }
        if !skipping {
            made.push_str(line);
            made.push('\n');
        }
        if let Some(name) = mark.filter(|mark| *mark != "end") {
            skipping = true;
            made.push_str(&content(name));
        }
    }
    assert!(!skipping, "a beginning without an end");
    made
}

fn content(name: &str) -> String {
    match name {
        "fields: RunRecord" => table(RunRecord::FIELDS),
        "fields: Conditions" => table(Conditions::FIELDS),
        "fields: Counters" => table(Counters::FIELDS),
        "fields: HeapProfile" => table(HeapProfile::FIELDS),
        "fields: Census" => table(Census::FIELDS),
        "fields: Latency" => table(Latency::FIELDS),
        "fields: MeteredLatency" => table(MeteredLatency::FIELDS),
        "fields: RunStats" => table(RunStats::FIELDS),
        "fields: RunPhases" => table(RunPhases::FIELDS),
        "fields: RunPhase" => table(RunPhase::FIELDS),
        "fields: Pauses" => table(Pauses::FIELDS),
        "fields: Generation" => table(Generation::FIELDS),
        "fields: GcThread" => table(GcThread::FIELDS),
        "fields: CollectionRecord" => table(CollectionRecord::FIELDS),
        "fields: Manifest" => table(Manifest::FIELDS),
        "fields: PlannedRun" => table(PlannedRun::FIELDS),
        "fields: Program" => table(Program::FIELDS),
        "fields: Expectation" => table(Expectation::FIELDS),
        "fields: Minimum" => table(Minimum::FIELDS),
        "fields: Probe" => table(Probe::FIELDS),
        "fields: Axis" => table(Axis::FIELDS),
        "fields: NamedBuild" => table(NamedBuild::FIELDS),
        "fields: Machine" => table(Machine::FIELDS),
        "fields: Build" => table(Build::FIELDS),
        "outcomes" => outcomes(),
        "example" => example(),
        other => panic!("docs/results.md asks for {other:?}, which does not exist"),
    }
}

fn table(fields: &[Field]) -> String {
    let mut text = "| key | type | meaning |\n|---|---|---|\n".to_owned();
    for field in fields {
        let meaning = field.meaning.trim();
        text.push_str(&format!(
            "| `{}` | {} | {meaning} |\n",
            field.name,
            json_type(&plain(field.rust_type))
        ));
    }
    text
}

/// A type as people write it: one that came through several macros has blanks around its brackets.
fn plain(rust: &str) -> String {
    rust.replace(" <", "<").replace("< ", "<").replace(" >", ">")
}

/// A Rust type in the words of JSON.
fn json_type(rust: &str) -> String {
    let inner = |wrapper: &str| rust.strip_prefix(wrapper)?.strip_prefix('<')?.strip_suffix('>');
    if let Some(inner) = inner("Option") {
        return format!("{}, may be absent", json_type(inner));
    }
    if let Some(inner) = inner("Vec") {
        return format!("array of {}", json_type(inner));
    }
    match rust {
        "i32" | "u32" | "u64" => "integer".to_owned(),
        "f64" => "number".to_owned(),
        "bool" => "true or false".to_owned(),
        "String" => "string".to_owned(),
        "BTreeMap<String, u64>" => "object of integers".to_owned(),
        "BTreeMap<String, f64>" => "object of numbers".to_owned(),
        "BTreeMap<String, String>" => "object of strings".to_owned(),
        "BTreeMap<String, Vec<String>>" => "object of arrays of strings".to_owned(),
        "Status" => "[outcome](#outcome)".to_owned(),
        object => format!("[{object}](#{})", object.to_lowercase()),
    }
}

fn outcomes() -> String {
    let crash = |exit_code, signal| Status::Crash { exit_code, signal };
    let all = [
        (Status::Ok, "exit status 0 and a checksum"),
        (Status::HeapExhausted, "the heap ran out under `-M`: exit status 251"),
        (Status::Usage, "the command line was refused: exit status 2"),
        (crash(Some(101), None), "any other exit status"),
        (crash(None, Some(11)), "killed by a signal"),
        (
            Status::Timeout,
            "killed because it ran longer than the experiment allows",
        ),
        (
            Status::WrongAnswer,
            "a program ended as it should, but its output is not what `expect` says",
        ),
        (
            Status::Unprepared,
            "a command of `prepare` failed, so the program did not start",
        ),
    ];
    let rows = all.iter().map(|(status, meaning)| {
        format!(
            "| `{}` | {meaning} |\n",
            serde_json::to_string(status).expect("a status is JSON")
        )
    });
    format!("| outcome | meaning |\n|---|---|\n{}", rows.collect::<String>())
}

fn example() -> String {
    let mut run = synthetic::runs(&synthetic::small()).swap_remove(0);
    run.stats
        .as_mut()
        .expect("a good run has statistics")
        .collections
        .truncate(1);
    format!(
        "```json\n{}\n```\n",
        serde_json::to_string_pretty(&run).expect("a record is JSON")
    )
}
