//! `gclab new`: writes a crate with a new collector, outside gclab's workspace.

mod name;
mod template;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_results::path_name;
use gclab_sweep::registry::Registry;

use self::name::Name;
use self::template::Origin;
use crate::common::{fail, print, refuse};

#[derive(Debug, ClapArgs)]
#[command(after_help = "docs/new-collector.md explains the generated code.")]
pub(crate) struct Arguments {
    /// The name of the collector, such as my-collector, and of its folder, which must not exist
    name: String,
    /// The collector to start from
    #[arg(long, value_enum, default_value = "copying")]
    from: Origin,
    /// The folder of gclab's source [default: the one around the working directory, or else the one
    /// gclab was built from]
    #[arg(long, value_name = "DIR")]
    gclab: Option<PathBuf>,
}

pub(crate) fn new(arguments: &Arguments, registry: &Registry) -> ExitCode {
    let (name, source) = match checked(arguments, registry) {
        Ok(checked) => checked,
        Err(message) => return refuse(format!("new: {message}")),
    };
    let folder = Path::new(name.kebab());
    match fs::create_dir(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return refuse(format!(
                "new: {} exists already, and nothing was written: choose another name, or another working directory",
                path_name(folder)
            ));
        }
        Err(error) => return refuse(format!("new: {}: {error}", path_name(folder))),
    }
    if let Err(error) = write(folder, &name, arguments.from, &source) {
        // We made the folder, and a partial crate is useless.
        let _ = fs::remove_dir_all(folder);
        return fail(format!("new: {}: {error}", path_name(folder)));
    }
    print(&next_steps(&name, &source))
}

/// The name and the folder of gclab's source.
fn checked(arguments: &Arguments, registry: &Registry) -> Result<(Name, PathBuf), String> {
    let name = Name::new(&arguments.name)?;
    if registry.collector(name.kebab()).is_some() {
        return Err(format!(
            "gclab has a collector called {}: choose another name",
            name.kebab()
        ));
    }
    if let Some(used) = template::used_already(&name, arguments.from) {
        return Err(format!(
            "{}: the code would have two things called {used}: choose another name",
            name.kebab()
        ));
    }
    let source = match &arguments.gclab {
        Some(folder) if is_source(folder) => folder.clone(),
        Some(folder) => {
            return Err(format!(
                "--gclab {}: not the folder of gclab's source, which has core/ and experiments/",
                path_name(folder)
            ));
        }
        None => source().ok_or("the folder of gclab's source was not found: name it with --gclab")?,
    };
    let source = fs::canonicalize(&source).map_err(|error| format!("{}: {error}", path_name(&source)))?;
    if source.to_str().is_none_or(|text| text.contains(['"', '\\', '\n'])) {
        return Err(format!(
            "--gclab {}: a path in Cargo.toml cannot contain these characters",
            path_name(&source)
        ));
    }
    Ok((name, source))
}

/// Whether it is the folder of gclab's source.
fn is_source(folder: &Path) -> bool {
    ["core", "experiments", "collectors/proof"]
        .iter()
        .all(|part| folder.join(part).join("Cargo.toml").is_file())
}

/// The folder of gclab's source around the working directory, or else the one it was built from.
fn source() -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let around = here
        .as_deref()
        .and_then(|here| here.ancestors().find(|folder| is_source(folder)));
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let found = around.or(built.filter(|folder| is_source(folder)));
    found.map(Path::to_owned)
}

fn write(folder: &Path, name: &Name, from: Origin, source: &Path) -> io::Result<()> {
    for part in ["src", "benches"] {
        fs::create_dir(folder.join(part))?;
    }
    for (file, text) in template::files(name, from, &source.display().to_string()) {
        fs::write(folder.join(file), text)?;
    }
    // The same versions of dependencies as gclab.
    match fs::copy(source.join("Cargo.lock"), folder.join("Cargo.lock")) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn next_steps(name: &Name, source: &Path) -> String {
    let (kebab, snake) = (name.kebab(), name.snake());
    format!(
        "{kebab}: written; the collector is in {kebab}/src/{snake}.rs\n\
         gclab's source: {} (--gclab names another)\n\
         \n\
         cd {kebab}\n\
         cargo test                                    random programs and every workload, checked\n\
         cargo run --release -- exec gcbench --collector {kebab} +RTS -s -DS\n\
         cargo run --release -- inspect gcbench 14 12 50000 --collector {kebab} +RTS -A1m\n\
         cargo run --release -- run {kebab}.toml       compares it with copying\n\
         cargo bench --features bench --bench collectors -- gcbench    what an edit changed, by criterion\n",
        path_name(source)
    )
}
