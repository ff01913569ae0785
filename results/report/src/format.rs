//! Figures, names and counts as text. Each form is written here once, for all formats.

use crate::inference::{RUNS_FOR_INTERVAL, Ratio, Spread};
use crate::metric::{Metric, Unit};

/// Stands in the place of a figure that is not known.
pub(crate) const ABSENT: &str = "–";

/// Times below this many seconds are written in milliseconds.
pub(crate) const SHORT: f64 = 0.1;

/// `0.412 (0.405–0.431)`: the median, the least and the greatest value. The median alone for one
/// run or equal runs.
pub(crate) fn median_and_range(metric: &Metric, spread: &Spread) -> String {
    let (median, range) = median_then_range(metric, spread);
    format!("{median} {range}").trim_end().to_owned()
}

/// The two parts of [`median_and_range`]; the second may be empty.
pub(crate) fn median_then_range(metric: &Metric, spread: &Spread) -> (String, String) {
    let text = |value| metric.unit.text(value);
    let (median, min, max) = (text(spread.median), text(spread.min), text(spread.max));
    let range = if spread.n > 1 && min != max {
        format!("({min}–{max})")
    } else {
        String::new()
    };
    (median, range)
}

/// `1.32× (1.28–1.36)`, or the reason why there is no interval.
pub(crate) fn ratio(ratio: &Ratio) -> String {
    match ratio.ci95 {
        Some(ci) => format!("{:.2}× ({:.2}–{:.2})", ratio.estimate, ci.low, ci.high),
        None if ratio.runs < RUNS_FOR_INTERVAL => format!("{:.2}× (too few runs for an interval)", ratio.estimate),
        None => format!("{:.2}× (too noisy for an interval)", ratio.estimate),
    }
}

/// `0.0302 (0.0280–0.0325) s`: the mean and its 95 % interval, with the unit.
pub(crate) fn mean_and_interval(metric: &Metric, spread: &Spread) -> String {
    let text = |value| metric.unit.text(value);
    let interval = match spread.ci95 {
        Some(ci) if text(ci.low) != text(ci.high) => format!(" ({}–{})", text(ci.low), text(ci.high)),
        _ => String::new(),
    };
    format!("{}{interval} {}", text(spread.mean), metric.unit.name())
        .trim_end()
        .to_owned()
}

/// A ratio as by [`ratio`], or [`ABSENT`].
pub(crate) fn ratio_or_absent(of: Option<&Ratio>) -> String {
    of.map_or_else(|| ABSENT.to_owned(), ratio)
}

/// `1.5×`.
pub(crate) fn times(multiple: f64) -> String {
    format!("{multiple}×")
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
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The word with a capital letter at its beginning.
pub(crate) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// A name in at most `most` letters (two or more): its beginning and its end, which tell generic
/// types and sets apart better than the beginning alone.
pub(crate) fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let end = most / 3;
    let head: String = letters[..most - end - 1].iter().collect();
    let tail: String = letters[letters.len() - end..].iter().collect();
    format!("{head}…{tail}")
}

/// The largest unit of which `bytes` are at least one: its size in bytes, and its name.
pub(crate) fn byte_unit(bytes: f64) -> (f64, &'static str) {
    let units = [(1024f64.powi(3), "GiB"), (1024f64.powi(2), "MiB"), (1024.0, "KiB")];
    units.into_iter().find(|(size, _)| bytes >= *size).unwrap_or((1.0, "B"))
}

/// `2531360` as `2.4 MiB`; fewer bytes than a kibibyte without decimals.
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

/// A number with at most six decimals and without zeros at its end.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The deviation of 0.9, 1 and 1.1 is 0.1, and t(0.975, 2) = 4.3027: the factor of the interval
    /// is exp(4.3027 · 0.1 / √3) = 1.282.
    #[test]
    fn a_mean_stands_with_its_interval() {
        let text = |values: &[f64]| {
            let spread = Spread::of(values.iter().copied()).expect("values");
            mean_and_interval(&crate::metric::TOTAL_ELAPSED, &spread)
        };
        assert_eq!(text(&[1.1, 0.9, 1.0]), "1.000 (0.780–1.282) s");
        assert_eq!(text(&[1.0, 2.0]), "1.500 s", "two runs have no interval");
        assert_eq!(text(&[2.0; 5]), "2.000 s", "equal runs need none");
        // The mean of skewed runs is not their median.
        assert!(text(&[1.0, 1.0, 4.0]).starts_with("2.000 ("));
    }

    #[test]
    fn bytes_have_units() {
        let texts = [0, 1023, 1024, 1536, 2_531_360, 5 << 30].map(bytes);
        assert_eq!(texts, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "2.4 MiB", "5.0 GiB"]);
        assert_eq!(byte_unit(1023.0), (1.0, "B"));
        assert_eq!(byte_unit(1024.0), (1024.0, "KiB"));
        assert_eq!(byte_unit(5e12).1, "GiB");
    }

    #[test]
    fn long_names_keep_their_ends() {
        let name = format!("MutArray<{}>-end", "é".repeat(50));
        let short = shortened(&name, 27);
        assert_eq!(short.chars().count(), 27);
        assert!(short.starts_with("MutArray<") && short.ends_with(">-end"));
        assert_eq!(shortened("Tree", 27), "Tree");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(2, "census"), "2 censuses");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(capital("total"), "Total");
    }
}
