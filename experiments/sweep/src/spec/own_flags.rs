//! The flags of the file for gclab's own workloads: each value becomes a [`FlagValue`].

use std::collections::BTreeSet;
use std::ops::Range;

use gclab_flags::{FLAGS, FlagError, FlagValue, Scope};
use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::file::File;
use super::sweeps::{self, Entity, Reader, near_key};
use crate::experiment::Axis;

/// `[flags]` and `[sweep]` with values of their types.
#[derive(Debug, Default)]
pub(super) struct OwnFlags {
    /// `[flags]`, in the order of the file.
    pub(super) flags: Vec<(Spanned<String>, Spanned<FlagValue>)>,
    /// Each table of `[sweep]`, in the order of the file.
    pub(super) sweeps: Vec<Vec<Axis>>,
}

impl OwnFlags {
    /// Reads the flags of `file`. A file without workloads has none that are gclab's own.
    pub(super) fn read(source: &Source, file: &File, collectors: &[String]) -> Parsed<OwnFlags> {
        if file.workloads.is_empty() {
            return Ok(OwnFlags::default());
        }
        let flags = file.flags.iter().map(|(key, text)| {
            let value = read(source, key, text)?;
            Ok((key.clone(), Spanned::new(text.span(), value)))
        });
        let flags: Vec<_> = flags.collect::<Parsed<_>>()?;
        let workloads = file.workloads.iter().map(|own| own.name.get_ref().as_str());
        let entity = Entity {
            title: "the workloads".to_owned(),
            names: vec![
                ("collector", collectors.iter().map(String::as_str).collect()),
                ("workload", workloads.collect()),
                ("program", BTreeSet::new()),
            ],
        };
        let reader = OwnReader { source, file };
        let sweeps = sweeps::sweeps(source, &file.sweeps, &entity, &reader)?;
        Ok(OwnFlags { flags, sweeps })
    }
}

struct OwnReader<'r> {
    source: &'r Source,
    file: &'r File,
}

impl Reader<FlagValue> for OwnReader<'_> {
    fn read(&self, key: &Spanned<String>, text: &Spanned<String>) -> Parsed<(&'static str, FlagValue)> {
        let value = read(self.source, key, text)?;
        Ok((value.key(), value))
    }

    fn meaning(&self, value: &FlagValue) -> String {
        value.meaning().join(" ")
    }

    fn fixed(&self, key: &Spanned<String>) -> Option<Box<SpecError>> {
        let name = key.get_ref();
        let (_, place) = self.file.fixed().find(|((fixed, _), _)| fixed.get_ref() == name)?;
        let message = format!("`{name}` is both in {place} and in [sweep]");
        let error = SpecError::at(self.source, key.span(), message, format!("fixed in {place}"));
        Some(error.help("a flag is either the same in every run or swept: leave one out"))
    }
}

fn read(source: &Source, key: &Spanned<String>, text: &Spanned<String>) -> Parsed<FlagValue> {
    FlagValue::read(key.get_ref(), text.get_ref()).map_err(|error| illegal(source, key.span(), text.span(), &error))
}

fn illegal(source: &Source, key: Range<usize>, value: Range<usize>, error: &FlagError) -> Box<SpecError> {
    let at = |span, label: &str| SpecError::at(source, span, error.to_string(), label);
    match error {
        FlagError::Unknown { .. } => {
            // Flags of heap profiles stand in `profiles` only.
            let names = FLAGS.iter().filter(|flag| flag.scope != Scope::Profile);
            let names: Vec<&str> = names.filter_map(|flag| flag.toml).collect();
            let near = near_key(source.text.get(key.clone()).unwrap_or_default());
            at(key, "not a flag of experiment files").help(format!(
                "{}flags: {}",
                near.unwrap_or_default(),
                names.join(", ")
            ))
        }
        FlagError::NotYet { flag, .. } | FlagError::CommandLineOnly { flag, .. } => {
            let error = at(key, "not a flag of experiment files");
            if matches!(flag.as_str(), "-l" | "-ol") {
                error.help("for one more run of each configuration, with an event log: eventlog = true, before the first table of the file")
            } else {
                error
            }
        }
        _ => at(value, "not a legal value"),
    }
}
