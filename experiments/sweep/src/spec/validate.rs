//! The meaning of an experiment file: its names exist, and every run of the plan accepts its
//! arguments and flags.
//!
//! Flags are checked by setting them in [`Flags`], so a file can hold the same values as a command
//! line. Every collector of the file must honour all of its flags.

use std::ops::Range;

use gclab_core::words::Bytes;
use gclab_flags::{FLAGS, FlagError, Flags};
use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::file::{self, Collectors, File};
use super::sweeps::{Names, never_runs, twice};
use super::{excludes, profiles, programs, works};
use crate::axes::product;
use crate::experiment::{Entry, Experiment, Point};
use crate::registry::Registry;
use crate::runtime::gclab::{self, LOG_FLAG};
use crate::suggest::suggest;

/// More runs than this are a mistake: even at a second each they would take more than a day.
const MOST_RUNS: usize = 100_000;

/// Looks up all names in `file` and checks its values.
pub(super) fn validate(name: String, source: &Source, mut file: File, registry: &Registry) -> Parsed<Experiment> {
    profiles::not_in_timed_runs(source, &file)?;
    programs::detect(&mut file);
    let collectors = collectors(source, &file.collectors, registry)?;
    let of_programs: Vec<[String; 3]> = file.programs.iter().map(programs::names).collect();
    let of_file = if file.workloads.is_empty() {
        Vec::new()
    } else {
        collectors.clone()
    };
    let names = Names::new(&file, of_file, &of_programs);
    let own = file.sweeps.iter_mut().flatten();
    let sweeps = file.programs.iter_mut().filter_map(|own| own.sweeps.as_mut());
    let axes = own.chain(sweeps.flatten().flatten());
    let points = axes.flat_map(|axis| &mut axis.points);
    names.check(source, points.chain(&mut file.excludes))?;
    let check = Check { source, registry };
    // Size first: each later check takes time for each value.
    check.size(&file)?;
    let builds = works::builds(source, &file)?;
    let mut entries = works::entries(source, &file, registry, &collectors, &builds)?;
    entries.extend(programs::programs(source, &file)?);
    let heap = file.heap.iter().flat_map(|heap| heap.get_ref());
    let mut experiment = Experiment {
        name,
        text: source.text.clone(),
        question: file.question.clone(),
        pause_counters: file.pause_counters.as_ref().is_some_and(|asked| *asked.get_ref()),
        repeat: file.repeat,
        precision: file.precision,
        seed: file.seed,
        timeout: file.timeout,
        heap: heap.map(|multiple| *multiple.get_ref()).collect(),
        pause: file.pause.clone(),
        builds,
        entries,
        ..Experiment::default()
    };
    if let Collectors::All(place) = &file.collectors {
        check.leave_out(&mut experiment, place)?;
    }
    excludes::enter(source, &file, &mut experiment)?;
    if !file.workloads.is_empty() {
        check.every_setting(&experiment, &file)?;
    }
    Ok(experiment)
}

/// The collectors of the file.
fn collectors(source: &Source, collectors: &Collectors, registry: &Registry) -> Parsed<Vec<String>> {
    let Collectors::Named(names) = collectors else {
        return Ok(registry.collector_names().into_iter().map(str::to_owned).collect());
    };
    for (index, name) in names.iter().enumerate() {
        let wanted = name.get_ref();
        if registry.collector(wanted).is_none() {
            let help = format!(
                "{}; collectors = \"all\" takes all",
                suggest(wanted, "collectors", &registry.collector_names())
            );
            let message = format!("`collectors`: unknown collector \"{wanted}\"");
            return Err(SpecError::at(source, name.span(), message, "no such collector").help(help));
        }
        if names[..index].iter().any(|earlier| earlier.get_ref() == wanted) {
            return Err(twice(source, name.span(), "collectors", wanted));
        }
    }
    Ok(names.iter().map(|name| name.get_ref().clone()).collect())
}

/// An -M for checks before the right one is known. No machine has that much memory, so it conflicts
/// with no other flag.
const SOME_LIMIT: Bytes = Bytes(1 << 40);

/// The points of the sweeps of workloads.
fn own_points(experiment: &Experiment) -> Vec<Point> {
    let own = experiment.own().next();
    own.map_or_else(Vec::new, |own| product(&own.flags, &own.sweeps))
}

struct Check<'a> {
    source: &'a Source,
    registry: &'a Registry,
}

impl Check<'_> {
    fn at(&self, span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Box<SpecError> {
        SpecError::at(self.source, span, message, label)
    }

    /// Checks the number of runs, as far as it follows from the lengths of the file's lists.
    fn size(&self, file: &File) -> Parsed<()> {
        let product = |factors: &mut dyn Iterator<Item = usize>| factors.fold(1_usize, usize::saturating_mul);
        let settings = |sweeps: &[Vec<file::Axis>]| {
            let of_each = sweeps
                .iter()
                .map(|axes| product(&mut axes.iter().map(|axis| axis.points.len())));
            of_each.fold(0, usize::saturating_add).max(1)
        };
        // Each workload has `repeat` timed runs, and a run for each of its profiles and event logs.
        let profiles = |own: &file::Workload| own.profiles.as_ref().unwrap_or(&file.profiles).len();
        let untimed = |own: &file::Workload| profiles(own).saturating_add(works::is_logged(file, own).into());
        let of_each = file
            .workloads
            .iter()
            .map(|own| untimed(own).saturating_add(file.repeat as usize));
        let heaps = file.heap.as_ref().map_or(1, |heap| heap.get_ref().len());
        let factors = [
            settings(&file.sweeps),
            file.collectors.count(self.registry),
            file.builds.len().max(1),
            heaps,
            of_each.fold(0, usize::saturating_add),
        ];
        let of_workloads = product(&mut factors.into_iter());
        let of_program = |own: &file::Program| {
            let own = settings(own.sweeps.as_ref().unwrap_or(&file.sweeps));
            product(&mut [own, heaps, file.repeat as usize].into_iter())
        };
        let runs = file
            .programs
            .iter()
            .map(of_program)
            .fold(of_workloads, usize::saturating_add);
        if runs <= MOST_RUNS {
            return Ok(());
        }
        let span = file.sweeps.iter().flatten().next().map_or(0..0, |axis| axis.key.span());
        Err(self
            .at(
                span,
                format!("this sweep has {runs} runs"),
                "the cross product of all axes",
            )
            .help(format!("at most {MOST_RUNS}: leave out values or lower `repeat`")))
    }

    /// Leaves out the collectors that do not honour all flags of the file, if the file has
    /// `collectors = "all"`.
    fn leave_out(&self, experiment: &mut Experiment, place: &Range<usize>) -> Parsed<()> {
        let points = own_points(experiment);
        let settings: Vec<(&Point, Flags)> = points
            .iter()
            .map(|point| (point, self.flags_of(experiment, point)))
            .collect();
        let misfit = |name: &str| {
            let collector = self.registry.collector(name)?;
            let mut mine = settings.iter().filter(|(point, _)| point.is_for("collector", name));
            mine.find_map(|(_, flags)| self.registry.fit(collector, flags).err())
        };
        let collectors = experiment.collectors();
        let left_out: Vec<(String, String)> = collectors
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), misfit(name)?.to_string())))
            .collect();
        let is_left_out = |entry: &Entry| entry.is_own() && left_out.iter().any(|(name, _)| *name == entry.collector);
        experiment.entries.retain(|entry| !is_left_out(entry));
        experiment.left_out = left_out.into_iter().map(|(_, why)| why).collect();
        if experiment.collectors().is_empty() {
            let why = experiment.left_out.join("; ");
            return Err(self.at(
                place.clone(),
                format!("`collectors`: no collector honours all flags of this file: {why}"),
                "none is left",
            ));
        }
        Ok(())
    }

    /// The flags of a setting, with some `-M` if the experiment has `heap`.
    fn flags_of(&self, experiment: &Experiment, point: &Point) -> Flags {
        let mut flags = gclab::flags(&point.flags);
        if !experiment.heap.is_empty() {
            // The runs will have an -M, and some flags need one.
            flags.config.max_heap = Some(SOME_LIMIT);
        }
        flags
    }

    /// Checks that every collector has a point, and honours every flag of each of its points; and
    /// that no two flags of a point contradict each other.
    fn every_setting(&self, experiment: &Experiment, file: &File) -> Parsed<()> {
        let points = own_points(experiment);
        self.no_idle_name(experiment, file, &points)?;
        for point in &points {
            let mut flags = self.flags_of(experiment, point);
            // The words are for the message; most points need none.
            if flags.settle().is_err() {
                Flags::parse_words(&flags.to_words()).map_err(|error| self.of_flag(file, None, &error))?;
            }
            for name in experiment.collectors() {
                let names = [("collector", name)];
                let mut own = experiment.own().filter(|entry| entry.collector == name);
                let excludes = own.next().map_or(&[][..], |entry| &entry.excludes);
                if !point.is_for("collector", name) || excludes.iter().any(|exclude| exclude.takes(point, &names)) {
                    continue;
                }
                let Some(collector) = self.registry.collector(name) else {
                    continue;
                };
                self.registry
                    .fit(collector, &flags)
                    .map_err(|error| self.of_flag(file, Some(name), &error))?;
                self.every_profile(file, name, &flags)?;
                self.event_log(file, name, &flags)?;
            }
        }
        Ok(())
    }

    /// Checks that each collector, workload and build of the file has a point of a sweep.
    fn no_idle_name(&self, experiment: &Experiment, file: &File, points: &[Point]) -> Parsed<()> {
        for (choice, name) in experiment.own().flat_map(Entry::names) {
            if let Some(first) = file.sweeps.iter().flatten().next()
                && !points.iter().any(|point| point.is_for(choice, name))
            {
                return Err(never_runs(self.source, first, &format!("the {choice} {name}")));
            }
        }
        Ok(())
    }

    /// Checks that a run with the setting `flags` of `collector` can write an event log, if one is
    /// asked for.
    fn event_log(&self, file: &File, collector: &str, flags: &Flags) -> Parsed<()> {
        let own = file.workloads.iter().filter_map(|workload| workload.eventlog.as_ref());
        let mut all = file.eventlog.iter().chain(own);
        let Some(asked) = all.find(|asked| *asked.get_ref()) else {
            return Ok(());
        };
        self.fits_with(collector, flags, &[LOG_FLAG]).map_err(|error| {
            let text = format!("`eventlog`: with {collector} {}: {error}", flags.to_words().join(" "));
            self.at(asked.span(), text, "not in every configuration of this file")
        })?;
        Ok(())
    }

    /// The flags of a setting with some more, if `collector` honours them all.
    fn fits_with(&self, collector: &str, flags: &Flags, more: &[&str]) -> Result<Flags, FlagError> {
        let mut words = flags.to_words();
        words.extend(more.iter().map(|word| (*word).to_owned()));
        Flags::parse_words(&words).and_then(|flags| match self.registry.collector(collector) {
            Some(description) => self.registry.fit(description, &flags),
            None => Ok(flags),
        })
    }

    /// Checks that every profile is valid together with the setting `flags` of `collector`.
    fn every_profile(&self, file: &File, collector: &str, flags: &Flags) -> Parsed<()> {
        let own = file.workloads.iter().filter_map(|workload| workload.profiles.as_ref());
        for profile in file.profiles.iter().chain(own.flatten()) {
            let more: Vec<&str> = profile.get_ref().split_whitespace().collect();
            self.fits_with(collector, flags, &more).map_err(|error| {
                let text = format!("`profiles`: with {collector} {}: {error}", flags.to_words().join(" "));
                self.at(profile.span(), text, "not in every configuration of this file")
            })?;
        }
        Ok(())
    }

    /// An error about a flag that is valid by itself, at its place in the file.
    fn of_flag(&self, file: &File, collector: Option<&str>, error: &FlagError) -> Box<SpecError> {
        let word = match error {
            FlagError::NotHonoured { flag, .. } | FlagError::Conflict { flag, .. } => flag.trim_start_matches('-'),
            _ => "",
        };
        let named = |key: &str| {
            FLAGS.iter().any(|spec| {
                spec.toml == Some(key) && !spec.name.is_empty() && word.starts_with(spec.name.trim_start_matches('-'))
            })
        };
        let keys = file.swept().chain(&file.flags).map(|(key, _)| key);
        let key = keys
            .filter(|key| named(key.get_ref()))
            .max_by_key(|key| key.get_ref().len());
        let span = key.map_or(0..0, Spanned::span);
        let label = collector.map_or_else(|| "contradicts another flag".into(), |name| format!("not with {name}"));
        let report = self.at(span, error.to_string(), label);
        match collector {
            Some(_) if matches!(error, FlagError::NotHonoured { others, .. } if others.is_empty()) => {
                report.help("take the flag out of this file; `gclab list collectors` shows which flags each collector honours")
            }
            Some(name) => report.help(format!("take {name} out of `collectors`, or the flag out of this file: one file sweeps what all its collectors honour")),
            None => report,
        }
    }
}
