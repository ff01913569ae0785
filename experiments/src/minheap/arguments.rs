//! The arguments of a search.

use std::time::Duration;

use clap::Args as ClapArgs;
use gclab_sweep::minheap::{RUNS, TOLERANCE};
use gclab_sweep::spec::parse_duration;

use crate::common::fraction;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Flags of the runs stand between +RTS and -RTS, and in GCLABRTS. A program of your own has the limit of its runtime: -M, -Xmx, or one of its address space. Every probe is kept in results/minheap/ and never repeated."
)]
pub(crate) struct Arguments {
    /// The workload; `gclab list workloads` shows them
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub(super) workload: Option<String>,
    /// Its arguments; `-` stands for the default, and trailing ones may be omitted
    #[arg(allow_hyphen_values = false)]
    pub(super) args: Vec<String>,
    /// A program of your own; everything after `--` is its command
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// A collector; repeat it for several [default: all that honour the flags]
    #[arg(long = "collector", value_name = "NAME", conflicts_with = "command")]
    pub(super) collectors: Vec<String>,
    /// OCaml's settings as letters, such as s=64k,o=80: the same as `+RTS --ocaml=LETTERS`
    #[arg(long, value_name = "LETTERS", conflicts_with = "command")]
    pub(super) ocaml: Vec<String>,
    /// The runtime of the program (ghc, ocaml, jvm, none) [default: detected from its file]
    #[arg(long, value_name = "NAME", conflicts_with = "workload")]
    pub(super) runtime: Option<String>,
    /// Relative error of the result: 1% or 0.01; never finer than a megablock, 1 MiB
    #[arg(long, value_name = "FRACTION", default_value_t = Tolerance(TOLERANCE))]
    pub(super) tolerance: Tolerance,
    /// Number of runs that must complete
    #[arg(long, value_name = "K", default_value_t = RUNS, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
    /// Time limit of each run: 300s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = timeout)]
    pub(super) timeout: Duration,
    /// Forget earlier probes
    #[arg(long)]
    pub(super) fresh: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A fraction, written in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tolerance(pub(super) f64);

impl std::str::FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Tolerance, String> {
        fraction(text)
            .filter(|fraction| (0.0..=1.0).contains(fraction))
            .map(Tolerance)
            .ok_or_else(|| "expected a fraction between 0 and 1, such as 1% or 0.01".into())
    }
}

impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}

fn timeout(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "expected a time such as 300s, 5m or 1h, at most 1000h".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances() {
        let parse = |text: &str| text.parse::<Tolerance>();
        assert_eq!(
            (parse("1%"), parse("0.05"), parse("0")),
            (Ok(Tolerance(0.01)), Ok(Tolerance(0.05)), Ok(Tolerance(0.0)))
        );
        for wrong in ["", "%", "-1%", "x", "NaN", "101%", "2"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Tolerance(TOLERANCE).to_string(), "1%");
    }
}
