//! The values of the fields of an event.

use crate::kind::{Field, Form};

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number of any width.
    Number(u64),
    /// Text, in UTF-8 unless the log is damaged, without its NUL.
    Text(&'a [u8]),
    /// Texts, each followed or separated by a NUL.
    List(&'a [u8]),
    /// Any bytes.
    Bytes(&'a [u8]),
    /// Ids, each big-endian.
    Ids(&'a [[u8; 4]]),
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Value::Number(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text.as_bytes())
    }
}

/// The texts of a [`Value::List`].
pub fn texts(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let list = list.strip_suffix(&[0]).unwrap_or(list);
    let all = list.split(|byte| *byte == 0);
    all.take(if list.is_empty() { 0 } else { usize::MAX })
}

/// A big-endian number of up to eight bytes.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d, e, f, g, h] => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        [a, b, c, d] => u64::from(u32::from_be_bytes([a, b, c, d])),
        [a, b] => u64::from(u16::from_be_bytes([a, b])),
        _ => bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    }
}

/// The fields of a payload and their values, in order. Ends early if the payload is too short.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    fields: &'static [Field],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(fields: &'static [Field], payload: &'a [u8]) -> Self {
        Fields { fields, rest: payload }
    }

    /// The bytes after the fields taken so far.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The fields not taken yet.
    pub fn left(&self) -> &'static [Field] {
        self.fields
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'static Field, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (field, fields) = self.fields.split_first()?;
        let (value, rest) = take(field.form, self.rest)?;
        (self.fields, self.rest) = (fields, rest);
        Some((field, value))
    }
}

/// The value at the start of `bytes`, and the bytes after it.
fn take(form: Form, bytes: &[u8]) -> Option<(Value<'_>, &[u8])> {
    let end = &bytes[bytes.len()..];
    Some(match form {
        Form::Zero => {
            let length = bytes.iter().position(|byte| *byte == 0)?;
            (Value::Text(&bytes[..length]), &bytes[length + 1..])
        }
        Form::Text => (Value::Text(bytes), end),
        Form::List => (Value::List(bytes), end),
        Form::Bytes => (Value::Bytes(bytes), end),
        Form::Ids => {
            let (count, bytes) = bytes.split_first()?;
            let (ids, rest) = bytes.split_at_checked(4 * usize::from(*count))?;
            (Value::Ids(ids.as_chunks().0), rest)
        }
        _ => {
            let (value, rest) = bytes.split_at_checked(form.width()?)?;
            (Value::Number(number(value)), rest)
        }
    })
}
