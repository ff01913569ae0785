//! `[[program]]`: commands that are not gclab's own.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::raw::{RawExpectation, RawFlag, RawProgram, RawStat};
use super::walk::{Walk, in_order, owned};
use crate::spec::errors::{Parsed, SpecError};

/// The keys of a program.
const PROGRAM_KEYS: [&str; 13] = [
    "name", "runtime", "command", "dir", "env", "stdin", "prepare", "expect", "stats", "workload", "flags", "sweep",
    "eventlog",
];

/// The keys of `expect`.
const EXPECT_KEYS: [&str; 3] = ["status", "checksum", "pattern"];

/// The keys of a figure of `stats`.
const STAT_KEYS: [&str; 2] = ["pattern", "unit"];

/// The keys of `workload`.
const WORKLOAD_KEYS: [&str; 2] = ["name", "args"];

const COMMAND_HELP: &str = "command = [\"./prog\", \"arg\"]; for a line of shell: command = [\"sh\", \"-c\", \"...\"]";

const PREPARE_HELP: &str = "a command is a list of words: prepare = [\"make\", \"clean\"]; for several commands: prepare = [[\"make\", \"clean\"], \
     [\"make\"]]; for a line of shell: prepare = [\"sh\", \"-c\", \"...\"]";

impl Walk<'_> {
    /// One table `[program]`, or several `[[program]]`.
    pub(super) fn programs(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawProgram>> {
        match value.get_ref() {
            DeValue::Array(items) if !items.is_empty() => items.iter().map(|item| self.program(item)).collect(),
            _ => Ok(vec![self.program(value)?]),
        }
    }

    fn program(&self, item: &Spanned<DeValue<'_>>) -> Parsed<RawProgram> {
        let table = self.table("program", item, "command = [\"./prog\"]")?;
        for (key, _) in in_order(table) {
            if !PROGRAM_KEYS.contains(&key.get_ref().as_ref()) {
                return Err(self.unknown_key(key, &PROGRAM_KEYS, " of a program"));
            }
        }
        let needed = |key: &str, example: &str| {
            table.get(key).ok_or_else(|| {
                SpecError::at(
                    self.source,
                    item.span(),
                    format!("a program without `{key}`"),
                    format!("no `{key}` here"),
                )
                .help(format!("write {example}"))
            })
        };
        let text = |key: &str| table.get(key).map(|value| self.spanned_text(key, value)).transpose();
        let strings = |key: &str| table.get(key).map(|value| self.strings(key, value)).transpose();
        Ok(RawProgram {
            name: self.spanned_text("name", needed("name", "name = \"my program\"")?)?,
            runtime: text("runtime")?,
            command: self.words("command", needed("command", COMMAND_HELP)?, COMMAND_HELP)?,
            dir: text("dir")?,
            env: strings("env")?.unwrap_or_default(),
            stdin: text("stdin")?,
            prepare: table
                .get("prepare")
                .map(|value| self.prepare(value))
                .transpose()?
                .unwrap_or_default(),
            expect: table
                .get("expect")
                .map(|value| self.expect(value))
                .transpose()?
                .unwrap_or_default(),
            stats: table
                .get("stats")
                .map(|value| self.stats(value))
                .transpose()?
                .unwrap_or_default(),
            workload: table.get("workload").map(|value| self.work(value)).transpose()?,
            flags: table.get("flags").map(|value| self.flags(value)).transpose()?,
            sweeps: table.get("sweep").map(|value| self.sweeps(value)).transpose()?,
            eventlog: table.get("eventlog").map(|value| self.eventlog(value)).transpose()?,
        })
    }

    pub(super) fn spanned_text(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Spanned<String>> {
        let text = self.text(key, value)?;
        if text.is_empty() || text.contains('\0') {
            let what = if text.is_empty() { "empty" } else { "text with a NUL" };
            return Err(
                SpecError::at(self.source, value.span(), format!("`{key}` is {what}"), "here")
                    .help(format!("at least one character, and no NUL: {key} = \"...\"")),
            );
        }
        Ok(Spanned::new(value.span(), text))
    }

    /// The words of a command: strings and numbers.
    fn words(&self, key: &str, value: &Spanned<DeValue<'_>>, help: &str) -> Parsed<Vec<Spanned<String>>> {
        let wanted = "an array of words";
        let wrong = |value: &Spanned<DeValue<'_>>| self.wrong_type(key, value, wanted).help(help);
        let array = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        let word = |item: &Spanned<DeValue<'_>>| {
            let word = self.word(key, item)?.ok_or_else(|| wrong(item))?;
            if word.contains('\0') {
                return Err(SpecError::at(
                    self.source,
                    item.span(),
                    format!("`{key}`: a word has a NUL"),
                    "here",
                ));
            }
            Ok(Spanned::new(item.span(), word))
        };
        let words = array.iter().map(word).collect::<Parsed<Vec<_>>>()?;
        let at = |span, text: String, label: &str| SpecError::at(self.source, span, text, label).help(help);
        match words.first() {
            None => Err(at(
                value.span(),
                format!("`{key}` is empty"),
                "at least one word is needed",
            )),
            Some(first) if first.get_ref().trim().is_empty() => Err(at(
                first.span(),
                format!("`{key}`: the first word is empty"),
                "the program's name",
            )),
            // A program whose name has a blank is rare, and a line of shell in its place is not.
            Some(first) if words.len() == 1 && first.get_ref().contains(' ') && !first.get_ref().contains('/') => {
                Err(at(
                    first.span(),
                    format!("`{key}` is a list of words, not a line"),
                    "one word with blanks",
                ))
            }
            Some(_) => Ok(words),
        }
    }

    /// One command, or a list of them.
    pub(super) fn prepare(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<Vec<Spanned<String>>>> {
        match value.get_ref().as_array() {
            Some(items) if items.iter().any(|item| item.get_ref().is_array()) => items
                .iter()
                .map(|item| self.words("prepare", item, PREPARE_HELP))
                .collect(),
            _ => Ok(vec![self.words("prepare", value, PREPARE_HELP)?]),
        }
    }

    /// A table of strings; numbers count as their text.
    fn strings(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawFlag>> {
        let table = self.table(key, value, "NAME = \"text\"")?;
        let entry = |(name, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let wrong = || self.wrong_type(name.get_ref(), value, "a string");
            let text = self.word(name.get_ref(), value)?.ok_or_else(wrong)?;
            let odd = name.get_ref().is_empty() || name.get_ref().contains(['=', '\0']) || text.contains('\0');
            if odd {
                return Err(SpecError::at(
                    self.source,
                    name.span(),
                    format!("`{key}`: not a legal name or value"),
                    "here",
                )
                .help("a name is not empty and has no `=`, and neither has a NUL: env = { NAME = \"text\" }"));
            }
            Ok((owned(name), Spanned::new(value.span(), text)))
        };
        in_order(table).map(entry).collect()
    }

    /// Figures with their patterns: each a string, or a table with a unit.
    fn stats(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawStat>> {
        let help = "NAME = 'pause: ([0-9.]+) ms', or NAME = { pattern = 'pause: ([0-9.]+) ms', unit = \"ms\" }";
        let table = self.table("stats", value, help)?;
        let stat = |(name, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let key = name.get_ref();
            if key.is_empty() || key.contains(['=', '\0']) {
                let odd = "`stats`: not a legal name".to_owned();
                return Err(SpecError::at(self.source, name.span(), odd, "here")
                    .help("the name of a figure is not empty and has neither `=` nor a NUL"));
            }
            let Some(parts) = value.get_ref().as_table() else {
                let wrong = || {
                    self.wrong_type(key, value, "a pattern, or a table with `pattern` and `unit`")
                        .help(help)
                };
                value.get_ref().as_str().ok_or_else(wrong)?;
                return Ok(RawStat {
                    name: owned(name),
                    pattern: self.spanned_text(key, value)?,
                    unit: None,
                });
            };
            for (part, _) in in_order(parts) {
                if !STAT_KEYS.contains(&part.get_ref().as_ref()) {
                    return Err(self.unknown_key(part, &STAT_KEYS, " of a figure"));
                }
            }
            let pattern = parts.get("pattern").ok_or_else(|| {
                let without = format!("`{key}` without `pattern`");
                SpecError::at(self.source, value.span(), without, "no `pattern` here").help(help)
            })?;
            Ok(RawStat {
                name: owned(name),
                pattern: self.spanned_text("pattern", pattern)?,
                unit: parts
                    .get("unit")
                    .map(|unit| self.spanned_text("unit", unit))
                    .transpose()?,
            })
        };
        in_order(table).map(stat).collect()
    }

    fn expect(&self, value: &Spanned<DeValue<'_>>) -> Parsed<RawExpectation> {
        let table = self.table("expect", value, "status = 0")?;
        for (key, _) in in_order(table) {
            if !EXPECT_KEYS.contains(&key.get_ref().as_ref()) {
                return Err(self.unknown_key(key, &EXPECT_KEYS, " of `expect`"));
            }
        }
        let text = |key: &str| table.get(key).map(|value| self.spanned_text(key, value)).transpose();
        Ok(RawExpectation {
            status: table
                .get("status")
                .map(|value| self.integer("status", value, 0, 255))
                .transpose()?
                .map(|status| status as i32),
            checksum: text("checksum")?,
            pattern: text("pattern")?,
        })
    }

    /// The workload whose work a program does: a name, or a table with arguments.
    fn work(&self, value: &Spanned<DeValue<'_>>) -> Parsed<(Spanned<String>, Vec<Spanned<String>>)> {
        let Some(table) = value.get_ref().as_table() else {
            let wrong = || {
                self.wrong_type(
                    "workload",
                    value,
                    "a name, or a table such as { name = \"gcbench\", args = [14] }",
                )
            };
            let name = value.get_ref().as_str().ok_or_else(wrong)?;
            return Ok((Spanned::new(value.span(), name.to_owned()), Vec::new()));
        };
        self.work_of(value, table)
    }

    fn work_of(
        &self,
        value: &Spanned<DeValue<'_>>,
        table: &DeTable<'_>,
    ) -> Parsed<(Spanned<String>, Vec<Spanned<String>>)> {
        for (key, _) in in_order(table) {
            if !WORKLOAD_KEYS.contains(&key.get_ref().as_ref()) {
                return Err(self.unknown_key(key, &WORKLOAD_KEYS, " of `workload`"));
            }
        }
        let name = table.get("name").ok_or_else(|| {
            SpecError::at(self.source, value.span(), "`workload` without `name`", "no `name` here")
                .help("write { name = \"gcbench\", args = [14] }")
        })?;
        let args = match table.get("args") {
            Some(args) if args.get_ref().as_array().is_none_or(|list| !list.is_empty()) => {
                self.words("args", args, "args = [14, 12]")?
            }
            _ => Vec::new(),
        };
        Ok((self.spanned_text("name", name)?, args))
    }
}
