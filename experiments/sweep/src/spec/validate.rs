//! The meaning of an experiment file: its names exist, and every run of the plan accepts its
//! arguments and flags.
//!
//! Flags are checked by setting them in [`Flags`], so a file can hold the same values as a command
//! line. Every collector of the file must honour all of its flags.

use std::ops::Range;

use gclab_core::config::HeapHint;
use gclab_core::words::Bytes;
use gclab_flags::{FLAGS, FlagError, FlagValue, Flags};
use toml::Spanned;

use super::errors::{Parsed, Source, SpecError};
use super::own_flags::OwnFlags;
use super::parse::{Raw, RawAxis, RawCollectors, RawProgram, RawWorkload};
use super::sweeps::{Names, is_flag, twice};
use super::{excludes, profiles, programs, works};
use crate::command_line::LOG_FLAG;
use crate::experiment::{self, Experiment, Point, Setting};
use crate::plan;
use crate::registry::Registry;
use crate::suggest::suggest;

/// More runs than this are a mistake: at a second each they would take twelve days.
const MOST_RUNS: usize = 1_000_000;

/// Looks up all names in `raw` and checks its values.
pub(super) fn validate(name: String, source: &Source, mut raw: Raw, registry: &Registry) -> Parsed<Experiment> {
    profiles::not_in_timed_runs(source, &raw)?;
    let collectors = collectors(source, &raw.collectors, registry)?;
    let of_programs: Vec<[String; 3]> = raw.programs.iter().map(programs::names).collect();
    let of_file = if raw.workloads.is_empty() {
        Vec::new()
    } else {
        collectors.clone()
    };
    let names = Names::new(&raw, of_file, &of_programs);
    let own = raw.sweeps.iter_mut().flatten();
    let sweeps = raw.programs.iter_mut().filter_map(|own| own.sweeps.as_mut());
    let axes = own.chain(sweeps.flatten().flatten());
    let points = axes.flat_map(|axis| &mut axis.points);
    names.check(source, points.chain(&mut raw.excludes))?;
    let check = Check {
        source,
        registry,
        own: OwnFlags::read(source, &raw, &collectors)?,
    };
    // The size first: each later check takes time for each value.
    check.size(&raw)?;
    let mut experiment = Experiment {
        name,
        text: source.text.clone(),
        collectors,
        profiles: profiles::of_workloads(source, &raw)?,
        eventlogs: raw.workloads.iter().map(|own| is_logged(&raw, own)).collect(),
        flags: experiment::setting(check.own.flags.iter().map(|(_, flag)| flag.get_ref())),
        sweeps: check.own.sweeps.clone(),
        programs: programs::programs(source, &raw)?,
        question: raw.question.clone(),
        prepare: programs::commands(&raw.prepare),
        pause_counters: works::pause_counters(source, &raw)?,
        repeat: raw.repeat,
        precision: raw.precision,
        seed: raw.seed,
        timeout: raw.timeout,
        heap: check.heap(&raw)?,
        builds: works::builds(source, &raw)?,
        ..Experiment::default()
    };
    works::enter(source, &raw, registry, &mut experiment)?;
    if let RawCollectors::All(place) = &raw.collectors {
        check.leave_out(&mut experiment, place)?;
    }
    excludes::enter(source, &raw, &mut experiment)?;
    if !raw.workloads.is_empty() {
        check.every_setting(&experiment, &raw)?;
    }
    Ok(experiment)
}

/// The collectors of the file.
fn collectors(source: &Source, collectors: &RawCollectors, registry: &Registry) -> Parsed<Vec<String>> {
    let RawCollectors::Named(names) = collectors else {
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

/// An -M for checks before the right one is known. No machine has so much memory, so it contradicts
/// no other flag.
const SOME_LIMIT: Bytes = Bytes(1 << 40);

/// Whether it is an `-H` with a size.
fn asks_for_a_size(flag: &FlagValue) -> bool {
    let mut flags = Flags::default();
    flags.apply(flag);
    matches!(flags.config.heap_hint, HeapHint::Size(_))
}

/// Whether the configurations of a workload have a run for an event log.
fn is_logged(raw: &Raw, own: &RawWorkload) -> bool {
    let asked = own.eventlog.as_ref().or(raw.eventlog.as_ref());
    asked.is_some_and(|asked| *asked.get_ref())
}

struct Check<'a> {
    source: &'a Source,
    registry: &'a Registry,
    /// The flags of the file for gclab's own workloads.
    own: OwnFlags,
}

impl Check<'_> {
    fn at(&self, span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Box<SpecError> {
        SpecError::at(self.source, span, message, label)
    }

    /// `heap` sets `-M`, so no flag may set it, or ask for another size.
    fn heap(&self, raw: &Raw) -> Parsed<Vec<f64>> {
        let Some(heap) = &raw.heap else {
            return Ok(Vec::new());
        };
        let fixed = raw.fixed().map(|((key, text), place)| (key, text, place));
        let swept = raw.swept().map(|(key, text)| (key, text, "[sweep]"));
        let own = fixed.chain(swept).filter(|_| !raw.workloads.is_empty());
        for (key, text, place) in own.filter(|(key, ..)| is_flag(key.get_ref())) {
            let value = FlagValue::read(key.get_ref(), text.get_ref()).ok();
            let name = key.get_ref().as_str();
            if name == "M" || value.as_ref().is_some_and(asks_for_a_size) {
                return Err(self
                    .at(
                        key.span(),
                        format!("`{name}` is in {place}, but `heap` says how large heaps are"),
                        "also a size of the heap",
                    )
                    .help("`heap` sets the -M of every run, in multiples of the least heap of its workload: leave one of the two out"));
            }
        }
        Ok(heap.get_ref().iter().map(|multiple| *multiple.get_ref()).collect())
    }

    /// Checks the number of runs, as far as the lengths of the file's lists tell it.
    fn size(&self, raw: &Raw) -> Parsed<()> {
        let product = |factors: &mut dyn Iterator<Item = usize>| factors.fold(1_usize, usize::saturating_mul);
        let settings = |sweeps: &[Vec<RawAxis>]| {
            let of_each = sweeps
                .iter()
                .map(|axes| product(&mut axes.iter().map(|axis| axis.points.len())));
            of_each.fold(0, usize::saturating_add).max(1)
        };
        // Each workload has `repeat` timed runs, and a run for each of its profiles and event logs.
        let profiles = |own: &RawWorkload| own.profiles.as_ref().unwrap_or(&raw.profiles).len();
        let untimed = |own: &RawWorkload| profiles(own).saturating_add(is_logged(raw, own).into());
        let of_each = raw
            .workloads
            .iter()
            .map(|own| untimed(own).saturating_add(raw.repeat as usize));
        let heaps = raw.heap.as_ref().map_or(1, |heap| heap.get_ref().len());
        let factors = [
            settings(&raw.sweeps),
            raw.collectors.count(self.registry),
            raw.builds.len().max(1),
            heaps,
            of_each.fold(0, usize::saturating_add),
        ];
        let of_workloads = product(&mut factors.into_iter());
        let of_program = |own: &RawProgram| {
            let own = settings(own.sweeps.as_ref().unwrap_or(&raw.sweeps));
            product(&mut [own, heaps, raw.repeat as usize].into_iter())
        };
        let runs = raw
            .programs
            .iter()
            .map(of_program)
            .fold(of_workloads, usize::saturating_add);
        if runs <= MOST_RUNS {
            return Ok(());
        }
        let span = raw.sweeps.iter().flatten().next().map_or(0..0, |axis| axis.key.span());
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
        let points = plan::points(experiment);
        let settings: Vec<(&Point, Flags)> = points
            .iter()
            .map(|point| (point, self.flags_of(experiment, &point.flags)))
            .collect();
        let mut left_out = Vec::new();
        experiment.collectors.retain(|name| {
            let Some(collector) = self.registry.collector(name) else {
                return false;
            };
            let mine = settings.iter().filter(|(point, _)| point.is_for("collector", name));
            match mine
                .into_iter()
                .find_map(|(_, flags)| self.registry.fit(collector, flags).err())
            {
                None => true,
                Some(error) => {
                    left_out.push(error.to_string());
                    false
                }
            }
        });
        experiment.left_out = left_out;
        if experiment.collectors.is_empty() {
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
    fn flags_of(&self, experiment: &Experiment, setting: &Setting) -> Flags {
        let mut flags = experiment::flags(setting);
        if !experiment.heap.is_empty() {
            // The runs will have an -M, and some flags need one.
            flags.config.max_heap = Some(SOME_LIMIT);
        }
        flags
    }

    /// Checks that every collector has a point, and honours every flag of each of its points; and
    /// that no two flags of a point contradict each other.
    fn every_setting(&self, experiment: &Experiment, raw: &Raw) -> Parsed<()> {
        let points = plan::points(experiment);
        self.no_idle_name(experiment, raw, &points)?;
        for point in &points {
            let mut flags = self.flags_of(experiment, &point.flags);
            // The words are for the message; most points need none.
            if flags.settle().is_err() {
                Flags::parse_words(&flags.to_words()).map_err(|error| self.of_flag(raw, None, &error))?;
            }
            let runs = |name: &&String| {
                let names = [("collector", name.as_str())];
                point.is_for("collector", name)
                    && !experiment.excludes.iter().any(|exclude| exclude.takes(point, &names))
            };
            for name in experiment.collectors.iter().filter(runs) {
                let Some(collector) = self.registry.collector(name) else {
                    continue;
                };
                self.registry
                    .fit(collector, &flags)
                    .map_err(|error| self.of_flag(raw, Some(name), &error))?;
                self.every_profile(raw, name, &flags)?;
                self.event_log(raw, name, &flags)?;
            }
        }
        Ok(())
    }

    /// Checks that each collector, workload and build of the file has a point of a sweep.
    fn no_idle_name(&self, experiment: &Experiment, raw: &Raw, points: &[Point]) -> Parsed<()> {
        let collectors = experiment.collectors.iter().map(|name| ("collector", name));
        let workloads = experiment.workloads.iter().map(|(name, _)| ("workload", name));
        let builds = experiment.builds.iter().map(|build| ("build", &build.name));
        for (choice, name) in collectors.chain(workloads).chain(builds) {
            if points.iter().any(|point| point.is_for(choice, name)) {
                continue;
            }
            let span = raw.sweeps.iter().flatten().next().map_or(0..0, |axis| axis.key.span());
            let message = format!("no point of `sweep` is for the {choice} {name}, so it would never run");
            return Err(self
                .at(span, message, "all of these are for others")
                .help("take it out of the file, or add a [[sweep]] table for it"));
        }
        Ok(())
    }

    /// Checks that a run with the setting `flags` of `collector` can write an event log, if one is
    /// asked for.
    fn event_log(&self, raw: &Raw, collector: &str, flags: &Flags) -> Parsed<()> {
        let own = raw.workloads.iter().filter_map(|workload| workload.eventlog.as_ref());
        let mut all = raw.eventlog.iter().chain(own);
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

    /// Checks that every profile is legal together with the setting `flags` of `collector`.
    fn every_profile(&self, raw: &Raw, collector: &str, flags: &Flags) -> Parsed<()> {
        let own = raw.workloads.iter().filter_map(|workload| workload.profiles.as_ref());
        for profile in raw.profiles.iter().chain(own.flatten()) {
            let more: Vec<&str> = profile.get_ref().split_whitespace().collect();
            self.fits_with(collector, flags, &more).map_err(|error| {
                let text = format!("`profiles`: with {collector} {}: {error}", flags.to_words().join(" "));
                self.at(profile.span(), text, "not in every configuration of this file")
            })?;
        }
        Ok(())
    }

    /// An error about a flag that is legal by itself, at its place in the file.
    fn of_flag(&self, raw: &Raw, collector: Option<&str>, error: &FlagError) -> Box<SpecError> {
        let word = match error {
            FlagError::NotHonoured { flag, .. } | FlagError::Conflict { flag, .. } => flag.trim_start_matches('-'),
            _ => "",
        };
        let named = |key: &str| {
            FLAGS.iter().any(|spec| {
                spec.toml == Some(key) && !spec.name.is_empty() && word.starts_with(spec.name.trim_start_matches('-'))
            })
        };
        let keys = raw.swept().chain(&raw.flags).map(|(key, _)| key);
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
