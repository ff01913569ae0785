//! The crates and their arrows, from the manifests; the collectors, from the registry.

use std::collections::{BTreeMap, BTreeSet};

use super::svg::{Picture, Rect};

/// A crate: its folder, its description, and the folders of the crates that it uses.
#[derive(Debug, Clone)]
pub(super) struct Crate {
    pub folder: String,
    pub description: String,
    pub uses: BTreeSet<String>,
}

/// The position of each crate: row from the top, column, and number of columns.
const PLACES: &[(&str, u32, f64, f64)] = &[
    ("experiments", 0, 0.0, 5.0),
    ("experiments/programs", 1, 0.5, 1.0),
    ("experiments/sweep", 1, 1.75, 1.0),
    ("collectors/proof", 1, 2.9, 1.0),
    ("results/report", 2, 4.0, 1.0),
    ("collectors", 3, 0.0, 1.0),
    ("core/flags", 3, 1.0, 1.0),
    ("workloads", 3, 2.0, 1.0),
    ("heap-traverse", 3, 3.0, 1.0),
    ("results", 3, 4.0, 1.0),
    ("core", 5, 0.0, 2.0),
    ("core/snapshot", 5, 2.0, 1.0),
    ("core/eventlog", 4, 4.0, 1.0),
    ("core/derive", 6, 0.5, 1.0),
];

const COLUMN: f64 = 222.0;
const GAP: f64 = 16.0;
/// Top and height of each row.
const ROWS: &[(f64, f64)] = &[
    (16.0, 52.0),
    (110.0, 122.0),
    (274.0, 122.0),
    (436.0, 140.0),
    (620.0, 88.0),
    (766.0, 88.0),
    (898.0, 84.0),
];

fn place(folder: &str) -> Rect {
    let place = PLACES.iter().find(|(name, ..)| *name == folder);
    let (_, row, column, span) = place.unwrap_or_else(|| panic!("the crate {folder} has no place in the picture"));
    let (top, height) = ROWS[*row as usize];
    Rect::new(GAP + column * COLUMN, top, span * COLUMN - GAP, height)
}

/// The crates that each crate uses, except those that it also reaches through another.
pub(super) fn direct(crates: &[Crate]) -> BTreeMap<&str, Vec<&str>> {
    let uses: BTreeMap<&str, &BTreeSet<String>> = crates.iter().map(|c| (c.folder.as_str(), &c.uses)).collect();
    let reached = |from: &str| {
        let (mut seen, mut work) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(folder) = work.pop() {
            for next in uses[folder.as_str()] {
                if seen.insert(next.clone()) {
                    work.push(next.clone());
                }
            }
        }
        seen
    };
    let mut arrows = BTreeMap::new();
    for each in crates {
        let through: BTreeSet<String> = each.uses.iter().flat_map(|used| reached(used)).collect();
        let straight = each
            .uses
            .iter()
            .filter(|used| !through.contains(*used))
            .map(String::as_str);
        arrows.insert(each.folder.as_str(), straight.collect());
    }
    arrows
}

/// The picture. Blue is for the command, sand for results, green for the heap, and grey for crates
/// that only tests use.
pub(super) fn picture(crates: &[Crate], collectors: &[&str]) -> String {
    let about = "The crates of gclab. An arrow means that a crate uses another one; arrows to crates that are also \
                 reached through others are left out.";
    let mut picture = Picture::new(5.0 * COLUMN + GAP, 1098.0, about);
    for (from, uses) in direct(crates) {
        let source = place(from);
        for to in uses {
            let target = place(to);
            assert!(target.y > source.bottom(), "an arrow from {from} to {to} leads up");
            // Straight down from or to a wide box, otherwise from middle to middle.
            let begin = target.middle().clamp(source.x + 30.0, source.right() - 30.0);
            let end = begin.clamp(target.x + 30.0, target.right() - 30.0);
            picture.path(&[(begin, source.bottom()), (end, target.y - 1.0)], "arrow");
        }
    }
    for each in crates {
        let class = match each.folder.as_str() {
            "collectors/proof" => "grey",
            folder if folder.starts_with("experiments") => "blue",
            folder if folder.starts_with("results") => "sand",
            _ => "green",
        };
        let text = match each.folder.as_str() {
            "collectors" => collectors.join(", "),
            _ => each.description.clone(),
        };
        picture.boxed(place(&each.folder), class, &each.folder, &text);
    }
    for (folder, ..) in PLACES {
        let there = crates.iter().any(|each| each.folder == *folder);
        assert!(there, "the picture has a place for {folder}, which is not a crate");
    }
    picture.finish()
}
