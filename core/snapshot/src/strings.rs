//! The strings of a snapshot, kept as in the file and decoded on request.
//!
//! V8 cuts strings into UTF-16 units and writes unpaired surrogates as they come (`\ud83d` alone).
//! No Rust string can hold these, so decoding loses them, but the kept text does not.

use std::borrow::Cow;

use crate::error::Problem;
use crate::memory::{extend, push, reserve};

/// The most bytes that a character takes: two `\u` escapes.
const LONGEST_LETTER: usize = 12;

/// All strings of a snapshot, in file order, in one piece of memory.
#[derive(Debug, Default)]
pub struct Strings {
    text: Vec<u8>,
    /// String i is `text[ends[i - 1]..ends[i]]`.
    ends: Vec<usize>,
}

impl Strings {
    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no strings (they were left out, or the file has none).
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes between the quotes, with JSON escapes as in the file. In a string that does not
    /// come from JSON, only backslashes are escaped.
    ///
    /// # Panics
    /// If `index` is not below [`Strings::len`].
    pub fn raw(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// The string, with U+FFFD in place of anything that is not Unicode (half a surrogate pair,
    /// bytes that are not UTF-8).
    ///
    /// # Panics
    /// If `index` is not below [`Strings::len`].
    pub fn get(&self, index: u32) -> Cow<'_, str> {
        decode(self.raw(index))
    }

    /// The first `letters` characters of the string, or a few more, without decoding all of it.
    ///
    /// # Panics
    /// If `index` is not below [`Strings::len`].
    pub fn start(&self, index: u32, letters: usize) -> Cow<'_, str> {
        let raw = self.raw(index);
        decode(&raw[..raw.len().min(letters.saturating_mul(LONGEST_LETTER))])
    }

    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Appends a string that has no escapes yet. Returns its index.
    pub(crate) fn push(&mut self, string: &str) -> Result<u32, Problem> {
        for (index, piece) in string.split('\\').enumerate() {
            if index > 0 {
                extend(&mut self.text, br"\\")?;
            }
            extend(&mut self.text, piece.as_bytes())?;
        }
        self.finish()?;
        Ok((self.ends.len() - 1) as u32)
    }

    /// Appends all strings of another list. Returns the index of the first.
    pub(crate) fn append(&mut self, other: &Strings) -> Result<u32, Problem> {
        let (start, first) = (self.text.len(), self.ends.len() as u32);
        extend(&mut self.text, &other.text)?;
        reserve(&mut self.ends, other.ends.len())?;
        self.ends.extend(other.ends.iter().map(|end| start + end));
        Ok(first)
    }

    /// Makes one string of the text appended since the last call.
    pub(crate) fn finish(&mut self) -> Result<(), Problem> {
        push(&mut self.ends, self.text.len())
    }

    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

/// Undoes JSON's escapes. `raw` has only JSON's own escapes, but `\u` may be followed by any
/// characters.
fn decode(raw: &[u8]) -> Cow<'_, str> {
    if !raw.contains(&b'\\') {
        return String::from_utf8_lossy(raw);
    }
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(escape) = rest.iter().position(|&byte| byte == b'\\') {
        decoded.push_str(&String::from_utf8_lossy(&rest[..escape]));
        let letter = rest.get(escape + 1).copied().unwrap_or(b'\\');
        rest = rest.get(escape + 2..).unwrap_or_default();
        match letter {
            b'b' => decoded.push('\u{8}'),
            b'f' => decoded.push('\u{c}'),
            b'n' => decoded.push('\n'),
            b'r' => decoded.push('\r'),
            b't' => decoded.push('\t'),
            b'u' => rest = decode_units(rest, &mut decoded),
            other => decoded.push(other as char),
        }
    }
    decoded.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(decoded)
}

/// Decodes the digits after `\u`, together with a following `\u` if the two are a surrogate pair.
/// Returns the rest of the text.
fn decode_units<'r>(digits: &'r [u8], decoded: &mut String) -> &'r [u8] {
    let Some(first) = unit(digits) else {
        decoded.push(char::REPLACEMENT_CHARACTER);
        return digits;
    };
    let rest = &digits[4..];
    let second = rest
        .strip_prefix(b"\\u")
        .and_then(unit)
        .filter(|second| (0xdc00..0xe000).contains(second));
    match second {
        Some(second) if (0xd800..0xdc00).contains(&first) => {
            decoded.extend(char::decode_utf16([first, second]).flatten());
            &rest[6..]
        }
        _ => {
            decoded.push(char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER));
            rest
        }
    }
}

fn unit(digits: &[u8]) -> Option<u16> {
    let digits = digits
        .get(..4)
        .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{Strings, decode};

    #[test]
    fn escapes_are_undone() {
        assert_eq!(decode(br"plain"), "plain");
        assert_eq!(decode(br#"\"\\\/\b\f\n\r\t."#), "\"\\/\u{8}\u{c}\n\r\t.");
        assert_eq!(decode(br"\u00e9\ud83d\ude00x"), "é😀x");
        assert_eq!(decode("é\\n".as_bytes()), "é\n");
    }

    #[test]
    fn the_start_of_a_string_is_its_start() {
        let mut strings = Strings::default();
        let long = "a\\é".repeat(1000);
        let index = strings.push(&long).unwrap();
        assert_eq!(strings.get(index), long);
        for letters in [0, 1, 2, 3, 500, 2999, 3000, 9999] {
            let start: String = long.chars().take(letters).collect();
            assert!(strings.start(index, letters).starts_with(&start), "{letters}");
        }
        assert!(strings.start(index, 5).len() <= 60);
    }

    #[test]
    fn text_that_is_not_unicode_is_replaced() {
        assert_eq!(decode(br"a\ud83dz"), "a\u{fffd}z");
        assert_eq!(decode(br"\ude00\ud83d\ud83d\ude00"), "\u{fffd}\u{fffd}😀");
        assert_eq!(decode(br"\uzz"), "\u{fffd}zz");
        assert_eq!(decode(b"\xff\\n"), "\u{fffd}\n");
    }
}
