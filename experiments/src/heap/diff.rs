//! `gclab heap diff`: why a heap grows, from two or more files of it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_core::words::Bytes;
use gclab_core::words::size::read_size;
use gclab_heap_traverse::OutOfMemory;
use gclab_heap_traverse::analysis::{self, Analysis, Merged, Names, Rank, rank};
use gclab_heap_traverse::graph::{GraphError, ROOT};
use gclab_snapshot::Snapshot;
use gclab_sweep::tell;
use serde::Serialize;

use super::analyse::{again, open};
use super::arguments::limit;
use super::holders::{self, Held, all_held, fit_class, lines, short};
use super::page::{self, Class, Contents};
use super::words::{COLUMNS, counted, fit, number, size};
use crate::common::{print, refuse};
use crate::input;

/// The smallest part of the heap whose growth is told: of what grew, and of what grew in each of several
/// steps.
const LEAST: [u64; 2] = [100, 1000];
/// Growth by fewer bytes is not told if it is less than a hundredth of the heap: any program's heap varies
/// by that much.
const VARIATION: u64 = 16 << 10;
/// The most steps that have a column.
const STEPS: usize = 4;
/// The growth in percent that is told although nothing is found to hold it.
const GREW: u64 = 10;
/// Files of one process share at least this part of the smaller file's ids, in percent: a cache that
/// is renewed in between leaves few.
const SHARED: usize = 10;
/// At least this part of the shared ids must have the same class in both, in percent.
const SAME: usize = 90;

/// The class that starts a JVM's program.
const LAUNCHER: &str = "sun.launcher.LauncherHelper";

/// Show why a heap grows: what is new in later files of it, and what holds that
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// Two or more snapshots or heap dumps of one program, oldest first
    #[arg(required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// The executable of core files, which `gcore PID` writes: a program of GHC
    #[arg(long, value_name = "PROGRAM")]
    exe: Option<PathBuf>,
    /// Numbers of the heap dumps to read, of several in one file [default: the last]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "exe")]
    dump: Vec<u32>,
    /// End with status 1 if the heap grew by more than this from the first file to the last
    #[arg(long, value_name = "SIZE", value_parser = growth)]
    fail_above: Option<Bytes>,
    /// Number of classes and holders to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Write what grew to this file, as a page for a browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Read at most this many bytes of each file, unpacked [default: half of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = limit)]
    limit: Option<Bytes>,
}

impl Arguments {
    /// The number of the heap dump to read of a file.
    fn dump(&self, file: usize) -> Option<u32> {
        self.dump.get(file).or(self.dump.first()).copied()
    }
}

/// A size as flags have it, or with a B behind.
fn growth(text: &str) -> Result<Bytes, String> {
    let plain = text.strip_suffix(['b', 'B']).unwrap_or(text);
    read_size(plain).ok_or_else(|| "expected a size, as in 1MB, 500k or 0".to_owned())
}

/// The objects of a class.
#[derive(Clone, Copy, Default)]
struct Count {
    objects: u64,
    bytes: u64,
}

/// An object that later files may have, too.
struct Object {
    id: u64,
    node: u32,
    class: u32,
    /// The place of its holder among the objects; the root's is its own.
    above: u32,
    bytes: u64,
}

/// What is kept of each file.
struct File {
    /// The bytes that the root reaches.
    reached: u64,
    /// By the number of its name: the reachable objects of a class.
    classes: Vec<Count>,
    /// All reachable objects by id, if ids are the same in other files.
    objects: Vec<Object>,
    /// The merged tree of all objects.
    merged: Merged,
    /// The main class of a JVM's program, if its launcher started it.
    main: Option<String>,
}

/// The names of classes of all files.
#[derive(Default)]
struct Classes {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Classes {
    fn number(&mut self, name: &str) -> u32 {
        let next = self.names.len() as u32;
        *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            self.names.push(name.to_owned());
            next
        })
    }
}

/// The growth of a class.
#[derive(Debug, Clone, Serialize)]
struct Growth {
    name: String,
    /// Objects that the last file has and the first has not.
    new: u64,
    /// Objects that the first file has and the last has not.
    gone: u64,
    /// Bytes of the new objects.
    bytes: i64,
    /// Bytes by which older objects grew.
    grown: u64,
    /// By step from file to file: the new objects.
    steps: Vec<i64>,
}

impl Growth {
    /// The bytes of new objects, and those by which older ones grew.
    fn more(&self) -> i64 {
        self.bytes + self.grown as i64
    }
}

/// The answer, as `--json` prints it.
#[derive(Serialize)]
struct Report {
    files: Vec<String>,
    /// By file: bytes that the root reaches.
    bytes: Vec<u64>,
    /// Bytes from the first to the last.
    growth: i64,
    /// Whether something grew steadily by a part of the heap that counts.
    leak: bool,
    /// Whether objects are known by their ids; otherwise by class and path.
    by_id: bool,
    classes: Vec<Growth>,
    holders: Vec<Holder>,
}

/// A holder of new objects.
#[derive(Serialize)]
struct Holder {
    #[serde(flatten)]
    held: Held,
    /// By step from file to file: bytes of new objects that it holds.
    steps: Vec<u64>,
}

/// Whether what grew by these steps grew steadily: in every step, and in the last by half of the
/// average or more. What grows less and less fills a cache.
fn is_steady(steps: &[u64]) -> bool {
    let (sum, count) = (steps.iter().sum::<u64>(), steps.len() as u64);
    steps.iter().all(|step| step * 4 * count >= sum) && has_grown_last(steps)
}

/// Whether it grew in the last step by half of the average or more.
fn has_grown_last(steps: &[u64]) -> bool {
    let last = steps.last().copied().unwrap_or_default();
    last > 0 && last * 2 * steps.len() as u64 >= steps.iter().sum()
}

pub(crate) fn diff(arguments: &Arguments) -> ExitCode {
    match compare(arguments) {
        Ok(report) => answer(arguments, &report),
        Err(message) => refuse(message),
    }
}

/// The name of each node's class, by number in the file.
fn named(analysis: &Analysis<'_>, names: &Names, node: u32) -> u32 {
    names.number(analysis.classes().of_nodes()[node as usize])
}

/// Reads all files, and finds the growth from the first to the last.
fn compare(arguments: &Arguments) -> Result<Report, String> {
    if let Some(html) = &arguments.html {
        input::may_write(html, "--html", arguments.files.iter().chain(&arguments.exe))?;
    }
    if !matches!(arguments.dump.len(), 0 | 1) && arguments.dump.len() != arguments.files.len() {
        return Err(format!(
            "--dump: {} numbers for {} files: expected one, or one for each",
            arguments.dump.len(),
            arguments.files.len()
        ));
    }
    let mut classes = Classes::default();
    let mut files: Vec<File> = Vec::new();
    let (last, earlier) = arguments.files.split_last().ok_or("no files")?;
    let mut first = None;
    let mut read = |place: usize, path: &Path| {
        let snapshot = open(path, arguments.limit, arguments.dump(place), arguments.exe.as_deref())?;
        let own = runtime(&snapshot);
        match first.get_or_insert(own) {
            first if *first != own => Err(format!(
                "{}: a heap of {own}, but {} is of {first}: expected one program's",
                input::name(path),
                input::name(&arguments.files[0])
            )),
            _ => Ok(snapshot),
        }
    };
    for (place, path) in earlier.iter().enumerate() {
        let snapshot = read(place, path)?;
        files.push(file(path, &snapshot, &mut classes)?.0);
    }
    let snapshot = read(earlier.len(), last)?;
    let failed = |error: GraphError| format!("{}: {error}", input::name(last));
    let (end, analysis, names) = file(last, &snapshot, &mut classes)?;
    if let Some(other) = files
        .iter()
        .chain([&end])
        .position(|file| is_other_program(&files[0], file, &classes))
    {
        return Err(format!(
            "{}: a heap of another program than {}: it has other classes",
            input::name(&arguments.files[other]),
            input::name(&arguments.files[0])
        ));
    }
    let by_id = files.iter().all(|file| is_same_heap(file, &end));
    if !by_id && !end.objects.is_empty() && files.iter().any(|file| !file.objects.is_empty()) {
        tell!("gclab: warning: files of several runs: objects are compared by class, not by id");
    }
    let growths = match by_id {
        true => by_ids(&files, &end, &classes),
        false => by_counts(&files, &end, &classes),
    };
    let grown = match by_id {
        true => growth_by_id(&files, &end, &analysis, &names),
        false => growth_by_path(&files, &end),
    }
    .map_err(|error| failed(error.into()))?;
    let merged = &grown.trees[0];
    let bytes: Vec<u64> = files.iter().map(|file| file.reached).chain([end.reached]).collect();
    let growth = end.reached as i64 - bytes[0] as i64;
    let more = more(&files[0], &end, &classes);
    let (mut holders, mut unsteady) = (Vec::new(), Vec::new());
    // What grew little is only told if it went on.
    for part in &LEAST[..files.len().min(LEAST.len())] {
        let least = (end.reached / part).max(VARIATION).min(end.reached / LEAST[0]).max(1);
        let all = merged.holders(least);
        let words = all_held(&analysis, merged, &all).map_err(|error| failed(error.into()))?;
        for (holder, mut held) in all.iter().zip(words) {
            let Some(&place) = holder.path.last() else { continue };
            if held.is_runtime || explained(merged, holder, &more, by_id) < holder.bytes / 2 {
                continue;
            }
            if !by_id && growth > 0 {
                // Objects whose path changed seem to be new.
                held.bytes = held.bytes.min(growth as u64);
                for part in &mut held.parts {
                    let of_class = growths.iter().find(|class| class.name == part.name && class.new > 0);
                    part.count = of_class.map_or(part.count, |class| part.count.min(class.new));
                }
            }
            let steps = grown.steps(place);
            // A table that holds the objects may grow by leaps.
            let of_parts = holder.parts.iter().map(|&part| grown.steps(part));
            let of_parts = of_parts.reduce(|sum, part| sum.iter().zip(part).map(|(sum, part)| sum + part).collect());
            let is_leak = |steps: &Vec<u64>| steps.iter().sum::<u64>() >= least && is_steady(steps);
            match is_leak(&steps) || of_parts.as_ref().is_some_and(is_leak) {
                true => holders.push(Holder { held, steps }),
                false if *part == LEAST[0] => unsteady.push(Holder { held, steps }),
                false => {}
            }
        }
        if !holders.is_empty() {
            break;
        }
    }
    let leak = !holders.is_empty();
    if !leak {
        let most = end.reached.saturating_sub(files[0].reached) / 2;
        unsteady.retain(|holder| most > 0 && holder.held.bytes >= most);
        holders = unsteady;
    }
    let mut report = Report {
        files: arguments.files.iter().map(|path| input::name(path)).collect(),
        leak,
        growth,
        bytes,
        by_id,
        classes: growths,
        holders,
    };
    if let Some(html) = &arguments.html {
        page(html, &report, &analysis, merged)?;
    }
    report.classes.truncate(arguments.top);
    // The answer names the first.
    report.holders.truncate(arguments.top.max(1));
    Ok(report)
}

/// Writes the page of what grew.
fn page(path: &Path, report: &Report, analysis: &Analysis<'_>, merged: &Merged) -> Result<(), String> {
    let mut places: Vec<u32> = (1..merged.len() as u32).collect();
    places.sort_by_key(|&place| merged.place(place).bytes);
    let largest: HashMap<&str, u32> = places
        .into_iter()
        .map(|place| (merged.class(place), merged.place(place).largest))
        .collect();
    let classes = report.classes.iter().take(page::CLASSES).map(|growth| Class {
        name: growth.name.clone(),
        figures: vec![growth.more(), growth.new as i64, growth.gone as i64],
        largest: largest.get(&*growth.name).copied(),
    });
    page::write(
        path,
        &Contents {
            title: &headline(report),
            facts: &format!("{}: {}", report.files.join(", "), whole(report).join(". ")),
            analysis,
            merged,
            suspects: report.holders.iter().map(|holder| &holder.held).collect(),
            columns: &[("new bytes", "bytes"), ("new", "count"), ("gone", "count")],
            classes: classes.collect(),
            all_classes: report.classes.len(),
            growth: true,
        },
    )
}

/// The program that a heap is of.
fn runtime(snapshot: &Snapshot) -> &'static str {
    match (snapshot.layout(), snapshot.blocks()) {
        (Some(_), _) => "a JVM",
        (None, [_, ..]) => "a GHC program",
        (None, []) if snapshot.has_stable_ids() => "V8",
        (None, []) => "gclab",
    }
}

/// By name: the bytes by which the objects of a class grew.
fn more<'c>(before: &File, end: &File, classes: &'c Classes) -> HashMap<&'c str, u64> {
    let bytes = |file: &File, class: usize| file.classes.get(class).map_or(0, |own| own.bytes);
    let names = classes.names.iter().map(String::as_str).enumerate();
    let more = |class: usize| bytes(end, class).saturating_sub(bytes(before, class));
    names.map(|(class, name)| (name, more(class))).collect()
}

/// The bytes below a holder that the growth of classes explains; the others came from elsewhere in
/// the heap. By ids it is known for each object whether it is new, so only the sum counts.
fn explained(merged: &Merged, holder: &analysis::Holder, grown: &HashMap<&str, u64>, by_id: bool) -> u64 {
    if by_id {
        return holder.bytes.min(grown.values().sum());
    }
    let mut of_class: HashMap<&str, u64> = HashMap::new();
    let mut open = holder.parts.clone();
    open.extend(holder.parts.is_empty().then(|| holder.path.last()).flatten());
    while let Some(place) = open.pop() {
        let below = merged.below(place);
        let inner: u64 = below.iter().map(|&below| merged.place(below).bytes).sum();
        *of_class.entry(merged.class(place)).or_default() += merged.place(place).bytes - inner;
        open.extend(below);
    }
    let least = |(class, bytes): (&str, u64)| bytes.min(grown.get(class).copied().unwrap_or(0));
    of_class.into_iter().map(least).sum()
}

/// The differences of the growth since each file: that of each step.
fn differences(mut since: Vec<u64>) -> Vec<u64> {
    since.push(0);
    since.windows(2).map(|pair| pair[0].saturating_sub(pair[1])).collect()
}

/// What grew until the last file.
struct Grown {
    /// Merged trees of the growth: by ids, of that since the first file; or of that since each.
    trees: Vec<Merged>,
    /// By ids, and by place: the bytes of each step from file to file.
    steps: Vec<Vec<u64>>,
}

impl Grown {
    /// By step from file to file: the bytes by which a place grew.
    fn steps(&self, place: u32) -> Vec<u64> {
        let first = &self.trees[0];
        let since = |tree: &Merged| tree.same(first, place).map_or(0, |same| tree.place(same).bytes);
        match self.steps.get(place as usize) {
            Some(steps) => steps.clone(),
            None => differences(self.trees.iter().map(since).collect()),
        }
    }
}

/// What objects are new since the first file, and what replaces none.
fn growth_by_id(files: &[File], end: &File, analysis: &Analysis<'_>, names: &Names) -> Result<Grown, OutOfMemory> {
    let nodes = analysis.snapshot().node_count() as usize;
    let since: Vec<Vec<u64>> = files.iter().map(|file| net(file, end, nodes)).collect();
    let weights = analysis.retained_of(|node| since[0][node as usize])?;
    let mut is_new = vec![false; nodes];
    each(&files[0].objects, &end.objects, |before, after| {
        if let (None, Some(new)) = (before, after) {
            is_new[new.node as usize] = true;
        }
    });
    let mut sums: Vec<Vec<u64>> = Vec::new();
    let mut new = Vec::new();
    let count = |node: u32, place: u32| {
        new.extend(is_new[node as usize].then_some(place));
        let all = sums.len().max(place as usize + 1);
        sums.resize(all, vec![0; files.len()]);
        let own = sums[place as usize].iter_mut();
        own.zip(&since).for_each(|(sum, since)| *sum += since[node as usize]);
    };
    let mut merged = Merged::weighed(analysis, names, &weights, count)?;
    merged.recount(new);
    // A place comes after the one above it.
    for place in (1..sums.len()).rev() {
        let own = std::mem::take(&mut sums[place]);
        let above = &mut sums[merged.place(place as u32).above as usize];
        above.iter_mut().zip(&own).for_each(|(above, own)| *above += own);
        sums[place] = own;
    }
    Ok(Grown {
        trees: vec![merged],
        steps: sums.into_iter().map(differences).collect(),
    })
}

/// The places that have more bytes than in earlier files.
fn growth_by_path(files: &[File], end: &File) -> Result<Grown, OutOfMemory> {
    let trees = files.iter().map(|file| end.merged.since(&file.merged));
    Ok(Grown {
        trees: trees.collect::<Result<_, _>>()?,
        steps: Vec::new(),
    })
}

/// What is kept of a file.
fn file<'s>(path: &Path, snapshot: &'s Snapshot, classes: &mut Classes) -> Result<(File, Analysis<'s>, Names), String> {
    let failed = |error: GraphError| format!("{}: {error}", input::name(path));
    let analysis = Analysis::of(snapshot).map_err(failed)?;
    if analysis.reached_size() == 0 {
        return Err(format!(
            "{}: no object is reachable from a root, so nothing can be compared",
            input::name(path)
        ));
    }
    let names = Names::of(analysis.snapshot(), analysis.classes()).map_err(|error| failed(error.into()))?;
    let numbers: Vec<u32> = names.all().iter().map(|name| classes.number(name)).collect();
    let mut file = File {
        reached: analysis.reached_size(),
        classes: vec![Count::default(); classes.names.len()],
        objects: Vec::new(),
        merged: Merged::of(&analysis, &names).map_err(|error| failed(error.into()))?,
        main: None,
    };
    let by_id = snapshot.has_stable_ids();
    for node in snapshot.nodes() {
        let is_root = (node.ordinal() == ROOT).then_some(ROOT);
        let Some(above) = analysis.holder(node.ordinal()).or(is_root) else {
            continue;
        };
        let class = numbers[named(&analysis, &names, node.ordinal()) as usize];
        if node.type_name() == "class" && node.name() == LAUNCHER {
            let main = node.edges().find(|edge| edge.name_text() == "appClass");
            file.main = main.map(|main| main.target().name().into_owned());
        }
        let own = &mut file.classes[class as usize];
        own.objects += 1;
        own.bytes += node.self_size();
        if by_id {
            file.objects.push(Object {
                id: node.id().unwrap_or_default(),
                node: node.ordinal(),
                class,
                above,
                bytes: node.self_size(),
            });
        }
    }
    file.objects.sort_unstable_by_key(|object| object.id);
    let mut places = vec![0; if by_id { snapshot.node_count() as usize } else { 0 }];
    for (place, object) in (0..).zip(&file.objects) {
        places[object.node as usize] = place;
    }
    for object in &mut file.objects {
        object.above = places[object.above as usize];
    }
    Ok((file, analysis, names))
}

/// By node of the last file: the bytes that are new since `before`. If an older object held others
/// of a class that are gone, as many bytes of new ones of that class replace them and do not count.
fn net(before: &File, end: &File, nodes: usize) -> Vec<u64> {
    let (mut is_kept, mut known) = (Vec::new(), Vec::new());
    each(&before.objects, &end.objects, |one, other| {
        is_kept.extend(one.map(|_| other.is_some()));
        known.extend(other.map(|_| one.map(|one| one.bytes)));
    });
    // By the object that is in both files, and the class of the outermost object below it that is not.
    let mut gone: HashMap<(u64, u32), u64> = HashMap::new();
    let key = |all: &[Object], head: usize| (all[all[head].above as usize].id, all[head].class);
    let all = &before.objects;
    for (at, head) in heads(all, &is_kept)
        .into_iter()
        .enumerate()
        .filter(|&(at, _)| !is_kept[at])
    {
        *gone.entry(key(all, head)).or_default() += all[at].bytes;
    }
    let all = &end.objects;
    let heads = heads(all, &known.iter().map(Option::is_some).collect::<Vec<_>>());
    // By outermost new object: the bytes of the others below it.
    let mut below = vec![0; all.len()];
    for (at, &head) in heads.iter().enumerate().filter(|&(at, &head)| at != head) {
        below[head] += all[at].bytes;
    }
    let mut new = vec![0; nodes];
    let mut left = below.clone();
    for (at, own) in all.iter().enumerate() {
        new[own.node as usize] = match known[at] {
            Some(bytes) => own.bytes.saturating_sub(bytes),
            None if heads[at] != at => continue,
            None => match gone.get_mut(&key(all, at)) {
                None => own.bytes,
                // The oldest are those that replace others: their own bytes first.
                Some(gone) => {
                    let (own_part, rest) = (own.bytes.min(*gone), gone.saturating_sub(own.bytes).min(below[at]));
                    *gone -= own_part + rest;
                    left[at] -= rest;
                    own.bytes - own_part
                }
            },
        };
    }
    for (at, own) in all
        .iter()
        .enumerate()
        .filter(|&(at, _)| known[at].is_none() && heads[at] != at)
    {
        let part = u128::from(own.bytes) * u128::from(left[heads[at]]) / u128::from(below[heads[at]].max(1));
        new[own.node as usize] = part as u64;
    }
    new
}

/// By object: itself if it is in both files, or else the outermost object above it, or itself, below
/// one that is.
fn heads(all: &[Object], is_kept: &[bool]) -> Vec<usize> {
    let mut heads = vec![usize::MAX; all.len()];
    let mut open = Vec::new();
    for at in 0..all.len() {
        let mut next = at;
        let head = loop {
            let above = all[next].above as usize;
            if heads[next] != usize::MAX {
                break heads[next];
            }
            open.push(next);
            if is_kept[next] || is_kept[above] || above == next {
                break next;
            }
            next = above;
        };
        open.drain(..).for_each(|at| heads[at] = head);
    }
    heads
}

/// Calls `visit` with every object of either of two files, in the order of ids.
fn each<'o>(one: &'o [Object], other: &'o [Object], mut visit: impl FnMut(Option<&'o Object>, Option<&'o Object>)) {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    loop {
        match (one.peek(), other.peek()) {
            (None, None) => return,
            (Some(a), Some(b)) if a.id == b.id => visit(one.next(), other.next()),
            (Some(a), Some(b)) if a.id < b.id => visit(one.next(), None),
            (Some(_), None) => visit(one.next(), None),
            _ => visit(None, other.next()),
        }
    }
}

/// Whether two files come from one heap: most objects with one id have one class.
fn is_same_heap(before: &File, after: &File) -> bool {
    let (mut shared, mut same) = (0, 0);
    each(&before.objects, &after.objects, |one, other| {
        if let (Some(one), Some(other)) = (one, other) {
            shared += 1;
            same += usize::from(one.class == other.class);
        }
    });
    let least = before.objects.len().min(after.objects.len());
    shared > 0 && same * 100 > shared * SAME && shared * 100 > least * SHARED
}

/// Whether two heaps of JVMs are of programs with different main classes, or with half of the own classes
/// of the one that has fewer, or more, missing in the other.
fn is_other_program(one: &File, other: &File, classes: &Classes) -> bool {
    let is_own = |name: &str| name.strip_prefix("class ").is_some_and(|name| rank(name) == Rank::Own);
    let has = |file: &File, class: usize| file.classes.get(class).is_some_and(|own| own.objects > 0);
    let (mut shared, mut of_one, mut of_other) = (0, 0, 0);
    for (class, _) in classes.names.iter().enumerate().filter(|(_, name)| is_own(name)) {
        let [in_one, in_other] = [one, other].map(|file| has(file, class));
        of_one += usize::from(in_one);
        of_other += usize::from(in_other);
        shared += usize::from(in_one && in_other);
    }
    let mains = one.main.as_ref().zip(other.main.as_ref());
    mains.is_some_and(|(one, other)| one != other) || shared * 2 <= of_one.min(of_other) && of_one.min(of_other) > 0
}

/// The growth of each class from the ids of its objects, most new bytes first.
fn by_ids(files: &[File], end: &File, classes: &Classes) -> Vec<Growth> {
    let mut growths = empty(classes, files.len());
    each(&files[0].objects, &end.objects, |before, after| match (before, after) {
        (None, Some(new)) => {
            let growth = &mut growths[new.class as usize];
            growth.new += 1;
            growth.bytes += new.bytes as i64;
        }
        (Some(gone), None) => growths[gone.class as usize].gone += 1,
        (Some(before), Some(after)) => growths[after.class as usize].grown += after.bytes.saturating_sub(before.bytes),
        (None, None) => {}
    });
    for (step, file) in files.iter().enumerate() {
        // Objects that are not in this file came in this step or later.
        each(&file.objects, &end.objects, |before, after| {
            if let (None, Some(new)) = (before, after) {
                growths[new.class as usize].steps[step] += 1;
            }
        });
    }
    for growth in &mut growths {
        for step in 1..growth.steps.len() {
            growth.steps[step - 1] -= growth.steps[step];
        }
    }
    sorted(growths)
}

/// The growth of each class from the numbers of its objects, most bytes first.
fn by_counts(files: &[File], end: &File, classes: &Classes) -> Vec<Growth> {
    let mut growths = empty(classes, files.len());
    let count = |file: &File, class: usize| file.classes.get(class).copied().unwrap_or_default();
    for (class, growth) in growths.iter_mut().enumerate() {
        let (before, after) = (count(&files[0], class), count(end, class));
        growth.new = after.objects.saturating_sub(before.objects);
        growth.gone = before.objects.saturating_sub(after.objects);
        growth.bytes = after.bytes as i64 - before.bytes as i64;
        for (step, pair) in files.iter().chain([end]).collect::<Vec<_>>().windows(2).enumerate() {
            growth.steps[step] = count(pair[1], class).objects as i64 - count(pair[0], class).objects as i64;
        }
    }
    sorted(growths)
}

fn empty(classes: &Classes, steps: usize) -> Vec<Growth> {
    let growth = |name: &String| Growth {
        name: name.clone(),
        new: 0,
        gone: 0,
        bytes: 0,
        grown: 0,
        steps: vec![0; steps],
    };
    classes.names.iter().map(growth).collect()
}

fn sorted(mut growths: Vec<Growth>) -> Vec<Growth> {
    growths.retain(|growth| growth.name != "(synthetic)" && growth.new + growth.gone > 0 || growth.more() != 0);
    growths.sort_by(|one, other| (other.more(), &one.name).cmp(&(one.more(), &other.name)));
    growths
}

fn answer(arguments: &Arguments, report: &Report) -> ExitCode {
    let printed = match arguments.json {
        true => serde_json::to_string_pretty(report).map_or_else(refuse, |json| print(&format!("{json}\n"))),
        false => print(&text(report, arguments)),
    };
    match arguments.fail_above {
        Some(most) if report.growth > most.0 as i64 => {
            tell!(
                "gclab: the heap grew by {}, more than --fail-above allows",
                size(report.growth as u64)
            );
            ExitCode::from(1)
        }
        _ => printed,
    }
}

/// The answer in words: what holds the new objects, and their classes.
fn text(report: &Report, arguments: &Arguments) -> String {
    let mut out = format!("{}\n", fit(&headline(report)));
    if let (Some(first), Some(last)) = (report.holders.first(), arguments.files.last()) {
        let all = *report.bytes.last().unwrap_or(&0);
        for line in whole(report) {
            let _ = writeln!(out, "{}", fit(&line));
        }
        let dump = arguments.dump(arguments.files.len() - 1);
        if let Some(file) = again(last, dump, arguments.exe.as_deref()) {
            let _ = writeln!(out, "next: gclab heap analyse {file} --path-to {}", first.held.id);
        }
        let _ = writeln!(out, "\n{:>10} {:>6}  what holds the new objects", "new bytes", "%");
        for holder in &report.holders {
            for line in lines(&holder.held, all) {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    classes(&mut out, report);
    out
}

/// The bytes of all files: `1.00 MB -> 2.00 MB`.
fn sizes(report: &Report) -> String {
    let sizes: Vec<String> = report.bytes.iter().map(|&bytes| size(bytes)).collect();
    sizes.join(" -> ")
}

/// The answer in one sentence.
fn headline(report: &Report) -> String {
    let Report { bytes, growth, .. } = report;
    let whole = size(growth.unsigned_abs());
    let last = bytes
        .windows(2)
        .last()
        .is_some_and(|pair| pair[1] > pair[0] + pair[0] / LEAST[0]);
    let grew = last && *growth > (bytes[0] / 100 * GREW) as i64;
    let Some(Holder { held, steps }) = report.holders.first() else {
        let most = report.classes.first();
        let class = most.map_or_else(String::new, |class| format!("; mostly {}", short(&class.name, 1)));
        return match grew {
            true => format!("The heap grew by {whole}, but no holder was found{class}"),
            false if bytes.len() == 2 => format!("No leak: {}; nothing holds 1 % more than before", sizes(report)),
            false => format!("No leak: {}; no holder grew in every step", sizes(report)),
        };
    };
    let own = match (held.bytes as i64) < growth / 4 * 3 {
        true if report.leak => format!("{} of {whole}", size(held.bytes)),
        _ => size(held.bytes),
    };
    let before = match report.leak {
        true if report.files.len() == 2 => format!("{own} new: "),
        true => {
            let rate = size(held.bytes / (report.files.len() - 1) as u64);
            format!("{own} new, {rate} a step: ")
        }
        // The size of a buffer grows by leaps, what is in it is not known.
        false if !has_grown_last(steps) && !held.parts.is_empty() => {
            format!("No leak: {own} new, little in the last step: ")
        }
        false => format!("{own} new, but not in every step: "),
    };
    holders::answer(&before, held)
}

/// How the whole heap grew, and what that leaves open.
fn whole(report: &Report) -> Vec<String> {
    let sign = if report.growth < 0 { '-' } else { '+' };
    let total = size(report.growth.unsigned_abs());
    let steps = counted((report.files.len() - 1) as u64, "step");
    let whole = format!("the whole heap: {} ({sign}{total} in {steps})", sizes(report));
    let is_open = report.leak && report.files.len() == 2;
    let open = "Two files do not tell a leak from a cache that still fills: add a third";
    [whole].into_iter().chain(is_open.then(|| open.to_owned())).collect()
}

/// The table of classes.
fn classes(out: &mut String, report: &Report) {
    let steps = (report.files.len() - 1).min(STEPS);
    // Of one step, the column would be that of all.
    let steps = if steps > 1 { steps } else { 0 };
    let mut head = String::new();
    for step in report.files.len() - steps..report.files.len() {
        let _ = write!(head, " {:>8}", format!("in {}", step + 1));
    }
    let more = || report.classes.iter().filter(|growth| growth.more() > 0);
    if more().next().is_none() {
        return;
    }
    let _ = writeln!(out, "\n{:>10} {:>8}{head} {:>8}  class", "new bytes", "new", "gone");
    for growth in more() {
        let mut row = format!("{:>10} {:>8}", size(growth.more() as u64), number(growth.new));
        for step in &growth.steps[growth.steps.len() - steps..] {
            let _ = write!(row, " {:>8}", format!("{step:+}"));
        }
        let _ = write!(row, " {:>8}  ", number(growth.gone));
        let _ = writeln!(
            out,
            "{row}{}",
            fit_class(&growth.name, COLUMNS.saturating_sub(row.len()))
        );
    }
}
