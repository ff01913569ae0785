//! The shape of an experiment file: its keys, and the types of their values. Names are looked up
//! later (`validate`).
//!
//! The tree is walked by hand, not by serde, so that every message can name the key, underline the
//! value and suggest the nearest key.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::duration::{MAX_SECONDS, parse_duration};
use super::errors::{Source, SpecError};
use crate::registry::Registry;
use crate::suggest::suggest;

/// A result whose error points into the file.
pub type Parsed<T> = Result<T, Box<SpecError>>;

/// The value of a flag in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string, mostly a size (`"256k"`).
    Text(String),
    /// An integer as decimal text.
    Integer(String),
    /// A float as in the file.
    Float(String),
    /// `true` or `false`.
    Boolean(bool),
}

impl std::fmt::Display for Value {
    /// The value as on a command line: a string without its quotes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Text(text) | Value::Integer(text) | Value::Float(text) => f.write_str(text),
            Value::Boolean(on) => write!(f, "{on}"),
        }
    }
}

/// A workload of the file with its arguments.
#[derive(Debug)]
pub struct RawWorkload {
    pub name: Spanned<String>,
    pub args: Vec<Spanned<String>>,
    /// `profiles` of this workload; they replace those of the file.
    pub profiles: Option<Vec<Spanned<String>>>,
}

/// The key of a swept flag, and its values.
pub type RawAxis = (Spanned<String>, Vec<Spanned<Value>>);

/// The collectors of the file.
#[derive(Debug)]
pub enum RawCollectors {
    /// `"all"`, at this place: those that honour all flags of the file.
    All(Range<usize>),
    /// These names.
    Named(Vec<Spanned<String>>),
}

impl RawCollectors {
    /// The number of collectors, before any is left out.
    pub fn count(&self, registry: &Registry) -> usize {
        match self {
            RawCollectors::All(_) => registry.collectors.len(),
            RawCollectors::Named(names) => names.len(),
        }
    }
}

/// An experiment file whose keys and types are legal.
#[derive(Debug)]
pub struct Raw {
    pub question: String,
    pub collectors: RawCollectors,
    pub workloads: Vec<RawWorkload>,
    pub repeat: u32,
    pub seed: u64,
    pub timeout: Duration,
    /// `heap`: its place and its values.
    pub heap: Option<Spanned<Vec<Spanned<f64>>>>,
    /// `profiles` of the whole file.
    pub profiles: Vec<Spanned<String>>,
    /// `[flags]`, in the order of the file.
    pub flags: Vec<(Spanned<String>, Spanned<Value>)>,
    /// `[sweep]`, or each of several `[[sweep]]`, in the order of the file.
    pub sweeps: Vec<Vec<RawAxis>>,
}

/// The value of `collectors` that stands for all.
const ALL: &str = "all";
/// The default of `repeat`.
const DEFAULT_REPEAT: u32 = 10;
/// The most rounds: more is a mistake.
pub const MAX_REPEAT: u64 = 100_000;
/// The default of `seed`.
const DEFAULT_SEED: u64 = 1;
/// The default of `timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);
/// The largest multiple in `heap`: a larger one is a mistake.
const MOST_MULTIPLE: f64 = 1000.0;
const KEYS: [&str; 10] = [
    "question",
    "collectors",
    "workloads",
    "repeat",
    "seed",
    "timeout",
    "heap",
    "profiles",
    "flags",
    "sweep",
];

/// Parses `source`. The error is its first fault.
pub fn parse(source: &Source) -> Parsed<Raw> {
    let document = DeTable::parse(&source.text).map_err(|error| {
        let reason = error.message().lines().collect::<Vec<_>>().join("; ");
        SpecError::at(
            source,
            error.span().unwrap_or(0..0),
            format!("{} is not TOML: {reason}", source.name),
            "here",
        )
    })?;
    Walk { source }.document(document.get_ref())
}

struct Walk<'s> {
    source: &'s Source,
}

impl Walk<'_> {
    fn document(&self, table: &DeTable<'_>) -> Parsed<Raw> {
        for key in in_order(table).map(|(key, _)| key) {
            if !KEYS.contains(&key.get_ref().as_ref()) {
                return Err(self.unknown_key(key, &KEYS, ""));
            }
        }
        let get = |key: &str| table.get(key);
        Ok(Raw {
            question: get("question")
                .map(|value| self.text("question", value))
                .transpose()?
                .unwrap_or_default(),
            collectors: self.collectors(self.required("collectors", table)?)?,
            workloads: self.workloads(self.required("workloads", table)?)?,
            repeat: get("repeat")
                .map(|value| self.integer("repeat", value, 1, MAX_REPEAT))
                .transpose()?
                .map_or(DEFAULT_REPEAT, |n| n as u32),
            seed: get("seed")
                .map(|value| self.integer("seed", value, 0, i64::MAX as u64))
                .transpose()?
                .unwrap_or(DEFAULT_SEED),
            timeout: get("timeout")
                .map(|value| self.duration("timeout", value))
                .transpose()?
                .unwrap_or(DEFAULT_TIMEOUT),
            heap: get("heap").map(|value| self.heap(value)).transpose()?,
            profiles: get("profiles")
                .map(|value| self.profiles(value, false))
                .transpose()?
                .unwrap_or_default(),
            flags: get("flags")
                .map(|value| self.flags(value))
                .transpose()?
                .unwrap_or_default(),
            sweeps: get("sweep")
                .map(|value| self.sweeps(value))
                .transpose()?
                .unwrap_or_default(),
        })
    }

    fn required<'t, 'i>(&self, key: &str, table: &'t DeTable<'i>) -> Parsed<&'t Spanned<DeValue<'i>>> {
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

    fn unknown_key(&self, key: &Spanned<impl AsRef<str>>, known: &[&str], place: &str) -> Box<SpecError> {
        let name = key.get_ref().as_ref();
        SpecError::at(
            self.source,
            key.span(),
            format!("unknown key `{name}`{place}"),
            "no such key",
        )
        .help(suggest(name, "known keys", known))
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> Box<SpecError> {
        let found = value.get_ref().type_str();
        SpecError::at(
            self.source,
            value.span(),
            format!("`{key}` must be {expected}, not {}", article(found)),
            format!("{} here", article(found)),
        )
    }

    fn text(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<String> {
        value
            .get_ref()
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| self.wrong_type(key, value, "a string"))
    }

    fn integer(&self, key: &str, value: &Spanned<DeValue<'_>>, least: u64, most: u64) -> Parsed<u64> {
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

    fn duration(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Duration> {
        if value.get_ref().is_integer() {
            return Ok(Duration::from_secs(self.integer(key, value, 1, MAX_SECONDS)?));
        }
        let text = self.text(key, value)?;
        parse_duration(&text).ok_or_else(|| {
            SpecError::at(
                self.source,
                value.span(),
                format!("`{key} = \"{text}\"` is not a duration"),
                "expected a number and ms, s, m or h",
            )
            .help(format!("for example {key} = \"300s\"; more than 0, at most 1000h"))
        })
    }

    /// The multiples of the least heap: numbers above 0, no two the same.
    fn heap(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Spanned<Vec<Spanned<f64>>>> {
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

    fn array<'t, 'i>(&self, key: &str, value: &'t Spanned<DeValue<'i>>, items: &str) -> Parsed<&'t DeArray<'i>> {
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

    /// `"all"`, or a list of names.
    fn collectors(&self, value: &Spanned<DeValue<'_>>) -> Parsed<RawCollectors> {
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

    fn workloads(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawWorkload>> {
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
        })
    }

    /// Strings of flags. The list of a workload may be empty: then it has no profile of the file.
    fn profiles(&self, value: &Spanned<DeValue<'_>>, may_be_empty: bool) -> Parsed<Vec<Spanned<String>>> {
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
        match self.value("args", value)?.into_inner() {
            Value::Text(text) | Value::Integer(text) | Value::Float(text) => Ok(text),
            Value::Boolean(_) => Err(self.wrong_type("args", value, "an array of numbers and strings")),
        }
    }

    fn table<'t, 'i>(&self, key: &str, value: &'t Spanned<DeValue<'i>>, example: &str) -> Parsed<&'t DeTable<'i>> {
        value.get_ref().as_table().ok_or_else(|| {
            self.wrong_type(
                key,
                value,
                &format!("a table: [{key}] and then lines such as {example}"),
            )
        })
    }

    fn flags(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<(Spanned<String>, Spanned<Value>)>> {
        in_order(self.table("flags", value, "A = \"1m\"")?)
            .map(|(key, value)| Ok((owned(key), self.value(key.get_ref(), value)?)))
            .collect()
    }

    /// One table `[sweep]`, or several `[[sweep]]`.
    fn sweeps(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<Vec<RawAxis>>> {
        match value.get_ref().as_array() {
            Some(tables) if tables.iter().any(|table| table.get_ref().is_table()) => {
                tables.iter().map(|table| self.sweep(table)).collect()
            }
            _ => Ok(vec![self.sweep(value)?]),
        }
    }

    fn sweep(&self, value: &Spanned<DeValue<'_>>) -> Parsed<Vec<RawAxis>> {
        in_order(self.table("sweep", value, "A = [\"1m\", \"4m\"]")?)
            .map(|(key, values)| {
                let array = self.array(key.get_ref(), values, "values")?;
                let values = array
                    .iter()
                    .map(|value| self.value(key.get_ref(), value))
                    .collect::<Parsed<_>>()?;
                Ok((owned(key), values))
            })
            .collect()
    }

    fn value(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<Spanned<Value>> {
        let scalar = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(_) => Value::Integer(self.signed(key, value)?),
            DeValue::Float(float) => Value::Float(float.as_str().to_owned()),
            DeValue::Boolean(on) => Value::Boolean(*on),
            _ => return Err(self.wrong_type(key, value, "a string, a number or true/false")),
        };
        Ok(Spanned::new(value.span(), scalar))
    }

    /// Any integer as decimal text.
    fn signed(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<String> {
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

/// The meaning of `heap`.
const HEAP_HELP: &str = "`heap` has multiples of the least heap with which a workload completes: heap = [1.5, 2, 3, 6]; for sizes, sweep `M`";

/// The meaning of `profiles`.
const PROFILES_HELP: &str = "`profiles` has the flags of heap profiles, each a string as on a command line: profiles = [\"-hy\", \"-hr -R0 -i0\"]";

/// The keys of a workload.
const WORKLOAD_KEYS: [&str; 3] = ["name", "args", "profiles"];

/// The entries of a table in the order of the file (the table itself is sorted by key).
fn in_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> impl Iterator<Item = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter()
}

fn owned(key: &Spanned<std::borrow::Cow<'_, str>>) -> Spanned<String> {
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
