//! Which collector is best at which heap size? The answer of an experiment with `heap`, the least
//! heaps behind it, and the curves of time against memory.
//!
//! Terms: a *budget* is a multiple of the reference minimum of each workload, the same bytes for
//! all collectors. A *contender* is a collector with the swept flags other than `heap`. It *fails*
//! at a budget if a run did not succeed. At each budget the contenders are ranked over all
//! workloads; curves show the time over the best of each workload at any budget.

use super::common::{Context, mark, rank_cell, runs_of};
use crate::chart::{Chart, Point, Series};
use crate::document::{Cell, Column, Look, Part, Place, Section, Table, Tone};
use crate::format::{self, capital, counted, short_list, times};
use crate::metric::{self, Metric};
use crate::ranking::{Contender, Ranking, Verdict, contenders};
use crate::summary::{Group, HEAP, Summary, Work};
use gclab_results::{Configuration, Manifest, Minimum};

/// The label of the horizontal axis.
const HEAPS: &str = "heap, in multiples of the least heap";

/// The ranking at one multiple of the least heap.
struct Budget<'a> {
    multiple: f64,
    contenders: Vec<Contender<'a>>,
    /// Absent if no contender completes all workloads.
    ranking: Option<Ranking>,
}

impl Budget<'_> {
    /// The index of a contender in the ranking, from 0; after all others if it has none.
    fn place(&self, name: &str) -> usize {
        let ranks = self.ranking.iter().flat_map(|ranking| &ranking.ranks);
        ranks.take_while(|rank| rank.label != name).count()
    }
}

/// The name of the contender that a group belongs to.
fn name(summary: &Summary<'_>, group: &Group<'_>) -> String {
    summary.label(group, &[HEAP])
}

/// All contenders, in alphabetical order.
fn names(summary: &Summary<'_>) -> Vec<String> {
    let mut all: Vec<String> = summary.groups().map(|group| name(summary, group)).collect();
    all.sort();
    all.dedup();
    all
}

/// The multiples of the least heap, in ascending order.
fn multiples<'g, 'a: 'g>(groups: impl Iterator<Item = &'g Group<'a>>) -> Vec<f64> {
    let mut multiples: Vec<f64> = groups.filter_map(|group| group.heap).collect();
    multiples.sort_by(f64::total_cmp);
    multiples.dedup();
    multiples
}

/// Whether budgets answer the question: there are some, and a contender ran all workloads. A file's
/// programs may do different work.
pub(super) fn is_answer(summary: &Summary<'_>) -> bool {
    let ran = |work: &Work<'_>, of: &String| work.groups.iter().any(|group| name(summary, group) == *of);
    let all = |of: &String| summary.works.iter().all(|work| ran(work, of));
    summary.groups().any(|group| group.heap.is_some()) && names(summary).iter().any(all)
}

/// The fastest contenders at each budget.
pub(super) fn budgets(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    if !is_answer(summary) {
        return None;
    }
    let time = summary.time_metric();
    let works: Vec<&Work<'_>> = summary.works.iter().collect();
    let budget = |multiple: f64| {
        let all = contenders(&works, |group| {
            (group.heap == Some(multiple)).then(|| name(summary, group))
        });
        Budget {
            multiple,
            ranking: Ranking::of(time, &all, &works),
            contenders: all,
        }
    };
    let budgets: Vec<Budget<'_>> = multiples(summary.groups()).into_iter().map(budget).collect();
    let names = names(summary);
    // The best first, since a terminal has room for only some.
    let mut ordered: Vec<&String> = names.iter().collect();
    ordered.sort_by_cached_key(|name| budgets.iter().map(|budget| budget.place(name)).sum::<usize>());
    let mut columns = vec![Column::words("heap")];
    columns.extend(ordered.iter().map(|name| Column::words(*name)));
    let row = |budget: &Budget<'_>| {
        let mut row = vec![Cell::strong(times(budget.multiple))];
        row.extend(ordered.iter().map(|name| cell(budget, name, works.len())));
        row
    };
    let mut parts = Vec::new();
    if budgets.len() > 1 {
        let legend = names.iter().cloned().enumerate().collect();
        parts.extend([
            Part::Legend(legend),
            Part::Charts(vec![overall(summary, &names, &budgets, &works)]),
        ]);
    }
    parts.push(Part::Table(Table {
        columns,
        rows: budgets.iter().map(row).collect(),
        look: Look::Answers,
        runs: None,
    }));
    parts.push(Part::Note(format!(
        "Each workload's heap is a multiple of its least heap, the least one with which any of these collectors completes \
         it: the same bytes for all. Figures are the {} time over the fastest at the same heap, the geometric mean over \
         all workloads with its 95 % interval. A collector that fails on a workload has no figure.",
        time.title
    )));
    Some(Section {
        title: "Which collector for which heap?",
        place: Place::Answer,
        text: std::iter::once(sentence(&budgets, works.len()))
            .chain(unused(of, &names))
            .collect(),
        rankings: budgets.into_iter().filter_map(|budget| budget.ranking).collect(),
        parts,
    })
}

/// The cell of a contender at a budget.
fn cell(budget: &Budget<'_>, name: &str, works: usize) -> Cell {
    let Some(place) = budget.contenders.iter().position(|one| one.label == name) else {
        return Cell::absent();
    };
    let rank = budget.ranking.as_ref().and_then(|ranking| ranking.of_place(place));
    match rank {
        Some(rank) if rank.verdict != Verdict::Fails => rank_cell(rank),
        _ => {
            let failures: Vec<&str> = budget.contenders[place].groups().filter_map(Group::failure).collect();
            let text = match failures.len() {
                0 => return Cell::absent(),
                n if n == works => "fails".to_owned(),
                n => format!("fails on {n}"),
            };
            let mut reasons = failures;
            reasons.sort_unstable();
            reasons.dedup();
            Cell {
                more: reasons.join(", "),
                tone: Tone::Failed,
                ..Cell::text(text)
            }
        }
    }
}

/// The verdicts at all budgets in a sentence; adjacent budgets with the same verdict are merged.
fn sentence(budgets: &[Budget<'_>], works: usize) -> String {
    let mut ranges: Vec<(f64, f64, String)> = Vec::new();
    for budget in budgets {
        let said = verdict(budget, works);
        match ranges.last_mut() {
            Some((_, to, same)) if *same == said => *to = budget.multiple,
            _ => ranges.push((budget.multiple, budget.multiple, said)),
        }
    }
    let parts = ranges.iter().map(|(from, to, said)| match from == to {
        true => format!("at {} {said}", times(*from)),
        false => format!("from {} to {} {said}", times(*from), times(*to)),
    });
    let parts: Vec<String> = parts.collect();
    format!("{} (multiples of the least heap).", capital(&parts.join("; ")))
}

/// Contenders are named if they use less than this share of the memory they may use.
const LITTLE: f64 = 0.7;

/// The contenders that leave much of the largest heap unused, so that their curves flatten out.
fn unused(of: &Context<'_>, names: &[String]) -> Option<String> {
    let summary = of.summary;
    if summary.sweeps("sizing") || summary.groups().any(|group| group.flag("sizing") == "fixed") {
        return None;
    }
    let most = multiples(summary.groups()).pop()?;
    let share = |group: &Group<'_>| {
        let Configuration { workload, args, .. } = &group.configuration;
        let least = of.dir.manifest().reference(workload, args)?;
        let peak = group.spread(&metric::PEAK_IN_USE)?.center;
        Some(peak / (most * least as f64))
    };
    let little = names.iter().filter_map(|of| {
        let at_most = summary.works.iter().flat_map(|work| {
            let own = work.groups.iter();
            let own = own.filter(|group| group.heap == Some(most) && name(summary, group) == *of);
            own.filter_map(share)
        });
        let most = at_most.fold(0.0, f64::max);
        (most > 0.0 && most < LITTLE).then(|| format!("{of} uses {:.0} %", 100.0 * most))
    });
    let little: Vec<String> = little.collect();
    let is_own = summary
        .groups()
        .flat_map(|group| &group.runs)
        .all(|run| run.runtime.is_none());
    let remedy = match is_own {
        true => ": sizing = \"fixed\" under [flags] lets collectors use all of it",
        false => "",
    };
    (!little.is_empty()).then(|| {
        format!(
            "At {} memory stays unused ({}){remedy}.",
            times(most),
            little.join(", ")
        )
    })
}

/// The verdict at one budget.
fn verdict(budget: &Budget<'_>, works: usize) -> String {
    let Some(ranking) = &budget.ranking else {
        return if works == 1 {
            "nothing completes it"
        } else {
            "nothing completes all workloads"
        }
        .to_owned();
    };
    let complete = ranking
        .ranks
        .iter()
        .filter(|rank| rank.verdict != Verdict::Fails)
        .count();
    let leaders: Vec<&str> = ranking.leaders().map(|rank| rank.label.as_str()).collect();
    match (ranking.first().verdict, ranking.ranks.len()) {
        (Verdict::Best, 1) => format!("{} completes", leaders[0]),
        (Verdict::Best, _) if complete == 1 => format!("only {} completes", leaders[0]),
        (Verdict::Best, _) => format!("{} is the fastest", leaders[0]),
        (Verdict::Tied, _) => format!("{} tie", short_list(&leaders, 3)),
        (Verdict::Disturbed, _) => format!(
            "{} are not told apart, as other programs ran: stop them and repeat",
            short_list(&leaders, 3)
        ),
        _ => format!("not decided between {}", short_list(&leaders, 3)),
    }
}

/// The time over all workloads against the heap, relative to the best of each workload at any heap.
fn overall(summary: &Summary<'_>, names: &[String], budgets: &[Budget<'_>], works: &[&Work<'_>]) -> Chart {
    let time = summary.time_metric();
    let best = Contender {
        label: "the best".to_owned(),
        groups: works.iter().map(|work| best_of(work, time)).collect(),
    };
    let point = |budget: &Budget<'_>, name: &str| {
        let contender = budget.contenders.iter().find(|one| one.label == name)?;
        let at = format!("{name} at {}", times(budget.multiple));
        let subject = runs_of(contender.groups());
        let Some(effect) = contender.over(&best, time) else {
            let why = contender.groups().find_map(Group::failure)?;
            return Some(Point {
                x: budget.multiple,
                tip: format!("{at}: {why}"),
                subject,
                ..Point::default()
            });
        };
        Some(Point {
            ends: effect.ci95().map(|ci| (ci.low, ci.high)),
            tip: format!("{at}: {}", format::effect(&effect)),
            subject,
            ..Point::at(budget.multiple, effect.ratio())
        })
    };
    let series = names.iter().enumerate().map(|(style, name)| Series {
        style,
        points: budgets.iter().filter_map(|budget| point(budget, name)).collect(),
        marks: true,
        joined: true,
        ..Series::default()
    });
    Chart {
        title: format!(
            "{} time over {}, relative to the best of each",
            capital(time.title),
            counted(works.len(), "workload")
        ),
        x_label: HEAPS.to_owned(),
        x_ticks: budgets
            .iter()
            .map(|budget| (budget.multiple, times(budget.multiple)))
            .collect(),
        x_log: true,
        y_log: true,
        wide: true,
        series: series.collect(),
        ..Chart::default()
    }
}

/// The configuration with the least time that completes a workload.
fn best_of<'a>(work: &'a Work<'a>, time: &Metric) -> Option<&'a Group<'a>> {
    let complete = work.groups.iter().filter(|group| group.failures().is_empty());
    let center = |group: &&Group<'_>| group.spread(time).map_or(f64::INFINITY, |spread| spread.center);
    complete.min_by(|a, b| center(a).total_cmp(&center(b)))
}

/// The curves of each workload: the time over the best, the time in collections, and the peak.
pub(super) fn curves(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    summary.groups().find(|group| group.heap.is_some())?;
    let (names, time) = (names(summary), summary.time_metric());
    let mut parts = vec![Part::Legend(names.iter().cloned().enumerate().collect())];
    for work in &summary.works {
        let best = best_of(work, time)
            .and_then(|group| group.spread(time))
            .map(|spread| spread.center);
        let title = format!("{} time, over the best", capital(time.title));
        let of_time = best.filter(|best| *best > 0.0).map(|best| (time, title, best.recip()));
        let unit = |metric: &Metric| metric.unit.shown(1.0);
        let others = [
            (&metric::GC_ELAPSED, "GC time, s"),
            (&metric::PEAK_IN_USE, "Peak heap, MiB"),
        ];
        let others = others.map(|(metric, title)| (metric, title.to_owned(), unit(metric)));
        let charts = of_time.into_iter().chain(others).filter_map(|(metric, title, scale)| {
            let point = |group: &Group<'_>| Some(mark(summary, metric, group, group.heap?, scale));
            let series = names.iter().enumerate().map(|(style, of)| {
                let mut points: Vec<Point> = work
                    .groups
                    .iter()
                    .filter(|group| name(summary, group) == *of)
                    .filter_map(point)
                    .collect();
                points.sort_by(|a, b| a.x.total_cmp(&b.x));
                Series {
                    style,
                    points,
                    marks: true,
                    joined: true,
                    ..Series::default()
                }
            });
            let chart = Chart {
                title,
                about: work.title.clone(),
                x_label: HEAPS.to_owned(),
                x_ticks: multiples(work.groups.iter())
                    .into_iter()
                    .map(|at| (at, times(at)))
                    .collect(),
                x_log: true,
                series: series.filter(|series| !series.points.is_empty()).collect(),
                ..Chart::default()
            };
            let positive = chart.lowest().is_finite();
            (chart.dots() > 1).then_some(Chart {
                y_log: positive,
                ..chart
            })
        });
        let charts: Vec<Chart> = charts.collect();
        if !charts.is_empty() {
            parts.extend([Part::Heading(work.title.clone()), Part::Charts(charts)]);
        }
    }
    (parts.len() > 1).then(|| {
        let note = "Marks are geometric means and dots single runs. A cross is a heap with which the collector fails.";
        parts.push(Part::Note(note.to_owned()));
        Section {
            title: "Time against memory",
            parts,
            ..Section::default()
        }
    })
}

/// The least heaps of which the budgets are multiples.
pub(super) fn least_heaps(of: &Context<'_>) -> Option<Section> {
    let manifest = of.dir.manifest();
    if manifest.minima.is_empty() {
        return None;
    }
    let swept = |flag: &String| manifest.sweep.iter().any(|axis| axis.flag == *flag);
    let name = |minimum: &Minimum| {
        let flags = minimum.flags.iter().chain(&minimum.settings);
        let flags: String = flags
            .filter(|(flag, _)| swept(flag))
            .map(|(flag, value)| format!(" {flag}={value}"))
            .collect();
        format!("{}{flags}", minimum.collector)
    };
    let work = |minimum: &Minimum| {
        [std::slice::from_ref(&minimum.workload), &minimum.args]
            .concat()
            .join(" ")
    };
    let mut names: Vec<String> = manifest.minima.iter().map(name).collect();
    names.sort();
    names.dedup();
    let mut columns = vec![Column::words("workload")];
    columns.extend(names.iter().map(Column::figures));
    let mut works: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for minimum in &manifest.minima {
        if works.contains(&work(minimum)) {
            continue;
        }
        works.push(work(minimum));
        let cell = |of: &String| {
            let mut mine = manifest.minima.iter().filter(|other| work(other) == work(minimum));
            mine.find(|other| name(other) == *of)
                .map_or_else(Cell::absent, |found| least(manifest, found))
        };
        let mut row = vec![Cell::strong(work(minimum))];
        row.extend(names.iter().map(cell));
        rows.push(row);
    }
    let mut parts = vec![Part::Table(Table {
        columns,
        rows,
        ..Table::default()
    })];
    let note = |minimum: &Minimum| {
        Some(format!(
            "{}, {}: {}",
            work(minimum),
            name(minimum),
            minimum.note.as_ref()?
        ))
    };
    parts.extend(manifest.minima.iter().filter_map(note).map(Part::Paragraph));
    Some(Section {
        title: "Least heaps",
        place: Place::Table,
        parts,
        ..Section::default()
    })
}

/// `24 MiB`, and its multiple of the reference minimum.
fn least(manifest: &Manifest, minimum: &Minimum) -> Cell {
    let reference = manifest.reference(&minimum.workload, &minimum.args);
    match minimum.minimum_bytes.zip(reference) {
        None => Cell::text("none"),
        Some((bytes, reference)) => Cell {
            more: format!("({:.2}×)", bytes as f64 / reference as f64),
            ..Cell::number(
                format!("{} MiB", format::number(bytes as f64 / f64::from(1 << 20))),
                bytes as f64,
            )
        },
    }
}
