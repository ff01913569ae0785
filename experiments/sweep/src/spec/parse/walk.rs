//! The values of a file, one by one: each function takes a value of one shape, or says in an error
//! which shape is right.

use std::time::Duration;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::spec::duration::{MAX_SECONDS, parse_duration};
use crate::spec::errors::{Parsed, Source, SpecError};
use crate::spec::share::parse_share;
use crate::suggest::suggest;

/// A walk over the tree of a file.
pub(super) struct Walk<'s> {
    pub(super) source: &'s Source,
}

impl Walk<'_> {
    pub(super) fn required<'t, 'i>(&self, key: &str, table: &'t DeTable<'i>) -> Parsed<&'t Spanned<DeValue<'i>>> {
        table.get(key).ok_or_else(|| {
            SpecError::at(
                self.source,
                0..0,
                format!("the key `{key}` is missing"),
                "nowhere in this file",
            )
            .help(format!("{key} = [\"...\"]; `gclab list {key}` shows the names"))
        })
    }

    pub(super) fn unknown_key(&self, key: &Spanned<impl AsRef<str>>, known: &[&str], place: &str) -> Box<SpecError> {
        let name = key.get_ref().as_ref();
        SpecError::at(
            self.source,
            key.span(),
            format!("unknown key `{name}`{place}"),
            "no such key",
        )
        .help(suggest(name, "known keys", known))
    }

    pub(super) fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> Box<SpecError> {
        let found = value.get_ref().type_str();
        SpecError::at(
            self.source,
            value.span(),
            format!("`{key}` must be {expected}, not {}", article(found)),
            format!("{} here", article(found)),
        )
    }

    pub(super) fn text(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<String> {
        value
            .get_ref()
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| self.wrong_type(key, value, "a string"))
    }

    pub(super) fn integer(&self, key: &str, value: &Spanned<DeValue<'_>>, least: u64, most: u64) -> Parsed<u64> {
        let digits = value
            .get_ref()
            .as_integer()
            .ok_or_else(|| self.wrong_type(key, value, "an integer"))?;
        let number = i64::from_str_radix(digits.as_str(), digits.radix())
            .ok()
            .and_then(|n| u64::try_from(n).ok());
        number.filter(|n| (least..=most).contains(n)).ok_or_else(|| {
            SpecError::at(
                self.source,
                value.span(),
                format!("`{key} = {digits}` is out of range"),
                format!("must be {least} to {most}"),
            )
        })
    }

    pub(super) fn duration(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Duration> {
        if value.get_ref().is_integer() {
            return Ok(Duration::from_secs(self.integer(key, value, 1, MAX_SECONDS)?));
        }
        let wrong = || {
            self.wrong_type(key, value, "whole seconds, or a string with a unit")
                .help(format!(
                    "for example {key} = 300, or {key} = \"2.5s\"; more than 0, at most 1000h"
                ))
        };
        let text = value.get_ref().as_str().ok_or_else(wrong)?;
        parse_duration(text).ok_or_else(|| {
            SpecError::at(
                self.source,
                value.span(),
                format!("`{key} = \"{text}\"` is not a duration"),
                "expected a number and ms, s, m or h",
            )
            .help(format!("for example {key} = \"300s\"; more than 0, at most 1000h"))
        })
    }

    /// A share from text such as `2%`: above 0 %, below 100 %.
    pub(super) fn share(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<f64> {
        let help = format!("for example {key} = \"2%\"; more than 0%, less than 100%");
        let text = value
            .get_ref()
            .as_str()
            .ok_or_else(|| self.wrong_type(key, value, "a share, such as \"2%\"").help(&help))?;
        parse_share(text).map_err(|_| {
            SpecError::at(
                self.source,
                value.span(),
                format!("`{key} = \"{text}\"` is not a share"),
                "expected a number and %",
            )
            .help(help)
        })
    }

    pub(super) fn array<'t, 'i>(
        &self,
        key: &str,
        value: &'t Spanned<DeValue<'i>>,
        items: &str,
    ) -> Parsed<&'t DeArray<'i>> {
        let array = value
            .get_ref()
            .as_array()
            .ok_or_else(|| self.wrong_type(key, value, &format!("an array of {items}")))?;
        if array.is_empty() {
            return Err(SpecError::at(
                self.source,
                value.span(),
                format!("`{key}` is empty: there would be nothing to run"),
                "at least one value is needed",
            ));
        }
        Ok(array)
    }

    pub(super) fn table<'t, 'i>(
        &self,
        key: &str,
        value: &'t Spanned<DeValue<'i>>,
        example: &str,
    ) -> Parsed<&'t DeTable<'i>> {
        value.get_ref().as_table().ok_or_else(|| {
            self.wrong_type(
                key,
                value,
                &format!("a table: [{key}] and then lines such as {example}"),
            )
        })
    }

    /// The text of a string or a number; `None` for a value of another type.
    pub(super) fn word(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Option<String>> {
        Ok(match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(_) => Some(self.signed(key, value)?),
            DeValue::Float(float) => Some(float.as_str().to_owned()),
            _ => None,
        })
    }

    /// Any integer as decimal text.
    pub(super) fn signed(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<String> {
        let digits = value
            .get_ref()
            .as_integer()
            .ok_or_else(|| self.wrong_type(key, value, "an integer"))?;
        i128::from_str_radix(digits.as_str(), digits.radix())
            .map(|number| number.to_string())
            .map_err(|_| {
                SpecError::at(
                    self.source,
                    value.span(),
                    format!("`{key} = {digits}` is out of range"),
                    "too large a number",
                )
            })
    }
}

/// The entries of a table in the order of the file (the table itself is sorted by key).
pub(super) fn in_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> impl Iterator<Item = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter()
}

pub(super) fn owned(key: &Spanned<std::borrow::Cow<'_, str>>) -> Spanned<String> {
    Spanned::new(key.span(), key.get_ref().to_string())
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}
