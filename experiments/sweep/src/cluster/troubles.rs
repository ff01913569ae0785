//! The troubles that keep parts of a plan from being joined. Each trouble is one sentence, which
//! names the folders and the runs.

use std::collections::{BTreeMap, HashMap, HashSet};

use gclab_results::{Manifest, PlannedRun, Program};

use super::parts::Part;
use crate::folder::describe;
use crate::plan::Shard;
use crate::run::describe as run_in_words;
use crate::text::counted;

/// The most runs that a trouble names.
const NAMED: usize = 3;

/// All troubles of these parts; none if they can be joined. Processors may differ if `mixed`.
pub(super) fn troubles(parts: &[Part], mixed: bool) -> Vec<String> {
    let Some((first, others)) = parts.split_first() else {
        return vec!["no folder to join".to_owned()];
    };
    let mut troubles = Vec::new();
    for other in others {
        // Folders of another plan have other runs, so nothing more can be said of them.
        match other_plan(&first.manifest, &other.manifest) {
            Some(difference) => troubles.push(format!(
                "{}: another plan than {}: {difference}",
                other.path.display(),
                first.path.display()
            )),
            None => troubles.extend(other_machine(first, other, mixed)),
        }
    }
    if !troubles.is_empty() {
        return troubles;
    }
    troubles.extend(missing_shards(parts));
    troubles.extend(two_records(parts));
    troubles.extend(parts.iter().filter_map(strays));
    let done: HashSet<&str> = parts
        .iter()
        .flat_map(|part| part.runs.keys().map(String::as_str))
        .collect();
    troubles.extend(parts.iter().filter_map(|part| missing_runs(part, &done)));
    if troubles.is_empty() {
        troubles.extend(holes(parts));
    }
    troubles
}

/// The difference of the plans that two folders hold parts of.
fn other_plan(one: &Manifest, other: &Manifest) -> Option<String> {
    let differing = |what: &str, one: String, other: String| Some(format!("{what} is {other}, not {one}"));
    if one.name != other.name {
        return differing("its experiment", one.name.clone(), other.name.clone());
    }
    if one.experiment != other.experiment {
        let lines = one.experiment.lines().zip(other.experiment.lines());
        let same = lines.take_while(|(one, other)| one == other).count();
        let line = |manifest: &Manifest| manifest.experiment.lines().nth(same).unwrap_or("").to_owned();
        return Some(format!(
            "line {} of the experiment file is `{}`, not `{}`",
            same + 1,
            line(other),
            line(one)
        ));
    }
    if one.repeat != other.repeat {
        return differing("`repeat`", one.repeat.to_string(), other.repeat.to_string());
    }
    if (one.seed, &one.order) != (other.seed, &other.order) {
        return Some("the order of its runs is made in another way".to_owned());
    }
    if one.minima != other.minima {
        return Some(
            "its least heaps (`minima` in plan.json) are others: all shards need the same results/minheap".to_owned(),
        );
    }
    let builds = |manifest: &Manifest| -> Vec<(String, String)> {
        let builds = manifest.builds.iter();
        builds
            .map(|build| (build.name.clone(), build.executable.clone()))
            .collect()
    };
    if builds(one) != builds(other) {
        return Some("the builds of gclab that it compares (`builds`) are others".to_owned());
    }
    if one.programs != other.programs {
        let programs = one.programs.iter().zip(&other.programs);
        let differing = programs.into_iter().find(|(one, other)| one != other);
        return Some(differing.map_or_else(
            || "its programs are others".to_owned(),
            |(program, other)| {
                format!(
                    "the program `{}` has another {}",
                    program.name,
                    difference(program, other)
                )
            },
        ));
    }
    let of = |manifest: &Manifest| Some(manifest.shard.as_deref()?.split_once('/')?.1.to_owned());
    let (of_one, of_other) = (of(one), of(other));
    (of_one != of_other).then(|| {
        let text =
            |count: Option<String>| count.map_or("the whole plan".to_owned(), |count| format!("a shard of {count}"));
        format!("it holds {}, not {}", text(of_other), text(of_one))
    })
}

/// The difference of two programs, for a message.
fn difference(one: &Program, other: &Program) -> String {
    let version = |program: &Program| {
        program
            .runtime_version
            .clone()
            .unwrap_or_else(|| "(unknown)".to_owned())
    };
    if one.runtime_version != other.runtime_version {
        format!("version of its runtime: {}, not {}", version(other), version(one))
    } else if one.executable != other.executable {
        "executable file".to_owned()
    } else if one.input != other.input {
        "content of its standard input".to_owned()
    } else {
        "command, or other keys".to_owned()
    }
}

/// Another build, or another processor.
fn other_machine(first: &Part, other: &Part, mixed: bool) -> Option<String> {
    let (one, two) = (&first.manifest, &other.manifest);
    if one.build.executable != two.build.executable {
        return Some(format!(
            "{}: made by {}, but {} by {}: results of the two cannot be compared",
            other.path.display(),
            describe(two),
            first.path.display(),
            describe(one)
        ));
    }
    let cpu = |manifest: &Manifest| manifest.machine.cpu.clone().unwrap_or_else(|| "(unknown)".to_owned());
    (!mixed && one.machine.cpu != two.machine.cpu).then(|| {
        format!(
            "{}: on the processor {}, but {} on {}: run all shards on one kind of processor, or join them with --mixed-processors",
            other.path.display(),
            cpu(two),
            first.path.display(),
            cpu(one)
        )
    })
}

/// The shards of which there is no folder.
fn missing_shards(parts: &[Part]) -> Option<String> {
    let shards: Vec<Option<Shard>> = parts.iter().map(Part::shard).collect();
    if let Some(at) = shards.iter().position(Option::is_none) {
        let shard = parts[at].manifest.shard.as_deref().unwrap_or_default();
        return Some(format!(
            "{}: `shard` in plan.json is `{shard}`, and should be I/N",
            parts[at].path.display()
        ));
    }
    let count = shards.first().copied().flatten()?.count();
    let missing: Vec<String> = (1..=count)
        .filter(|index| !shards.iter().flatten().any(|shard| shard.index() == *index))
        .map(|index| format!("{index}/{count}"))
        .collect();
    (!missing.is_empty()).then(|| {
        let noun = if missing.len() == 1 { "shard" } else { "shards" };
        format!("no folder holds {noun} {}", some_of(&missing))
    })
}

/// Runs that two folders have, with other figures.
fn two_records(parts: &[Part]) -> Vec<String> {
    let mut found: HashMap<&str, usize> = HashMap::new();
    let mut clashes: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        for (id, place) in &part.runs {
            let Some(&earlier) = found.get(id.as_str()) else {
                found.insert(id, number);
                continue;
            };
            let before = &parts[earlier];
            let same = matches!(
                (before.text(before.runs[id]), part.text(*place)),
                (Ok(one), Ok(other)) if one == other
            );
            if !same {
                clashes.entry((earlier, number)).or_default().push(id.clone());
            }
        }
    }
    let sentence = |((one, other), mut ids): ((usize, usize), Vec<String>)| {
        ids.sort();
        format!(
            "{} and {} both have {}, with other figures: {}; keep one of the two folders",
            parts[one].path.display(),
            parts[other].path.display(),
            counted(ids.len(), "run"),
            some_of(&ids)
        )
    };
    clashes.into_iter().map(sentence).collect()
}

/// Lines of no run of the folder's plan.
fn strays(part: &Part) -> Option<String> {
    let planned: HashSet<&str> = part.manifest.plan.iter().map(|run| run.id.as_str()).collect();
    let mut ids: Vec<String> = part
        .runs
        .keys()
        .filter(|id| !planned.contains(id.as_str()))
        .cloned()
        .collect();
    ids.sort();
    (!ids.is_empty()).then(|| {
        format!(
            "{}: runs.jsonl has {} of no run of its plan: {}",
            part.path.display(),
            counted(ids.len(), "line"),
            some_of(&ids)
        )
    })
}

/// Runs of the folder's plan that no folder has.
fn missing_runs(part: &Part, done: &HashSet<&str>) -> Option<String> {
    let left_out = |run: &PlannedRun| part.is_precise && run.purpose().is_timed();
    let missing: Vec<&PlannedRun> = part
        .manifest
        .plan
        .iter()
        .filter(|run| !done.contains(run.id.as_str()) && !left_out(run))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let named: Vec<String> = missing
        .iter()
        .map(|run| format!("{} ({})", run.id, run_in_words(run)))
        .collect();
    let torn = if part.torn.is_some() {
        " (its last line was cut short)"
    } else {
        ""
    };
    Some(format!(
        "{}: {} of {} missing{torn}: {}; run this shard to its end first",
        part.path.display(),
        missing.len(),
        counted(part.manifest.plan.len(), "run"),
        some_of(&named)
    ))
}

/// Checks that the plans of all parts are the whole plan: each position once.
fn holes(parts: &[Part]) -> Option<String> {
    let positions: BTreeMap<u32, &str> = parts
        .iter()
        .flat_map(|part| &part.manifest.plan)
        .map(|run| (run.position, run.id.as_str()))
        .collect();
    let ids: HashSet<&str> = positions.values().copied().collect();
    let hole = (0..).zip(positions.keys()).find(|(expected, found)| expected != *found);
    match hole {
        Some((position, _)) => Some(format!(
            "the plans of these folders are not one whole: none has position {position}"
        )),
        None => (ids.len() != positions.len())
            .then(|| "the plans of these folders are not one whole: one run has two positions".to_owned()),
    }
}

/// The first names of a list, and how many more there are.
fn some_of(names: &[String]) -> String {
    let named = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
