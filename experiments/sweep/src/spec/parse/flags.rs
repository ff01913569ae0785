//! `[flags]` and `[sweep]`, of the file or of a program: each value becomes text. What a flag means
//! depends on the runtime, so values are read later (`validate`, `programs`).

use toml::Spanned;
use toml::de::DeValue;

use super::raw::{RawAxis, RawFlag};
use super::walk::{Walk, in_order, owned};
use crate::axes::OCAML;
use crate::spec::errors::Parsed;

impl Walk<'_> {
    /// `[flags]` and then `[ocaml]`, each in the order of the file. Also returns how many stand in
    /// `[flags]`.
    pub(super) fn fixed_flags(
        &self,
        flags: Option<&Spanned<DeValue<'_>>>,
        ocaml: Option<&Spanned<DeValue<'_>>>,
    ) -> Parsed<(Vec<RawFlag>, usize)> {
        let mut all = flags.map(|value| self.flags(value)).transpose()?.unwrap_or_default();
        let in_flags = all.len();
        if let Some(value) = ocaml {
            all.extend(self.letters(value)?);
        }
        Ok((all, in_flags))
    }

    /// `[flags]`, in the order of the file.
    pub(super) fn flags(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawFlag>> {
        let mut flags = Vec::new();
        for (key, value) in in_order(self.table("flags", value, "A = \"1m\"")?) {
            if key.get_ref() == OCAML.trim_end_matches('.') {
                flags.extend(self.letters(value)?);
            } else {
                flags.push((owned(key), self.flag(key, value)?));
            }
        }
        Ok(flags)
    }

    /// The letters of OCaml's in a table, as flags.
    fn letters(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawFlag>> {
        in_order(self.table(OCAML.trim_end_matches('.'), value, "o = 80")?)
            .map(|(key, value)| {
                let name = Spanned::new(key.span(), format!("{OCAML}{}", key.get_ref()));
                Ok((name, self.flag(key, value)?))
            })
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

    /// The text of a value of the flag `key`.
    pub(super) fn flag(&self, key: &Spanned<impl AsRef<str>>, value: &Spanned<DeValue<'_>>) -> Parsed<Spanned<String>> {
        let name = key.get_ref().as_ref();
        let text = match value.get_ref() {
            DeValue::Boolean(on) => on.to_string(),
            _ => self
                .word(name, value)?
                .ok_or_else(|| self.wrong_type(name, value, "a string, a number or true/false"))?,
        };
        Ok(Spanned::new(value.span(), text))
    }
}
