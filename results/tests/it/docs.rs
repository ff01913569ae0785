//! `docs/results.md` agrees with the source. `UPDATE_DOCS=1` rewrites its tables.

use crate::synthetic;
use gclab_results::Status;
use std::fmt::Write as _;
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
        "outcomes" => outcomes(),
        "example" => example(),
        _ => match name.strip_prefix("fields: ") {
            Some(record) => table(record),
            None => panic!("docs/results.md asks for {name:?}, which does not exist"),
        },
    }
}

/// The fields of a record, from the comments in its source.
fn table(record: &str) -> String {
    let mut text = String::new();
    let source = SOURCES.iter().find_map(|source| {
        let (_, after) = source.split_once(&format!("pub struct {record} {{\n"))?;
        Some(after.split_once("\n}\n").expect("the end of a struct").0)
    });
    let (mut meaning, mut key, mut is_flat) = (String::new(), None, false);
    for line in source
        .unwrap_or_else(|| panic!("no source has the record {record}"))
        .lines()
    {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("///") {
            meaning.push_str(comment);
        } else if let Some(attribute) = line.strip_prefix("#[serde(") {
            is_flat |= attribute.starts_with("flatten");
            let renamed = attribute.strip_prefix("rename = \"");
            key = key.or(renamed.and_then(|rest| rest.split('"').next()));
        } else if let Some((name, rust)) = line.strip_prefix("pub ").and_then(|field| field.split_once(": ")) {
            let json = json_type(rust.trim_end_matches(','));
            let row = match is_flat {
                true => format!("* the keys of {json}: {}\n", meaning.trim()),
                false => format!("* `{}` ({json}): {}\n", key.unwrap_or(name), meaning.trim()),
            };
            write!(text, "{row}").expect("text");
            (meaning, key, is_flat) = (String::new(), None, false);
        }
    }
    text
}

/// The sources of the records.
const SOURCES: [&str; 6] = [
    include_str!("../../src/collections.rs"),
    include_str!("../../src/manifest.rs"),
    include_str!("../../src/plan.rs"),
    include_str!("../../src/record.rs"),
    include_str!("../../src/stats.rs"),
    include_str!("../../../core/src/stats/parallel.rs"),
];

/// A Rust type in the words of JSON.
fn json_type(rust: &str) -> String {
    let inner = |wrapper: &str| rust.strip_prefix(wrapper)?.strip_prefix('<')?.strip_suffix('>');
    if let Some(inner) = inner("Option") {
        return format!("{}, optional", json_type(inner));
    }
    if let Some(inner) = inner("Vec") {
        return format!("array of {}", json_type(inner));
    }
    match rust {
        "i32" | "u8" | "u32" | "u64" => "integer".to_owned(),
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
    run.collections = None;
    format!(
        "```json\n{}\n```\n",
        serde_json::to_string_pretty(&run).expect("a record is JSON")
    )
}
