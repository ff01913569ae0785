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
use super::file::{self, Collectors, File};
use super::own_flags::OwnFlags;
use super::sweeps::{Names, is_flag, twice};
use super::{excludes, profiles, programs, works};
use crate::command_line::LOG_FLAG;
use crate::experiment::{self, Experiment, Point, Setting};
use crate::plan;
use crate::registry::Registry;
use crate::suggest::suggest;

/// More runs than this are a mistake: at a second each they would take more than a day.
const MOST_RUNS: usize = 100_000;

/// Looks up all names in `file` and checks its values.
pub(super) fn validate(name: String, source: &Source, mut file: File, registry: &Registry) -> Parsed<Experiment> {
    profiles::not_in_timed_runs(source, &file)?;
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
    let check = Check {
        source,
        registry,
        own: OwnFlags::read(source, &file, &collectors)?,
    };
    // The size first: each later check takes time for each value.
    check.size(&file)?;
    let mut experiment = Experiment {
        name,
        text: source.text.clone(),
        collectors,
        flags: experiment::setting(check.own.flags.iter().map(|(_, flag)| flag.get_ref())),
        sweeps: check.own.sweeps.clone(),
        programs: programs::programs(source, &file)?,
        question: file.question.clone(),
        prepare: programs::commands(&file.prepare),
        pause_counters: works::pause_counters(source, &file)?,
        repeat: file.repeat,
        precision: file.precision,
        seed: file.seed,
        timeout: file.timeout,
        heap: check.heap(&file)?,
        builds: works::builds(source, &file)?,
        ..Experiment::default()
    };
    works::enter(source, &file, registry, &mut experiment)?;
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

/// An -M for checks before the right one is known. No machine has so much memory, so it contradicts
/// no other flag.
const SOME_LIMIT: Bytes = Bytes(1 << 40);

/// Whether it is an `-H` with a size.
fn asks_for_a_size(flag: &FlagValue) -> bool {
    let mut flags = Flags::default();
    flags.apply(flag);
    matches!(flags.config.heap_hint, HeapHint::Size(_))
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
    fn heap(&self, file: &File) -> Parsed<Vec<f64>> {
        let Some(heap) = &file.heap else {
            return Ok(Vec::new());
        };
        let fixed = file.fixed().map(|((key, text), place)| (key, text, place));
        let swept = file.swept().map(|(key, text)| (key, text, "[sweep]"));
        let own = fixed.chain(swept).filter(|_| !file.workloads.is_empty());
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
    fn every_setting(&self, experiment: &Experiment, file: &File) -> Parsed<()> {
        let points = plan::points(experiment);
        self.no_idle_name(experiment, file, &points)?;
        for point in &points {
            let mut flags = self.flags_of(experiment, &point.flags);
            // The words are for the message; most points need none.
            if flags.settle().is_err() {
                Flags::parse_words(&flags.to_words()).map_err(|error| self.of_flag(file, None, &error))?;
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
                    .map_err(|error| self.of_flag(file, Some(name), &error))?;
                self.every_profile(file, name, &flags)?;
                self.event_log(file, name, &flags)?;
            }
        }
        Ok(())
    }

    /// Checks that each collector, workload and build of the file has a point of a sweep.
    fn no_idle_name(&self, experiment: &Experiment, file: &File, points: &[Point]) -> Parsed<()> {
        let collectors = experiment.collectors.iter().map(|name| ("collector", name));
        let workloads = experiment.workloads.iter().map(|own| ("workload", &own.name));
        let builds = experiment.builds.iter().map(|build| ("build", &build.name));
        for (choice, name) in collectors.chain(workloads).chain(builds) {
            if points.iter().any(|point| point.is_for(choice, name)) {
                continue;
            }
            let span = file.sweeps.iter().flatten().next().map_or(0..0, |axis| axis.key.span());
            let message = format!("no point of `sweep` is for the {choice} {name}, so it would never run");
            return Err(self
                .at(span, message, "all of these are for others")
                .help("take it out of the file, or add a [[sweep]] table for it"));
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

    /// Checks that every profile is legal together with the setting `flags` of `collector`.
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

    /// An error about a flag that is legal by itself, at its place in the file.
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
