//! The values of flags, and how they are written.

use std::path::PathBuf;

use gclab_core::profile::Followed;
use gclab_core::words::Bytes;
use gclab_core::words::size::size_text;
use gclab_eventlog::{Classes, DebugMessages};

use super::kind::Kind;

/// The value of a flag whose effect depends on the work at hand.
pub(super) const AUTO: &str = "auto";

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
    /// A closure.
    Closure(Followed),
    /// A list of names.
    Names(Vec<String>),
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
            Value::Closure(Followed::Allocation(number)) => number.to_string(),
            Value::Closure(Followed::Address(at)) => format!("0x{:x}", at.0),
            Value::Name(name) if matches!(kind, Kind::GenerationOrOff { .. }) => format!("={name}"),
            Value::Name(name) => (*name).to_owned(),
            Value::File(path) => path.display().to_string(),
            Value::Classes(classes) => classes.text(),
            Value::Debug(messages) => messages.text(),
            Value::Names(names) => names.join(","),
        }
    }

    /// Returns the text after the key in an experiment file.
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
