//! Should collections be parallel, and how? The verdict of a sweep over the sharing flags, charts
//! of speed-ups, and how the work was shared.
//!
//! Terms: the *sharing flags* (`-qg -qb -qn`) say how collections are shared among threads and
//! nothing else. A *family* is the configurations of a workload that differ only in these. The ways
//! to share are ranked over the families that have all of them. A sweep of `-N` varies the
//! program's own threads as well, so it gets charts, but no verdict on parallel collection.

use super::common::{Context, mark, rank_cell, runs_of, word_cells, word_columns};
use crate::chart::{Chart, Point, Series};
use crate::document::{Cell, Column, Part, Place, Section, Table};
use crate::format::{self, list};
use crate::metric::{self, Metric};
use crate::ranking::{Contender, NEAR, Ranking, Verdict};
use crate::summary::{Group, Summary, UNSET, Work};
use gclab_core::words::size::read_number;
use gclab_results::inference::{Effect, Order};
use std::collections::BTreeMap;

/// The sharing flags.
pub(super) const SHARING: [&str; 3] = ["qg", "qb", "qn"];

const METRICS: [Metric; 6] = [
    metric::GCS,
    metric::PAR_GCS,
    metric::WORK_BALANCE,
    metric::SEQUENTIAL,
    metric::SYNC,
    metric::MAX_SYNC,
];

/// Whether parallel collection is what varied, with all else equal.
pub(super) fn is_answer(summary: &Summary<'_>) -> bool {
    ways(summary).len() > 1
}

/// Whether the verdict compares all settings.
pub(super) fn compares_all(summary: &Summary<'_>) -> bool {
    let ways = ways(summary);
    let compared = ways.iter().flat_map(Contender::groups).count();
    ways.len() > 1
        && compared == summary.groups().count()
        && Ranking::of(summary.time_metric(), &ways, &families_of(summary, &ways)).is_some()
}

/// Whether any collection of any run was parallel.
fn shared_any(group: &Group<'_>) -> bool {
    group.spread(&metric::PAR_GCS).is_some_and(|spread| spread.max > 0.0)
}

/// Whether collections may be shared: there are several threads, and it is not switched off.
fn is_on(group: &Group<'_>) -> bool {
    let count = |flag: &str| read_number(group.flag(flag)).filter(|count| *count > 0.0);
    count("qn").or(count("N")).unwrap_or(1.0) > 1.0 && group.flag("qg") != "false"
}

/// The name, and all flags except `left_out`: the key of a family.
fn but_for(group: &Group<'_>, left_out: &[&str]) -> (String, BTreeMap<String, String>) {
    let flags = group.configuration.flags.iter().chain(&group.configuration.settings);
    let flags = flags.filter(|(name, _)| !left_out.contains(&name.as_str()));
    (
        group.name.clone(),
        flags.map(|(name, value)| (name.clone(), value.clone())).collect(),
    )
}

/// The sharing flags as on a command line, e.g. `-qg0 -qb`.
fn words(group: &Group<'_>) -> String {
    let set = SHARING.iter().filter(|flag| group.flag(flag) != UNSET);
    let words: Vec<String> = set
        .map(|flag| match group.flag(flag) {
            "false" => format!("-{flag}"),
            value => format!("-{flag}{value}"),
        })
        .collect();
    if words.is_empty() {
        "default -qg".to_owned()
    } else {
        words.join(" ")
    }
}

/// The ways to share as contenders, over the families that have all of them.
fn ways<'a>(summary: &'a Summary<'a>) -> Vec<Contender<'a>> {
    let mut labels: Vec<String> = Vec::new();
    // Workload, name, and the flags unrelated to sharing.
    type Family<'a> = (&'a str, String, BTreeMap<String, String>);
    let mut families: Vec<(Family<'_>, Vec<&Group<'_>>)> = Vec::new();
    for work in &summary.works {
        for group in &work.groups {
            let (name, flags) = but_for(group, &SHARING);
            let key = (work.title.as_str(), name, flags);
            if !labels.contains(&words(group)) {
                labels.push(words(group));
            }
            match families.iter_mut().find(|(other, _)| *other == key) {
                Some((_, groups)) => groups.push(group),
                None => families.push((key, vec![group])),
            }
        }
    }
    families.retain(|(_, groups)| groups.len() > 1 && groups.iter().any(|group| is_on(group)));
    let most = families.iter().map(|(_, groups)| groups.len()).max().unwrap_or(0);
    families.retain(|(_, groups)| groups.len() == most);
    let of = |label: String| Contender {
        groups: families
            .iter()
            .map(|(_, groups)| groups.iter().copied().find(|group| words(group) == label))
            .collect(),
        label,
    };
    labels
        .into_iter()
        .map(of)
        .filter(|way| way.groups().next().is_some())
        .collect()
}

/// The verdict.
pub(super) fn verdict(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    if !is_answer(summary) {
        return None;
    }
    let time = summary.time_metric();
    let ways = ways(summary);
    let works: Vec<&Work<'_>> = families_of(summary, &ways);
    let ranking = Ranking::of(time, &ways, &works)?;
    let cpu = Ranking::of(&metric::TOTAL_CPU, &ways, &works);
    let mut columns = vec![Column::words("collection")];
    columns.extend(
        [
            format!("{} time", time.title),
            "CPU time".to_owned(),
            "GC time".to_owned(),
        ]
        .map(Column::words),
    );
    let gc = Ranking::of(&metric::GC_ELAPSED, &ways, &works);
    let rows = ranking.ranks.iter().map(|rank| {
        let of = |ranking: Option<&Ranking>| {
            ranking
                .and_then(|ranking| ranking.of_place(rank.place))
                .map_or_else(Cell::absent, rank_cell)
        };
        vec![
            Cell::strong(&rank.label),
            rank_cell(rank),
            of(cpu.as_ref()),
            of(gc.as_ref()),
        ]
    });
    let table = Table {
        rows: rows.collect(),
        columns,
        look: crate::document::Look::Answers,
        runs: None,
    };
    let note = "Each column is relative to the best in it: ratios of geometric means over all pairs of workload and setting, \
                with 95 % intervals.";
    Some(Section {
        title: "Should collections be parallel?",
        place: Place::Answer,
        text: sentences(&ways, &ranking, cpu.as_ref()),
        rankings: vec![ranking],
        parts: vec![Part::Table(table), Part::Note(note.to_owned())],
    })
}

/// The workload of each family, for the titles of failures.
fn families_of<'a>(summary: &'a Summary<'a>, ways: &[Contender<'a>]) -> Vec<&'a Work<'a>> {
    let count = ways.first().map_or(0, |way| way.groups.len());
    let work = |family: usize| {
        let group = ways.iter().find_map(|way| way.groups[family])?;
        summary
            .works
            .iter()
            .find(|work| work.groups.iter().any(|other| std::ptr::eq(other, group)))
    };
    (0..count).filter_map(work).collect()
}

fn sentences(ways: &[Contender<'_>], ranking: &Ranking, cpu: Option<&Ranking>) -> Vec<String> {
    let on = |place: usize| ways[place].groups().any(is_on);
    if !ways.iter().flat_map(Contender::groups).any(shared_any) {
        let how = ways.iter().find_map(|way| decisions(way.group()));
        let how = how.map_or(String::new(), |how| format!(" ({how})"));
        return vec![format!(
            "No collection was shared among threads{how}: there is nothing to turn on."
        )];
    }
    let off = ranking
        .ranks
        .iter()
        .find(|one| !on(one.place) && one.verdict != Verdict::Fails);
    let first = ranking.first();
    let costs = |place: usize| {
        let rank = cpu.and_then(|cpu| cpu.of_place(place));
        rank.is_some_and(|rank| rank.verdict == Verdict::Worse)
    };
    let Some(off) = off else {
        return vec![ranking.sentence("fastest way to share collections", "")];
    };
    vec![match (on(first.place), off.verdict) {
        (true, Verdict::Worse) => format!("Yes, with {}: {} {}.", first.label, off.label, off.takes()),
        (false, Verdict::Best) => {
            let next = ranking
                .ranks
                .iter()
                .find(|one| on(one.place) && one.verdict != Verdict::Fails);
            let next = next.map_or_else(String::new, |next| format!(" {} {}.", next.label, next.takes()));
            format!("No: without it ({}) programs are faster.{next}", off.label)
        }
        (_, Verdict::Tied) => format!(
            "Parallel collection makes no difference (within {}){}.",
            format::percent(NEAR),
            if ranking.leaders().any(|one| on(one.place) && costs(one.place)) {
                ", and costs CPU time: leave it off"
            } else {
                ""
            }
        ),
        _ => ranking.sentence("fastest", ""),
    }]
}

/// Speed-ups over the base, the work balance, and how the work was shared, if collections were
/// parallel or the number of capabilities was swept.
pub(super) fn charts(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let shares = SHARING.iter().any(|flag| summary.sweeps(flag)) && summary.groups().any(is_on);
    if !(shares || summary.sweeps("N") && summary.groups().any(shared_any)) {
        return None;
    }
    let axis = ["N", "qg", "qn", "qb"]
        .into_iter()
        .filter(|flag| summary.sweeps(flag))
        .max_by_key(|flag| {
            let axis = summary.axes.iter().find(|axis| axis.flag == *flag);
            axis.map_or(0, |axis| axis.values.len())
        })?;
    let values = &summary.axes.iter().find(|one| one.flag == axis)?.values;
    let lines: Vec<String> = {
        let mut lines: Vec<String> = summary.groups().map(|group| summary.label(group, &[axis])).collect();
        lines.sort();
        lines.dedup();
        lines
    };
    let place = |group: &Group<'_>| {
        values
            .iter()
            .position(|value| value == group.flag(axis))
            .map(|at| at as f64)
    };
    let mut parts = Vec::new();
    if lines.len() > 1 {
        parts.push(Part::Legend(lines.iter().cloned().enumerate().collect()));
    }
    let time = summary.time_metric();
    for work in &summary.works {
        let chart = |title: String, point: &dyn Fn(&Group<'_>, f64) -> Option<Point>| {
            let series = lines.iter().enumerate().map(|(style, line)| {
                let mine = work
                    .groups
                    .iter()
                    .filter(|group| summary.label(group, &[axis]) == *line);
                Series {
                    style,
                    points: mine.filter_map(|group| point(group, place(group)?)).collect(),
                    marks: true,
                    joined: axis == "N",
                    ..Series::default()
                }
            });
            Chart {
                title,
                about: work.title.clone(),
                x_label: format!("-{axis}"),
                x_ticks: values
                    .iter()
                    .enumerate()
                    .map(|(at, value)| (at as f64, value.replace("false", "off")))
                    .collect(),
                series: series.filter(|series| !series.points.is_empty()).collect(),
                ..Chart::default()
            }
        };
        let speed_up = |metric: &'static Metric| {
            move |group: &Group<'_>, x: f64| {
                let base = base(work, group)?;
                let effect = Effect::of(&group.values(metric), &base.values(metric), Order::Interleaved)?;
                Some(Point {
                    ends: effect.ci95().map(|ci| (ci.low, ci.high)),
                    tip: format!("{}: {}", summary.label(group, &[]), format::effect(&effect)),
                    subject: runs_of([group]),
                    ..Point::at(x, effect.ratio())
                })
            }
        };
        let balance = |group: &Group<'_>, x: f64| {
            group
                .has(&metric::WORK_BALANCE)
                .then(|| mark(summary, &metric::WORK_BALANCE, group, x, 100.0))
        };
        let charts = [
            chart("GC speed-up".to_owned(), &speed_up(&metric::GC_ELAPSED)),
            chart(format!("Speed-up, {} time", time.title), &speed_up(time)),
            chart("Work balance, %".to_owned(), &balance),
        ];
        let charts: Vec<Chart> = charts.into_iter().filter(|chart| chart.dots() > 1).collect();
        if !charts.is_empty() {
            parts.extend([Part::Heading(work.title.clone()), Part::Charts(charts)]);
        }
    }
    let note = "Speed-up is the base's time over the setting's, with its 95 % interval: above 1 is faster. The \
                base has parallel collection off, or else one capability. A work balance of 0 % means that one thread \
                copied everything, 100 % that all threads copied the same amount.";
    let columns = "“Sequential” is the share of the pauses of parallel collections in which one thread worked alone. \
         “Stopping” is the time until all mutators had stopped: of all collections of a run, and the longest. The last \
         columns divide the threads' remaining time into work, waking up after the call, waiting for more work, and \
         waiting for the end.";
    parts.push(Part::Note(note.to_owned()));
    parts.push(Part::Details(
        "How the work was shared",
        vec![Part::Table(table(summary)), Part::Note(columns.to_owned())],
    ));
    Some(Section {
        title: "Parallel collection",
        parts,
        ..Section::default()
    })
}

/// The base of speed-ups: parallel collection off, otherwise one capability.
fn base<'w, 'a>(work: &'w Work<'a>, group: &Group<'_>) -> Option<&'w Group<'a>> {
    let with_n = [SHARING[0], SHARING[1], SHARING[2], "N"];
    let is_off =
        |other: &&Group<'_>| other.flag("qg") == "false" && but_for(other, &SHARING) == but_for(group, &SHARING);
    let is_one = |other: &&Group<'_>| {
        matches!(other.flag("N"), "1" | UNSET) && !is_on(other) && but_for(other, &with_n) == but_for(group, &with_n)
    };
    work.groups
        .iter()
        .find(is_off)
        .or_else(|| work.groups.iter().find(is_one))
}

/// How the work was shared, over all runs: `gen 0: 90 too little, 12 balanced; gen 1: 5 balanced`;
/// `None` if it is not recorded.
fn decisions(group: &Group<'_>) -> Option<String> {
    let mut counts: BTreeMap<usize, BTreeMap<&str, u64>> = BTreeMap::new();
    for stats in group.ok().filter_map(|run| run.stats.as_ref()) {
        for (number, generation) in stats.generations.iter().enumerate() {
            for (name, count) in generation.sharing.iter().flatten() {
                *counts.entry(number).or_default().entry(name).or_default() += count;
            }
        }
    }
    let parts = counts.into_iter().map(|(number, counts)| {
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let counts: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
        format!("gen {number}: {}", list(&counts))
    });
    let text = parts.collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then_some(text)
}

/// The shares of the threads' time in the parallel parts: working, waking up, idle, terminating.
fn time_shares(group: &Group<'_>) -> Option<[f64; 4]> {
    let mut sums = [0u64; 4];
    for thread in group
        .ok()
        .filter_map(|run| run.stats.as_ref()?.gc_threads.as_ref())
        .flatten()
    {
        let times = [thread.work_ns, thread.start_ns, thread.idle_ns, thread.termination_ns];
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
    }
    let all: u64 = sums.iter().sum();
    (all > 0).then(|| sums.map(|sum| sum as f64 / all as f64))
}

/// The configurations whose collections could be shared.
fn table(summary: &Summary<'_>) -> Table {
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.extend(METRICS.iter().map(Column::metric));
    columns.extend(["at work %", "waking %", "idle %", "ending %"].map(Column::figures));
    columns.push(Column::words("how, in all runs"));
    let row = |work: &Work<'_>, group: &Group<'_>| {
        let mut cells = vec![Cell::word(&work.title)];
        cells.extend(word_cells(summary, group));
        cells.extend(METRICS.iter().map(|metric| Cell::spread(metric, group.spread(metric))));
        let share = |share: f64| Cell::number(metric::Unit::Percent.text(share), share);
        cells.extend(time_shares(group).map_or_else(|| [0; 4].map(|_| Cell::absent()), |shares| shares.map(share)));
        cells.push(decisions(group).map_or_else(Cell::absent, Cell::text));
        cells
    };
    let works = summary.works.iter();
    let rows = works.flat_map(|work| {
        work.groups
            .iter()
            .filter(|group| is_on(group))
            .map(move |group| row(work, group))
    });
    Table {
        rows: rows.collect(),
        columns,
        ..Table::default()
    }
}
