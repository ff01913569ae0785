//! The heap profile of one run: its files, and its table.
//!
//! The `.hp` file grows during the run. It has the workload's name and is in the working directory,
//! as with GHC, or where `--profile` says; `.prof` has the retainer sets (`-hr`). The table shows
//! the largest census, for standard output after the run.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::time::Duration;

use jiff::Zoned;

use gclab_core::config::{Breakdown, HeapProfile, Restrictions};
use gclab_core::mutator::MutatorKind;
use gclab_core::stats::Statistics;
use gclab_core::timer::Timer;
use gclab_core::world::World;
use gclab_eventlog::hp::{DATE_FORMAT, HpWriter};
use gclab_heap_traverse::profile::{HeapProfiler, Profile, retainer_table};

use crate::log::Logging;
use crate::outputs::{Output, Outputs, Purpose, stem};
use crate::request::{Request, RunProfile};

/// Limit on the bands in a table. A table of combinations of roots has all.
const SHOWN: usize = 20;

/// The profile of a running program.
#[derive(Debug)]
pub(crate) struct Profiling {
    profiler: HeapProfiler,
    /// The path of the files without their endings.
    stem: String,
    /// The file of sets of retainers. It has the report of a time profile, too, if there is one.
    report: Option<Output>,
    /// Whether names restrict the profile to some closures.
    restricted: bool,
}

impl Profiling {
    /// Starts the profile that the flags ask for, if any.
    ///
    /// # Errors
    /// A message with the file that cannot be written.
    pub(crate) fn begin(request: &Request<'_>, outputs: &Outputs) -> Result<Option<Profiling>, String> {
        let config = &request.flags.config;
        let flags = &HeapProfile {
            interval: config.census_interval().unwrap_or(0.0),
            ..config.profile.clone()
        };
        let (Some(breakdown), Some(file)) = (flags.breakdown, outputs.file(Purpose::HeapProfile)) else {
            return Ok(None);
        };
        let stem = stem(request);
        let report = (breakdown == Breakdown::Retainer).then(|| outputs.file(Purpose::Report));
        let name = format!("{stem}.hp");
        let to: Box<dyn std::io::Write + Send> = Box::new(BufWriter::new(file));
        let date = Zoned::now().strftime(DATE_FORMAT).to_string();
        let hp = HpWriter::new(to, &job(request), &date).map_err(|error| problem(&name, &error))?;
        Ok(HeapProfiler::new(flags, Some(hp)).map(|profiler| Profiling {
            profiler,
            stem,
            report: report.flatten(),
            restricted: flags.only != Restrictions::default(),
        }))
    }

    /// Lets the profiler receive the events of `world`.
    pub(crate) fn listen<M: MutatorKind>(&self, world: &mut World<M>) {
        world.listen(Box::new(self.profiler.clone()));
    }

    /// Lets the event log have the samples, too.
    pub(crate) fn log_to(&self, logging: &Logging, flags: &HeapProfile) {
        if let Some(receiver) = logging.censuses(flags) {
            self.profiler.tell(Box::new(receiver));
        }
    }

    /// Lets `timer` take a census of `world` every `interval`.
    pub(crate) fn sample<'a, M: MutatorKind>(&self, timer: &mut Timer<'a>, world: &'a World<M>, interval: Duration) {
        self.profiler.sample(timer, world, interval);
    }

    /// Finishes the files after the run.
    pub(crate) fn finish(self, statistics: &Statistics) -> RunProfile {
        let (profile, written) = self.profiler.finish(statistics.mutator.cpu_ns as f64 / 1e9);
        let mut wrong = written.err().map(|error| problem(&format!("{}.hp", self.stem), &error));
        if let Some(mut report) = self.report
            && let Err(error) = report.write_all(retainer_table(&profile).as_bytes())
        {
            wrong.get_or_insert(problem(&format!("{}.prof", self.stem), &error));
        }
        RunProfile {
            table: table(&profile, &self.stem, self.restricted),
            profile,
            unwritten: wrong,
        }
    }
}

fn problem(file: &str, error: &std::io::Error) -> String {
    format!("heap profile {file}: {error}")
}

/// The command as in GHC's files: the workload's words and the flags.
pub(crate) fn job(request: &Request<'_>) -> String {
    let mut job = request.program.iter().skip(2).cloned().collect::<Vec<_>>();
    job.push("+RTS".to_owned());
    job.extend(request.words.iter().cloned());
    job.join(" ")
}

/// The largest census as text.
fn table(profile: &Profile, stem: &str, restricted: bool) -> String {
    let (by, count) = (profile.breakdown.name(), profile.censuses.len());
    let Some(peak) = profile.peak() else {
        return format!(
            "heap profile by {by}, {stem}.hp: no census; the run ended before the first was due (-i<seconds>; -i0 takes one at each collection)\n"
        );
    };
    let all = if count == 1 {
        "one census"
    } else {
        &format!("{count} censuses")
    };
    if profile.censuses.iter().all(|census| census.bytes() == 0) {
        let why = match profile.breakdown {
            _ if restricted => "nothing was alive, or no closure has the names of the restriction",
            Breakdown::NamedRoots => "the program names no heap roots (hsc_env does: `Mutator::set_heap_roots`)",
            _ => "nothing was alive",
        };
        return format!("heap profile by {by}, {stem}.hp: {all}, all empty: {why}\n");
    }
    let mut text = format!(
        "heap profile by {by}, {stem}.hp: {all}; the largest, after {:.6} s:\n",
        peak.seconds
    );
    let bands = peak.table.as_ref().unwrap_or(&peak.bands);
    let shown = if peak.table.is_some() { bands.len() } else { SHOWN };
    let mut rows: Vec<(String, u64)> = bands.iter().take(shown).cloned().collect();
    let rest: u64 = bands.iter().skip(shown).map(|(_, bytes)| bytes).sum();
    if rest > 0 {
        rows.push((format!("({} more)", bands.len() - shown), rest));
    }
    rows.push(("sum".to_owned(), peak.bytes()));
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let figures = rows.iter().map(|(_, bytes)| bytes.to_string().len()).max().unwrap_or(0);
    for (name, bytes) in rows {
        let _ = writeln!(text, "  {name:<names$}  {bytes:>figures$}");
    }
    text
}
