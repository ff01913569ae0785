//! The lists of a file: collectors, workloads, profiles and event logs, sizes of the heap.

use std::collections::HashSet;

use toml::Spanned;
use toml::de::DeValue;

use super::raw::{RawCollectors, RawWorkload};
use super::walk::{Walk, in_order};
use crate::spec::errors::{Parsed, SpecError};

/// The value of `collectors` that stands for all.
const ALL: &str = "all";
/// The largest multiple in `heap`: a larger one is a mistake.
const MOST_MULTIPLE: f64 = 1000.0;

/// The meaning of `heap`.
const HEAP_HELP: &str = "`heap` has multiples of the least heap with which a workload completes: heap = [1.5, 2, 3, 6]; for sizes, sweep `M`";

/// The meaning of `profiles`.
const PROFILES_HELP: &str = "`profiles` has the flags of heap profiles, each a string as on a command line: profiles = [\"-hy\", \"-hr -R0 -i0\"]";

/// The meaning of `pause_counters`.
const PAUSE_COUNTERS_HELP: &str = "`pause_counters = true` counts the misses of the mutator and of collections apart";

/// The meaning of `eventlog`.
const EVENTLOG_HELP: &str = "`eventlog = true` adds one run to each configuration, which writes an event log";

/// The keys of a workload.
const WORKLOAD_KEYS: [&str; 4] = ["name", "args", "profiles", "eventlog"];

impl Walk<'_> {
    /// The multiples of the least heap: numbers above 0, no two the same.
    pub(super) fn heap(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Spanned<Vec<Spanned<f64>>>> {
        let mut multiples: Vec<Spanned<f64>> = Vec::new();
        let mut seen = HashSet::new();
        for item in self.array("heap", value, "numbers")? {
            let text = match item.get_ref() {
                DeValue::Integer(_) => self.signed("heap", item)?,
                DeValue::Float(float) => float.as_str().to_owned(),
                _ => return Err(self.wrong_type("heap", item, "an array of numbers").help(HEAP_HELP)),
            };
            let number = text.replace('_', "").parse::<f64>().ok();
            let Some(multiple) = number.filter(|number| *number > 0.0 && *number <= MOST_MULTIPLE) else {
                return Err(SpecError::at(
                    self.source,
                    item.span(),
                    format!("`heap = {text}` is out of range"),
                    format!("must be more than 0, and at most {MOST_MULTIPLE}"),
                )
                .help(HEAP_HELP));
            };
            if !seen.insert(multiple.to_bits()) {
                return Err(SpecError::at(
                    self.source,
                    item.span(),
                    format!("`heap` has {text} twice"),
                    "given before",
                )
                .help("each value once: `repeat` says how often a configuration is run"));
            }
            multiples.push(Spanned::new(item.span(), multiple));
        }
        Ok(Spanned::new(value.span(), multiples))
    }

    /// `"all"`, or a list of names.
    pub(super) fn collectors(&self, value: &Spanned<DeValue<'_>>) -> Parsed<RawCollectors> {
        match value.get_ref().as_str() {
            Some(ALL) => Ok(RawCollectors::All(value.span())),
            Some(other) => Err(SpecError::at(
                self.source,
                value.span(),
                format!("`collectors` must be an array of names, or \"{ALL}\", not \"{other}\""),
                "a string here",
            )
            .help(format!("collectors = [\"{other}\"]"))),
            None => Ok(RawCollectors::Named(self.names("collectors", value)?)),
        }
    }

    fn names(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<Spanned<String>>> {
        let array = self.array(key, value, "names")?;
        array
            .iter()
            .map(|name| Ok(Spanned::new(name.span(), self.text(key, name)?)))
            .collect()
    }

    pub(super) fn workloads(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawWorkload>> {
        self.array("workloads", value, "workloads")?
            .iter()
            .map(|item| self.workload(item))
            .collect()
    }

    /// A workload: `"name"`, or `{ name = "name", args = [1, "file"] }`.
    fn workload(&self, item: &Spanned<DeValue<'_>>) -> Parsed<RawWorkload> {
        let Some(table) = item.get_ref().as_table() else {
            let wanted = "a list of names or tables such as { name = \"binary_trees\", args = [16] }";
            let name = item
                .get_ref()
                .as_str()
                .ok_or_else(|| self.wrong_type("workloads", item, wanted))?;
            return Ok(RawWorkload {
                name: Spanned::new(item.span(), name.to_owned()),
                args: Vec::new(),
                profiles: None,
                eventlog: None,
            });
        };
        for (key, _) in in_order(table) {
            if !WORKLOAD_KEYS.contains(&key.get_ref().as_ref()) {
                return Err(self.unknown_key(key, &WORKLOAD_KEYS, " of a workload"));
            }
        }
        let name = table.get("name").ok_or_else(|| {
            SpecError::at(self.source, item.span(), "a workload without `name`", "no `name` here")
                .help("write { name = \"binary_trees\", args = [16] }")
        })?;
        let args = match table.get("args") {
            None => Vec::new(),
            Some(args) => {
                let list = args
                    .get_ref()
                    .as_array()
                    .ok_or_else(|| self.wrong_type("args", args, "an array of numbers and strings"))?;
                list.iter()
                    .map(|arg| Ok(Spanned::new(arg.span(), self.argument(arg)?)))
                    .collect::<Parsed<_>>()?
            }
        };
        Ok(RawWorkload {
            name: Spanned::new(name.span(), self.text("name", name)?),
            args,
            profiles: table
                .get("profiles")
                .map(|value| self.profiles(value, true))
                .transpose()?,
            eventlog: table.get("eventlog").map(|value| self.eventlog(value)).transpose()?,
        })
    }

    /// Whether runs for an event log are asked for.
    pub(super) fn eventlog(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Spanned<bool>> {
        let wrong = || self.wrong_type("eventlog", value, "true or false").help(EVENTLOG_HELP);
        let asked = value.get_ref().as_bool().ok_or_else(wrong)?;
        Ok(Spanned::new(value.span(), asked))
    }

    /// Whether runs read their performance counters at each pause.
    pub(super) fn pause_counters(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Spanned<bool>> {
        let wrong = || {
            self.wrong_type("pause_counters", value, "true or false")
                .help(PAUSE_COUNTERS_HELP)
        };
        let asked = value.get_ref().as_bool().ok_or_else(wrong)?;
        Ok(Spanned::new(value.span(), asked))
    }

    /// Strings of flags. The list of a workload may be empty: then it has no profile of the file.
    pub(super) fn profiles(&self, value: &Spanned<DeValue<'_>>, may_be_empty: bool) -> Parsed<Vec<Spanned<String>>> {
        let wanted = "an array of strings";
        let wrong = |value| self.wrong_type("profiles", value, wanted).help(PROFILES_HELP);
        let array = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        if array.is_empty() && !may_be_empty {
            return Err(SpecError::at(
                self.source,
                value.span(),
                "`profiles` is empty: there would be nothing to profile",
                "at least one profile is needed",
            )
            .help(format!("leave it out, or name the profiles: {PROFILES_HELP}")));
        }
        let flags = array.iter().map(|item| {
            let flags = item.get_ref().as_str().ok_or_else(|| wrong(item))?;
            Ok(Spanned::new(item.span(), flags.to_owned()))
        });
        flags.collect()
    }

    fn argument(&self, value: &Spanned<DeValue<'_>>) -> Parsed<String> {
        self.word("args", value)?
            .ok_or_else(|| self.wrong_type("args", value, "an array of numbers and strings"))
    }
}
