//! `gclab status`: a sweep's runs done and left, the current one, and when it should finish.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use gclab_results::{ResultsDir, path_name, rfc3339, shell_line};
use gclab_sweep::find;
use gclab_sweep::runner::precision::{Need, needs, percent, told};
use gclab_sweep::runner::status::{Status, status as state_of};
use gclab_sweep::spec::parse_share;
use gclab_sweep::text::{counted, duration};
use serde_json::json;

use crate::common::{continued_in, print, refuse};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folders written by `gclab run`, folders of shards, or names of experiments for their newest
    /// folders. Shards of one sweep are counted together
    #[arg(required = true, value_name = "DIR|NAME")]
    folders: Vec<PathBuf>,
    /// Print how many runs each configuration needs to bring the 95 % interval of its mean time
    /// within plus or minus this share: 2%
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    precision: Option<f64>,
    /// Print a JSON object for each sweep
    #[arg(long)]
    json: bool,
}

pub(crate) fn status(arguments: &Arguments) -> ExitCode {
    let opened: Result<Vec<_>, _> = arguments.folders.iter().map(|name| find::open(name)).collect();
    let text = opened.and_then(|opened| {
        let sweeps = ResultsDir::join(opened);
        let texts = sweeps.iter().map(|dir| text(dir, arguments));
        texts.collect::<Result<Vec<_>, _>>()
    });
    match text {
        Ok(texts) => print(&texts.join("\n")),
        Err(message) => refuse(message),
    }
}

/// The state of a sweep in words or as JSON.
fn text(dir: &ResultsDir, arguments: &Arguments) -> Result<String, String> {
    let state =
        state_of(dir).map_err(|error| format!("{}: cannot look at its lock: {error}", path_name(dir.path())))?;
    let wished = Wished::of(dir, arguments.precision);
    Ok(if arguments.json {
        json_of(dir, &state, wished.as_ref())
    } else {
        text_of(dir, &state, wished.as_ref())
    })
}

/// A requested precision, and the runs that it needs.
struct Wished {
    precision: f64,
    needs: Vec<Need>,
}

impl Wished {
    /// The given precision, or else the plan's; `None` if there is none.
    fn of(dir: &ResultsDir, given: Option<f64>) -> Option<Wished> {
        let precision = given.or(dir.manifest().precision)?;
        Some(Wished {
            precision,
            needs: needs(dir, precision),
        })
    }

    fn lines(&self) -> Vec<String> {
        match told(&self.needs, self.precision) {
            lines if !lines.is_empty() => lines,
            _ if self.needs.is_empty() => vec!["no configuration has times yet".to_owned()],
            _ => vec![format!("all times have a precision of {}", percent(self.precision))],
        }
    }

    fn json(&self) -> serde_json::Value {
        let need = |need: &Need| {
            json!({
                "configuration": need.configuration,
                "done": need.done,
                "needed": need.needed,
            })
        };
        json!({
            "precision": self.precision,
            "configurations": self.needs.iter().map(need).collect::<Vec<_>>(),
        })
    }
}

/// The names of the folders of a sweep.
fn folders(dir: &ResultsDir) -> String {
    let names: Vec<String> = dir.folders().iter().map(path_name).collect();
    names.join(" and ")
}

/// Whether no run is left to do.
fn is_over(state: &Status) -> bool {
    state.left == 0
}

fn text_of(dir: &ResultsDir, state: &Status, wished: Option<&Wished>) -> String {
    let mut text = format!("{}\n", folders(dir));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<8} {value}");
    };
    let (whole, rounds) = state.rounds;
    line(
        "done",
        format!(
            "{} of {}; {whole} of {} whole",
            state.done,
            counted(state.planned, "run"),
            counted(rounds as usize, "round")
        ),
    );
    let failed = state.failed.iter().map(|(kind, count)| format!("{count} {kind}"));
    let failed: Vec<String> = failed.collect();
    line(
        "failed",
        if failed.is_empty() {
            "none".to_owned()
        } else {
            failed.join(", ")
        },
    );
    let running = match (&state.runner, &state.running) {
        (None, _) => "no: no process is doing runs in this folder".to_owned(),
        (Some(owner), None) => format!("{owner}, between two runs"),
        (Some(owner), Some(run)) => format!("{} ({}), for {}, by {owner}", run.run, run.id, duration(run.since)),
    };
    line("running", running);
    let precise = if state.is_precise {
        "; the times have the requested precision"
    } else {
        ""
    };
    line("left", format!("{}{precise}", counted(state.left, "run")));
    let end = match (state.remaining, &state.runner) {
        _ if is_over(state) => "it is over".to_owned(),
        (None, _) => "not known before the first run is done".to_owned(),
        (Some(left), Some(_)) => format!("in about {}, at {}", duration(left), rfc3339(SystemTime::now() + left)),
        (Some(left), None) => format!("about {} after it resumes", duration(left)),
    };
    line("end", end);
    if let Some(wished) = wished {
        line("precise", wished.lines().join("\n"));
    }
    if state.runner.is_none() && !is_over(state) && dir.folders().len() == 1 {
        line("go on", shell_line(&continued_in(&dir.manifest().command, dir.path())));
    }
    text
}

fn json_of(dir: &ResultsDir, state: &Status, wished: Option<&Wished>) -> String {
    let running = state.running.as_ref().map(|run| {
        json!({
            "id": run.id,
            "run": run.run,
            "seconds": run.since.as_secs_f64(),
        })
    });
    let end = state.remaining.filter(|_| state.runner.is_some() && !is_over(state));
    let object = json!({
        "folder": folders(dir),
        "planned": state.planned,
        "done": state.done,
        "failed": state.failed,
        "rounds_done": state.rounds.0,
        "rounds": state.rounds.1,
        "left": state.left,
        "runner": state.runner,
        "running": running,
        "remaining_seconds": state.remaining.map(|left| left.as_secs_f64()),
        "end": end.map(|left| rfc3339(SystemTime::now() + left)),
        "precise": state.is_precise,
        "needs": wished.map(Wished::json),
    });
    format!("{object:#}\n")
}
