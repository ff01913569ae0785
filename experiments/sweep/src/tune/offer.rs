//! The settings that a search may try: of a program under its runtime, or of a workload under
//! gclab's collectors.

use std::collections::BTreeMap;

use gclab_flags::{FlagValue, Flags};

use super::space::{Axis, Point, Space, given};
use crate::command_line;
use crate::experiment::{self, Entry, Experiment, Setting, Work};
use crate::registry::Registry;
use crate::run::{Combination, Run};
use crate::runner::preflight::{preflight, refusals};
use crate::runner::stop::Stop;
use crate::runtime::{self, TunableFlag};

/// The settings of a search.
#[derive(Debug)]
pub struct Offer {
    /// The settings by number, without their commands.
    pub space: Space,
    /// The flags of each setting, as its runtime takes them; none for the default.
    pub labels: Vec<String>,
    /// The work under each setting of the space.
    pub combinations: Vec<Combination>,
    /// The experiment that the results folder names.
    pub experiment: Experiment,
    /// Facts that the user should know: flags that the runtime refuses.
    pub notes: Vec<String>,
}

impl Offer {
    /// The flags and their values, for the plan of the results folder.
    pub fn axes(&self) -> Vec<gclab_results::Axis> {
        let axes = self.space.axes().iter().filter(|axis| axis.key != COLLECTOR);
        let axis = |axis: &Axis| gclab_results::Axis {
            flag: axis.key.clone(),
            values: axis.values.iter().flatten().cloned().collect(),
        };
        axes.map(axis).collect()
    }

    /// The command of a run with a setting, for people.
    pub fn command(&self, setting: usize) -> Vec<String> {
        command_line::shown(&Run::new(&self.combinations[setting], 0, 0))
    }
}

/// The axis of gclab's collectors.
const COLLECTOR: &str = "collector";

/// gclab's own flags that are worth trying, in the order of a runtime's.
const OWN: [TunableFlag; 3] = [
    runtime::tried("A", &["512k", "1m", "", "16m", "64m"]),
    runtime::tried("F", &["1.5", "", "4"]),
    runtime::tried("G", &["", "3"]),
];

/// The collector that a workload has if none is named.
const DEFAULT_COLLECTOR: &str = "copying";

/// The settings of the program of `experiment`, which has this program alone.
///
/// # Errors
/// A message if the program is not there, or its runtime has no flags to try, or refuses them.
pub fn of_program(mut experiment: Experiment, stop: &Stop) -> Result<Offer, String> {
    let mut notes = Vec::new();
    let asked = experiment.programs.first().ok_or("there is no program")?.clone();
    let runtime = asked.program.runtime;
    let name = &asked.program.description.name;
    preflight(&mut experiment, stop)?;
    let tried = runtime.tried();
    if tried.is_empty() {
        return Err(format!(
            "program {name}: gclab cannot tell its runtime, and without one it has no flags to try; \
             --runtime ghc, --runtime ocaml or --runtime jvm says which"
        ));
    }
    // Each value by itself, so that a message names the flag that is refused.
    let alone: Vec<runtime::Setting> = tried
        .iter()
        .flat_map(|tried| {
            tried
                .values
                .iter()
                .filter(|value| !value.is_empty())
                .map(|value| (tried.key, *value))
        })
        .map(|(key, value)| setting_of(&asked, &[(key, value)]))
        .collect();
    let refused: BTreeMap<(String, String), String> = refusals(&asked.program, &alone, stop)?
        .into_iter()
        .zip(&alone)
        .filter_map(|(refusal, setting)| {
            let value = setting.values().next()?;
            Some(((value.flag().key.to_owned(), value.text().to_owned()), refusal?))
        })
        .collect();
    if let Some((_, reason)) = refused.first_key_value().filter(|_| refused.len() == alone.len()) {
        let reason = reason.trim_end_matches('.');
        let remedy = match runtime.name() {
            "ghc" => "; link it with -rtsopts",
            _ => "",
        };
        return Err(format!(
            "program {name}: the {} runtime refuses all flags, so there is nothing to tune: {reason}{remedy}",
            runtime.name()
        ));
    }
    for ((key, value), reason) in &refused {
        notes.push(format!("left out: {key} = {value}: {reason}"));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let is_offered = |tried: &TunableFlag, value: &str| {
        let too_many = tried.counts_processors && value.parse().is_ok_and(|count: usize| count > processors);
        !too_many && !refused.contains_key(&(tried.key.to_owned(), value.to_owned()))
    };
    let axes = axes(tried, is_offered);
    let space = Space::new(axes, |axes, point| makes_sense(tried, &given(axes, point)));
    let combination = |setting: usize| {
        let flags = setting_of(&asked, &space.flags(setting));
        Combination::of_program(&asked, &asked.program, BTreeMap::new(), flags)
    };
    let label = |setting: usize| {
        let setting = setting_of(&asked, &space.flags(setting));
        setting
            .values()
            .map(runtime::Value::meaning)
            .collect::<Vec<_>>()
            .join(" ")
    };
    Ok(Offer {
        labels: (0..space.len()).map(label).collect(),
        combinations: (0..space.len()).map(combination).collect(),
        space,
        experiment,
        notes,
    })
}

/// The settings of the workload of `experiment`, which has this workload alone.
///
/// # Errors
/// A message if no collector is there.
pub fn of_workload(mut experiment: Experiment, registry: &Registry) -> Result<Offer, String> {
    let Work {
        name: workload, args, ..
    } = experiment.workloads.first().ok_or("there is no workload")?.clone();
    let names = registry.collector_names();
    let first = names
        .iter()
        .find(|name| **name == DEFAULT_COLLECTOR)
        .or_else(|| names.first());
    let default = (*first.ok_or("this program has no collectors")?).to_owned();
    let mut axes = axes(&OWN, |_, _| true);
    axes.push(Axis {
        key: COLLECTOR.to_owned(),
        values: names
            .iter()
            .map(|name| Some((*name).to_owned()).filter(|name| *name != default))
            .collect(),
    });
    let parts = |flags: &[(&str, &str)]| -> (String, Setting) {
        let named = flags.iter().find(|(key, _)| *key == COLLECTOR);
        let collector = named.map_or_else(|| default.clone(), |(_, name)| (*name).to_owned());
        let own = flags.iter().filter(|(key, _)| *key != COLLECTOR);
        let values: Vec<FlagValue> = own.filter_map(|(key, text)| FlagValue::read(key, text).ok()).collect();
        (collector, experiment::setting(&values))
    };
    let honours = |axes: &[Axis], point: &Point| {
        let (collector, setting) = parts(&given(axes, point));
        let flags: Flags = experiment::flags(&setting);
        let collector = registry.collector(&collector);
        collector.is_some_and(|collector| registry.fit(collector, &flags).is_ok())
    };
    let space = Space::new(axes, honours);
    let combination = |setting: usize| {
        let (collector, setting) = parts(&space.flags(setting));
        Combination::new(&workload, &args, &collector, setting)
    };
    let label = |number: usize| {
        let (collector, setting) = parts(&space.flags(number));
        let named = (collector != default).then(|| format!("--collector {collector}"));
        let flags = setting.values().flat_map(FlagValue::meaning);
        named.into_iter().chain(flags).collect::<Vec<_>>().join(" ")
    };
    experiment.collectors = names.iter().map(|name| (*name).to_owned()).collect();
    Ok(Offer {
        labels: (0..space.len()).map(label).collect(),
        combinations: (0..space.len()).map(combination).collect(),
        space,
        experiment,
        notes: Vec::new(),
    })
}

/// The axes of flags with the values that are offered.
fn axes(tried: &[TunableFlag], is_offered: impl Fn(&TunableFlag, &str) -> bool) -> Vec<Axis> {
    let axis = |tried: &TunableFlag| {
        let is_kept = |value: &&&str| value.is_empty() || is_offered(tried, value);
        let values: Vec<&&str> = tried.values.iter().filter(is_kept).collect();
        Axis {
            key: tried.key.to_owned(),
            values: values
                .into_iter()
                .map(|value| Some((*value).to_owned()).filter(|value| !value.is_empty()))
                .collect(),
        }
    };
    tried.iter().map(axis).filter(|axis| axis.values.len() > 1).collect()
}

/// Whether each flag has the other flag that it makes sense with.
fn makes_sense(tried: &[TunableFlag], flags: &[(&str, &str)]) -> bool {
    let value = |key: &str| flags.iter().find(|(other, _)| *other == key).map(|(_, value)| *value);
    tried.iter().all(|tried| match tried.only_with {
        Some((other, values)) if value(tried.key).is_some() => values.contains(&value(other).unwrap_or("")),
        _ => true,
    })
}

/// The setting of a runtime with these flags.
fn setting_of(entry: &Entry, flags: &[(&str, &str)]) -> runtime::Setting {
    let known = entry.program.runtime.flags();
    let read = |(key, text): &(&str, &str)| {
        let flag = known
            .iter()
            .find(|flag| flag.key == *key)
            .expect("an adapter tries its own flags");
        (flag.key, flag.read(text).expect("an adapter tries legal values"))
    };
    flags.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every adapter tries only flags that it has, with legal values, and names no others.
    #[test]
    fn adapters_try_their_own_flags() {
        for runtime in runtime::all() {
            for tried in runtime.tried() {
                let flag = |key: &str| runtime.flags().iter().find(|flag| flag.key == key);
                let own = flag(tried.key).unwrap_or_else(|| panic!("{} has no {}", runtime.name(), tried.key));
                assert_eq!(
                    tried.values.iter().filter(|value| value.is_empty()).count(),
                    1,
                    "{}",
                    tried.key
                );
                for value in tried.values.iter().filter(|value| !value.is_empty()) {
                    assert!(own.read(value).is_some(), "{}: {} = {value}", runtime.name(), tried.key);
                }
                if let Some((other, values)) = tried.only_with {
                    let partner = runtime
                        .tried()
                        .iter()
                        .find(|tried| tried.key == other)
                        .expect("a flag that is tried");
                    assert!(
                        values.iter().all(|value| partner.values.contains(value)),
                        "{} with {other}",
                        tried.key
                    );
                }
            }
        }
    }

    #[test]
    fn flags_without_sense_are_left_out() {
        let ghc = runtime::named("ghc").expect("an adapter");
        let sense = |flags: &[(&str, &str)]| makes_sense(ghc.tried(), flags);
        assert!(sense(&[]) && sense(&[("A", "64m"), ("n", "4m")]));
        assert!(!sense(&[("n", "4m")]), "chunks of a small area");
        assert!(
            !sense(&[("c", "true"), ("xn", "true")]),
            "two collectors of the oldest generation"
        );
        assert!(!sense(&[("qg", "false")]) && sense(&[("N", "2"), ("qg", "false")]));
    }
}
