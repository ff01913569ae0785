//! The shape of an experiment file: its keys and the types of their values, read by serde. Names
//! are looked up later (`validate`).
//!
//! Tables whose keys are free (flags, axes, variables) are read as [`Node`]s, in the order of the
//! file, and become lists of keys and texts.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

use serde::de::{Deserializer, Error};
use serde::{Deserialize, de};
use toml::Spanned;

use super::duration::{MAX_SECONDS, parse_duration};
use super::errors::{Parsed, Source, SpecError, in_words, of_toml};
use super::node::{Listed, Node, OneOrMore, Table, Text, Word, in_order, text_or_table, texts};
use super::share::parse_share;
use crate::axes::{ARGS, ENV, OCAML};
use crate::registry::Registry;
use crate::suggest::suggest;

/// Limit on rounds: more is a mistake.
pub const MAX_REPEAT: u64 = 100_000;

/// The largest multiple in `heap`: a larger one is a mistake.
const MOST_MULTIPLE: f64 = 1000.0;

/// The keys of a sweep that are not flags. (Each key of `crate::axes::CHOICES` is among them.)
pub(super) const SWEEP_KEYS: [&str; 9] = [
    "points",
    "env",
    "args",
    "ocaml",
    "collector",
    "workload",
    "program",
    "build",
    "heap",
];

/// The key of a flag, and the text of its value.
pub(super) type Flag = (Text, Text);

/// An experiment file whose keys and types are valid.
#[derive(Debug)]
pub(super) struct File {
    pub question: String,
    pub collectors: Collectors,
    pub workloads: Vec<Workload>,
    pub programs: Vec<Program>,
    pub builds: Vec<Build>,
    pub repeat: u32,
    pub precision: Option<f64>,
    pub seed: u64,
    pub timeout: Duration,
    /// `prepare` of the whole file: the words of each command.
    pub prepare: Vec<Vec<Text>>,
    pub pause_counters: Option<Spanned<bool>>,
    pub heap: Option<Spanned<Vec<Spanned<f64>>>>,
    /// `pause`, ascending.
    pub pause: Vec<Duration>,
    /// `profiles` of the whole file.
    pub profiles: Vec<Text>,
    /// `eventlog` of the whole file.
    pub eventlog: Option<Spanned<bool>>,
    /// `[flags]` and then `[ocaml]`, each in the order of the file.
    pub flags: Vec<Flag>,
    /// How many of these stand in `[flags]`.
    pub in_flags: usize,
    /// `[sweep]`, or each of several `[[sweep]]`, in the order of the file.
    pub sweeps: Vec<Vec<Axis>>,
    /// `exclude`: runs that are left out.
    pub excludes: Vec<Point>,
}

impl File {
    /// The keys and values of the flags that are fixed, and the table that each stands in.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (&Flag, &'static str)> {
        let (flags, letters) = self.flags.split_at(self.in_flags);
        let flags = flags.iter().map(|flag| (flag, "[flags]"));
        flags.chain(letters.iter().map(|letter| (letter, "[ocaml]")))
    }

    /// The keys and values of the sweeps of the file.
    pub(super) fn swept(&self) -> impl Iterator<Item = &Flag> {
        self.sweeps.iter().flatten().flat_map(Axis::values)
    }
}

/// The file as serde reads it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(default)]
    question: String,
    collectors: Option<Collectors>,
    workloads: Option<Listed<Workload>>,
    #[serde(default)]
    program: OneOrMore<ProgramKeys>,
    builds: Option<Listed<Build>>,
    #[serde(default = "default_repeat", deserialize_with = "repeat")]
    repeat: u32,
    #[serde(default, deserialize_with = "share")]
    precision: Option<f64>,
    #[serde(default = "default_seed")]
    seed: u64,
    #[serde(default = "default_timeout", deserialize_with = "duration")]
    timeout: Duration,
    #[serde(default)]
    prepare: Commands,
    pause_counters: Option<Spanned<bool>>,
    heap: Option<Spanned<Listed<Multiple>>>,
    pause: Option<Listed<Limit>>,
    profiles: Option<Listed<Text>>,
    eventlog: Option<Spanned<bool>>,
    #[serde(default)]
    flags: Table,
    #[serde(default)]
    ocaml: Table,
    #[serde(default)]
    sweep: OneOrMore<Table>,
    #[serde(default)]
    exclude: Vec<Spanned<Node>>,
}

fn default_repeat() -> u32 {
    10
}

fn default_seed() -> u64 {
    1
}

fn default_timeout() -> Duration {
    Duration::from_secs(300)
}

/// Reads `source`. The error is its first fault.
pub(super) fn parse(source: &Source) -> Parsed<File> {
    let read = |error| of_toml(source, &error);
    let keys = toml::de::Deserializer::parse(&source.text).map_err(read)?;
    let keys = Keys::deserialize(keys).map_err(read)?;
    // A file with only programs has no collectors.
    if keys.program.0.is_empty() || keys.workloads.is_some() || keys.collectors.is_some() {
        for (key, is_there) in [
            ("collectors", keys.collectors.is_some()),
            ("workloads", keys.workloads.is_some()),
        ] {
            if !is_there {
                return Err(SpecError::at(
                    source,
                    0..0,
                    format!("the key `{key}` is missing"),
                    "nowhere in this file",
                )
                .help(format!("{key} = [\"...\"]; `gclab list {key}` shows the names")));
            }
        }
    }
    let located = |(place, problem): Problem| in_words(source, place, &problem);
    let mut flags = flags(keys.flags.0, false).map_err(located)?;
    let in_flags = flags.len();
    let ocaml = self::flags(keys.ocaml.0, false).map_err(located)?;
    flags.extend(ocaml.into_iter().map(|(key, text)| (prefixed(OCAML, &key), text)));
    let builds = keys.builds.map(|listed| listed.0).unwrap_or_default();
    let heap = keys.heap.map(|listed| {
        let multiples = |listed: Listed<Multiple>| listed.0.into_iter().map(|multiple| multiple.0).collect();
        Spanned::new(listed.span(), multiples(listed.into_inner()))
    });
    let names = builds
        .iter()
        .map(|build| (build.name.span(), build.name.get_ref().clone()));
    each_once(source, "builds", names)?;
    let multiples = heap.iter().flat_map(|heap: &Spanned<Vec<Spanned<f64>>>| heap.get_ref());
    each_once(
        source,
        "heap",
        multiples.map(|one| (one.span(), one.get_ref().to_string())),
    )?;
    let pause = keys.pause.map(|listed| listed.0).unwrap_or_default();
    let mut pause: Vec<Duration> = pause.into_iter().map(|limit| limit.0).collect();
    pause.sort();
    pause.dedup();
    Ok(File {
        question: keys.question,
        collectors: keys.collectors.unwrap_or(Collectors::Named(Vec::new())),
        workloads: keys.workloads.map(|listed| listed.0).unwrap_or_default(),
        programs: keys
            .program
            .0
            .into_iter()
            .map(program)
            .collect::<Result<_, _>>()
            .map_err(located)?,
        builds,
        repeat: keys.repeat,
        precision: keys.precision,
        seed: keys.seed,
        timeout: keys.timeout,
        prepare: keys.prepare.0,
        pause_counters: keys.pause_counters,
        heap,
        pause,
        profiles: keys.profiles.map(|listed| listed.0).unwrap_or_default(),
        eventlog: keys.eventlog,
        flags,
        in_flags,
        sweeps: sweeps(keys.sweep).map_err(located)?,
        excludes: keys
            .exclude
            .into_iter()
            .map(point)
            .collect::<Result<_, _>>()
            .map_err(located)?,
    })
}

/// A fault of a value, with its place. A second line is the remedy.
type Problem = (Range<usize>, String);

/// Each value of a list once.
fn each_once(source: &Source, key: &str, values: impl Iterator<Item = (Range<usize>, String)>) -> Parsed<()> {
    let mut seen = HashSet::new();
    for (place, value) in values {
        if !seen.insert(value.clone()) {
            let error = SpecError::at(source, place, format!("`{key}` has {value} twice"), "given before");
            return Err(error.help("each value once: `repeat` says how often a configuration is run"));
        }
    }
    Ok(())
}

/// A workload of the file with its arguments: its name, or a table.
#[derive(Debug)]
pub(super) struct Workload {
    pub name: Text,
    pub args: Vec<Text>,
    /// `profiles` of this workload; they replace the file's.
    pub profiles: Option<Vec<Text>>,
    /// `eventlog` of this workload; it replaces the file's.
    pub eventlog: Option<Spanned<bool>>,
}

impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Workload, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Keys {
            name: Text,
            #[serde(default)]
            args: Vec<Spanned<Word>>,
            profiles: Option<Vec<Text>>,
            eventlog: Option<Spanned<bool>>,
        }
        Ok(match text_or_table::<D, Keys>(from)? {
            Ok(name) => Workload {
                name,
                args: Vec::new(),
                profiles: None,
                eventlog: None,
            },
            Err(keys) => Workload {
                name: keys.name,
                args: texts(keys.args),
                profiles: keys.profiles,
                eventlog: keys.eventlog,
            },
        })
    }
}

/// A build of gclab: a file, or a table with a name.
#[derive(Debug)]
pub(super) struct Build {
    pub name: Text,
    pub file: Text,
}

impl<'de> Deserialize<'de> for Build {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Build, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Keys {
            name: Option<Text>,
            file: Text,
        }
        Ok(match text_or_table::<D, Keys>(from)? {
            Ok(file) => Build {
                name: file.clone(),
                file,
            },
            Err(Keys { name, file }) => Build {
                name: name.unwrap_or_else(|| file.clone()),
                file,
            },
        })
    }
}

/// The collectors of the file.
#[derive(Debug)]
pub(super) enum Collectors {
    /// `"all"`, at this place: those that honour all flags of the file.
    All(Range<usize>),
    /// These names.
    Named(Vec<Text>),
}

impl Collectors {
    /// The number of collectors, before any is left out.
    pub(super) fn count(&self, registry: &Registry) -> usize {
        match self {
            Collectors::All(_) => registry.collectors.len(),
            Collectors::Named(names) => names.len(),
        }
    }
}

impl<'de> Deserialize<'de> for Collectors {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Collectors, D::Error> {
        let node = Spanned::<Node>::deserialize(from)?;
        let place = node.span();
        match node.into_inner() {
            Node::Text(all) if all == "all" => Ok(Collectors::All(place)),
            Node::Text(other) => Err(D::Error::custom(format!(
                "`collectors` is an array of names, or \"all\", not \"{other}\"\ncollectors = [\"{other}\"]"
            ))),
            Node::List(names) if !names.is_empty() => {
                let name = |node: Spanned<Node>| match node.get_ref() {
                    Node::Text(name) => Ok(Spanned::new(node.span(), name.clone())),
                    _ => Err(D::Error::custom("`collectors` is an array of names")),
                };
                names
                    .into_iter()
                    .map(name)
                    .collect::<Result<_, _>>()
                    .map(Collectors::Named)
            }
            _ => Err(D::Error::custom("`collectors` is an array of names, or \"all\"")),
        }
    }
}

/// A `[[program]]` of the file.
#[derive(Debug)]
pub(super) struct Program {
    pub name: Text,
    pub runtime: Option<Text>,
    pub command: Vec<Text>,
    pub dir: Option<Text>,
    pub env: Vec<Flag>,
    pub stdin: Option<Text>,
    /// The words of each command.
    pub prepare: Vec<Vec<Text>>,
    pub expect: Expectation,
    pub stats: Vec<Stat>,
    /// The workload that it implements, with arguments.
    pub workload: Option<Workload>,
    /// `flags` of this program; they replace the file's.
    pub flags: Option<Vec<Flag>>,
    /// `sweep` of this program; it replaces the file's.
    pub sweeps: Option<Vec<Vec<Axis>>>,
    pub eventlog: Option<Spanned<bool>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramKeys {
    #[serde(deserialize_with = "name")]
    name: Text,
    runtime: Option<Text>,
    command: Command,
    #[serde(default, deserialize_with = "filled_if_there")]
    dir: Option<Text>,
    #[serde(default)]
    env: Table,
    #[serde(default, deserialize_with = "filled_if_there")]
    stdin: Option<Text>,
    #[serde(default)]
    prepare: Commands,
    #[serde(default)]
    expect: Expectation,
    #[serde(default)]
    stats: Stats,
    workload: Option<Workload>,
    flags: Option<Table>,
    sweep: Option<OneOrMore<Table>>,
    eventlog: Option<Spanned<bool>>,
}

fn program(keys: ProgramKeys) -> Result<Program, Problem> {
    Ok(Program {
        name: keys.name,
        runtime: keys.runtime,
        command: keys.command.0,
        dir: keys.dir,
        env: flags(keys.env.0, false)?,
        stdin: keys.stdin,
        prepare: keys.prepare.0,
        expect: keys.expect,
        stats: keys.stats.0,
        workload: keys.workload,
        flags: keys.flags.map(|table| flags(table.0, false)).transpose()?,
        sweeps: keys.sweep.map(sweeps).transpose()?,
        eventlog: keys.eventlog,
    })
}

/// `expect` of a program.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    pub status: Option<u8>,
    pub checksum: Option<Text>,
    pub pattern: Option<Text>,
}

/// A figure that `stats` of a program takes from its output.
#[derive(Debug)]
pub(super) struct Stat {
    pub name: Text,
    pub pattern: Text,
    pub unit: Option<Text>,
    /// Whether more is better.
    pub more: bool,
}

/// Which figures are better.
#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Better {
    #[default]
    Less,
    More,
}

/// `stats` of a program: a pattern for each name, or a table with its unit.
#[derive(Default)]
struct Stats(Vec<Stat>);

impl<'de> Deserialize<'de> for Stats {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Stats, D::Error> {
        struct Pattern(Text, Option<Text>, Better);
        impl<'de> Deserialize<'de> for Pattern {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Pattern, D::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Keys {
                    pattern: Text,
                    unit: Option<Text>,
                    #[serde(default)]
                    better: Better,
                }
                Ok(match text_or_table::<D, Keys>(from)? {
                    Ok(pattern) => Pattern(pattern, None, Better::Less),
                    Err(keys) => Pattern(keys.pattern, keys.unit, keys.better),
                })
            }
        }
        let stats = in_order::<D, Pattern>(from)?
            .into_iter()
            .map(|(name, Pattern(pattern, unit, better))| {
                if name.get_ref().is_empty() || name.get_ref().contains(|c: char| c == '=' || c.is_control()) {
                    let help = "the name of a figure is not empty and has neither `=` nor control characters";
                    return Err(D::Error::custom(format!("`stats`: not a legal name\n{help}")));
                }
                let more = better == Better::More;
                Ok(Stat {
                    name,
                    pattern,
                    unit,
                    more,
                })
            });
        stats.collect::<Result<_, _>>().map(Stats)
    }
}

/// An axis of a sweep: the key of a flag with its values, or `points`.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub key: Text,
    pub points: Vec<Point>,
}

impl Axis {
    /// The keys and values of all points.
    pub(super) fn values(&self) -> impl Iterator<Item = &Flag> {
        self.points.iter().flat_map(|point| &point.values)
    }
}

/// Values of several axes at once. The key of a variable of the environment is `env.NAME`, that of
/// an argument `args.NAME`.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// The place of the point, or of its only value.
    pub place: Range<usize>,
    pub values: Vec<Flag>,
}

/// The axes of each table, in the order of the file.
fn sweeps(tables: OneOrMore<Table>) -> Result<Vec<Vec<Axis>>, Problem> {
    tables.0.into_iter().map(|table| axes(table.0)).collect()
}

fn axes(entries: Vec<(Text, Spanned<Node>)>) -> Result<Vec<Axis>, Problem> {
    let mut axes = Vec::new();
    for (key, node) in entries {
        let name = key.get_ref().as_str();
        let prefix = match name {
            "env" => ENV,
            "args" => ARGS,
            "ocaml" => OCAML,
            _ => {
                axes.push(axis(key, node)?);
                continue;
            }
        };
        let place = node.span();
        let Node::Table(entries) = node.into_inner() else {
            return Err((place, format!("`{name}` of a sweep is a table: {name}.NAME = [16, 18]")));
        };
        for (name, node) in entries {
            axes.push(axis(prefixed(prefix, &name), node)?);
        }
    }
    Ok(axes)
}

/// The axis of one key.
fn axis(key: Text, values: Spanned<Node>) -> Result<Axis, Problem> {
    let name = key.get_ref().clone();
    let place = values.span();
    let Node::List(items) = values.into_inner() else {
        let form = if name == "points" {
            POINTS
        } else {
            "write it in brackets, even a single value"
        };
        return Err((place, format!("`{name}` of a sweep is an array\n{form}")));
    };
    if items.is_empty() {
        return Err((place, format!("`{name}` is empty: there would be nothing to run")));
    }
    let points = items.into_iter().map(|item| match item.get_ref() {
        Node::Table(_) if name == "points" => point(item),
        Node::Text(text) if name != "points" => Ok(Point {
            place: item.span(),
            values: vec![(key.clone(), Spanned::new(item.span(), text.clone()))],
        }),
        _ if name == "points" => Err((item.span(), format!("a point is a table\n{POINTS}"))),
        Node::Table(_) if !SWEEP_KEYS.contains(&name.as_str()) => {
            let known = suggest(&name, "known keys", &SWEEP_KEYS);
            Err((key.span(), format!("unknown key `{name}` of a sweep\n{known}")))
        }
        _ => Err((
            item.span(),
            format!("a value of `{name}` is a string, a number or true/false"),
        )),
    });
    Ok(Axis {
        points: points.collect::<Result<_, _>>()?,
        key,
    })
}

const POINTS: &str = "a table has a value for each of some axes: [{ A = \"1m\", N = 1 }, { A = \"4m\", N = 2 }]";

/// A point: a table of values, with tables `env`, `args` and `ocaml` in it.
fn point(node: Spanned<Node>) -> Result<Point, Problem> {
    let place = node.span();
    let Node::Table(entries) = node.into_inner() else {
        return Err((place, format!("expected a table\n{POINTS}")));
    };
    let values = flags(entries, true)?;
    if values.is_empty() {
        return Err((place, format!("a table without a value\n{POINTS}")));
    }
    Ok(Point { place, values })
}

/// The flags, variables or texts of a table, in the order of the file. Letters of OCaml's may stand
/// in a table of their own; in a point, so may `env` and `args`.
fn flags(entries: Vec<(Text, Spanned<Node>)>, is_point: bool) -> Result<Vec<Flag>, Problem> {
    let mut all = Vec::new();
    for (key, node) in entries {
        let place = node.span();
        let prefix = match key.get_ref().as_str() {
            "ocaml" => Some(OCAML),
            "env" if is_point => Some(ENV),
            "args" if is_point => Some(ARGS),
            _ => None,
        };
        match (node.into_inner(), prefix) {
            (Node::Text(text), _) => all.push((key, Spanned::new(place, text))),
            (Node::Table(inner), Some(prefix)) => {
                let inner = flags(inner, false)?.into_iter();
                all.extend(inner.map(|(name, text)| (prefixed(prefix, &name), text)));
            }
            _ => {
                return Err((
                    place,
                    format!("`{}` is a string, a number or true/false", key.get_ref()),
                ));
            }
        }
    }
    Ok(all)
}

fn prefixed(prefix: &str, key: &Text) -> Text {
    Spanned::new(key.span(), format!("{prefix}{}", key.get_ref()))
}

/// A multiple of the least heap.
struct Multiple(Spanned<f64>);

impl<'de> Deserialize<'de> for Multiple {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Multiple, D::Error> {
        let word = Spanned::<Word>::deserialize(from)?;
        let multiple = word.get_ref().0.parse::<f64>().ok();
        let multiple = multiple.filter(|multiple| *multiple > 0.0 && *multiple <= MOST_MULTIPLE);
        let multiple = multiple.ok_or_else(|| {
            D::Error::custom(format!(
                "`heap` lists multiples of the least heap, more than 0 and at most {MOST_MULTIPLE}\n\
                 heap = [1.5, 2, 3, 6]; for sizes, sweep `M`"
            ))
        })?;
        Ok(Multiple(Spanned::new(word.span(), multiple)))
    }
}

/// A limit on pauses.
#[derive(Deserialize)]
#[serde(transparent)]
struct Limit(#[serde(deserialize_with = "duration")] Duration);

/// The words of a command.
struct Command(Vec<Text>);

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Command, D::Error> {
        command(Vec::deserialize(from)?).map(Command).map_err(D::Error::custom)
    }
}

fn command(words: Vec<Spanned<Word>>) -> Result<Vec<Text>, String> {
    let words = texts(words);
    let problem = match words.first().map(|first| first.get_ref().as_str()) {
        _ if words.iter().any(|word| word.get_ref().contains('\0')) => "a word of a command has a NUL",
        None => "a command is empty",
        Some(first) if first.trim().is_empty() => "the first word of a command is empty",
        // Programs with a blank in their name are rare; a shell command line given by mistake is
        // not.
        Some(first) if words.len() == 1 && first.contains(' ') && !first.contains('/') => {
            "a command is a list of words, not a line"
        }
        Some(_) => return Ok(words),
    };
    Err(format!(
        "{problem}\ncommand = [\"./prog\", \"arg\"]; for a line of shell: command = [\"sh\", \"-c\", \"...\"]"
    ))
}

/// One command, or a list of them.
#[derive(Default)]
struct Commands(Vec<Vec<Text>>);

impl<'de> Deserialize<'de> for Commands {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Commands, D::Error> {
        let words = |items: Vec<Spanned<Node>>| {
            let word = |item: Spanned<Node>| match item.get_ref() {
                Node::Text(text) => Ok(Spanned::new(item.span(), Word(text.clone()))),
                _ => Err("a command is a list of words: prepare = [\"make\", \"clean\"]".to_owned()),
            };
            command(items.into_iter().map(word).collect::<Result<_, _>>()?)
        };
        let items = Vec::<Spanned<Node>>::deserialize(from)?;
        let commands = if items.iter().any(|item| matches!(item.get_ref(), Node::List(_))) {
            let each = items.into_iter().map(|item| match item.into_inner() {
                Node::List(items) => words(items),
                _ => Err(
                    "several commands are a list of lists: prepare = [[\"make\", \"clean\"], [\"make\"]]".to_owned(),
                ),
            });
            each.collect::<Result<_, _>>()
        } else {
            words(items).map(|command| vec![command])
        };
        commands.map(Commands).map_err(D::Error::custom)
    }
}

fn repeat<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let repeat = u64::deserialize(from)?;
    if (1..=MAX_REPEAT).contains(&repeat) {
        return Ok(repeat as u32);
    }
    Err(D::Error::custom(format!(
        "`repeat = {repeat}` is out of range: must be 1 to {MAX_REPEAT}"
    )))
}

/// A share from text such as `2%`.
fn share<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let Word(text) = Word::deserialize(from)?;
    let share = parse_share(&text).map(Some);
    share.map_err(|right| D::Error::custom(format!("`{text}` is not a valid share\n{right}")))
}

/// Whole seconds, or a text with a unit.
fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let Word(text) = Word::deserialize(from)?;
    let duration = parse_duration(&text);
    duration.ok_or_else(|| {
        let most = MAX_SECONDS / 3600;
        D::Error::custom(format!(
            "`{text}` is not a valid time\nfor example 300 for seconds, or \"2.5s\", or \"5ms\"; more than 0, at most {most}h"
        ))
    })
}

/// The name of a program, a build or a figure: on one line, and without terminal control
/// characters.
fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
    let text = filled(from)?;
    if text.get_ref().contains(|c: char| c.is_control()) {
        return Err(D::Error::custom(
            "a name has no line breaks, tabs or other control characters",
        ));
    }
    Ok(text)
}

/// A text that is not empty and has no NUL.
fn filled<'de, D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
    let text = Text::deserialize(from)?;
    if text.get_ref().is_empty() || text.get_ref().contains('\0') {
        return Err(D::Error::invalid_value(
            de::Unexpected::Str(text.get_ref()),
            &"at least one character, and no NUL",
        ));
    }
    Ok(text)
}

fn filled_if_there<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Text>, D::Error> {
    filled(from).map(Some)
}
