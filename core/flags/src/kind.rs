//! The kinds of flag values: which values are legal, and how help and messages describe them.

use gclab_core::words::Bytes;
use gclab_core::words::size::size_text;

/// The type of a flag's value. Ranges include both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number of bytes, from `min` to `max`.
    Size {
        /// The smallest legal value.
        min: Bytes,
        /// The largest legal value.
        max: Bytes,
        /// Whether 0 is legal too, as "none": `0` as typed, `false` in experiment files.
        zero: bool,
        /// Whether the bare flag is legal.
        bare: bool,
    },
    /// A percentage from 0 to 100, with or without its sign.
    Percent {
        /// Whether the bare flag is legal.
        bare: bool,
    },
    /// A number, from `min` to `max`.
    Number {
        /// The smallest legal value.
        min: f64,
        /// The largest legal value.
        max: f64,
    },
    /// A whole number, from `min` to `max`.
    Count {
        /// The smallest legal value.
        min: u64,
        /// The largest legal value.
        max: u64,
        /// Whether the bare flag is legal.
        bare: bool,
    },
    /// An address in hexadecimal, with or without `0x`, below 2^47.
    Address,
    /// A generation from 0 to `max`; the bare flag means "off".
    GenerationOrOff {
        /// The largest legal value.
        max: u64,
        /// Whether `auto` is legal too.
        auto: bool,
    },
    /// A whole number as OCaml reads it, from `min` to `max`.
    Ocaml {
        /// The smallest legal value.
        min: u64,
        /// The largest legal value.
        max: u64,
        /// A legal value, for messages.
        example: &'static str,
    },
    /// One of a list of names.
    Choice {
        /// What these names name, with its article.
        of: &'static str,
        /// The legal names.
        names: &'static [&'static str],
        /// The same names, in words.
        list: &'static str,
    },
    /// A flag that is on if given.
    Switch,
    /// A flag that turns something off.
    SwitchOff,
    /// A flag that is on if given, with or without a file name.
    Output,
    /// The name of a file.
    File,
    /// Classes of events, or none.
    Classes,
    /// Letters for debug messages.
    Debug,
    /// A closure: the number of its allocation, from 1, or its address in hexadecimal after `0x`.
    Closure,
    /// A flag that is on if given, with or without names.
    Names {
        /// Whether the flag without names is legal.
        bare: bool,
    },
    /// The collector's own flags, each as `NAME=NUMBER`.
    Own,
}

/// The highest address of a process.
pub(super) const MOST_ADDRESS: u64 = (1 << 47) - 1;

impl Kind {
    /// Returns the type, with its article, the form of its values, and an example.
    pub(super) fn words(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Kind::Size { .. } => ("a size", "a number with k, m, g, t or w", "4m"),
            Kind::Number { .. } => ("a number", "a number", "3"),
            Kind::Percent { .. } => ("a percentage", "a number from 0 to 100", "30"),
            Kind::Count { .. } => ("a whole number", "a whole number", "2"),
            Kind::Ocaml { example, .. } => (
                "a whole number",
                "a whole number, with k, M or G after it or 0x before it",
                example,
            ),
            Kind::Address => ("an address", "an address in hexadecimal", "4200000000"),
            Kind::GenerationOrOff { auto: false, .. } => ("a generation", "a generation, from 0", "1"),
            Kind::GenerationOrOff { auto: true, .. } => ("a generation", "a generation, from 0, or auto", "1"),
            Kind::Choice { of, names, list } => (of, list, names[0]),
            Kind::Switch | Kind::SwitchOff => ("true or false", "true or false", "true"),
            Kind::Output | Kind::File => ("a file name", "a file name", "out.txt"),
            Kind::Classes => (
                "a list of classes of events",
                "letters from s, g, n, p, f, u and a, with - before those to leave out",
                "-ag",
            ),
            Kind::Closure => (
                "a closure",
                "the number of its allocation, or its address with 0x",
                "1000",
            ),
            Kind::Debug => ("a list of debug messages", "letters from s, g, b and p", "sg"),
            Kind::Names { .. } => ("a list of names", "names separated by commas", "Node,Tree"),
            Kind::Own => (
                "a list of the collector's own flags",
                "NAME=NUMBER, separated by commas",
                "period=4",
            ),
        }
    }

    /// Returns the type in one word, as `gclab list flags` shows it.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Size { .. } => "size",
            Kind::Number { .. } => "number",
            Kind::Percent { .. } => "percentage",
            Kind::Count { .. } => "count",
            Kind::Ocaml { .. } => "OCaml's number",
            Kind::Address => "address",
            Kind::GenerationOrOff { auto: false, .. } => "generation or off",
            Kind::GenerationOrOff { auto: true, .. } => "generation, auto or off",
            Kind::Choice { .. } => "name",
            Kind::Switch | Kind::SwitchOff => "switch",
            Kind::Output => "output",
            Kind::File => "file",
            Kind::Classes => "classes of events",
            Kind::Debug => "debug messages",
            Kind::Closure => "closure",
            Kind::Names { bare: true } => "switch, or names",
            Kind::Names { bare: false } => "names",
            Kind::Own => "own flags",
        }
    }

    /// Returns the smallest and the largest legal value as written; `None` for switches and files.
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
            Kind::Ocaml { min, max, .. } => Some((min.to_string(), max.to_string())),
            Kind::Address => Some(("0".to_owned(), format!("{MOST_ADDRESS:x}"))),
            Kind::GenerationOrOff { max, .. } => Some(("0".to_owned(), max.to_string())),
            Kind::Switch
            | Kind::SwitchOff
            | Kind::Output
            | Kind::File
            | Kind::Classes
            | Kind::Debug
            | Kind::Closure
            | Kind::Choice { .. }
            | Kind::Names { .. }
            | Kind::Own => None,
        }
    }

    /// Returns the text after the flag, as help shows it: `<size>`, `[<n>]`.
    pub fn placeholder(&self) -> &'static str {
        match self {
            Kind::Size { bare: true, .. } => "[<size>]",
            Kind::Size { .. } => "<size>",
            Kind::Percent { bare: true } | Kind::Count { bare: true, .. } | Kind::GenerationOrOff { .. } => "[<n>]",
            Kind::Number { .. } | Kind::Percent { .. } | Kind::Count { .. } | Kind::Ocaml { .. } => "<n>",
            Kind::Switch | Kind::SwitchOff => "",
            Kind::Choice { .. } => "<name>",
            Kind::Address => "<address>",
            Kind::Output => "[<file>]",
            Kind::File => "<file>",
            Kind::Classes => "[<classes>]",
            Kind::Debug => "<x>",
            Kind::Closure => "<closure>",
            Kind::Names { bare: true } => "[<names>]",
            Kind::Names { bare: false } => "<names>",
            Kind::Own => "<name>=<n>",
        }
    }
}
