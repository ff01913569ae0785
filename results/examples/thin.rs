//! Copies a results folder without the lists of single collections, which take most of its bytes:
//! the folders in `results/reference` are such copies.
//!
//! `cargo run -p gclab-results --example thin -- FROM TO`. The totals of each run stay, so the
//! report has all its figures but those that need each collection.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gclab_results::ResultsDir;
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = words.as_slice() else {
        return Err("usage: thin FROM TO".into());
    };
    let (from, to) = (Path::new(from), Path::new(to));
    fs::create_dir_all(to)?;
    fs::copy(from.join("plan.json"), to.join("plan.json"))?;
    let mut lines = String::new();
    for line in fs::read_to_string(from.join("runs.jsonl"))?.lines() {
        let mut run: Value = serde_json::from_str(line)?;
        if let Some(stats) = run.get_mut("stats").and_then(Value::as_object_mut)
            && stats.remove("collections").is_some()
        {
            let reason = "left out of the copy, to keep it small".into();
            stats.insert("collections_absent".to_owned(), reason);
        }
        writeln!(lines, "{run}")?;
    }
    fs::write(to.join("runs.jsonl"), lines)?;
    // The copy is a results folder, or the command fails.
    let copy = ResultsDir::open(to)?;
    println!("{}: {} runs", to.display(), copy.done());
    Ok(())
}
