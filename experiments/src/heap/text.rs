//! An analysis as text: which classes and which objects hold the memory.

use gclab_heap_traverse::OutOfMemory;
use gclab_heap_traverse::analysis::{Analysis, ClassFigures, Extent, Lines};
use gclab_heap_traverse::graph::GraphError;

use super::holders::{self, SUSPECT, answer};
use super::words::{COLUMNS, chain, class, counted, fit, fit_to, name, number, object, percent, reference, rest, size};

/// Lines of the dominator tree for each object of `--top`.
const BRANCHES: usize = 2;
/// The smallest part of the heap that gets a line in the tree, in percent.
const LEAST: u64 = 1;
/// The most levels of the tree that are shown.
const LEVELS: usize = 12;

/// The most objects of one class in a row on a path that are all shown.
const LIST: usize = 5;

/// The choices of a reader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing {
    /// The number of classes and objects to list.
    pub(super) top: usize,
    /// Whether nodes that stand for no object are listed too.
    pub(super) synthetic: bool,
}

/// The whole analysis.
///
/// # Errors
/// If there is not enough memory for the lists of objects and classes.
pub(super) fn text(
    file: &str,
    analysis: &Analysis<'_>,
    wanted: Listing,
    path: Option<&[u32]>,
) -> Result<String, GraphError> {
    let hidden = |node: u32| !wanted.synthetic && analysis.is_synthetic(node);
    let least = (analysis.reached_size() / 100 * LEAST).max(1);
    let lines = analysis.outline(&hidden).lines(Extent {
        lines: wanted.top.saturating_mul(BRANCHES),
        levels: LEVELS,
        least,
    })?;
    let mut out = String::new();
    suspects(&mut out, file, analysis, path.is_none())?;
    if let Some(path) = path {
        steps(&mut out, analysis, path);
    }
    tree(&mut out, analysis, &lines)?;
    classes(&mut out, analysis, wanted)?;
    types(&mut out, analysis);
    Ok(out)
}

/// The answer: what holds most, and what the rest is.
fn suspects(out: &mut String, file: &str, analysis: &Analysis<'_>, more: bool) -> Result<(), GraphError> {
    let all = analysis.reached_size();
    let (suspects, own) = holders::suspects(analysis)?;
    match suspects.first() {
        Some(first) => {
            let part = percent(first.bytes, all);
            line(
                out,
                &format!(
                    "{} ({part:.0} % of {}): {}",
                    size(first.bytes),
                    size(all),
                    answer(first)
                ),
            );
        }
        None if all == 0 => line(out, "no object is reachable from a root, so retained sizes are unknown"),
        None => line(
            out,
            &format!("nothing holds {SUSPECT} % of {}; below are the largest", size(all)),
        ),
    }
    head(out, analysis);
    if let Some(first) = suspects.first().filter(|_| more) {
        out.push_str(&format!("next: gclab heap analyse {file} --path-to {}\n", first.id));
    }
    line(out, &format!("\n{:>10} {:>6}  what holds it", "retained", "%"));
    let mut rest = all;
    for held in &suspects {
        holders::lines(held, all).iter().for_each(|text| line(out, text));
        rest = rest.saturating_sub(held.bytes);
    }
    let mut row = |bytes: u64, words: &str| {
        line(
            out,
            &format!("{:>10} {:>6.1}  {words}", size(bytes), percent(bytes, all)),
        )
    };
    if own > 0 {
        let is_jvm = analysis.snapshot().layout().is_some();
        row(
            own,
            if is_jvm {
                "the JVM and its libraries"
            } else {
                "Node.js and V8 themselves"
            },
        );
    }
    row(rest.saturating_sub(own), "the rest, in smaller parts");
    Ok(())
}

/// The contents of the file in numbers.
fn head(out: &mut String, analysis: &Analysis<'_>) {
    let snapshot = analysis.snapshot();
    let all: u64 = analysis.types().iter().map(|(_, sum)| sum.bytes).sum();
    let objects = counted(snapshot.node_count(), "object");
    let edges = counted(snapshot.edge_count(), "reference");
    let weak = number(snapshot.edge_count() - analysis.strong_edges());
    line(
        out,
        &format!("{} in {objects}, {edges} ({weak} of them weak)", size(all)),
    );
    if let Some(layout) = snapshot.layout() {
        line(out, &format!("sizes: {layout}"));
    }
    let lost = snapshot.node_count() as usize - analysis.reached();
    if lost > 0 {
        let are = if lost == 1 { "is" } else { "are" };
        let (lost, bytes) = (number(lost as u64), size(all - analysis.reached_size()));
        line(
            out,
            &format!("{lost} of them ({bytes}) {are} not reachable from the root"),
        );
    }
}

fn types(out: &mut String, analysis: &Analysis<'_>) {
    let types = analysis.types();
    let all = types.iter().map(|(_, sum)| sum.bytes).sum();
    line(out, &format!("\n{:>10} {:>6} {:>10}  type", "bytes", "%", "objects"));
    for (kind, sum) in types {
        let (bytes, part) = (size(sum.bytes), percent(sum.bytes, all));
        let name = &analysis.snapshot().node_type_names()[usize::from(kind)];
        line(
            out,
            &format!("{bytes:>10} {part:>6.1} {:>10}  {name}", number(sum.count)),
        );
    }
}

fn classes(out: &mut String, analysis: &Analysis<'_>, wanted: Listing) -> Result<(), OutOfMemory> {
    let is_wanted = |figures: ClassFigures| wanted.synthetic || !analysis.is_synthetic(figures.first);
    let head = "class, and its largest object";
    line(
        out,
        &format!(
            "\n{:>10} {:>6} {:>10} {:>10}  {head}",
            "retained", "%", "itself", "objects"
        ),
    );
    for figures in analysis.largest_classes(wanted.top, is_wanted)? {
        let largest = figures.largest.map_or_else(String::new, |node| {
            let id = analysis.snapshot().node(node).id().unwrap_or_default();
            format!(" (@{id}, {})", size(analysis.retained(node)))
        });
        let (retained, own) = (size(figures.retained), size(figures.shallow));
        let part = percent(figures.retained, analysis.reached_size());
        let (count, class) = (number(figures.count), class(analysis, figures.first));
        let row = format!("{retained:>10} {part:>6.1} {own:>10} {count:>10}  ");
        let room = COLUMNS.saturating_sub(row.len() + largest.len());
        line(out, &format!("{row}{}{largest}", fit_to(&class, room)));
    }
    Ok(())
}

/// A row of the tree: a line of the outline, or the rest of one.
enum Row {
    Line(usize),
    Rest(usize),
}

/// The top of the tree, largest first. The rest of a line has a row if it is not small; that of the
/// whole tree has one in any case.
fn tree(out: &mut String, analysis: &Analysis<'_>, lines: &Lines) -> Result<(), OutOfMemory> {
    line(out, &format!("\n{:>10} {:>6}  dominator tree", "retained", "%"));
    let all = analysis.reached_size();
    let row = |out: &mut String, bytes: u64, level: usize, words: &str| {
        let (indent, part) = ("  ".repeat(level), percent(bytes, all));
        line(out, &format!("{:>10} {part:>6.1}  {indent}{words}", size(bytes)));
    };
    let sum = |nodes: &[u32]| nodes.iter().map(|&node| analysis.retained(node)).sum::<u64>();
    let mut open: Vec<Row> = lines.top.iter().rev().map(|&place| Row::Line(place)).collect();
    while let Some(next) = open.pop() {
        match next {
            Row::Line(place) => {
                let own = &lines.all[place];
                let words = match own.above {
                    Some(_) => chain(analysis, own.above, &own.chain),
                    None => top_chain(analysis, &own.chain),
                };
                row(out, analysis.retained(own.chain[0]), own.level, &words);
                open.push(Row::Rest(place));
                open.extend(own.below.iter().rev().map(|&place| Row::Line(place)));
            }
            Row::Rest(place) => {
                let own = &lines.all[place];
                let bytes = sum(&own.rest);
                if percent(bytes, all) >= LEAST as f64 {
                    row(out, bytes, own.level + 1, &rest(analysis, &own.rest)?);
                }
            }
        }
    }
    if !lines.rest.is_empty() {
        row(out, sum(&lines.rest), 0, &rest(analysis, &lines.rest)?);
    }
    Ok(())
}

/// A chain at the top: its name begins with the kind of roots that holds it, if that has a name.
fn top_chain(analysis: &Analysis<'_>, nodes: &[u32]) -> String {
    let words = chain(analysis, None, nodes);
    match analysis.holder(nodes[0]).map(|root| name(analysis, root)) {
        Some(root) if !root.is_empty() => format!("{root} {words}"),
        _ => words,
    }
}

fn steps(out: &mut String, analysis: &Analysis<'_>, path: &[u32]) {
    if path.is_empty() {
        return line(out, "\nthe object is not reachable from the root");
    }
    let weakly = path.windows(2).find_map(|step| {
        let edge = analysis.edge(step[0], step[1]).filter(|edge| !edge.is_strong());
        edge.map(|_| object(analysis, step[0]))
    });
    if let Some(by) = weakly {
        line(out, &format!("\nonly weakly reachable, by {by}: nothing retains it"));
    }
    line(out, &format!("\n{:>10}  a shortest path from the root", "retained"));
    let class_of = analysis.classes().of_nodes();
    let mut before = None;
    for same in path.chunk_by(|&one, &other| class_of[one as usize] == class_of[other as usize]) {
        let shown = if same.len() > LIST { 2 } else { same.len() };
        for (at, &node) in same.iter().enumerate() {
            if at < shown || at + 1 == same.len() {
                let name = before.and_then(|before| reference(analysis, before, node));
                let edge = before.and_then(|before| analysis.edge(before, node));
                let how = if edge.is_some_and(|edge| !edge.is_strong()) { "weakly, by " } else { "" };
                let name = name.map_or_else(String::new, |name| format!("{how}{name} "));
                let retained = size(analysis.retained(node));
                line(out, &format!("{retained:>10}  {name}{}", object(analysis, node)));
            } else if at == shown {
                let more = same.len() - shown - 1;
                line(out, &format!("{:>10}  … {} more of this class", "", number(more)));
            }
            before = Some(node);
        }
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(&text.split('\n').map(fit).collect::<Vec<_>>().join("\n"));
    out.push('\n');
}
