//! Values of flags: their types, and how each type is read and written.

use std::path::PathBuf;

use gclab_core::words::Bytes;
use gclab_core::words::size::{read_decimal, read_size, size_text};
use gclab_eventlog::{Classes, DebugMessages};

use super::ghc_only::GHC_ONLY;
use super::{FlagError, nearest};

/// The type of a flag's value. Ranges include both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number of bytes, from `min` to `max`.
    Size {
        /// The least legal value.
        min: Bytes,
        /// The greatest legal value.
        max: Bytes,
        /// Whether 0 is legal too, as "none": `0` as typed, `false` in experiment files.
        zero: bool,
        /// Whether the bare flag is legal.
        bare: bool,
    },
    /// A percentage, with or without its sign, from 0 to 100.
    Percent {
        /// Whether the bare flag is legal.
        bare: bool,
    },
    /// A number, from `min` to `max`.
    Number {
        /// The least legal value.
        min: f64,
        /// The greatest legal value.
        max: f64,
    },
    /// A whole number, from `min` to `max`.
    Count {
        /// The least legal value.
        min: u64,
        /// The greatest legal value.
        max: u64,
        /// Whether the bare flag is legal.
        bare: bool,
    },
    /// An address in hexadecimal, with or without `0x`, below 2^47.
    Address,
    /// A generation from 0 to `max`; the bare flag is "off".
    GenerationOrOff {
        /// The greatest legal value.
        max: u64,
        /// Whether `auto` is legal too.
        auto: bool,
    },
    /// One of a list of names.
    Choice {
        /// The kind of thing that has these names, with its article.
        of: &'static str,
        /// The legal names.
        names: &'static [&'static str],
        /// The same names, in words.
        list: &'static str,
    },
    /// A flag that is on if it is given.
    Switch,
    /// A flag that turns something off if it is given.
    SwitchOff,
    /// A flag that is on if it is given, with the name of a file or without.
    Output,
    /// The name of a file.
    File,
    /// Classes of events, or none.
    Classes,
    /// Letters of debug messages.
    Debug,
    /// A flag that is on if it is given, with names or without.
    Names {
        /// Whether the flag without names is legal.
        bare: bool,
    },
}

/// The value of a flag whose effect follows from the work at hand.
pub(super) const AUTO: &str = "auto";

/// The highest address of a process.
const MOST_ADDRESS: u64 = (1 << 47) - 1;

/// A value of a flag.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value, never, or off.
    Off,
    /// The bare flag, where that is not "off".
    On,
    /// A number of bytes.
    Size(Bytes),
    /// A number with a fraction.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// An address.
    Address(u64),
    /// A name of a choice.
    Name(&'static str),
    /// The name of a file.
    File(PathBuf),
    /// Classes of events.
    Classes(Classes),
    /// Debug messages.
    Debug(DebugMessages),
    /// A list of names.
    Names(Vec<String>),
}

/// How the flag is called where its value was read, for messages.
pub(super) enum Called<'a> {
    /// On a command line, by its name.
    Word(&'a str),
    /// In an experiment file, by its key.
    Key(&'a str),
}

impl Called<'_> {
    fn flag(&self) -> String {
        match self {
            Called::Word(name) => format!("-{name}"),
            Called::Key(key) => (*key).to_owned(),
        }
    }

    fn example(&self, value: &str) -> String {
        match self {
            Called::Word(name) if is_long(name) => format!("-{name}={value}"),
            Called::Word(name) => format!("-{name}{value}"),
            Called::Key(key) if value == "true" || value.parse::<f64>().is_ok() => {
                format!("{key} = {value}")
            }
            Called::Key(key) => format!("{key} = \"{value}\""),
        }
    }
}

/// Whether a flag's name is a long one (`--sizing`): its value stands behind an equals sign.
pub(super) fn is_long(name: &str) -> bool {
    name.starts_with('-')
}

/// The error of a letter of `-D` that has a meaning in GHC only.
fn not_yet(called: &Called<'_>, text: &str, letter: char) -> Option<FlagError> {
    let flag = format!("{}{letter}", called.flag());
    let (_, meaning) = GHC_ONLY.iter().find(|(name, _)| flag[1..] == **name)?;
    Some(FlagError::NotYet {
        word: format!("{}{text}", called.flag()),
        flag,
        meaning,
    })
}

impl Kind {
    /// Returns the type, with its article, the form of its values, and an example.
    fn words(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Kind::Size { .. } => ("a size", "a number with k, m, g, t or w", "4m"),
            Kind::Number { .. } => ("a number", "a number", "3"),
            Kind::Percent { .. } => ("a percentage", "a number from 0 to 100", "30"),
            Kind::Count { .. } => ("a whole number", "a whole number", "2"),
            Kind::Address => ("an address", "an address in hexadecimal", "4200000000"),
            Kind::GenerationOrOff { auto: false, .. } => ("a generation", "a generation, from 0", "1"),
            Kind::GenerationOrOff { auto: true, .. } => ("a generation", "a generation, from 0, or auto", "1"),
            Kind::Choice { of, names, list } => (of, list, names[0]),
            Kind::Switch | Kind::SwitchOff => ("true or false", "true or false", "true"),
            Kind::Output | Kind::File => ("a file name", "a file name", "out.txt"),
            Kind::Classes => (
                "a list of classes of events",
                "letters of s, g, n, p, f, u and a, with - before those to leave out",
                "-ag",
            ),
            Kind::Debug => ("a list of debug messages", "letters of s, g, b and p", "sg"),
            Kind::Names { .. } => ("a list of names", "names with commas between them", "Node,Tree"),
        }
    }

    /// Returns the type in one word, as `gclab list flags` shows it.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Size { .. } => "size",
            Kind::Number { .. } => "number",
            Kind::Percent { .. } => "percentage",
            Kind::Count { .. } => "count",
            Kind::Address => "address",
            Kind::GenerationOrOff { auto: false, .. } => "generation or off",
            Kind::GenerationOrOff { auto: true, .. } => "generation, auto or off",
            Kind::Choice { .. } => "name",
            Kind::Switch | Kind::SwitchOff => "switch",
            Kind::Output => "output",
            Kind::File => "file",
            Kind::Classes => "classes of events",
            Kind::Debug => "debug messages",
            Kind::Names { bare: true } => "switch, or names",
            Kind::Names { bare: false } => "names",
        }
    }

    /// Returns the least and the greatest legal value as written; `None` for switches and files.
    pub fn range(&self) -> Option<(String, String)> {
        match *self {
            Kind::Size {
                zero: true, min, max, ..
            } => Some((format!("0 or {}", size_text(min)), size_text(max))),
            Kind::Size { min, max, .. } => Some((size_text(min), size_text(max))),
            Kind::Number { min, max } => Some((min.to_string(), max.to_string())),
            Kind::Percent { .. } => Some(("0".to_owned(), "100".to_owned())),
            Kind::Count { min, max, .. } => Some((
                min.to_string(),
                if max == u64::MAX {
                    "2^64 - 1".to_owned()
                } else {
                    max.to_string()
                },
            )),
            Kind::Address => Some(("0".to_owned(), format!("{MOST_ADDRESS:x}"))),
            Kind::GenerationOrOff { max, .. } => Some(("0".to_owned(), max.to_string())),
            Kind::Switch
            | Kind::SwitchOff
            | Kind::Output
            | Kind::File
            | Kind::Classes
            | Kind::Debug
            | Kind::Choice { .. }
            | Kind::Names { .. } => None,
        }
    }

    /// Returns the text after the flag, as help shows it: `<size>`, `[<n>]`.
    pub fn placeholder(&self) -> &'static str {
        match self {
            Kind::Size { bare: true, .. } => "[<size>]",
            Kind::Size { .. } => "<size>",
            Kind::Percent { bare: true } | Kind::Count { bare: true, .. } | Kind::GenerationOrOff { .. } => "[<n>]",
            Kind::Number { .. } | Kind::Percent { .. } | Kind::Count { .. } => "<n>",
            Kind::Switch | Kind::SwitchOff => "",
            Kind::Choice { .. } => "<name>",
            Kind::Address => "<address>",
            Kind::Output => "[<file>]",
            Kind::File => "<file>",
            Kind::Classes => "[<classes>]",
            Kind::Debug => "<x>",
            Kind::Names { bare: true } => "[<names>]",
            Kind::Names { bare: false } => "<names>",
        }
    }

    /// Reads the text after the flag in a word.
    pub(super) fn read_word(&self, called: &Called<'_>, text: &str) -> Result<Value, FlagError> {
        match self {
            Kind::Output | Kind::Names { bare: true } if text.is_empty() => Ok(Value::On),
            Kind::Output => Ok(Value::File(text.into())),
            Kind::File if !text.is_empty() => Ok(Value::File(text.into())),
            Kind::Classes => Classes::parse(text)
                .map(Value::Classes)
                .map_err(|_| self.bad(called, text)),
            Kind::Debug if !text.is_empty() => DebugMessages::parse(text)
                .map(Value::Debug)
                .map_err(|wrong| not_yet(called, text, wrong.0).unwrap_or_else(|| self.bad(called, text))),
            Kind::Names { .. } if !text.is_empty() => self.read_names(called, text),
            Kind::Switch | Kind::SwitchOff if text.is_empty() => Ok(Value::On),
            Kind::Switch | Kind::SwitchOff => Err(FlagError::UnexpectedValue {
                word: format!("{}{text}", called.flag()),
                flag: called.flag(),
                suggestion: None,
            }),
            Kind::GenerationOrOff { .. } if text.is_empty() => Ok(Value::Off),
            Kind::GenerationOrOff { auto: true, .. } if text == "=auto" => Ok(Value::Name(AUTO)),
            Kind::Size { bare: true, .. } | Kind::Percent { bare: true } | Kind::Count { bare: true, .. }
                if text.is_empty() =>
            {
                Ok(Value::On)
            }
            _ if text.is_empty() => {
                let (_, write, example) = self.words();
                Err(FlagError::MissingValue {
                    flag: called.flag(),
                    write,
                    example: called.example(example),
                })
            }
            _ => self.read_number(called, text),
        }
    }

    /// Reads a value of an experiment file: as in a word, or `true`, or `false`, `none` or `off`.
    pub(super) fn read_key(&self, called: &Called<'_>, text: &str, optional: bool) -> Result<Value, FlagError> {
        let bare = matches!(
            self,
            Kind::Size { bare: true, .. } | Kind::Percent { bare: true } | Kind::Count { bare: true, .. }
        );
        match (self, text) {
            (Kind::Switch, "true") => Ok(Value::On),
            (Kind::Switch, "false") => Ok(Value::Off),
            (Kind::Names { bare: true }, "true") => Ok(Value::On),
            (Kind::Names { bare: false }, "true") => Err(self.bad(called, text)),
            (Kind::SwitchOff, "true") => Ok(Value::Off),
            (Kind::SwitchOff, "false") => Ok(Value::On),
            (Kind::GenerationOrOff { .. }, "false" | "off" | "none") => Ok(Value::Off),
            (Kind::GenerationOrOff { auto: true, .. }, "auto") => Ok(Value::Name(AUTO)),
            (_, "false" | "off" | "none") if optional => Ok(Value::Off),
            (_, "true") if bare => Ok(Value::On),
            (Kind::Names { .. }, _) if !text.is_empty() => self.read_names(called, text),
            (Kind::Switch | Kind::SwitchOff | Kind::Output, _) => Err(self.bad(called, text)),
            (_, "") => {
                let (_, write, example) = self.words();
                Err(FlagError::MissingValue {
                    flag: called.flag(),
                    write,
                    example: called.example(example),
                })
            }
            _ => self.read_number(called, text),
        }
    }

    fn read_number(&self, called: &Called<'_>, text: &str) -> Result<Value, FlagError> {
        let (value, fits) = match *self {
            Kind::Size { min, max, zero, .. } => {
                let size = read_size(text).ok_or_else(|| self.bad(called, text))?;
                if zero && size == Bytes(0) {
                    return Ok(Value::Off);
                }
                (Value::Size(size), min <= size && size <= max)
            }
            Kind::Number { min, max } => {
                let number = read_decimal(text).ok_or_else(|| self.bad(called, text))?;
                (Value::Number(number), (min..=max).contains(&number))
            }
            Kind::Percent { .. } => {
                let digits = text.strip_suffix('%').unwrap_or(text);
                let number = read_decimal(digits).ok_or_else(|| self.bad(called, text))?;
                (Value::Number(number), number <= 100.0)
            }
            Kind::Count { min, max, .. } => {
                let count = self.read_count(called, text)?;
                (Value::Count(count), (min..=max).contains(&count))
            }
            Kind::Address => {
                let digits = text.strip_prefix("0x").unwrap_or(text);
                if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return Err(self.bad(called, text));
                }
                let address = u64::from_str_radix(digits, 16).unwrap_or(u64::MAX);
                (Value::Address(address), address <= MOST_ADDRESS)
            }
            Kind::GenerationOrOff { max, .. } => {
                let count = self.read_count(called, text)?;
                (Value::Count(count), count <= max)
            }
            Kind::Choice { names, .. } => {
                let name = names.iter().find(|name| **name == text);
                return name.map(|name| Value::Name(name)).ok_or_else(|| self.bad(called, text));
            }
            Kind::Switch
            | Kind::SwitchOff
            | Kind::Output
            | Kind::File
            | Kind::Classes
            | Kind::Debug
            | Kind::Names { .. } => {
                return Err(self.bad(called, text));
            }
        };
        if fits {
            return Ok(value);
        }
        let (min, max) = self.range().unwrap_or_default();
        Err(FlagError::OutOfRange {
            flag: called.flag(),
            value: text.to_owned(),
            min,
            max,
        })
    }

    /// Reads names with commas between them, in braces or not (as in GHC).
    fn read_names(&self, called: &Called<'_>, text: &str) -> Result<Value, FlagError> {
        let inner = text
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(text);
        let names: Vec<_> = inner.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) {
            return Err(self.bad(called, text));
        }
        Ok(Value::Names(names))
    }

    fn read_count(&self, called: &Called<'_>, text: &str) -> Result<u64, FlagError> {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        // Digits that do not fit are a number that is too large, not a word that is none.
        if digits {
            Ok(text.parse().unwrap_or(u64::MAX))
        } else {
            Err(self.bad(called, text))
        }
    }

    fn bad(&self, called: &Called<'_>, text: &str) -> FlagError {
        let (wanted, write, mut example) = self.words();
        if let Kind::Choice { names, .. } = self {
            example = nearest(text, names.iter().copied()).unwrap_or(example);
        }
        FlagError::BadValue {
            flag: called.flag(),
            value: text.to_owned(),
            wanted,
            write,
            example: called.example(example),
        }
    }
}

impl Value {
    /// Returns the text after the flag in a word. `Off` is the bare flag, or `0` if the flag is a
    /// size.
    pub(super) fn text(&self, kind: &Kind) -> String {
        match self {
            Value::Off if matches!(kind, Kind::Size { .. }) => "0".to_owned(),
            Value::Off | Value::On => String::new(),
            Value::Size(size) => size_text(*size),
            Value::Number(number) => number.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Address(address) => format!("{address:x}"),
            Value::Name(name) if matches!(kind, Kind::GenerationOrOff { .. }) => format!("={name}"),
            Value::Name(name) => (*name).to_owned(),
            Value::File(path) => path.display().to_string(),
            Value::Classes(classes) => classes.text(),
            Value::Debug(messages) => messages.text(),
            Value::Names(names) => names.join(","),
        }
    }
}

impl Value {
    /// Returns the text behind the key in an experiment file.
    pub(super) fn key_text(&self, kind: &Kind) -> String {
        match (self, kind) {
            (Value::Off, Kind::Size { .. }) => "0".to_owned(),
            (Value::On, Kind::SwitchOff) | (Value::Off, _) => "false".to_owned(),
            (Value::On, _) => "true".to_owned(),
            (Value::Name(name), _) => (*name).to_owned(),
            _ => self.text(kind),
        }
    }
}
