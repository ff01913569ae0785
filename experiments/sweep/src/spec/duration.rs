//! Times in experiment files and on the command line.

use std::time::Duration;

/// The longest time limit. A longer one is a mistake; this keeps sums of deadlines far from
/// overflow.
pub(super) const MAX_SECONDS: u64 = 1000 * 3600;

/// A duration from `"500ms"`, `"300s"`, `"5m"`, `"1h"` or `"1.5h"`; without a unit the number means
/// seconds. More than zero, at most 1000 hours.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number: f64 = text[..split].trim().parse().ok()?;
    let unit = match &text[split..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = number * unit;
    (seconds > 0.0 && seconds <= MAX_SECONDS as f64).then(|| Duration::from_secs_f64(seconds))
}
