//! The flags of the file for gclab's own workloads: each value becomes a [`FlagValue`].

use std::ops::Range;

use gclab_flags::{FLAGS, FlagError, FlagValue, Scope};
use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::parse::Raw;

/// The key of a swept flag, and its values.
pub(super) type OwnAxis = (Spanned<String>, Vec<Spanned<FlagValue>>);

/// `[flags]` and `[sweep]` with values of their types.
#[derive(Debug, Default)]
pub(super) struct OwnFlags {
    /// `[flags]`, in the order of the file.
    pub(super) flags: Vec<(Spanned<String>, Spanned<FlagValue>)>,
    /// Each table of `[sweep]`, in the order of the file.
    pub(super) sweeps: Vec<Vec<OwnAxis>>,
}

impl OwnFlags {
    /// Reads the flags of `raw`. A file without workloads has none that are gclab's own.
    pub(super) fn read(source: &Source, raw: &Raw) -> Parsed<OwnFlags> {
        if raw.workloads.is_empty() {
            return Ok(OwnFlags::default());
        }
        let value = |key: &Spanned<String>, value: &Spanned<String>| {
            FlagValue::read(key.get_ref(), value.get_ref())
                .map(|flag| Spanned::new(value.span(), flag))
                .map_err(|error| illegal(source, key.span(), value.span(), &error))
        };
        let axis = |(key, values): &(Spanned<String>, Vec<Spanned<String>>)| {
            let values = values.iter().map(|text| value(key, text)).collect::<Parsed<_>>()?;
            Ok((key.clone(), values))
        };
        let flags = raw.flags.iter();
        Ok(OwnFlags {
            flags: flags
                .map(|(key, text)| Ok((key.clone(), value(key, text)?)))
                .collect::<Parsed<_>>()?,
            sweeps: raw
                .sweeps
                .iter()
                .map(|axes| axes.iter().map(axis).collect())
                .collect::<Parsed<_>>()?,
        })
    }
}

fn illegal(source: &Source, key: Range<usize>, value: Range<usize>, error: &FlagError) -> Box<SpecError> {
    let at = |span, label: &str| SpecError::at(source, span, error.to_string(), label);
    match error {
        FlagError::Unknown { .. } => {
            // Flags of heap profiles stand in `profiles` only.
            let names = FLAGS.iter().filter(|flag| flag.scope != Scope::Profile);
            let names: Vec<&str> = names.filter_map(|flag| flag.toml).collect();
            at(key, "not a flag of experiment files").help(format!("flags: {}", names.join(", ")))
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
