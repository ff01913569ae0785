//! The settings that a search may try: of a program under its runtime, or of a workload under
//! gclab's collectors.

use std::collections::BTreeMap;

use gclab_results::shell_line;

use super::space::{Axis, Point, Space, given};
use crate::command_line;
use crate::experiment::{Entry, Experiment};
use crate::registry::Registry;
use crate::run::{Combination, Run};
use crate::runner::preflight::{preflight, refusals};
use crate::runner::stop::Stop;
use crate::runtime::{Runtime, Setting, TunableFlag, gclab, links_gclab};

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

/// The settings of the work of `experiment`, which has one program alone, or one workload under each
/// collector, the default first.
///
/// # Errors
/// A message if the program is not there, or its runtime has no flags to try, or refuses them.
pub fn offer(mut experiment: Experiment, registry: &Registry, stop: &Stop) -> Result<Offer, String> {
    preflight(&mut experiment, stop)?;
    let entries = experiment.entries.clone();
    let first = entries.first().ok_or("there is nothing to run")?;
    let (program, runtime) = (&first.program, first.program.runtime);
    let name = &program.description.name;
    let tried = runtime.tried();
    if tried.is_empty() && program.file().is_some_and(|file| links_gclab(&file)) {
        let (own, words) = first.program.description.command.split_at(1);
        let words = words.iter().skip_while(|word| *word == "exec");
        let work = words.take_while(|word| !word.starts_with(['-', '+'])).cloned();
        let tune: Vec<String> = own.iter().cloned().chain(["tune".to_owned()]).chain(work).collect();
        return Err(format!(
            "program {name}: the workloads of a program that links gclab are tuned by their names: {}",
            shell_line(&tune)
        ));
    }
    if tried.is_empty() {
        return Err(format!(
            "program {name}: gclab cannot tell its runtime, and without one it has no flags to try; \
             --runtime ghc, --runtime ocaml or --runtime jvm says which"
        ));
    }
    // Each value by itself, so that a message names the flag that is refused.
    let values = tried.iter().flat_map(|tried| {
        let values = tried.values.iter().filter(|value| !value.is_empty());
        values.map(|value| (tried.key, *value))
    });
    let alone: Vec<Setting> = values.map(|flag| setting_of(runtime, &[flag])).collect();
    let refused: BTreeMap<(String, String), String> = refusals(program, &alone, stop)?
        .into_iter()
        .zip(&alone)
        .filter_map(|(refusal, setting)| {
            let value = setting.values().next()?;
            let own = || Some(format!("the command has {} itself", program.overriding(value)?));
            Some(((value.key().to_owned(), value.text().to_owned()), refusal.or_else(own)?))
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
    let notes = refused.iter();
    let notes = notes.map(|((key, value), reason)| format!("left out: {key} = {value}: {reason}"));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let is_offered = |tried: &TunableFlag, value: &str| {
        let too_many = tried.counts_processors && value.parse().is_ok_and(|count: usize| count > processors);
        !too_many && !refused.contains_key(&(tried.key.to_owned(), value.to_owned()))
    };
    let mut axes = axes(tried, is_offered);
    if entries.len() > 1 {
        let others = entries.iter().skip(1).map(|entry| Some(entry.collector.clone()));
        axes.push(Axis {
            key: COLLECTOR.to_owned(),
            values: std::iter::once(None).chain(others).collect(),
        });
    }
    let parts = |flags: &[(&str, &str)]| -> (&Entry, Setting) {
        let named = flags.iter().find(|(key, _)| *key == COLLECTOR);
        let entry = named.and_then(|(_, name)| entries.iter().find(|entry| entry.collector == *name));
        let flags: Vec<_> = flags.iter().copied().filter(|(key, _)| *key != COLLECTOR).collect();
        (entry.unwrap_or(first), setting_of(runtime, &flags))
    };
    let is_legal = |axes: &[Axis], point: &Point| {
        let flags = given(axes, point);
        let (entry, setting) = parts(&flags);
        let honours = || match registry.collector(&entry.collector) {
            Some(collector) if entry.is_own() => registry.fit(collector, &gclab::flags(&setting)).is_ok(),
            _ => entry.program.clash(&setting).is_none(),
        };
        makes_sense(tried, &flags) && honours()
    };
    let space = Space::new(axes, is_legal);
    let combination = |number: usize| {
        let (entry, setting) = parts(&space.flags(number));
        Combination::new(entry, &entry.program, BTreeMap::new(), setting)
    };
    let label = |number: usize| {
        let (entry, setting) = parts(&space.flags(number));
        let named = (entry.collector != first.collector).then(|| format!("--collector {}", entry.collector));
        let flags = setting.values().map(|value| value.meaning().to_owned());
        named.into_iter().chain(flags).collect::<Vec<_>>().join(" ")
    };
    Ok(Offer {
        labels: (0..space.len()).map(label).collect(),
        combinations: (0..space.len()).map(combination).collect(),
        notes: notes.collect(),
        space,
        experiment,
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

/// The setting of these flags, which an adapter offers.
fn setting_of(runtime: &dyn Runtime, flags: &[(&str, &str)]) -> Setting {
    let read = |(key, text): &(&str, &str)| {
        let value = runtime
            .read(key, text)
            .expect("an adapter tries its own flags with legal values");
        (value.key(), value)
    };
    flags.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime;

    /// Every adapter tries only flags that it has, with legal values, and names no others.
    #[test]
    fn adapters_try_their_own_flags() {
        for runtime in runtime::all().into_iter().chain([runtime::GCLAB]) {
            for tried in runtime.tried() {
                assert_eq!(
                    tried.values.iter().filter(|value| value.is_empty()).count(),
                    1,
                    "{}",
                    tried.key
                );
                for value in tried.values.iter().filter(|value| !value.is_empty()) {
                    runtime
                        .read(tried.key, value)
                        .unwrap_or_else(|bad| panic!("{}", bad.message));
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
