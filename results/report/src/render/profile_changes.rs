//! Two heap profiles compared, as text.

use super::profile_page::facts;
use super::terminal::wrapped;
use crate::format::{bytes, counted, shortened};
use crate::topics::profiles::FileProfile;
use gclab_eventlog::hp::Profile;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most bands that are listed.
const ROWS: usize = 20;
/// The most letters of a band's name.
const LETTERS: usize = 38;
/// The smallest change that is listed, as a part of the larger peak.
const LEAST: f64 = 0.01;

/// How the profile B differs from A: the peaks, and the bands whose largest census changed by at
/// least 1 % of a peak. The number that a runtime gives to a stack or set, such as `(89)main`, may
/// be another one in another run, so bands are matched without it and added up.
pub fn profile_changes(names: [&str; 2], profiles: [&Profile; 2]) -> String {
    let shown = profiles.map(FileProfile::of);
    let peaks = shown.each_ref().map(|shown| shown.peak.map_or(0, |at| shown.sum(at)));
    let mut bands: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, profile) in profiles.into_iter().enumerate() {
        for (name, most) in largest(profile) {
            bands.entry(name).or_default()[side] = most;
        }
    }
    let is_shared = bands.values().any(|[a, b]| *a > 0 && *b > 0);
    let least = (LEAST * peaks[0].max(peaks[1]) as f64).max(1.0);
    let mut changes: Vec<(&str, [u64; 2])> = bands.into_iter().collect();
    changes.retain(|(_, [a, b])| a.abs_diff(*b) as f64 >= least);
    changes.sort_by_key(|(_, [a, b])| Reverse(a.abs_diff(*b)));

    let [a, b] = peaks.map(bytes);
    let mut answer = match peaks {
        [0, _] | [_, 0] => "Nothing to compare: a profile has no census with a byte.".to_owned(),
        _ if a == b => format!("B peaks as high as A: {b}."),
        [old, new] => match new as f64 / old as f64 {
            // Two decimals would say nothing.
            ratio if ratio < 0.1 => format!("B peaks at 1/{:.0} of A: {b}, not {a}.", ratio.recip()),
            ratio => format!("B peaks at {ratio:.2}× A: {b}, not {a}."),
        },
    };
    if peaks.contains(&0) {
        changes.clear();
    }
    for (grows, word) in [(true, "grew"), (false, "shrank")] {
        if let Some((name, [a, b])) = changes.iter().find(|(_, [a, b])| (b > a) == grows) {
            let (a, b) = (bytes(*a), bytes(*b));
            let _ = write!(answer, " {} {word} most, from {a} to {b}.", shortened(name, LETTERS));
        }
    }
    if !is_shared && !peaks.contains(&0) {
        answer.push_str(" The two share no band: they may count by different properties (-h).");
    }
    let mut text = format!("{}\n\n", wrapped(&answer));
    for ((letter, name), shown) in ["A", "B"].into_iter().zip(names).zip(&shown) {
        let _ = writeln!(text, "{}", wrapped(&format!("{letter}  {name}: {}", facts(shown))));
    }
    if changes.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "\n{:<LETTERS$}{:>14}{:>14}{:>14}",
        "largest census of", "A", "B", "change"
    );
    for (name, [a, b]) in changes.iter().take(ROWS) {
        let change = format!("{}{}", if b > a { '+' } else { '-' }, bytes(a.abs_diff(*b)));
        let name = wrapped(&shortened(name, LETTERS));
        let _ = writeln!(text, "{name:<LETTERS$}{:>14}{:>14}{change:>14}", bytes(*a), bytes(*b));
    }
    if let Some(more @ 1..) = changes.len().checked_sub(ROWS) {
        let _ = writeln!(text, "and {}", counted(more, "smaller change"));
    }
    text
}

/// The largest census of each band, by the band's name without its number.
fn largest(profile: &Profile) -> BTreeMap<&str, u64> {
    let mut most: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (band, value) in &sample.values {
            *sums.entry(unnumbered(&profile.names[*band])).or_default() += value;
        }
        for (name, sum) in sums {
            let most = most.entry(name).or_default();
            *most = sum.max(*most);
        }
    }
    most
}

/// `main` of `(89)main`.
fn unnumbered(name: &str) -> &str {
    let parts = name.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match parts {
        Some((number, rest)) if !rest.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::profile_changes;
    use gclab_eventlog::hp::Profile;

    fn read(samples: &[&str]) -> Profile {
        let head = "JOB \"p\"\nDATE \"d\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n";
        let samples: String = samples
            .iter()
            .map(|bands| {
                format!(
                    "BEGIN_SAMPLE 1\n{}\nEND_SAMPLE 1\n",
                    bands.replace(' ', "\n").replace('=', "\t")
                )
            })
            .collect();
        Profile::read(format!("{head}{samples}").as_bytes(), "x.hp").unwrap()
    }

    /// A band counts where it is largest, and numbers of stacks do not tell bands apart.
    #[test]
    fn two_profiles_are_compared_by_the_peaks_of_their_bands() {
        let a = read(&["(1)main=1000 (2)f=200", "(1)main=10 gone=900"]);
        let b = read(&["(7)main=400 (8)main=100", "(3)f=2900 same=1"]);
        let text = profile_changes(["a.hp", "b.hp"], [&a, &b]);
        let expected = "B peaks at 2.42× A: 2.8 KiB, not 1.2 KiB. f grew most, from 200 B to 2.8 KiB. \
             gone shrank most, from 900 B to 0 B.";
        assert_eq!(text.split("\n\n").next().unwrap().replace('\n', " "), expected);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let rows = &rows[rows.iter().position(|row| row.starts_with(&["largest"])).unwrap() + 1..];
        let expected = [
            ["f", "200", "B", "2.8", "KiB", "+2.6", "KiB"],
            ["gone", "900", "B", "0", "B", "-900", "B"],
            ["main", "1000", "B", "500", "B", "-500", "B"],
        ];
        assert_eq!(rows, expected);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let itself = profile_changes(["a.hp", "a.hp"], [&a, &a]);
        assert!(itself.starts_with("B peaks as high as A: 1.2 KiB.\n"), "{itself}");
        let other = profile_changes(["a.hp", "c.hp"], [&a, &read(&["x=7"])]);
        assert!(
            other.starts_with("B peaks at 1/171 of A: 7 B, not 1.2 KiB.") && other.contains("share no band"),
            "{other}"
        );
        let empty = profile_changes(["a.hp", "e.hp"], [&a, &read(&[""])]);
        assert!(
            empty.starts_with("Nothing to compare: a profile has no census with a byte.\n\nA a.hp"),
            "{empty}"
        );
        assert!(!empty.contains("largest census of"), "{empty}");
    }
}
