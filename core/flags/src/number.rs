//! Numbers as OCaml reads them.

/// The number that OCaml reads in `text`: decimal digits, or hexadecimal ones after `0x`, then
/// optionally `k`, `M` or `G` for 2^10, 2^20 or 2^30. Numbers that are too large become the
/// largest.
pub(crate) fn ocaml_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let (digits, shift) = match digits.chars().last()? {
        'k' => (&digits[..digits.len() - 1], 10),
        'M' => (&digits[..digits.len() - 1], 20),
        'G' => (&digits[..digits.len() - 1], 30),
        _ => (digits, 0),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let number = u64::from_str_radix(digits, radix).unwrap_or(u64::MAX);
    Some(number.saturating_mul(1 << shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_ocaml_reads_them() {
        let cases = [
            ("0", Some(0)),
            ("64k", Some(65_536)),
            ("1M", Some(1 << 20)),
            ("2G", Some(2 << 30)),
            ("0x400", Some(1024)),
            ("0X10k", Some(16_384)),
            ("99999999999999999999", Some(u64::MAX)),
            ("0xffffffffffffffffG", Some(u64::MAX)),
            ("", None),
            ("k", None),
            ("0x", None),
            ("64K", None),
            ("1m", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("12é", None),
        ];
        for (text, expected) in cases {
            assert_eq!(ocaml_number(text), expected, "{text}");
        }
    }
}
