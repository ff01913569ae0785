//! The heap profile of one run: its files, and its table.
//!
//! The `.hp` file grows during the run. It has the workload's name and is in the working directory,
//! as with GHC, or where `--profile` says; `.prof` has the sets of retainers (`-hr`). The table
//! shows the largest census, for standard output after the run.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::time::Duration;

use jiff::Zoned;

use gclab_core::config::{Breakdown, HeapProfile, Restrictions};
use gclab_core::mutator::MutatorKind;
use gclab_core::timer::Timer;
use gclab_core::world::World;
use gclab_heap_traverse::profile::{HeapProfiler, Profile, retainer_table};
use gclab_hp::{DATE_FORMAT, HpWriter};
use gclab_stats::Statistics;

use crate::log::Logging;
use crate::request::{Request, RunProfile};

/// The most bands in a table. A table of combinations of roots has all.
const SHOWN: usize = 20;

/// The profile of a running program.
#[derive(Debug)]
pub(crate) struct Profiling {
    profiler: HeapProfiler,
    /// The path of the files without their endings.
    stem: String,
    /// Whether names restrict the profile to some closures.
    restricted: bool,
}

impl Profiling {
    /// Begins the profile that the flags ask for, if they ask for one. Its files are made now: if
    /// they cannot be written, the run need not start.
    ///
    /// # Errors
    /// A message with the file that cannot be written.
    pub(crate) fn begin(request: &Request<'_>) -> Result<Option<Profiling>, String> {
        let config = &request.flags.config;
        let flags = &HeapProfile {
            interval: config.census_interval().unwrap_or(0.0),
            ..config.profile.clone()
        };
        let Some(breakdown) = flags.breakdown else {
            return Ok(None);
        };
        let stem = stem(request);
        if breakdown == Breakdown::Retainer {
            File::create(retainers(&stem)).map_err(|error| problem(&retainers(&stem), &error))?;
        }
        let name = format!("{stem}.hp");
        let file = File::create(&name).map_err(|error| problem(&name, &error))?;
        let to: Box<dyn std::io::Write + Send> = Box::new(BufWriter::new(file));
        let date = Zoned::now().strftime(DATE_FORMAT).to_string();
        let hp = HpWriter::new(to, &job(request), &date).map_err(|error| problem(&name, &error))?;
        Ok(HeapProfiler::new(flags, Some(hp)).map(|profiler| Profiling {
            profiler,
            stem,
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
        if profile.breakdown == Breakdown::Retainer {
            let name = retainers(&self.stem);
            // The file has the report of a time profile, if there is one.
            let written = OpenOptions::new()
                .append(true)
                .open(&name)
                .and_then(|mut file| file.write_all(retainer_table(&profile).as_bytes()));
            if let Err(error) = written {
                wrong.get_or_insert(problem(&name, &error));
            }
        }
        RunProfile {
            table: table(&profile, &self.stem, self.restricted),
            profile,
            unwritten: wrong,
        }
    }
}

/// The path of the files of profiles, without their endings.
pub(crate) fn stem(request: &Request<'_>) -> String {
    let given = request.profile.or(request.flags.profile_stem.as_deref());
    given.map_or_else(|| request.workload.to_owned(), |stem| stem.display().to_string())
}

fn retainers(stem: &str) -> String {
    format!("{stem}.prof")
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
    if profile.censuses.iter().all(|census| census.bytes() == 0) {
        let why = match profile.breakdown {
            _ if restricted => "nothing was alive, or no closure has the names of the restriction",
            Breakdown::NamedRoots => "the program names no heap roots (hsc_env does: `Mutator::set_heap_roots`)",
            _ => "nothing was alive",
        };
        return format!("heap profile by {by}, {stem}.hp: {count} censuses, all of nothing: {why}\n");
    }
    let all = if count == 1 {
        "one census"
    } else {
        &format!("{count} censuses")
    };
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
