//! The pictures in `docs/pictures` are drawn from the source: `UPDATE_DOCS=1` redraws them.

mod architecture;
mod collection;
mod heap;
mod report;
mod svg;

use gclab_core::mutator::Request;
use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use gclab_collectors::All;
use gclab_core::block::{BLOCK, MAX_RESERVATION, MEGABLOCK};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::{Compact, Config, Parameter};
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::words::WORD;
use gclab_core::world::World;

use super::generated::holds;
use super::{files, root};
use architecture::Crate;
use collection::Course;

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The names of all collectors.
fn collectors() -> Vec<&'static str> {
    All::descriptions().iter().map(|description| description.name).collect()
}

/// The workspace's crates, from their manifests, without dev-dependencies.
fn crates() -> Vec<Crate> {
    let mut folders = BTreeMap::new();
    let mut found = Vec::new();
    for path in files(&root(), "toml") {
        let folder = path
            .strip_prefix(root())
            .unwrap()
            .parent()
            .unwrap()
            .display()
            .to_string();
        let is_manifest = path.ends_with("Cargo.toml") && !folder.is_empty();
        let is_apart =
            folder.starts_with("docs/") || folder.starts_with("workloads/peers") || folder.ends_with("/fuzz");
        if !is_manifest || is_apart {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let part = |title: &str| {
            text.split_once(&format!("[{title}]\n"))
                .map_or("", |(_, rest)| rest.split("\n[").next().unwrap())
        };
        let value = |key: &str| {
            let line = part("package")
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{key} = \"")));
            line.and_then(|rest| rest.strip_suffix('"'))
                .unwrap_or_default()
                .to_owned()
        };
        let uses = part("dependencies").lines().filter(|line| line.starts_with("gclab"));
        let uses: Vec<String> = uses
            .map(|line| line.split([' ', '.', '=']).next().unwrap().to_owned())
            .collect();
        folders.insert(value("name"), folder.clone());
        found.push((folder, value("description"), uses));
    }
    let crates = found.into_iter().map(|(folder, description, uses)| Crate {
        folder,
        description,
        uses: uses.iter().map(|name| folders[name].clone()).collect(),
    });
    crates.collect()
}

#[test]
fn the_architecture_is_that_of_the_manifests() {
    let crates = crates();
    assert!(crates.len() >= 10, "only {} crates were found", crates.len());
    holds(
        "docs/pictures/architecture.svg",
        &architecture::picture(&crates, &collectors()),
    );
}

/// The bits of a header, from the table in its module's docs.
fn bits() -> Vec<(String, String)> {
    let source = read("core/src/closure/header.rs");
    let rows = source.lines().filter_map(|line| line.strip_prefix("//! | "));
    let rows = rows.filter(|row| row.starts_with(|c: char| c.is_ascii_digit()));
    let bits = rows.map(|row| {
        let (range, meaning) = row.split_once('|').expect("two columns");
        let meaning = meaning
            .split(['(', ',', '|'])
            .next()
            .unwrap()
            .replace(['[', ']', '`'], "");
        (range.trim().to_owned(), meaning.trim().to_owned())
    });
    bits.collect()
}

#[test]
fn the_heap_has_the_sizes_of_the_source() {
    let bits = bits();
    assert!(bits.len() >= 6, "only {} ranges of bits were found", bits.len());
    let sizes = heap::Sizes {
        reservation: MAX_RESERVATION.0,
        megablock: MEGABLOCK.0,
        block: BLOCK.0,
        word: WORD,
        bits,
    };
    holds("docs/pictures/heap.svg", &heap::picture(&sizes));
}

/// Records the names of phases.
struct Notes(Arc<Mutex<Vec<String>>>);

impl Listener for Notes {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::Phase(phase) = event.kind {
            self.0.lock().unwrap().push(format!("{phase:?}"));
        }
    }
}

/// The phases of one major collection, a compaction if the collector can compact.
struct Phases;

impl CollectorVisitor for Phases {
    type Output = Vec<String>;

    fn visit<C: Collector>(self) -> Vec<String> {
        let compacts = C::DESCRIPTION.honours(Parameter::Compact);
        let config = Config {
            compact: if compacts { Compact::Always } else { Compact::Never },
            ..Config::default()
        };
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut world = World::new::<C>(&config).expect("an empty heap");
        world.listen(Box::new(Notes(Arc::clone(&seen))));
        world
            .enter(|m| m.collect(Request::Full))
            .expect("an empty heap has room");
        seen.lock().unwrap().clone()
    }
}

/// What holds at the end of a phase, from the docs of `Phase`.
fn state_after(phase: &str) -> String {
    let source = read("core/src/stats/phase.rs");
    let (_, variants) = source.split_once("pub enum Phase {").expect("the phases");
    let mut text = String::new();
    for line in variants.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("/// ") {
            text = format!("{text} {comment}");
        } else if line.trim_end_matches(',') == phase {
            return text.trim().replace(['[', ']', '`'], "");
        } else {
            text.clear();
        }
    }
    panic!("the phase {phase} has no documentation");
}

#[test]
fn a_collection_has_the_phases_that_collectors_announce() {
    let mut courses: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for name in collectors() {
        let phases = All::with(name, Phases).expect("it is in the list");
        match courses.iter_mut().find(|(known, _)| *known == phases) {
            Some((_, names)) => names.push(name),
            None => courses.push((phases, vec![name])),
        }
    }
    let courses = courses.into_iter().map(|(phases, names)| Course {
        name: format!("A major collection: {}", names.join(", ")),
        phases: phases
            .into_iter()
            .map(|phase| (phase.clone(), state_after(&phase)))
            .collect(),
    });
    let courses: Vec<Course> = courses.collect();
    assert!(courses.iter().all(|course| course.phases.len() >= 4), "{courses:?}");
    holds("docs/pictures/collection.svg", &collection::picture(&courses));
}

#[test]
fn the_parts_of_a_report_are_drawn() {
    holds("docs/pictures/report.svg", &report::picture());
}
