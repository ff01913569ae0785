//! The shape of an experiment file: its keys, and the types of their values. Names are looked up
//! later (`validate`).
//!
//! The tree is walked by hand, not by serde, so that every message can name the key, underline the
//! value and suggest the nearest key.

use std::time::Duration;

use toml::de::DeTable;

use super::errors::{Parsed, Source, SpecError};
use super::include;
use walk::{Walk, in_order};

mod axes;
mod flags;
mod lists;
mod programs;
mod raw;
mod walk;

pub(super) use axes::SWEEP_KEYS;
pub(super) use raw::{Raw, RawAxis, RawCollectors, RawFlag, RawPoint, RawProgram, RawWorkload};

/// The default of `repeat`.
const DEFAULT_REPEAT: u32 = 10;
/// The most rounds: more is a mistake.
pub const MAX_REPEAT: u64 = 100_000;
/// The default of `seed`.
const DEFAULT_SEED: u64 = 1;
/// The default of `timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

/// The keys of a file, as messages list them.
pub(super) const FILE_KEYS: [&str; 19] = [
    "include",
    "question",
    "collectors",
    "workloads",
    "program",
    "builds",
    "repeat",
    "precision",
    "seed",
    "timeout",
    "prepare",
    "heap",
    "profiles",
    "eventlog",
    "pause_counters",
    "flags",
    "ocaml",
    "sweep",
    "exclude",
];

/// Parses `source`. The error is its first fault.
pub(super) fn parse(source: &Source) -> Parsed<Raw> {
    let walk = Walk { source };
    if source.parts.is_empty() {
        return walk.document(&table(source, &source.name, &source.text)?);
    }
    let texts: Vec<(&str, String)> = source
        .parts
        .iter()
        .map(|part| (part.name.as_str(), include::padded(source, part)))
        .collect();
    let tables = texts.iter().map(|(name, text)| {
        let table = table(source, name, text)?;
        // A fault of an included file is shown there, even if another file replaces the key.
        walk.known_keys(&table)?;
        Ok(table)
    });
    let tables: Vec<DeTable<'_>> = tables.collect::<Parsed<_>>()?;
    walk.document(&include::merged(&tables, &source.parts, 0))
}

/// The table of the file `name`, whose text is `text`.
fn table<'t>(source: &Source, name: &str, text: &'t str) -> Parsed<DeTable<'t>> {
    let document = DeTable::parse(text).map_err(|error| {
        let reason = error.message().lines().collect::<Vec<_>>().join("; ");
        SpecError::at(
            source,
            error.span().unwrap_or(0..0),
            format!("{name} is not TOML: {reason}"),
            "here",
        )
    })?;
    Ok(document.into_inner())
}

impl Walk<'_> {
    fn known_keys(&self, table: &DeTable<'_>) -> Parsed<()> {
        for key in in_order(table).map(|(key, _)| key) {
            if !FILE_KEYS.contains(&key.get_ref().as_ref()) {
                return Err(self.unknown_key(key, &FILE_KEYS, ""));
            }
        }
        Ok(())
    }

    fn document(&self, table: &DeTable<'_>) -> Parsed<Raw> {
        self.known_keys(table)?;
        let get = |key: &str| table.get(key);
        let programs = get("program")
            .map(|value| self.programs(value))
            .transpose()?
            .unwrap_or_default();
        // A file with programs alone has no collectors.
        let has_workloads = programs.is_empty() || get("workloads").is_some() || get("collectors").is_some();
        let (flags, in_flags) = self.fixed_flags(get("flags"), get("ocaml"))?;
        Ok(Raw {
            question: get("question")
                .map(|value| self.text("question", value))
                .transpose()?
                .unwrap_or_default(),
            collectors: if has_workloads {
                self.collectors(self.required("collectors", table)?)?
            } else {
                RawCollectors::Named(Vec::new())
            },
            workloads: if has_workloads {
                self.workloads(self.required("workloads", table)?)?
            } else {
                Vec::new()
            },
            programs,
            builds: get("builds")
                .map(|value| self.builds(value))
                .transpose()?
                .unwrap_or_default(),
            repeat: get("repeat")
                .map(|value| self.integer("repeat", value, 1, MAX_REPEAT))
                .transpose()?
                .map_or(DEFAULT_REPEAT, |n| n as u32),
            precision: get("precision")
                .map(|value| self.share("precision", value))
                .transpose()?,
            seed: get("seed")
                .map(|value| self.integer("seed", value, 0, i64::MAX as u64))
                .transpose()?
                .unwrap_or(DEFAULT_SEED),
            timeout: get("timeout")
                .map(|value| self.duration("timeout", value))
                .transpose()?
                .unwrap_or(DEFAULT_TIMEOUT),
            prepare: get("prepare")
                .map(|value| self.prepare(value))
                .transpose()?
                .unwrap_or_default(),
            pause_counters: get("pause_counters")
                .map(|value| self.pause_counters(value))
                .transpose()?,
            heap: get("heap").map(|value| self.heap(value)).transpose()?,
            profiles: get("profiles")
                .map(|value| self.profiles(value, false))
                .transpose()?
                .unwrap_or_default(),
            eventlog: get("eventlog").map(|value| self.eventlog(value)).transpose()?,
            flags,
            in_flags,
            sweeps: get("sweep")
                .map(|value| self.sweeps(value))
                .transpose()?
                .unwrap_or_default(),
            excludes: get("exclude")
                .map(|value| self.points("exclude", value))
                .transpose()?
                .unwrap_or_default(),
        })
    }
}
