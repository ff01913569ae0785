//! Reads the values of flags, from words and from keys of experiment files.

use gclab_core::profile::Followed;
use gclab_core::words::size::{read_decimal, read_size};
use gclab_core::words::{Addr, Bytes};
use gclab_eventlog::{Classes, DebugMessages};

use super::ghc_only::GHC_ONLY;
use super::kind::{Kind, MOST_ADDRESS};
use super::number::ocaml_number;
use super::value::{AUTO, Value};
use super::{FlagError, nearest};

/// What the flag is called where its value was read, for messages.
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

/// Whether a flag's name is long (`--sizing`): its value follows an equals sign.
pub(super) fn is_long(name: &str) -> bool {
    name.starts_with('-')
}

/// The error for a letter of `-D` that only GHC has.
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
            Kind::Closure if !text.is_empty() => self.read_closure(called, text),
            Kind::Names { .. } | Kind::Own if !text.is_empty() => self.read_names(called, text),
            Kind::Switch | Kind::SwitchOff if text.is_empty() => Ok(Value::On),
            Kind::Switch | Kind::SwitchOff => Err(FlagError::UnexpectedValue {
                word: format!("{}{text}", called.flag()),
                flag: called.flag(),
                suggestion: None,
            }),
            Kind::GenerationOrOff { .. } if text.is_empty() => Ok(Value::Off),
            Kind::GenerationOrOff { auto: true, .. } if text == "=auto" => Ok(Value::Name(AUTO)),
            _ if text.is_empty() && self.may_be_bare() => Ok(Value::On),
            _ if text.is_empty() => Err(self.missing(called)),
            _ => self.read_number(called, text),
        }
    }

    /// Reads a value of an experiment file: as in a word, or `true`, or `false`, `none` or `off`.
    pub(super) fn read_key(&self, called: &Called<'_>, text: &str, optional: bool) -> Result<Value, FlagError> {
        match (self, text) {
            (Kind::Switch, "true") => Ok(Value::On),
            (Kind::Switch, "false") => Ok(Value::Off),
            (Kind::Names { bare: true }, "true") => Ok(Value::On),
            (Kind::Names { bare: false } | Kind::Own, "true") => Err(self.bad(called, text)),
            (Kind::SwitchOff, "true") => Ok(Value::Off),
            (Kind::SwitchOff, "false") => Ok(Value::On),
            (Kind::GenerationOrOff { .. }, "false" | "off" | "none") => Ok(Value::Off),
            (Kind::GenerationOrOff { auto: true, .. }, "auto") => Ok(Value::Name(AUTO)),
            (_, "false" | "off" | "none") if optional => Ok(Value::Off),
            (_, "true") if self.may_be_bare() => Ok(Value::On),
            (Kind::Names { .. } | Kind::Own, _) if !text.is_empty() => self.read_names(called, text),
            (Kind::Closure, _) if !text.is_empty() => self.read_closure(called, text),
            (Kind::Switch | Kind::SwitchOff | Kind::Output, _) => Err(self.bad(called, text)),
            (_, "") => Err(self.missing(called)),
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
            Kind::Ocaml { min, max, .. } => {
                let count = ocaml_number(text).ok_or_else(|| self.bad(called, text))?;
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
            // No other kind has a range.
            _ => return Err(self.bad(called, text)),
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

    /// Reads an address after `0x`, or the number of an allocation.
    fn read_closure(&self, called: &Called<'_>, text: &str) -> Result<Value, FlagError> {
        if text.starts_with("0x") {
            return match Kind::Address.read_number(called, text) {
                Ok(Value::Address(at)) => Ok(Value::Closure(Followed::Address(Addr(at as usize)))),
                _ => Err(self.bad(called, text)),
            };
        }
        match self.read_count(called, text)? {
            0 => Err(self.bad(called, text)),
            number => Ok(Value::Closure(Followed::Allocation(number))),
        }
    }

    /// Reads names separated by commas, in braces or not (as in GHC).
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
        // Digits that overflow are a number that is too large, rather than not a number.
        if digits {
            Ok(text.parse().unwrap_or(u64::MAX))
        } else {
            Err(self.bad(called, text))
        }
    }

    /// Whether the flag takes an optional number.
    fn may_be_bare(&self) -> bool {
        matches!(
            self,
            Kind::Size { bare: true, .. } | Kind::Percent { bare: true } | Kind::Count { bare: true, .. }
        )
    }

    fn missing(&self, called: &Called<'_>) -> FlagError {
        let (_, write, example) = self.words();
        FlagError::MissingValue {
            flag: called.flag(),
            write,
            example: called.example(example),
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
