//! The holders of memory in the reader's own names.

use gclab_heap_traverse::OutOfMemory;
use gclab_heap_traverse::analysis::{
    Analysis, ClassFigures, ClassHolding, Holder, Merged, Names, Rank, Referrers, Sum, is_entry, is_scope, rank,
};
use gclab_snapshot::Edge;
use serde::Serialize;
use std::collections::HashMap;

use super::owners::{self, Field, Owner, holds};
use super::words::{
    ANONYMOUS, COLUMNS, INNER, class_word, cut, field, fit, fit_to, is_place, label, name, number, percent, reference,
    size,
};

/// The part of the heap that a suspect holds, in percent.
pub(super) const SUSPECT: u64 = 5;
/// The most suspects.
const SUSPECTS: usize = 5;
/// The most kinds of objects that are shown below a holder.
const PARTS: usize = 3;
/// How many times as large as objects of the program's own class what lies beside them, such as values
/// beside keys, is still named after them.
const KEYS: u64 = 4;
/// The steps of a longer path that are shown at each end.
const SHOWN: usize = 4;
/// The smallest part of a holder that is shown, in percent.
const LEAST: f64 = 5.0;
/// The most steps that are shown below an object.
const STEPS: usize = 9;

/// Roots of a JVM's own objects, and of GHC's.
const OWN_ROOTS: [&str; 6] = [
    "(Unknown roots)",
    "(JNI globals)",
    "(System classes)",
    "(CAFs)",
    "(Stable pointers)",
    "(Weak pointers)",
];

/// What a thread has for one of its variables.
const THREAD_LOCAL: &str = "java.lang.ThreadLocal$ThreadLocalMap$Entry";

/// How little an answer can say.
const TIGHTEST: u32 = 4;
/// The columns of a path's first step.
const FIRST: usize = COLUMNS - 19;

/// The most nodes of a path to one of several.
const WAY: usize = 5;
/// A reference to one of many.
const ANY: &str = "[*]";

/// Classes and functions of Node.js itself, besides those whose scripts are `node:...`.
const RUNTIME: [&str; 3] = ["BuiltinModule", "internalBinding", "NativeModule"];

/// A holder in words.
#[derive(Debug, Serialize)]
pub(super) struct Held {
    /// The object that a reader knows.
    pub(super) id: u64,
    /// Its class.
    pub(super) name: String,
    /// The way to the objects below: `.live Set @6173 > .table`.
    pub(super) path: String,
    pub(super) bytes: u64,
    /// The largest kinds of objects below.
    pub(super) parts: Vec<Part>,
    /// Of objects that no single object holds: the last steps of a path to one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
    /// Of an object of a library's class: the reference by which a reader finds it.
    #[serde(skip)]
    way: String,
    /// Where a reader finds it.
    #[serde(skip)]
    field: Option<Field>,
    /// The text by which people recognise it.
    #[serde(skip)]
    label: String,
    /// How many objects of its class there are.
    #[serde(skip)]
    pub(super) count: u64,
    /// Whether it is a part of Node.js or V8, not of the program.
    #[serde(skip)]
    pub(super) is_runtime: bool,
    /// Whether it is one object, or each of several that no object holds together.
    #[serde(skip)]
    pub(super) is_one: bool,
    /// Whether one of several holds most of the others, as the first of a list does.
    #[serde(skip)]
    pub(super) is_list: bool,
}

/// The objects of one class below a holder.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// The way from each of them to most of its bytes.
    pub(super) path: String,
}

/// Holders in words.
///
/// # Errors
/// If there is not enough memory for the references to them.
pub(super) fn all_held(analysis: &Analysis<'_>, merged: &Merged, holders: &[Holder]) -> Result<Vec<Held>, OutOfMemory> {
    let first = |holder: &Holder| merged.place(holder.path[anchor(merged, &holder.path)]).largest;
    let chains = holders
        .iter()
        .filter_map(|holder| Some(known(merged, *holder.path.last()?)));
    let places = holders
        .iter()
        .flat_map(|holder| holder.path.iter().copied())
        .chain(chains.flatten());
    let locals = places.filter_map(|place| variable_of(analysis, merged, place));
    let firsts: Vec<u32> = holders.iter().map(first).collect();
    let nodes: Vec<u32> = firsts.iter().copied().chain(locals).collect();
    let (referrers, paths) = (analysis.referrers(&nodes)?, owners::paths(analysis, &firsts)?);
    let held = |holder| held(analysis, merged, &referrers, &paths, holder);
    Ok(holders.iter().map(held).collect())
}

/// A holder in words.
fn held(
    analysis: &Analysis<'_>,
    merged: &Merged,
    referrers: &Referrers<'_>,
    paths: &HashMap<u32, Vec<(u32, u32)>>,
    holder: &Holder,
) -> Held {
    let anchor = anchor(merged, &holder.path);
    let first = holder.path[anchor];
    let last = *holder.path.last().unwrap_or(&first);
    let is_one = merged.place(last).is_mostly_one();
    let node = merged.place(first).largest;
    let id = analysis.snapshot().node(node).id().unwrap_or_default();
    let Owner { steps, way, field } = owner(analysis, merged, paths, first);
    let text = label(analysis, node);
    let whole = |way: &str| match is_one {
        true => format!("{way} @{id}{text}"),
        false => way.to_owned(),
    };
    let class = merged.class(first);
    let named = |class: &str| whole(format!("{way} {class}").trim());
    let mut words = vec![named(class)];
    if words[0].chars().count() > FIRST {
        words[0] = named(without_package(class));
    }
    words.splice(0..0, steps);
    let scope = anchor.checked_sub(1).map_or("", |at| merged.class(holder.path[at]));
    words.splice(0..0, owners::function(scope).map(str::to_owned));
    let below = &holder.path[anchor + 1..];
    let field = field
        .or_else(|| owners::variable(scope, &way))
        .or_else(|| owners::fields(merged, &way, first, below));
    let field = field.filter(|_| is_one && text.is_empty());
    for (at, &place) in below.iter().enumerate() {
        if at == SHOWN && below.len() > 2 * SHOWN {
            words.push(format!("… {} more", number(below.len() - 2 * SHOWN)));
        }
        if at >= SHOWN && at + SHOWN < below.len() {
            continue;
        }
        let text = label(analysis, merged.place(place).largest) + &variable(analysis, merged, referrers, place);
        let key = key(analysis, merged, place);
        // The table of a map tells nothing, but the key does.
        words.pop_if(|last| key.is_some() && INNER.contains(&last.as_str()));
        words.extend(key.or_else(|| step_word(merged, place)).map(|word| word + &text));
    }
    // The arrays inside a map, a list or an object tell nothing.
    while words.len() > 1 && words.last().is_some_and(|word| INNER.contains(&word.as_str())) {
        words.pop();
    }
    let is_list = !is_one && merged.place(last).is_list && analysis.retained(node) > holder.bytes / 2;
    let parts = match is_one {
        true => parts_of(merged, &holder.parts),
        false => vec![last],
    };
    // The program's own objects on the way to what is new, or all on the way to what none holds alone.
    let behind = parts.first().map_or_else(Vec::new, |&part| known(merged, part));
    // Each of several has at least one object of each place on the way to what is new.
    let count = behind.iter().map(|&at| merged.place(at).count).min();
    let behind = &behind[..behind.len().saturating_sub(1)];
    let is_told = behind.iter().any(|&at| merged.rank(at) == Rank::Own);
    if !is_list && (is_told || !is_one) {
        for &place in behind.iter().skip(usize::from(!is_one)) {
            let of = variable(analysis, merged, referrers, place);
            words.extend(step_word(merged, place).map(|word| word + &of));
        }
    }
    let shown = parts
        .into_iter()
        .filter(|&part| percent(merged.place(part).bytes, holder.bytes) >= LEAST);
    let last_known = |part| *known(merged, part).last().unwrap_or(&part);
    let mut parts: Vec<u32> = shown.take(PARTS).map(last_known).collect();
    let least = parts.first().map_or(0, |&part| merged.place(part).bytes / KEYS);
    let is_own = |&part: &u32| merged.rank(part) == Rank::Own && merged.place(part).bytes >= least;
    if let Some(own) = parts.iter().position(is_own) {
        parts[..=own].rotate_right(1);
    }
    let by = match is_one {
        true => None,
        false if text.is_empty() => Some(ways_from_root(analysis, referrers, node)),
        false => Some(format!("{}, such as{text}", ways_from_root(analysis, referrers, node))),
    };
    let is_found = is_one && merged.rank(first) == Rank::Library;
    Held {
        id,
        name: merged.class(first).to_owned(),
        path: words.join(" > "),
        bytes: holder.bytes,
        parts: parts.into_iter().map(|part| part_of(merged, part)).collect(),
        by,
        way: if is_found && !way.is_empty() {
            way + " "
        } else {
            String::new()
        },
        field,
        label: text,
        count: count.unwrap_or(merged.place(last).count),
        is_runtime: is_runtime(analysis, merged, holder),
        is_one,
        is_list,
    }
}

/// A shortest path to a node; empty if there is none.
fn path_to(analysis: &Analysis<'_>, node: u32) -> Vec<u32> {
    analysis.paths().to(node).unwrap_or_default()
}

/// The place on a path at which a reader's own names begin: the last object of a class of the
/// program, or the outermost container in a scope.
fn anchor(merged: &Merged, path: &[u32]) -> usize {
    let Some(known) = path.iter().rposition(|&place| merged.rank(place) != Rank::Library) else {
        return 0;
    };
    let is_static = known > 0 && merged.class(path[known - 1]).starts_with("class ");
    match merged.rank(path[known]) {
        Rank::Scope => (known + 1).min(path.len() - 1),
        _ if is_static => known - 1,
        _ => known,
    }
}

/// A step of a path, if it tells anything.
fn step_word(merged: &Merged, place: u32) -> Option<String> {
    let (way, class) = (merged.way(place), merged.class(place));
    let is_inner = way == ANY && rank(class) == Rank::Library && (class.contains('<') || class_word(class).is_empty());
    (!is_inner).then(|| format!("{way} {}", class_word(class)).trim().to_owned())
}

/// The key of the object of a place in a map, if it is a string: `["abort"]`.
fn key(analysis: &Analysis<'_>, merged: &Merged, place: u32) -> Option<String> {
    let own = Some(merged.place(place)).filter(|own| own.is_mostly_one() && merged.way(place) == ANY)?;
    let (node, snapshot) = (analysis.snapshot().node(own.largest), analysis.snapshot());
    let key = match is_entry(merged.class(place)) {
        true => field(node, "key")?.label()?,
        false => {
            let table = snapshot.node(analysis.holder(own.largest)?);
            let number = |edge: Edge<'_>| edge.name_text().parse::<u64>().ok();
            let value = table
                .edges()
                .find(|edge| edge.target().ordinal() == own.largest)
                .and_then(number)?;
            let key = table
                .edges()
                .find(|&edge| number(edge) == value.checked_sub(1))?
                .target();
            // The elements of a JavaScript array are no entries.
            let is_map = table.type_name() == "array" && table.name() != "(object elements)";
            (is_map && key.type_name() == "string").then(|| key.name())?
        }
    };
    Some(format!("[\"{}\"]", cut(&key)))
}

/// The ways to a node, for others of its kind: of the references to it that a root reaches without
/// it, the first two that are named.
fn ways_from_root(analysis: &Analysis<'_>, referrers: &Referrers<'_>, node: u32) -> String {
    let others = referrers
        .to(node)
        .filter(|&(source, edge)| edge.is_strong() && !analysis.is_synthetic(source) && !holds(analysis, node, source));
    let others = others.map(|(source, _)| path_to(analysis, source));
    let others = others
        .filter(|path| !path.contains(&node))
        .map(|path| path.into_iter().chain([node]).collect());
    let paths = [path_to(analysis, node)].into_iter().chain(others);
    let ways = paths
        .filter(|path| path.len() > 1)
        .map(|path| way_from_root(analysis, &path, node));
    let mut named = ways.filter(|way| !way.is_empty());
    let first = named.next().unwrap_or_default();
    match named.find(|way| *way != first) {
        Some(second) => format!("{first} and {second}"),
        None => first,
    }
}

/// The last steps of a shortest path to a node, for others of its kind.
fn way_from_root(analysis: &Analysis<'_>, path: &[u32], node: u32) -> String {
    let start = path
        .iter()
        .rposition(|&node| analysis.is_synthetic(node))
        .map_or(0, |last| last + 1);
    let start = start.max(path.len().saturating_sub(WAY));
    let mut words = Vec::new();
    for step in path[start..].windows(2) {
        if words.is_empty() {
            words.push(format!(
                "{}{}",
                class_word(&name(analysis, step[0])),
                label(analysis, step[0])
            ));
        }
        let is_last = step[1] == node;
        let way = reference(analysis, step[0], step[1]);
        let way = way.filter(|way| way.starts_with('<') || way.starts_with('.') && !is_last);
        words.push(way.unwrap_or_else(|| ANY.to_owned()));
    }
    words.retain(|word| !word.is_empty());
    match (words.is_empty(), start.checked_sub(1)) {
        // A kind of roots holds it.
        (true, Some(root)) => name(analysis, path[root]),
        _ => words.join(" > "),
    }
}

/// How a reader finds a place.
fn owner(analysis: &Analysis<'_>, merged: &Merged, paths: &HashMap<u32, Vec<(u32, u32)>>, place: u32) -> Owner {
    let own = merged.place(place);
    match (merged.way(place), paths.get(&own.largest)) {
        _ if merged.class(place).starts_with("class ") => Owner::default(),
        ("" | ANY, Some(path)) if own.is_mostly_one() && merged.rank(place) == Rank::Library => {
            Owner::of(analysis, path)
        }
        ("" | ANY, Some(path)) if own.is_mostly_one() => Owner {
            way: Owner::of(analysis, path).way,
            ..Owner::default()
        },
        ("" | ANY, _) => Owner::default(),
        (way, _) => Owner {
            way: way.to_owned(),
            ..Owner::default()
        },
    }
}

/// The largest child of a place, if it has most of its bytes.
fn next(merged: &Merged, place: u32) -> Option<u32> {
    let next = *merged.below(place).first()?;
    (merged.place(next).bytes > merged.place(place).bytes / 2).then_some(next)
}

/// A place, and the way from it to most of its bytes.
fn chain(merged: &Merged, place: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(place), |&at| next(merged, at))
}

/// The places from one to that which a reader knows: the first of new objects of the program's own
/// class, or of plain ones with names, on the way to most of its bytes. If no way leads to most, as
/// collections have some, it is the heaviest such place behind most objects. If nothing is new, it is
/// the first of the program's own class, or else the contents of the innermost collection.
fn known(merged: &Merged, place: u32) -> Vec<u32> {
    let mut chain: Vec<u32> = chain(merged, place).collect();
    let is_own = |at: u32| merged.rank(at) == Rank::Own;
    let is_plain = |at: u32| merged.class(at).starts_with('{');
    let first = |is: &dyn Fn(u32) -> bool| chain.iter().position(|&at| is(at));
    let is_new = |at: u32| merged.place(at).is_new;
    let own = first(&|at| is_own(at) && is_new(at)).or_else(|| first(&|at| is_plain(at) && is_new(at)));
    let is_list = merged.place(place).is_list && (is_plain(place) || merged.class(place) == "Object");
    let old = first(&is_own);
    let end = match own {
        _ if is_list => 0,
        Some(own) => own,
        None => {
            let last = chain[chain.len() - 1];
            let below = merged
                .below(last)
                .into_iter()
                .map(|at| merged.place(at).bytes)
                .sum::<u64>();
            let is_link = chain.len() == 1 || is_entry(merged.class(last));
            let is_data = !is_link && merged.place(last).bytes - below > merged.place(place).bytes / 2;
            let (mut best, mut open) = (None, if is_data { Vec::new() } else { vec![place] });
            while let Some(at) = open.pop() {
                match (is_own(at) || is_plain(at)) && is_new(at) {
                    false => open.extend(merged.below(at)),
                    true if merged.place(at).count >= merged.place(place).count / 2 => {
                        best = best.max(Some((merged.place(at).bytes, at)));
                    }
                    true => {}
                }
            }
            if let Some((_, best)) = best {
                let above = std::iter::successors(Some(best), |&at| Some(merged.place(at).above));
                chain = above.take_while(|&at| at != place).chain([place]).collect();
                chain.reverse();
                chain.len()
            } else {
                let entry = chain[..chain.len() - 1]
                    .iter()
                    .rposition(|&at| is_entry(merged.class(at)));
                old.unwrap_or(entry.map_or(0, |entry| entry + 1))
            }
        }
    };
    chain.truncate(end + 1);
    chain
}

/// The variable that a place is the value of, for one thread.
fn variable_of(analysis: &Analysis<'_>, merged: &Merged, place: u32) -> Option<u32> {
    let pair = Some(merged.place(place).largest).filter(|_| merged.class(place) == THREAD_LOCAL)?;
    let mut edges = analysis.snapshot().node(pair).edges();
    let variable = edges.find(|edge| edge.name_text() == "referent")?;
    Some(variable.target().ordinal())
}

/// The static field of the variable that a place is the value of: ` of Server.CONTEXT`.
fn variable(analysis: &Analysis<'_>, merged: &Merged, referrers: &Referrers<'_>, place: u32) -> String {
    let of = |variable| referrers.to(variable).find(|(_, edge)| edge.type_name() == "static");
    let field = variable_of(analysis, merged, place).and_then(of);
    field.map_or_else(String::new, |(class, field)| {
        format!(" of {}.{}", name(analysis, class), field.name_text())
    })
}

/// The parts of a holder, most bytes first, with what is in tables in their place.
fn parts_of(merged: &Merged, parts: &[u32]) -> Vec<u32> {
    let inside = |&part: &u32| match merged.below(part) {
        below if merged.place(part).is_one && merged.class(part).starts_with('(') && !below.is_empty() => below,
        _ => vec![part],
    };
    let mut parts: Vec<u32> = parts.iter().flat_map(inside).collect();
    parts.sort_by_key(|&part| std::cmp::Reverse(merged.place(part).bytes));
    parts
}

/// A part of a holder, of objects that a reader knows.
fn part_of(merged: &Merged, known: u32) -> Part {
    let below = chain(merged, known).skip(1).take(STEPS - 1);
    let words = below.filter_map(|at| step_word(merged, at));
    let words: Vec<String> = words.filter(|word| !INNER.contains(&word.as_str())).collect();
    let part = merged.place(known);
    Part {
        name: merged.class(known).to_owned(),
        count: part.count,
        bytes: part.bytes,
        path: words.join(" > "),
    }
}

/// Whether a holder is a part of Node.js or V8.
fn is_runtime(analysis: &Analysis<'_>, merged: &Merged, holder: &Holder) -> bool {
    let of_runtime = |class: &str| {
        class.contains(" node:") && !is_scope(class)
            || RUNTIME
                .iter()
                .any(|name| class == *name || class.starts_with(&format!("{name} ")))
    };
    let mut classes = holder
        .path
        .iter()
        .chain(holder.parts.first())
        .map(|&place| merged.class(place));
    let last = merged.place(*holder.path.last().unwrap_or(&0));
    let inner = holder.path.iter().map(|&place| merged.class(place)).all(|class| {
        class.starts_with('(') || class.starts_with("system / ") || is_scope(class) && class.contains(" node:")
    });
    let is_v8 = inner && {
        let path = path_to(analysis, last.largest);
        let before = path.len().checked_sub(2).map(|at| path[at]);
        !last.is_mostly_one() || before.is_none_or(|before| analysis.is_synthetic(before))
    };
    let is_v8_or_ours = analysis.snapshot().layout().is_none() && analysis.snapshot().blocks().is_empty();
    let is_library = !is_v8_or_ours && {
        let mut places = holder.path.iter().chain(&holder.parts);
        // What a thread has in its frames is the program's, whatever its class.
        let path = path_to(analysis, last.largest);
        let root = path.get(1).map_or_else(String::new, |&root| name(analysis, root));
        places.all(|&place| merged.rank(place) == Rank::Library) && OWN_ROOTS.contains(&root.as_str())
    };
    // Plain objects at the top, of which nothing is known, are many things.
    let is_mixed =
        !last.is_mostly_one() && ["Object", "Array"].contains(&merged.class(*holder.path.last().unwrap_or(&0)));
    is_v8 || is_library || is_mixed || classes.any(of_runtime)
}

/// The lines of a holder, each of at most 80 columns: its path, and what hangs from it.
pub(super) fn lines(held: &Held, all: u64) -> Vec<String> {
    let indent = " ".repeat(19);
    let part = percent(held.bytes, all);
    let (first, further) = held.path.split_once(" > ").unwrap_or((&held.path, ""));
    let path = match (held.is_one, held.parts.first()) {
        (false, Some(part)) if held.is_list => {
            format!("{} × {} in a list from @{}", number(part.count), held.path, held.id)
        }
        (false, Some(_)) => format!("{} × {first} that no single object holds", number(held.count)),
        _ => held.path.clone(),
    };
    let mut lines = folded(&format!("{:>10} {part:>6.1}  ", size(held.bytes)), &path);
    let by = held.by.as_ref().filter(|by| !by.is_empty());
    lines.extend(by.into_iter().flat_map(|by| folded(&format!("{indent}by "), by)));
    if !held.is_one && !further.is_empty() {
        lines.extend(folded(&format!("{indent}  > "), further));
    }
    for part in &held.parts {
        if held.is_one || part.name != held.name {
            let head = format!("{indent}{} × ", number(part.count));
            let bytes = format!(": {}", size(part.bytes));
            let room = COLUMNS.saturating_sub(head.chars().count() + bytes.len());
            lines.push(format!("{head}{}{bytes}", fit_class(&part.name, room)));
        }
        if !part.path.is_empty() {
            lines.extend(folded(&format!("{indent}  > "), &part.path));
        }
    }
    lines
}

/// A path after a head, on as many lines as it needs.
fn folded(head: &str, path: &str) -> Vec<String> {
    let mut lines = vec![head.to_owned()];
    for (index, step) in path.split(" > ").enumerate() {
        let line = lines.last_mut().expect("the head");
        let step = if index == 0 {
            step.to_owned()
        } else {
            format!(" > {step}")
        };
        if index > 0 && line.chars().count() + step.chars().count() > COLUMNS {
            lines.push(format!("{}{step}", " ".repeat(20)));
        } else {
            line.push_str(&step);
        }
    }
    lines.iter().map(|line| fit(line)).collect()
}

/// The answer to what holds the memory.
pub(super) struct Findings {
    pub(super) merged: Merged,
    /// The holders of much of the heap, largest first.
    pub(super) suspects: Vec<Held>,
    /// The bytes of holders that are parts of Node.js or of the JVM.
    pub(super) own: u64,
    /// The classes that retain most, largest first.
    pub(super) classes: Vec<ClassHolding>,
    /// All types, most bytes first.
    pub(super) types: Vec<(u8, Sum)>,
}

/// Finds what holds the memory, and the `count` largest classes, with `synthetic` also of nodes that
/// stand for no object.
///
/// # Errors
/// If there is not enough memory.
pub(super) fn findings(analysis: &Analysis<'_>, count: usize, synthetic: bool) -> Result<Findings, OutOfMemory> {
    let is_wanted = |class: ClassFigures| synthetic || !analysis.is_synthetic(class.first);
    // One after the other: side by side they would need a seventh more memory.
    let classes = analysis.largest_classes(count, is_wanted)?;
    let (merged, suspects, own) = suspects(analysis)?;
    Ok(Findings {
        merged,
        suspects,
        own,
        classes,
        types: analysis.types(),
    })
}

/// The merged tree, the suspects, and the bytes that are Node.js's or the JVM's own.
fn suspects(analysis: &Analysis<'_>) -> Result<(Merged, Vec<Held>, u64), OutOfMemory> {
    let merged = merged(analysis)?;
    let least = (analysis.reached_size() / 100 * SUSPECT).max(1);
    let (mut suspects, mut own) = (Vec::new(), 0);
    for held in all_held(analysis, &merged, &merged.holders(least))? {
        if held.is_runtime {
            own += held.bytes;
        } else if suspects.len() < SUSPECTS {
            suspects.push(held);
        }
    }
    Ok((merged, suspects, own))
}

/// The dominator tree by class.
pub(super) fn merged(analysis: &Analysis<'_>) -> Result<Merged, OutOfMemory> {
    Merged::of(analysis, &Names::of(analysis.snapshot(), analysis.classes())?)
}

/// A class as the first line of an answer names it: without the package of a class of libraries. The
/// tighter the room, the less is said: first packages and the class around its own are left out, and
/// then the place of a function that has a name.
pub(super) fn short(class: &str, tight: u32) -> String {
    let class = match class.rsplit_once(' ') {
        Some((function, place)) if is_place(place) && tight > 2 && !function.ends_with(ANONYMOUS) => function,
        Some((_, place)) if is_place(place) => return class.to_owned(),
        _ => class,
    };
    let (kind, name) = match class.split_once(' ') {
        Some((kind @ ("class" | "CAF"), name)) => (format!("{kind} "), name),
        _ => (String::new(), class),
    };
    let is_library = rank(name) == Rank::Library;
    let name = match tight > 0 || is_library {
        true => without_package(name),
        false => name,
    };
    // The class around it.
    let name = match name.split_once('$') {
        Some((_, own)) if tight > 0 && !is_library && own.starts_with(char::is_alphabetic) => own,
        Some((_, own)) if tight >= TIGHTEST => own.rsplit('$').next().unwrap_or(own),
        _ => name,
    };
    kind + name
}

/// The name of a class without its package.
pub(super) fn without_package(name: &str) -> &str {
    let is_package = |text: &str| {
        text.chars()
            .all(|letter| letter.is_alphanumeric() || "._$".contains(letter))
    };
    let parts = name
        .rsplit_once('.')
        .filter(|(package, own)| !own.is_empty() && is_package(package));
    parts.map_or(name, |(_, own)| own)
}

/// A class of at most `columns` columns; of a longer one, first the packages are left out.
pub(super) fn fit_class(class: &str, columns: usize) -> String {
    match class.rsplit_once(' ').unwrap_or(("", class)) {
        (kind, name) if class.chars().count() > columns && !is_place(name) => {
            fit_to(format!("{kind} {}", without_package(name)).trim_start(), columns)
        }
        _ => fit_to(class, columns),
    }
}

/// What hangs from a holder, as the first line of an answer says it after `before`: as much as there
/// is room for.
pub(super) fn answer(before: &str, held: &Held) -> String {
    let fields = (0..TIGHTEST)
        .map(|tight| in_field(held, tight))
        .map_while(|field| field);
    let mut all = fields
        .chain((0..=TIGHTEST).map(|tight| holding(held, tight)))
        .map(|words| format!("{before}{words}"));
    let fits = |whole: &String| whole.chars().count() <= COLUMNS;
    all.find(fits)
        .unwrap_or_else(|| format!("{before}{}", holding(held, TIGHTEST)))
}

/// What hangs from a field of the program.
fn in_field(held: &Held, tight: u32) -> Option<String> {
    let (field, part) = held.field.as_ref().zip(held.parts.first())?;
    // The place of a function tells more than a field of what is known.
    if !field.is_needed && tight > 2 {
        return None;
    }
    let Field {
        before, class, fields, ..
    } = field;
    let (count, part) = (number(part.count), short(&part.name, tight));
    let list = if part == short(&held.name, tight) {
        "a list of "
    } else {
        ""
    };
    Some(format!(
        "{before}{}{fields} holds {list}{count} {part}",
        short(class, tight)
    ))
}

/// What hangs from a holder. The tighter the room, the less is said: first its text and packages are
/// left out, then its id, which the next command has, or the places of functions, which are below, and
/// then both.
fn holding(held: &Held, tight: u32) -> String {
    let name = short(&held.name, tight);
    let id = match tight {
        2 | TIGHTEST => String::new(),
        _ => format!(" @{}", held.id),
    };
    let of = |part: &Part| format!("{} {}", number(part.count), short(&part.name, tight));
    let ends = held.path.split_once(" > ").zip(held.path.rsplit_once(" > "));
    let named = |path: &str| {
        let path = path.replacen(&held.name, &name, 1);
        path.replacen(&format!(" @{}", held.id), &id, 1)
    };
    match (held.parts.first(), ends) {
        (Some(part), _) if held.is_one && part.name == held.name => {
            format!("a list of {} {name} from @{}", number(part.count + 1), held.id)
        }
        (Some(part), _) if held.is_one => {
            let label = if tight == 0 { &held.label } else { "" };
            format!("{}{name}{id}{label} holds {}", held.way, of(part))
        }
        (Some(part), _) if held.is_list => format!("a list of {}", of(part)),
        (Some(part), _) if part.name == held.name => of(part),
        (Some(part), ends) => {
            let way = ends.map_or("", |((_, further), _)| further.split(' ').next().unwrap_or_default());
            match way.starts_with('.') && tight < TIGHTEST {
                true => format!("{} by {name} > {way}", of(part)),
                false => format!("{} by {name}", of(part)),
            }
        }
        (None, Some(((first, _), (before, last)))) if tight > 0 && before != first => {
            format!("{} > … > {last}", named(first))
        }
        (None, _) => named(&held.path),
    }
}
