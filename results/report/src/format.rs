//! Figures, names and counts as text, in the same form for all output formats.

use crate::metric::{Metric, Unit};
use gclab_results::inference::{Advice, Effect, RUNS_FOR_INTERVAL, Spread};

/// Stands in for an unknown figure.
pub(crate) const ABSENT: &str = "–";

/// Times below this many seconds are written in milliseconds.
pub(crate) const SHORT: f64 = 0.1;

/// `0.412 (0.405–0.431) s`: the centre, the smallest and the largest run. Only the centre for one
/// run or equal runs.
pub(crate) fn spread(metric: &Metric, spread: &Spread) -> String {
    let text = |value| metric.unit.text(value);
    let (low, high) = (text(spread.min), text(spread.max));
    let range = if low == high {
        String::new()
    } else {
        format!(" ({low}–{high})")
    };
    format!("{}{range} {}", text(spread.center), metric.unit.name())
        .trim_end()
        .to_owned()
}

/// `1.32× (1.28–1.36)`; `at least 2.60×` if the interval is wide, and just `too noisy` if it says
/// nothing.
pub(crate) fn effect(effect: &Effect) -> String {
    if let Some(bound) = effect.bound() {
        let side = if bound > 1.0 { "at least" } else { "at most" };
        return format!("{side} {bound:.2}×");
    }
    match effect.ci95() {
        Some(_) if effect.is_too_noisy() => "too noisy".to_owned(),
        Some(ci) => format!("{:.2}× ({:.2}–{:.2})", effect.ratio(), ci.low, ci.high),
        None if effect.runs < RUNS_FOR_INTERVAL => format!("{:.2}× (too few runs)", effect.ratio()),
        None => "too noisy".to_owned(),
    }
}

/// What to do about an undecided effect.
pub(crate) fn advice(effect: &Effect, threshold: f64) -> String {
    match effect.advice(threshold) {
        Advice::Runs(runs) if effect.runs < RUNS_FOR_INTERVAL => format!("{runs} or more runs of each are needed"),
        Advice::Runs(runs) => format!("about {runs} runs of each would decide"),
        Advice::LessNoise => "make the program run longer, or stop other work on the machine".to_owned(),
    }
}

/// `1.5×`.
pub(crate) fn times(multiple: f64) -> String {
    format!("{multiple}×")
}

/// A share in percent, with as many decimals as it has, up to one.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e3).round() / 1e1)
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

/// `run` for one, `runs` for any other number; the plural of `census` is `censuses`.
pub(crate) fn plural(number: usize, noun: &str) -> String {
    let ending = match (number, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{noun}{ending}")
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match &names[..] {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `list`, where more than `most` names are counted: `a, b and 7 more`.
pub fn short_list<S: AsRef<str>>(names: &[S], most: usize) -> String {
    if names.len() <= most {
        return list(names);
    }
    let mut shown: Vec<String> = names[..most - 1].iter().map(|name| name.as_ref().to_owned()).collect();
    shown.push(format!("{} more", names.len() + 1 - most));
    list(&shown)
}

/// The word with a capital first letter.
pub(crate) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// A name in at most `most` letters (two or more). The end is kept: type paths differ there.
pub(crate) fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let end = most * 2 / 3;
    let head: String = letters[..most - end - 1].iter().collect();
    let tail: String = letters[letters.len() - end..].iter().collect();
    format!("{head}…{tail}")
}

/// The largest unit that fits into `bytes` at least once: its size in bytes, and its name.
pub(crate) fn byte_unit(bytes: f64) -> (f64, &'static str) {
    let units = [(1024f64.powi(3), "GiB"), (1024f64.powi(2), "MiB"), (1024.0, "KiB")];
    units.into_iter().find(|(size, _)| bytes >= *size).unwrap_or((1.0, "B"))
}

/// `2531360` as `2.4 MiB`; less than a kibibyte has no decimals.
pub(crate) fn bytes(bytes: u64) -> String {
    match byte_unit(bytes as f64) {
        (1.0, unit) => format!("{bytes} {unit}"),
        (size, unit) => format!("{:.1} {unit}", bytes as f64 / size),
    }
}

/// The unit in which a time up to `seconds` is written, as a factor and a name.
pub(crate) fn time_unit(seconds: f64) -> (f64, &'static str) {
    if seconds < SHORT {
        (1e3, "milliseconds")
    } else {
        (1.0, "seconds")
    }
}

/// A time since the start as text with its unit.
pub(crate) fn time(seconds: f64) -> String {
    if seconds < SHORT {
        Unit::Milliseconds.text_with_unit(seconds)
    } else {
        Unit::Seconds.text_with_unit(seconds)
    }
}

/// Nanoseconds as milliseconds, without the unit.
pub(crate) fn milliseconds(nanoseconds: u64) -> String {
    Unit::Milliseconds.text(nanoseconds as f64 * 1e-9)
}

/// A number with at most six decimals and no trailing zeros.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}
