//! Appends numbers and texts to a line without allocating.

use gclab_core::stats::render::{escaped, is_unprintable};

use crate::kind::{Field, Form, breakdown_text, capset_type_text, purpose_text};
use crate::value::{Value, texts};

/// Appends a number in decimal.
pub(crate) fn number(line: &mut Vec<u8>, number: u64) {
    padded(line, number, 0);
}

/// Appends a number in decimal, padded with blanks on the left to `width` columns.
pub(crate) fn padded(line: &mut Vec<u8>, mut number: u64, width: usize) {
    // 2^64 has 20 digits.
    let mut digits = [b' '; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let at = at.min(digits.len() - width);
    line.extend_from_slice(&digits[at..]);
}

/// Appends a number in hexadecimal, with `0x`.
pub(crate) fn hexadecimal(line: &mut Vec<u8>, number: u64) {
    line.extend_from_slice(b"0x");
    let digits = (16 - number.leading_zeros() as usize / 4).max(1);
    for place in (0..digits).rev() {
        line.push(b"0123456789abcdef"[(number >> (4 * place)) as usize & 15]);
    }
}

fn bytes(line: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            line.push(b"0123456789abcdef"[usize::from(digit)]);
        }
    }
}

/// Appends text for people: control characters and bytes that are not UTF-8 are escaped, so an
/// event stays on one line.
pub(crate) fn plain(line: &mut Vec<u8>, text: &[u8]) {
    if text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        line.extend_from_slice(text);
        return;
    }
    for chunk in text.utf8_chunks() {
        line.extend_from_slice(escaped(chunk.valid()).as_bytes());
        for byte in chunk.invalid() {
            line.extend_from_slice(b"\\x");
            bytes(line, &[*byte]);
        }
    }
}

/// Appends the value of a field as text.
pub(crate) fn value(line: &mut Vec<u8>, field: &Field, value: &Value<'_>) {
    match *value {
        Value::Number(value) => {
            let word = match field.form {
                Form::CapsetType => capset_type_text(value),
                Form::Breakdown => breakdown_text(value),
                Form::Purpose => purpose_text(value),
                Form::Hex => return hexadecimal(line, value),
                _ => None,
            };
            match word {
                Some(word) => line.extend_from_slice(word.as_bytes()),
                None => number(line, value),
            }
        }
        Value::Text(text) => plain(line, text),
        Value::List(list) => {
            line.push(b'[');
            join(line, ",", texts(list), quoted);
            line.push(b']');
        }
        Value::Bytes(all) => bytes(line, all),
        Value::Ids(ids) => join(line, ", ", ids, |line, id| {
            number(line, u64::from(u32::from_be_bytes(*id)))
        }),
    }
}

fn join<T>(
    line: &mut Vec<u8>,
    between: &str,
    items: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut Vec<u8>, T),
) {
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            line.extend_from_slice(between.as_bytes());
        }
        push(line, item);
    }
}

/// Appends a quoted JSON string without unprintable characters. Bytes that are not UTF-8 become
/// U+FFFD.
pub(crate) fn quoted(line: &mut Vec<u8>, text: &[u8]) {
    line.push(b'"');
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => line.extend_from_slice(&[b'\\', c as u8]),
                c if c.is_control() || is_unprintable(c) => {
                    line.extend_from_slice(b"\\u");
                    // All of them have at most 16 bits.
                    bytes(line, &(c as u16).to_be_bytes());
                }
                c => line.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        if !chunk.invalid().is_empty() {
            line.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    line.push(b'"');
}

/// Appends the value of a field as JSON. Numbers stay numbers, whatever they mean.
pub(crate) fn json(line: &mut Vec<u8>, value: &Value<'_>) {
    let list = |line: &mut Vec<u8>, push: &mut dyn FnMut(&mut Vec<u8>)| {
        line.push(b'[');
        push(line);
        if line.ends_with(b",") {
            line.pop();
        }
        line.push(b']');
    };
    match *value {
        Value::Number(value) => number(line, value),
        Value::Text(text) => quoted(line, text),
        Value::Bytes(all) => {
            line.push(b'"');
            bytes(line, all);
            line.push(b'"');
        }
        Value::List(all) => list(line, &mut |line| {
            for text in texts(all) {
                quoted(line, text);
                line.push(b',');
            }
        }),
        Value::Ids(ids) => list(line, &mut |line| {
            for id in ids {
                number(line, u64::from(u32::from_be_bytes(*id)));
                line.push(b',');
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut line = Vec::new();
        push(&mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for value in [0, 7, 10, 999_999_999, 1_000_000_000, u64::MAX] {
            assert_eq!(pushed(|line| number(line, value)), value.to_string());
            assert_eq!(pushed(|line| padded(line, value, 9)), format!("{value:9}"));
            assert_eq!(pushed(|line| hexadecimal(line, value)), format!("{value:#x}"));
        }
    }

    #[test]
    fn texts_stay_one_line() {
        let text = "a\u{2713}\n\u{85}\u{202e}\"\\".as_bytes();
        let broken = [text, b"\xff\0"].concat();
        assert_eq!(
            pushed(|line| plain(line, &broken)),
            "a\u{2713}\\n\\u{85}\\u{202e}\"\\\\xff\\u{0}"
        );
        assert_eq!(
            pushed(|line| quoted(line, &broken)),
            "\"a\u{2713}\\u000a\\u0085\\u202e\\\"\\\\\u{fffd}\\u0000\""
        );
    }
}
