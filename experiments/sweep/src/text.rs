//! Counts, sizes and times in words for people.

use std::time::Duration;

/// A count with its noun: `1 run`, `2 runs`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Bytes in MiB: `24 MiB`, `24.5 MiB`.
pub fn mebibytes(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    let decimals = if mebibytes.fract() == 0.0 { 0 } else { 1 };
    format!("{mebibytes:.decimals$} MiB")
}

/// A duration in its two largest units: `8 s`, `3 min 20 s`, `2 h 5 min`. At least one second.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64().round() as u64;
    match seconds {
        0 => "1 s".into(),
        1..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// The first lines of a message that [`ends`] keeps: a runtime prints its help behind its complaint.
pub(crate) const FIRST_LINES: usize = 2;

/// The last ones: others print their complaint behind what they did.
const LAST_LINES: usize = 3;

/// The first and the last lines of `text` that are not empty, each on an indented line of its own.
pub fn ends(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = if lines.len() > FIRST_LINES + 1 + LAST_LINES {
        let last = &lines[lines.len() - LAST_LINES..];
        [&lines[..FIRST_LINES], &["…"], last].concat()
    } else {
        lines
    };
    shown.iter().map(|line| format!("\n    {line}")).collect()
}

/// The beginning of a text that is longer than `most` characters, and how many more there are.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} more characters)", &text[..end], text[end..].chars().count()),
    }
}

/// A number's text with the digits and the decimal separator of Arabic locales (`١٫٥`) replaced.
pub(crate) fn western(number: &str) -> String {
    let western = |c: char| match c {
        '\u{660}'..='\u{669}' => char::from_digit(c as u32 - 0x660, 10).unwrap_or(c),
        '\u{6f0}'..='\u{6f9}' => char::from_digit(c as u32 - 0x6f0, 10).unwrap_or(c),
        '\u{66b}' => '.',
        other => other,
    };
    number.chars().map(western).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_in_two_units() {
        let texts: Vec<_> = [0, 1, 119, 120, 200, 7199, 7500]
            .into_iter()
            .map(|s| duration(Duration::from_secs(s)))
            .collect();
        assert_eq!(
            texts,
            [
                "1 s",
                "1 s",
                "119 s",
                "2 min 0 s",
                "3 min 20 s",
                "119 min 59 s",
                "2 h 5 min"
            ]
        );
    }

    #[test]
    fn sizes_and_counts() {
        assert_eq!([mebibytes(24 << 20), mebibytes(49 << 19)], ["24 MiB", "24.5 MiB"]);
        assert_eq!([counted(1, "run"), counted(0, "run")], ["1 run", "0 runs"]);
        assert_eq!(ends("a\n\nb\n"), "\n    a\n    b");
        let shown = |text: &str| ends(text).split_whitespace().collect::<String>();
        assert_eq!(
            [shown("a b c d e f"), shown("a\nb\nc\nd\ne\nf\ng")],
            ["abcdef", "ab…efg"]
        );
        assert_eq!(
            [cut("größe", 5), cut("größe", 3)],
            ["größe", "grö… (2 more characters)"]
        );
    }
}
