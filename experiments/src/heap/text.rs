//! An analysis as text: which classes and which objects hold the memory.

use gclab_heap_traverse::OutOfMemory;
use gclab_heap_traverse::analysis::{Analysis, ClassHolding, Sum};
use gclab_report::wrapped;

use super::arguments::Extent;
use super::holders::{self, Findings, Held, SUSPECT, answer, findings, fit_class};
use super::words::{COLUMNS, class, counted, fit, number, object, percent, reference, size};

/// The most objects of one class in a row on a path that are all shown.
const LIST: usize = 5;
/// The most lines of a path.
const STEPS: usize = 60;

/// The whole analysis.
///
/// # Errors
/// If there is not enough memory for the lists of objects and classes.
pub(super) fn text(
    file: Option<&str>,
    analysis: &Analysis<'_>,
    wanted: Extent,
    path: Option<&[u32]>,
) -> Result<String, OutOfMemory> {
    let mut out = String::new();
    let found = findings(analysis, wanted.top, wanted.synthetic)?;
    suspects(&mut out, file, analysis, &found, path.is_none());
    if let Some(path) = path {
        steps(&mut out, analysis, path);
    }
    classes(&mut out, analysis, &found.classes);
    types(&mut out, analysis, &found.types);
    blocks(&mut out, analysis);
    Ok(out)
}

/// The answer: what holds most, and what the rest is.
fn suspects(out: &mut String, file: Option<&str>, analysis: &Analysis<'_>, found: &Findings, more: bool) {
    let (all, suspects) = (analysis.reached_size(), &found.suspects);
    line(out, &headline(analysis, suspects));
    head(out, analysis, &found.types);
    if let (Some(first), Some(file)) = (suspects.first().filter(|_| more), file) {
        out.push_str(&format!("next: gclab heap analyse {file} --path-to {}\n", first.id));
    }
    line(out, &format!("\n{:>10} {:>6}  what holds it", "retained", "%"));
    let mut rest = all;
    for held in suspects {
        holders::lines(held, all).iter().for_each(|text| line(out, text));
        rest = rest.saturating_sub(held.bytes);
    }
    let mut row = |bytes: u64, words: &str| {
        line(
            out,
            &format!("{:>10} {:>6.1}  {words}", size(bytes), percent(bytes, all)),
        )
    };
    if found.own > 0 {
        let snapshot = analysis.snapshot();
        let whose = match (snapshot.layout(), snapshot.blocks()) {
            (Some(_), _) => "the JVM and its libraries",
            (None, [_, ..]) => "GHC's own libraries",
            (None, []) => "Node.js and V8 themselves",
        };
        row(found.own, whose);
    }
    row(rest.saturating_sub(found.own), "the rest, in smaller parts");
}

/// The answer in one sentence.
pub(super) fn headline(analysis: &Analysis<'_>, suspects: &[Held]) -> String {
    let all = analysis.reached_size();
    match suspects.first() {
        Some(first) => {
            let (bytes, part) = (size(first.bytes), percent(first.bytes, all));
            answer(&format!("{bytes} ({part:.0} % of {}): ", size(all)), first)
        }
        None if all == 0 => "no object is reachable from a root, so retained sizes are unknown".to_owned(),
        None => format!("nothing holds {SUSPECT} % of {}; below are the largest", size(all)),
    }
}

/// The contents of the file in numbers.
fn head(out: &mut String, analysis: &Analysis<'_>, types: &[(u8, Sum)]) {
    let snapshot = analysis.snapshot();
    let all: u64 = types.iter().map(|(_, sum)| sum.bytes).sum();
    let objects = counted(snapshot.node_count(), "object");
    let edges = counted(snapshot.edge_count(), "reference");
    let weak = number(snapshot.edge_count() - analysis.strong_edges());
    line(
        out,
        &format!("{} in {objects}, {edges} ({weak} of them weak)", size(all)),
    );
    if let Some(layout) = snapshot.layout() {
        line(out, &wrapped(&format!("sizes: {layout}")));
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

fn types(out: &mut String, analysis: &Analysis<'_>, types: &[(u8, Sum)]) {
    let all = types.iter().map(|(_, sum)| sum.bytes).sum();
    line(out, &format!("\n{:>10} {:>6} {:>10}  type", "bytes", "%", "objects"));
    for &(kind, sum) in types {
        let (bytes, part) = (size(sum.bytes), percent(sum.bytes, all));
        let name = &analysis.snapshot().node_type_names()[usize::from(kind)];
        line(
            out,
            &format!("{bytes:>10} {part:>6.1} {:>10}  {name}", number(sum.count)),
        );
    }
}

/// What the blocks of a GHC program's heap are used for.
fn blocks(out: &mut String, analysis: &Analysis<'_>) {
    let blocks = analysis.snapshot().blocks();
    if blocks.is_empty() {
        return;
    }
    line(out, &format!("\n{:>10} {:>10} {:>10}  blocks", "live", "dead", "free"));
    let mut row = |kind: &str, [live, dead, free]: [u64; 3]| {
        let [live, dead, free] = [live, dead, free].map(size);
        line(out, &format!("{live:>10} {dead:>10} {free:>10}  {kind}"));
    };
    let mut all = [0; 3];
    for (kind, usage) in blocks {
        let own = [usage.live, usage.dead, usage.free];
        all.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        row(kind, own);
    }
    row("all", all);
}

fn classes(out: &mut String, analysis: &Analysis<'_>, largest: &[ClassHolding]) {
    let head = "class, and its largest object";
    line(
        out,
        &format!(
            "\n{:>10} {:>6} {:>10} {:>10}  {head}",
            "retained", "%", "itself", "objects"
        ),
    );
    for holding in largest {
        let figures = holding.figures;
        let largest = holding.largest.map_or_else(String::new, |node| {
            let id = analysis.snapshot().node(node).id().unwrap_or_default();
            format!(" (@{id}, {})", size(analysis.retained(node)))
        });
        let (retained, own) = (size(holding.retained), size(figures.shallow));
        let part = percent(holding.retained, analysis.reached_size());
        let (count, class) = (number(figures.count), class(analysis, figures.first));
        let row = format!("{retained:>10} {part:>6.1} {own:>10} {count:>10}  ");
        let room = COLUMNS.saturating_sub(row.len() + largest.len());
        line(out, &format!("{row}{}{largest}", fit_class(&class, room)));
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
    let (mut lines, mut before) = (Vec::new(), None);
    for same in path.chunk_by(|&one, &other| class_of[one as usize] == class_of[other as usize]) {
        let shown = if same.len() > LIST { 2 } else { same.len() };
        for (at, &node) in same.iter().enumerate() {
            if at < shown || at + 1 == same.len() {
                let name = before.and_then(|before| reference(analysis, before, node));
                let edge = before.and_then(|before| analysis.edge(before, node));
                let how = if edge.is_some_and(|edge| !edge.is_strong()) {
                    "weakly, by "
                } else {
                    ""
                };
                let name = name.map_or_else(String::new, |name| format!("{how}{name} "));
                let retained = size(analysis.retained(node));
                lines.push(format!("{retained:>10}  {name}{}", object(analysis, node)));
            } else if at == shown {
                let more = same.len() - shown - 1;
                lines.push(format!("{:>10}  … {} more of this class", "", number(more)));
            }
            before = Some(node);
        }
    }
    // A list of several classes.
    if lines.len() > STEPS {
        let more = number(lines.len() - STEPS);
        lines.splice(
            STEPS / 2..lines.len() - STEPS / 2,
            [format!("{:>10}  … {more} more", "")],
        );
    }
    lines.iter().for_each(|text| line(out, text));
}

fn line(out: &mut String, text: &str) {
    out.push_str(&text.split('\n').map(fit).collect::<Vec<_>>().join("\n"));
    out.push('\n');
}
