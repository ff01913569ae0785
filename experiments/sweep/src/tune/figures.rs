//! The figures of a run that a search compares, its goal, and its limits.

use std::fmt;
use std::str::FromStr;

use crate::spec::parse_duration;
use gclab_core::words::size::read_number;

/// The figures of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Elapsed time, in seconds.
    pub time: f64,
    /// The longest pause, in seconds.
    pub pause: Option<f64>,
    /// The peak of memory, in bytes.
    pub memory: Option<f64>,
    /// Other programs disturbed the run.
    pub disturbed: bool,
}

/// A figure that a search minimises, or that a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// Elapsed time.
    Time,
    /// The longest pause.
    Pause,
    /// The peak of memory.
    Memory,
}

/// Shorter pauses count as this long: ratios of microseconds say nothing about a program, and a run
/// without collections has a pause of 0.
pub const LEAST_PAUSE: f64 = 1e-5;

impl Goal {
    /// All goals, in the order of messages.
    pub const ALL: [Goal; 3] = [Goal::Time, Goal::Pause, Goal::Memory];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Time => "time",
            Goal::Pause => "pause",
            Goal::Memory => "memory",
        }
    }

    /// The figure in words.
    pub fn words(self) -> &'static str {
        match self {
            Goal::Time => "elapsed time",
            Goal::Pause => "longest pause",
            Goal::Memory => "peak memory",
        }
    }

    /// The figure of a run, above 0; `None` if the run does not report it.
    pub fn of(self, figures: &Figures) -> Option<f64> {
        let value = match self {
            Goal::Time => figures.time,
            Goal::Pause => figures.pause?.max(LEAST_PAUSE),
            Goal::Memory => figures.memory?,
        };
        (value > 0.0).then_some(value)
    }
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Goal, String> {
        let found = Goal::ALL.into_iter().find(|goal| goal.name() == text);
        found.ok_or_else(|| "a goal is time, pause or memory".to_owned())
    }
}

/// An upper limit for a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The figure that is limited.
    pub goal: Goal,
    /// The limit, in seconds or bytes.
    pub most: f64,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        let form = "a limit is memory=SIZE, pause=TIME or time=TIME: memory=2g, pause=10ms, time=1.5s";
        let (name, value) = text.split_once('=').ok_or_else(|| form.to_owned())?;
        let goal = name.parse::<Goal>();
        let goal = goal.map_err(|_| form.to_owned())?;
        let most = if goal == Goal::Memory {
            // A number without a unit would be bytes for GHC and words for OCaml.
            let has_unit = value.ends_with(|last: char| "kmgtKMGT".contains(last));
            let bytes = read_number(value).filter(|bytes| has_unit && *bytes >= 1.0 && bytes.is_finite());
            bytes.ok_or_else(|| {
                format!("`{value}` is not a valid size: expected a number with k, m, g or t, such as 512m")
            })?
        } else {
            let has_unit = value.ends_with(|last: char| last.is_ascii_alphabetic());
            let time = parse_duration(value).filter(|_| has_unit);
            let problem = || {
                format!("`{value}` is not a valid time for {name}: expected a number with ms, s, m or h, such as 10ms")
            };
            time.ok_or_else(problem)?.as_secs_f64()
        };
        Ok(Limit { goal, most })
    }
}

impl Limit {
    /// The limit as on the command line.
    pub fn written(&self) -> String {
        let unit = if self.goal == Goal::Memory { 1024.0 } else { 1e-3 };
        let letters = if self.goal == Goal::Memory { "k" } else { "ms" };
        format!("{}={}{letters}", self.goal.name(), self.most / unit)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at most {}", self.goal.words(), shown(self.goal, self.most))
    }
}

/// A figure with its unit.
pub fn shown(goal: Goal, value: f64) -> String {
    match goal {
        Goal::Memory if value < f64::from(1 << 20) => format!("{} KiB", three(value / 1024.0)),
        Goal::Memory => format!("{} MiB", three(value / f64::from(1 << 20))),
        Goal::Time | Goal::Pause if value < 0.000_999_5 => format!("{} µs", three(value * 1e6)),
        Goal::Time | Goal::Pause if value < 0.999_5 => format!("{} ms", three(value * 1e3)),
        Goal::Time | Goal::Pause => format!("{} s", three(value)),
    }
}

/// A number with three digits.
fn three(value: f64) -> String {
    let places = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_units() {
        let most = |text: &str| text.parse::<Limit>().map(|limit| limit.most);
        assert_eq!(most("memory=2g"), Ok(2.0 * (1_u64 << 30) as f64));
        assert_eq!(most("pause=10ms"), Ok(0.01));
        assert_eq!(most("time=1.5s"), Ok(1.5));
        for text in ["memory=2g", "pause=1.5ms", "time=90s"] {
            let limit: Limit = text.parse().expect("a limit");
            assert_eq!(limit.written().parse(), Ok(limit));
        }
        for wrong in [
            "",
            "memory",
            "memory=",
            "memory=2",
            "memory=10ms",
            "memory=0m",
            "pause=10",
            "pause=2g",
            "time=-1s",
            "speed=3s",
        ] {
            assert!(most(wrong).is_err(), "{wrong}");
        }
        let message = most("pause=2g").expect_err("a size is no time");
        assert!(
            message.contains("`2g` is not a valid time for pause") && message.contains("10ms"),
            "{message}"
        );
    }

    #[test]
    fn figures_are_shown_with_three_digits() {
        assert_eq!(shown(Goal::Time, 1.2345), "1.23 s");
        assert_eq!(shown(Goal::Time, 0.05), "50.0 ms");
        assert_eq!(shown(Goal::Pause, 0.000_25), "250 µs");
        assert_eq!(shown(Goal::Memory, 3.0 * (1 << 20) as f64), "3.00 MiB");
        assert_eq!(shown(Goal::Memory, 1024.0), "1.00 KiB");
        assert_eq!(shown(Goal::Time, 0.999_9), "1.00 s");
    }
}
