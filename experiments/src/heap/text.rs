//! An analysis as text: which classes and which objects hold the memory.

use gclab_heap_traverse::OutOfMemory;
use gclab_heap_traverse::analysis::{Analysis, ClassFigures, Extent, Lines, Outline};

use super::words::{chain, class, counted, name, number, object, percent, reference, rest, size};

/// Lines of the dominator tree for each object of `--top`.
const BRANCHES: usize = 2;
/// The smallest part of the heap that gets a line in the tree, in percent.
const LEAST: u64 = 1;
/// The part of the heap that no single object holds, at which the text says so, in percent.
const MUCH: f64 = 10.0;
/// The most levels of the tree that are shown.
const LEVELS: usize = 12;

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
/// If there is no memory for the lists of objects and classes.
pub(super) fn text(
    file: &str,
    analysis: &Analysis<'_>,
    wanted: Listing,
    path: Option<&[u32]>,
) -> Result<String, OutOfMemory> {
    let hidden = |node: u32| !wanted.synthetic && analysis.is_synthetic(node);
    let outline = analysis.outline(&hidden);
    let least = (analysis.reached_size() / 100 * LEAST).max(1);
    let lines = outline.lines(Extent {
        lines: wanted.top.saturating_mul(BRANCHES),
        levels: LEVELS,
        least,
    })?;
    let mut out = String::new();
    head(&mut out, file, analysis);
    shared(&mut out, analysis, &outline, least)?;
    types(&mut out, analysis);
    classes(&mut out, analysis, wanted)?;
    holders(&mut out, analysis, &outline, wanted.top)?;
    tree(&mut out, analysis, &lines)?;
    if let Some(path) = path {
        steps(&mut out, analysis, path);
    }
    Ok(out)
}

/// The contents of the file in numbers.
fn head(out: &mut String, file: &str, analysis: &Analysis<'_>) {
    let snapshot = analysis.snapshot();
    let all: u64 = analysis.types().iter().map(|(_, sum)| sum.bytes).sum();
    let objects = counted(snapshot.node_count(), "object");
    let edges = counted(snapshot.edge_count(), "reference");
    let weak = number(snapshot.edge_count() - analysis.strong_edges());
    line(
        out,
        &format!("{file}: {} in {objects}, {edges} ({weak} of them weak)", size(all)),
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

/// The part of the heap that no single object holds, if it is large.
fn shared(out: &mut String, analysis: &Analysis<'_>, outline: &Outline<'_>, least: u64) -> Result<(), OutOfMemory> {
    let rest = outline.top(least)?.rest;
    let bytes = rest.iter().map(|&node| analysis.retained(node)).sum();
    let part = percent(bytes, analysis.reached_size());
    if part >= MUCH {
        let part = format!(
            "{} ({part:.0} %) of it hangs from no single object with {LEAST} % or more",
            size(bytes)
        );
        line(out, &format!("{part}: the classes below tell more"));
    }
    Ok(())
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
        line(
            out,
            &format!("{retained:>10} {part:>6.1} {own:>10} {count:>10}  {class}{largest}"),
        );
    }
    Ok(())
}

fn holders(out: &mut String, analysis: &Analysis<'_>, outline: &Outline<'_>, top: usize) -> Result<(), OutOfMemory> {
    line(
        out,
        &format!("\n{:>10} {:>6} {:>10}  largest holders", "retained", "%", "itself"),
    );
    for head in outline.largest(top)? {
        let nodes = outline.chain(head)?;
        let own = nodes
            .iter()
            .map(|&node| analysis.snapshot().node(node).self_size())
            .sum();
        let (retained, own) = (analysis.retained(head), size(own));
        let part = percent(retained, analysis.reached_size());
        let words = chain(analysis, None, &nodes);
        line(out, &format!("{:>10} {part:>6.1} {own:>10}  {words}", size(retained)));
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
    line(out, &format!("\n{:>10}  a shortest path from the root", "retained"));
    let before = std::iter::once(None).chain(path.iter().copied().map(Some));
    for (&node, before) in path.iter().zip(before) {
        let name = before.and_then(|before| reference(analysis, before, node));
        let name = name.map_or_else(String::new, |name| format!("{name} "));
        let retained = size(analysis.retained(node));
        line(out, &format!("{retained:>10}  {name}{}", object(analysis, node)));
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}
