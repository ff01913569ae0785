//! `[flags]` and `[sweep]`: each value becomes a [`FlagValue`] where its key is read.

use std::ops::Range;

use gclab_flags::{FLAGS, FlagError, FlagValue, Scope};
use toml::Spanned;
use toml::de::DeValue;

use super::raw::RawAxis;
use super::walk::{Walk, in_order, owned};
use crate::spec::errors::{Parsed, SpecError};

impl Walk<'_> {
    /// `[flags]`, in the order of the file.
    pub(super) fn flags(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<(Spanned<String>, Spanned<FlagValue>)>> {
        in_order(self.table("flags", value, "A = \"1m\"")?)
            .map(|(key, value)| Ok((owned(key), self.flag(key, value)?)))
            .collect()
    }

    /// One table `[sweep]`, or several `[[sweep]]`.
    pub(super) fn sweeps(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<Vec<RawAxis>>> {
        match value.get_ref().as_array() {
            Some(tables) if tables.iter().any(|table| table.get_ref().is_table()) => {
                tables.iter().map(|table| self.sweep(table)).collect()
            }
            _ => Ok(vec![self.sweep(value)?]),
        }
    }

    /// The axes of one table, in the order of the file.
    fn sweep(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawAxis>> {
        in_order(self.table("sweep", value, "A = [\"1m\", \"4m\"]")?)
            .map(|(key, values)| {
                let array = self.array(key.get_ref(), values, "values")?;
                let values = array.iter().map(|value| self.flag(key, value)).collect::<Parsed<_>>()?;
                Ok((owned(key), values))
            })
            .collect()
    }

    /// The value of the flag `key`.
    fn flag(&self, key: &Spanned<impl AsRef<str>>, value: &Spanned<DeValue<'_>>) -> Parsed<Spanned<FlagValue>> {
        let name = key.get_ref().as_ref();
        let text = match value.get_ref() {
            DeValue::Boolean(on) => on.to_string(),
            _ => self
                .word(name, value)?
                .ok_or_else(|| self.wrong_type(name, value, "a string, a number or true/false"))?,
        };
        match FlagValue::read(name, &text) {
            Ok(flag) => Ok(Spanned::new(value.span(), flag)),
            Err(error) => Err(self.illegal(key.span(), value.span(), &error)),
        }
    }

    fn illegal(&self, key: Range<usize>, value: Range<usize>, error: &FlagError) -> Box<SpecError> {
        let at = |span, label: &str| SpecError::at(self.source, span, error.to_string(), label);
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
}
