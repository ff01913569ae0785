//! Values of flags: their types, how they are read and how they are written.

use std::path::PathBuf;

use gclab_core::words::Bytes;

use super::{FlagError, nearest};

/// The type of a flag's value. Ranges include both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number of bytes, from `min` to `max`.
    Size {
        /// Least.
        min: Bytes,
        /// Most.
        max: Bytes,
        /// The value that stands for "none", if there is one: `0` as typed, `false` in experiment files.
        zero: bool,
        /// Whether the bare flag means something.
        bare: bool,
    },
    /// A percentage, with or without its sign, from 0 to 100.
    Percent {
        /// Whether the bare flag means something.
        bare: bool,
    },
    /// A number, from `min` to `max`.
    Number {
        /// Least.
        min: f64,
        /// Most.
        max: f64,
    },
    /// A whole number, from `min` to `max`.
    Count {
        /// Least.
        min: u64,
        /// Most.
        max: u64,
        /// Whether the bare flag means something.
        bare: bool,
    },
    /// A generation from 0 to this one; the bare flag is "off".
    GenerationOrOff(u64),
    /// One of some names.
    Choice {
        /// What they are names of, with the article.
        of: &'static str,
        /// The names.
        names: &'static [&'static str],
        /// The same, in words.
        list: &'static str,
    },
    /// On if there.
    Switch,
    /// Off if there.
    SwitchOff,
    /// On if there, with the name of a file or without.
    Output,
    /// On if there, with names or without.
    Names {
        /// Whether none at all means something.
        bare: bool,
    },
}

/// A value of a flag.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// None, never, off.
    Off,
    /// The bare flag, where that is not "off".
    On,
    /// Bytes.
    Size(Bytes),
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// A name of a choice.
    Name(&'static str),
    /// A file.
    File(PathBuf),
    /// Names.
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

impl Kind {
    /// The type, with its article, what its values look like, and one of them.
    fn words(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Kind::Size { .. } => ("a size", "a number with k, m, g, t or w", "4m"),
            Kind::Number { .. } => ("a number", "a number", "3"),
            Kind::Percent { .. } => ("a percentage", "a number from 0 to 100", "30"),
            Kind::Count { .. } => ("a whole number", "a whole number", "2"),
            Kind::GenerationOrOff(_) => ("a generation", "a generation, from 0", "1"),
            Kind::Choice { of, names, list } => (of, list, names[0]),
            Kind::Switch | Kind::SwitchOff => ("true or false", "true or false", "true"),
            Kind::Output => ("a file name", "a file name", "out.txt"),
            Kind::Names { .. } => ("a list of names", "names with commas between them", "Node,Tree"),
        }
    }

    /// The type in one word, as `gclab list flags` gives it.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Size { .. } => "size",
            Kind::Number { .. } => "number",
            Kind::Percent { .. } => "percentage",
            Kind::Count { .. } => "count",
            Kind::GenerationOrOff(_) => "generation or off",
            Kind::Choice { .. } => "name",
            Kind::Switch | Kind::SwitchOff => "switch",
            Kind::Output => "output",
            Kind::Names { bare: true } => "switch, or names",
            Kind::Names { bare: false } => "names",
        }
    }

    /// Least and largest legal value as written; `None` for switches and files.
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
            Kind::GenerationOrOff(max) => Some(("0".to_owned(), max.to_string())),
            Kind::Switch | Kind::SwitchOff | Kind::Output | Kind::Choice { .. } | Kind::Names { .. } => None,
        }
    }

    /// What stands after the flag, as help shows it: `<size>`, `[<n>]`.
    pub fn placeholder(&self) -> &'static str {
        match self {
            Kind::Size { bare: true, .. } => "[<size>]",
            Kind::Size { .. } => "<size>",
            Kind::Percent { bare: true } | Kind::Count { bare: true, .. } | Kind::GenerationOrOff(_) => "[<n>]",
            Kind::Number { .. } | Kind::Percent { .. } | Kind::Count { .. } => "<n>",
            Kind::Switch | Kind::SwitchOff => "",
            Kind::Choice { .. } => "<name>",
            Kind::Output => "[<file>]",
            Kind::Names { bare: true } => "[<names>]",
            Kind::Names { bare: false } => "<names>",
        }
    }

    /// Reads what stands after the flag in a word.
    pub(super) fn read_word(&self, called: &Called<'_>, text: &str) -> Result<Value, FlagError> {
        match self {
            Kind::Output | Kind::Names { bare: true } if text.is_empty() => Ok(Value::On),
            Kind::Output => Ok(Value::File(text.into())),
            Kind::Names { .. } if !text.is_empty() => self.read_names(called, text),
            Kind::Switch | Kind::SwitchOff if text.is_empty() => Ok(Value::On),
            Kind::Switch | Kind::SwitchOff => Err(FlagError::UnexpectedValue {
                word: format!("{}{text}", called.flag()),
                flag: called.flag(),
                suggestion: None,
            }),
            Kind::GenerationOrOff(_) if text.is_empty() => Ok(Value::Off),
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
            (Kind::GenerationOrOff(_), "false" | "off" | "none") => Ok(Value::Off),
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
            Kind::GenerationOrOff(max) => {
                let count = self.read_count(called, text)?;
                (Value::Count(count), count <= max)
            }
            Kind::Choice { names, .. } => {
                let name = names.iter().find(|name| **name == text);
                return name.map(|name| Value::Name(name)).ok_or_else(|| self.bad(called, text));
            }
            Kind::Switch | Kind::SwitchOff | Kind::Output | Kind::Names { .. } => return Err(self.bad(called, text)),
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

    /// Names with commas between them, in braces or not (as in GHC).
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
    /// As it stands after the flag in a word. `Off` is the bare flag or `0`, as the flag's type has it.
    pub(super) fn text(&self, kind: &Kind) -> String {
        match self {
            Value::Off if matches!(kind, Kind::Size { .. }) => "0".to_owned(),
            Value::Off | Value::On => String::new(),
            Value::Size(size) => size_text(*size),
            Value::Number(number) => number.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Name(name) => (*name).to_owned(),
            Value::File(path) => path.display().to_string(),
            Value::Names(names) => names.join(","),
        }
    }
}

impl Value {
    /// As it stands behind the key in an experiment file.
    pub(super) fn key_text(&self, kind: &Kind) -> String {
        match (self, kind) {
            (Value::Off, Kind::Size { .. }) => "0".to_owned(),
            (Value::On, Kind::SwitchOff) | (Value::Off, _) => "false".to_owned(),
            (Value::On, _) => "true".to_owned(),
            _ => self.text(kind),
        }
    }
}

/// Units of sizes, largest first. Powers of 1024, as GHC's parser has them (its guide says powers of 1000).
const UNITS: [(char, usize); 4] = [('t', 1 << 40), ('g', 1 << 30), ('m', 1 << 20), ('k', 1 << 10)];

/// Bytes of a word (`w`).
const WORD: usize = 8;

/// Reads a size as GHC does: a number, with a fraction perhaps, and `k`, `m`, `g`, `t` (powers of 1024) or `w` (8-byte words), in
/// either case; without one of these it is bytes. Parts of a byte are cut off. `None` if it is no such thing, or too large for the machine.
pub fn read_size(text: &str) -> Option<Bytes> {
    let last = text.chars().last()?.to_ascii_lowercase();
    let (digits, unit) = match UNITS.iter().find(|(letter, _)| *letter == last) {
        Some((_, unit)) => (&text[..text.len() - 1], *unit),
        None if last == 'w' => (&text[..text.len() - 1], WORD),
        None => (text, 1),
    };
    if let Ok(whole) = digits.parse::<usize>() {
        // `parse` takes a sign, a size has none.
        return if digits.starts_with('+') {
            None
        } else {
            whole.checked_mul(unit).map(Bytes)
        };
    }
    let bytes = read_decimal(digits)? * unit as f64;
    (bytes < usize::MAX as f64).then_some(Bytes(bytes as usize))
}

/// Digits with at most one point among them; no sign, no exponent, no infinity.
fn read_decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && text.bytes().any(|b| b.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// A size as a flag writes it: in the largest unit that divides it.
pub fn size_text(size: Bytes) -> String {
    match UNITS
        .iter()
        .find(|(_, unit)| size.0 != 0 && size.0.is_multiple_of(*unit))
    {
        Some((letter, unit)) => format!("{}{letter}", size.0 / unit),
        None => size.0.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024_with_fractions_and_words() {
        let cases = [
            ("4m", 4 << 20),
            ("0.5m", 512 << 10),
            ("1.5K", 1536),
            ("2G", 2 << 30),
            ("1t", 1 << 40),
            ("10w", 80),
            ("4096", 4096),
            (".5k", 512),
            ("0", 0),
        ];
        for (text, bytes) in cases {
            assert_eq!(read_size(text), Some(Bytes(bytes)), "{text}");
        }
        for text in [
            "",
            "m",
            ".",
            "12q",
            "-1m",
            "+1m",
            "1e3",
            "1.2.3k",
            "4 m",
            "inf",
            "nan",
            "99999999999999999999t",
            "20000000t",
            "4ö",
        ] {
            assert_eq!(read_size(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_written_so_that_they_read_back() {
        for (bytes, text) in [
            (4 << 20, "4m"),
            (1536, "1536"),
            (3 << 10, "3k"),
            (1 << 40, "1t"),
            (0, "0"),
        ] {
            assert_eq!(size_text(Bytes(bytes)), text);
            assert_eq!(read_size(text), Some(Bytes(bytes)));
        }
    }
}
