//! Fingerprints: a hash of exactly those facts that affect the result of a run.
//!
//! Parts of a workload's fingerprint: the build of gclab (the hash of its file), the workload with
//! all its arguments, the collector, the flags by their meaning (`1m` and `1024k` are one), the
//! variables of its environment that the plan sets, its preparation, and whether it reads counters
//! at each pause.
//!
//! Parts of a program's: its runtime, its command (the hash of its file instead of the first
//! word, if the file can be read), its folder, environment, standard input (its path and the hash
//! of that file) and preparation, its names in tables, and the flags of its runtime.
//!
//! Not included: names of experiment files and builds, the question, the order of lists, the seed,
//! the number of runs, time limits.

use gclab_results::Fingerprint;

use crate::experiment::Experiment;
use crate::program::Program;
use crate::run::Combination;
use crate::runtime::gclab::PAUSE_COUNTERS;

/// Changes when the parts of a fingerprint change.
const SCHEME: &str = "1";

/// Makes the fingerprints of an experiment.
pub(super) struct Fingerprints<'e> {
    /// The hash of this gclab.
    executable: &'e str,
}

impl<'e> Fingerprints<'e> {
    pub(super) fn new(experiment: &'e Experiment) -> Fingerprints<'e> {
        Fingerprints::of_executable(experiment.executable.as_deref().unwrap_or_default())
    }

    /// The same for the gclab whose file has this hash.
    pub(super) fn of_executable(executable: &'e str) -> Fingerprints<'e> {
        Fingerprints { executable }
    }

    /// The fingerprint of a combination. If the size of its heap is not known yet, `multiple`
    /// stands for it.
    pub(super) fn of(&self, combination: &Combination, multiple: Option<f64>) -> String {
        let mut hash = Fingerprint::new();
        hash.part(SCHEME);
        let configuration = combination.configuration();
        hash.part(&configuration.workload);
        let program = combination.program();
        let full_args = program.own.as_ref().and_then(|own| own.full_args.as_ref());
        full_args
            .unwrap_or(&configuration.args)
            .iter()
            .for_each(|arg| hash.part(arg));
        hash.end_of_list();
        hash.part(&configuration.collector);
        for (key, value) in combination.setting() {
            hash.part(key);
            hash.part(value.meaning());
        }
        hash.end_of_list();
        match &program.own {
            None => of_program(&mut hash, program),
            Some(own) => {
                for (name, value) in &program.description.env {
                    hash.part(name);
                    hash.part(value);
                }
                hash.end_of_list();
                hash.part(program.description.executable.as_deref().unwrap_or(self.executable));
                of_commands(&mut hash, &program.description.prepare);
                if own.pause_counters {
                    hash.part(PAUSE_COUNTERS);
                }
            }
        }
        if let Some(multiple) = multiple {
            hash.end_of_list();
            hash.part(&multiple.to_string());
        }
        hash.text()
    }
}

fn of_program(hash: &mut Fingerprint, program: &Program) {
    let description = &program.description;
    let mut list = |words: &mut dyn Iterator<Item = &String>| {
        words.for_each(|word| hash.part(word));
        hash.end_of_list();
    };
    list(&mut [&description.runtime].into_iter());
    let first = description.executable.as_ref().or(description.command.first());
    list(&mut first.into_iter().chain(description.command.iter().skip(1)));
    list(&mut description.dir.iter());
    list(&mut description.env.iter().flat_map(|(name, value)| [name, value]));
    list(&mut description.stdin.iter().chain(&description.input));
    of_commands(hash, &description.prepare);
}

/// The commands of a preparation. Without any, the fingerprint is the same as without `prepare`.
fn of_commands(hash: &mut Fingerprint, commands: &[Vec<String>]) {
    for command in commands {
        command.iter().for_each(|word| hash.part(word));
        hash.end_of_list();
    }
}
