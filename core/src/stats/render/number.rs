//! Numbers as GHC's reports write them.

/// With a comma before every three digits from the right: `1,234,567`.
pub fn commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Seconds of some nanoseconds.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Whole MiB in some bytes, rounded down.
pub(super) fn mib(bytes: u64) -> u64 {
    bytes >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_before_three_digits() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (51_742_360, "51,742,360"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(commas(number), text);
        }
    }
}
