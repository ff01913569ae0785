//! An analysis as text.

use std::fmt::Write;

use gclab_heap_traverse::Rows;

use super::analysis::{Analysis, Count, Object, Path};

/// The most letters of a name that are shown.
const NAME: usize = 60;
/// Lines of the dominator tree for each object of `--top`.
const BRANCHES: usize = 3;
/// The smallest part of the heap that gets a line in the tree, in percent.
const LEAST: f64 = 1.0;
/// The most levels of the tree that are shown.
const LEVELS: usize = 12;

/// Bytes, with three significant digits: `5.68 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    match value {
        _ if unit == "B" => format!("{bytes} B"),
        value if value < 9.995 => format!("{value:.2} {unit}"),
        value if value < 99.95 => format!("{value:.1} {unit}"),
        value => format!("{value:.0} {unit}"),
    }
}

/// `part` in percent of `whole`.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// A name on one line, cut if it is long.
pub(crate) fn cut(name: &str) -> String {
    let mut cut: String = name.chars().take(NAME).collect();
    if cut.len() < name.len() {
        cut.push('…');
    }
    cut.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Type and name on one line.
pub(crate) fn shown(object: &Object) -> String {
    if object.name.is_empty() {
        object.kind.clone()
    } else {
        format!("{} {}", object.kind, cut(&object.name))
    }
}

/// The whole analysis.
pub(crate) fn text(file: &str, analysis: &Analysis<'_>, top: usize, path: Option<&Path>) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_all(&mut out, file, analysis, top, path);
    out
}

fn write_all(
    out: &mut String,
    file: &str,
    analysis: &Analysis<'_>,
    top: usize,
    path: Option<&Path>,
) -> std::fmt::Result {
    let report = analysis.report(file, top, None);
    writeln!(
        out,
        "{file}: {} in {} objects, {} references ({} of them weak)",
        size(report.self_size),
        report.nodes,
        report.edges,
        report.edges - report.strong_edges
    )?;
    if report.reached < report.nodes as usize {
        let lost = report.nodes as usize - report.reached;
        let bytes = size(report.self_size - report.reached_size);
        writeln!(out, "{lost} of them ({bytes}) are not reachable from the root")?;
    }
    counts(out, "type", &report.types, report.self_size)?;
    counts(out, "name", &report.names, report.self_size)?;

    writeln!(
        out,
        "\n{:>10} {:>6} {:>10}  largest retainers",
        "retained", "%", "itself"
    )?;
    for object in &report.retained {
        writeln!(
            out,
            "{:>10} {:>6.1} {:>10}  {} @{}",
            size(object.retained_size),
            percent(object.retained_size, report.reached_size),
            size(object.self_size),
            shown(object),
            object.id
        )?;
    }
    writeln!(out, "\n{:>10} {:>6}  dominator tree", "retained", "%")?;
    tree(out, analysis, top.saturating_mul(BRANCHES))?;
    path.map_or(Ok(()), |path| steps(out, path))
}

fn counts(out: &mut String, what: &str, counts: &[Count], all: u64) -> std::fmt::Result {
    writeln!(out, "\n{:>10} {:>6} {:>10}  {what}", "bytes", "%", "count")?;
    for count in counts {
        let (bytes, part) = (size(count.self_size), percent(count.self_size, all));
        let name: String = count
            .name
            .chars()
            .take(NAME)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        writeln!(out, "{bytes:>10} {part:>6.1} {:>10}  {name}", count.count)?;
    }
    Ok(())
}

/// The top of the tree, largest first; at most `lines` lines.
fn tree(out: &mut String, analysis: &Analysis<'_>, lines: usize) -> std::fmt::Result {
    let children: Rows = analysis.dominators.children();
    let all = analysis.retained[0];
    let mut open = vec![(0_u32, 0_usize)];
    let mut left = lines;
    while let Some((node, level)) = open.pop() {
        if left == 0 {
            return writeln!(out, "{:>17}  ...", "");
        }
        left -= 1;
        let object = analysis.object(node);
        let indent = "  ".repeat(level);
        let part = percent(object.retained_size, all);
        writeln!(
            out,
            "{:>10} {part:>6.1}  {indent}{} @{}",
            size(object.retained_size),
            shown(&object),
            object.id
        )?;
        if level + 1 < LEVELS {
            let (row, _) = analysis.below(children.row(node), lines);
            let large = |child: &&u32| percent(analysis.retained[**child as usize], all) >= LEAST;
            let large: Vec<_> = row.iter().take_while(large).collect();
            open.extend(large.into_iter().rev().map(|&child| (child, level + 1)));
        }
    }
    Ok(())
}

fn steps(out: &mut String, path: &Path) -> std::fmt::Result {
    if path.0.is_empty() {
        return writeln!(out, "\nthe object is not reachable from the root");
    }
    writeln!(out, "\n{:>10}  a shortest path from the root", "retained")?;
    for step in &path.0 {
        let edge = step
            .edge
            .as_ref()
            .map_or_else(String::new, |edge| format!("--{} {}--> ", edge.kind, edge.name));
        writeln!(
            out,
            "{:>10}  {edge}{} @{}",
            size(step.object.retained_size),
            shown(&step.object),
            step.object.id
        )?;
    }
    Ok(())
}
