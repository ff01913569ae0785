//! `gclab reproduce`: a published experiment again, and what agrees with the published figures.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use gclab_results::{ResultsDir, path_name};
use gclab_sweep::environment::Root;
use gclab_sweep::folder::is_results;
use gclab_sweep::registry::Registry;
use gclab_sweep::spec::MAX_REPEAT;
use gclab_sweep::suggest::suggest;
use gclab_sweep::tell;

use crate::common::{EXIT_USAGE, refuse};
use crate::run::run;
use crate::run_arguments;
use crate::settings::Settings;

/// The folder of published figures, from the top of a checkout.
const REFERENCE: &str = "results/reference";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A page with figures, such as memory or docs/memory.md, in a checkout of gclab; or a folder that
    /// `gclab run` wrote, on this machine or another one
    #[arg(value_name = "PAGE|DIR")]
    published: PathBuf,
    /// Folder for the results [default: the newest one under results/runs with the same plan, or a
    /// new one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Start a new folder even if there is one with the same plan
    #[arg(long)]
    fresh: bool,
    /// Number of runs of each configuration [default: as in the published folder]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_REPEAT as i64))]
    repeat: Option<u32>,
}

pub(crate) fn reproduce(arguments: Arguments, registry: &Registry, settings: &Settings) -> ExitCode {
    let published = match find(&arguments.published) {
        Ok(published) => published,
        Err(message) => return refuse(message),
    };
    if let (Some(out), 2..) = (&arguments.out, published.len()) {
        let names = published.iter().map(|folder| folder.path().display().to_string());
        return refuse(format!(
            "--out {}: is one folder, and {} cites several; name one: {}",
            path_name(out),
            path_name(&arguments.published),
            names.collect::<Vec<_>>().join(", ")
        ));
    }
    let foreign: Vec<String> = published
        .iter()
        .filter_map(|folder| foreign(folder, registry))
        .collect();
    if foreign.len() == published.len() {
        return refuse(foreign.join("; "));
    }
    foreign.iter().for_each(|why| tell!("gclab: note: not repeated: {why}"));
    let mut worst = ExitCode::SUCCESS;
    for folder in published
        .into_iter()
        .filter(|folder| self::foreign(folder, registry).is_none())
    {
        let sources = sources(&folder);
        let status = run(
            &run_arguments::Arguments {
                out: arguments.out.clone(),
                fresh: arguments.fresh,
                repeat: arguments.repeat,
                published: Some(Box::new(folder)),
                ..run_arguments::Arguments::default()
            },
            registry,
            settings,
            &Root::system(),
        );
        // A figure that differs does not end the command; a signal does, and so does what cannot run.
        match status {
            ExitCode::SUCCESS => {}
            ExitCode::FAILURE => worst = status,
            _ => {
                if let Some(file) = sources.filter(|_| status == ExitCode::from(EXIT_USAGE)) {
                    tell!("gclab: the top of {file} says how to build its programs");
                }
                return status;
            }
        }
    }
    worst
}

/// Why this program cannot repeat a folder: it has another program's workload.
fn foreign(folder: &ResultsDir, registry: &Registry) -> Option<String> {
    let own = folder.manifest().plan.iter().filter(|run| run.program.is_none());
    let mut names = own.map(|run| run.workload.as_str());
    let name = names.find(|name| registry.workload(name).is_none())?;
    let path = path_name(folder.path());
    Some(format!(
        "{path}: `{name}` is another program's workload; that program repeats it: PROGRAM reproduce {path}"
    ))
}

/// The experiment file of a folder with programs, if it is there.
fn sources(folder: &ResultsDir) -> Option<String> {
    let manifest = folder.manifest();
    let mut words = manifest.command.iter().filter(|word| word.ends_with(".toml"));
    let file = words.find(|word| Path::new(word).is_file())?;
    (!manifest.programs.is_empty()).then(|| path_name(Path::new(file)))
}

/// The published folder at a path or with an experiment's name, or those that a page of `docs`
/// cites.
fn find(name: &Path) -> Result<Vec<ResultsDir>, String> {
    let open = |path: &Path| ResultsDir::open(path).map_err(|error| error.to_string());
    let of_name = Path::new(REFERENCE).join(name);
    if let Some(folder) = [name, &of_name].into_iter().find(|path| is_results(path)) {
        return Ok(vec![open(folder)?]);
    }
    let page = match name.extension() {
        Some(_) => name.to_owned(),
        None => Path::new("docs").join(name).with_extension("md"),
    };
    let Ok(text) = fs::read_to_string(&page) else {
        let known: Vec<String> = fs::read_dir(REFERENCE)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_results(path))
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(match known.is_empty() {
            true => format!(
                "{}: no such folder; pages are found from the top of a checkout of gclab",
                path_name(name)
            ),
            false => format!(
                "{}: no such page or folder; {}",
                path_name(name),
                suggest(&name.display().to_string(), "experiments", &known)
            ),
        });
    };
    let cited = cited(&text);
    let tables = cited.iter().filter_map(|path| made_by(path));
    let folders: Vec<&PathBuf> = cited.iter().filter(|path| is_results(path)).collect();
    if !folders.is_empty() {
        tables.for_each(|line| tell!("gclab: note: not compared: {line}"));
        return folders.into_iter().map(|folder| open(folder)).collect();
    }
    let tables: Vec<String> = tables.collect();
    Err(match tables.is_empty() {
        true => format!("{}: has no published figures", path_name(&page)),
        false => format!(
            "{}: its figures do not come from a folder of runs, but from these commands:\n  {}",
            path_name(&page),
            tables.join("\n  ")
        ),
    })
}

/// The files and folders of published figures that a page names: folders by path, tables also by
/// name.
fn cited(page: &str) -> BTreeSet<PathBuf> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let words = page.split(|c| !is_part(c));
    let tables = words
        .filter(|word| word.ends_with(".csv"))
        .map(|word| Path::new(REFERENCE).join(word));
    let folders = page.split(REFERENCE).skip(1).filter_map(|rest| {
        let name = rest.strip_prefix('/')?.split(|c| !is_part(c)).next()?;
        Some(Path::new(REFERENCE).join(name.trim_end_matches('.')))
    });
    tables.filter(|table| table.is_file()).chain(folders).collect()
}

/// A table of figures, with the command that made it: its first line.
fn made_by(table: &Path) -> Option<String> {
    let text = fs::read_to_string(table)
        .ok()
        .filter(|_| table.extension().is_some_and(|end| end == "csv"))?;
    Some(format!(
        "{}: {}",
        path_name(table),
        text.lines().next()?.strip_prefix("# ")?
    ))
}
