//! Sizes as flags and records write them: a number and a unit letter.

use super::Bytes;

/// Units of sizes, largest first: powers of 1024, as in GHC's parser (its guide says powers of
/// 1000).
const UNITS: [(char, usize); 4] = [('t', 1 << 40), ('g', 1 << 30), ('m', 1 << 20), ('k', 1 << 10)];

/// Bytes of a word (`w`).
const WORD: usize = 8;

/// Reads a size as GHC does: a number, possibly with a fraction, and `k`, `m`, `g`, `t` (powers of
/// 1024) or `w` (8-byte words), in either case. A number without a letter is in bytes. Fractions of
/// a byte are dropped. Returns `None` for other text, and for sizes too large for the machine.
pub fn read_size(text: &str) -> Option<Bytes> {
    let (digits, unit) = split(text)?;
    if let Ok(whole) = digits.parse::<usize>() {
        // `parse` accepts a sign, but sizes have none.
        return if digits.starts_with('+') {
            None
        } else {
            whole.checked_mul(unit).map(Bytes)
        };
    }
    let bytes = read_decimal(digits)? * unit as f64;
    (bytes < usize::MAX as f64).then_some(Bytes(bytes as usize))
}

/// Reads the value of a flag as a number: `1m` is 1048576, `2w` is 16, `1.5` is 1.5. Returns `None`
/// for other text.
pub fn read_number(text: &str) -> Option<f64> {
    let (digits, unit) = split(text)?;
    Some(read_decimal(digits)? * unit as f64)
}

/// Reads digits with at most one point among them; no sign, no exponent, no infinity.
pub fn read_decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && text.bytes().any(|b| b.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// Splits a number from its unit letter. Returns the digits and the unit in bytes.
fn split(text: &str) -> Option<(&str, usize)> {
    let last = text.chars().last()?.to_ascii_lowercase();
    let unit = match UNITS.iter().find(|(letter, _)| *letter == last) {
        Some((_, unit)) => *unit,
        None if last == 'w' => WORD,
        None => return Some((text, 1)),
    };
    Some((&text[..text.len() - 1], unit))
}

/// Writes a size as flags do: in the largest unit that divides it.
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

    #[test]
    fn numbers_have_the_units_of_sizes() {
        let cases = [
            ("256k", Some(262_144.0)),
            ("1.5", Some(1.5)),
            ("2w", Some(16.0)),
            ("1G", Some(1_073_741_824.0)),
            ("0", Some(0.0)),
        ];
        for (text, value) in cases {
            assert_eq!(read_number(text), value, "{text}");
        }
        for text in ["", "k", "false", "default", "1kk", "é", "1é", "inf", "NaN"] {
            assert_eq!(read_number(text), None, "{text}");
        }
    }
}
