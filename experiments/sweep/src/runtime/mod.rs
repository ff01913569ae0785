//! The runtimes of the programs that an experiment can run: one adapter, and one file, for each.
//!
//! An adapter says which flags its runtime has and how each becomes a word of a command line (`+RTS
//! -A1m`), a part of a variable (`OCAMLRUNPARAM`) or a limit of the system; how the runtime's own
//! statistics become those of a record; and how the runtime ends when memory runs out. It starts
//! nothing: `runner` does, with the [`Start`] that an adapter returns. A figure that a runtime does
//! not report is absent.

mod adapter;
mod detect;
mod flag;
pub mod gclab;
mod ghc;
mod jvm;
mod none;
mod ocaml;
mod space;
#[cfg(test)]
mod tests;

pub use adapter::{BadFlag, Clash, Command, Ended, Failure, Files, Runtime, Start, Task};
pub(crate) use detect::{links_gclab, runtime_of};
pub(crate) use flag::ADDRESS_SPACE_KEY;
pub use flag::{Flag, Setting, Value};
pub use space::TunableFlag;

/// The runtime of gclab's own workloads.
pub const GCLAB: &dyn Runtime = &gclab::Gclab;

/// The runtimes of programs, in the order of messages.
pub fn all() -> [&'static dyn Runtime; 4] {
    [&ghc::Ghc, &ocaml::Ocaml, &jvm::Jvm, &none::Plain]
}

/// The runtime of programs of this name.
pub fn named(name: &str) -> Option<&'static dyn Runtime> {
    all().into_iter().find(|runtime| runtime.name() == name)
}

/// Reads a value of a flag of `runtime`. A script that starts a program hides the program's runtime: so
/// where a plain command has no such flag, the remedy names the runtimes that have it.
///
/// # Errors
/// If there is no such flag, or it does not take the value.
pub(crate) fn read(runtime: &dyn Runtime, key: &str, text: &str) -> Result<Value, BadFlag> {
    runtime.read(key, text).map_err(|bad| {
        let is_plain = runtime.name() == none::Plain.name() && !bad.is_value;
        let has_it = |other: &&dyn Runtime| other.flags().iter().any(|flag| flag.key == key);
        let owners = all().into_iter().filter(|_| is_plain).filter(has_it);
        let owners: Vec<String> = owners
            .map(|owner| format!("`runtime = \"{}\"`", owner.name()))
            .collect();
        if owners.is_empty() {
            return bad;
        }
        let help = format!(
            "if the command starts a program with this flag, name its runtime in the table of the program: {}",
            owners.join(" or ")
        );
        BadFlag { help, ..bad }
    })
}

/// The names of the runtimes of programs.
pub fn names() -> Vec<&'static str> {
    all().map(Runtime::name).to_vec()
}
