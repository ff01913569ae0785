//! A numeric flag was swept: beyond which value does it no longer matter?
//!
//! Each contender (a collector with the other swept flags) ranks the values of the flag, over all
//! workloads and on each. The good values are the best one and its neighbours that were not shown
//! to be worse.

use super::common::{Context, is_numeric, split_axes};
use crate::document::{Cell, Column, Look, Part, Place, Section, Table};
use crate::format::{self, short_list};
use crate::metric::{self, Metric};
use crate::ranking::{Contender, NEAR, Rank, Ranking, Verdict, contenders};
use crate::summary::{ARGS, HEAP, Summary, Work, axis_name};
use gclab_results::Axis;
use gclab_results::inference::Effect;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of contenders with a sentence; the others are in the table.
const SENTENCES: usize = 3;

/// Changes of other figures below this ratio are not mentioned.
const WORTH_A_WORD: f64 = 1.2;

/// The swept numeric flag, if its value is the question: not multiples of the least heap, which
/// have their own answer, and not arguments, which may change the work itself.
pub(super) fn axis<'s>(summary: &'s Summary<'_>) -> Option<&'s Axis> {
    let axis = split_axes(summary).0?;
    (is_numeric(axis) && axis.flag != HEAP && !axis.flag.starts_with(ARGS)).then_some(axis)
}

/// Whether this is the only swept flag with numbers, and each setting is on the curve of some
/// contender. Flags that vary only together give no curve.
pub(super) fn compares_all(summary: &Summary<'_>) -> bool {
    let Some(axis) = axis(summary).filter(|_| !super::parallel::is_answer(summary)) else {
        return false;
    };
    if summary.axes.iter().filter(|axis| is_numeric(axis)).count() > 1 {
        return false;
    }
    let mut values: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for group in summary.groups() {
        let others = summary.label(group, &[&axis.flag]);
        values.entry(others).or_default().insert(group.flag(&axis.flag));
    }
    values.values().all(|values| values.len() > 1)
}

/// The section.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let axis = axis(summary).filter(|_| !super::parallel::is_answer(summary))?;
    let works: Vec<&Work<'_>> = summary.timed_works().collect();
    let curves = curves(summary, axis, &works);
    let names: Vec<String> = curves.iter().map(|curve| curve.contender.clone()).collect();
    let mut text: Vec<String> = curves
        .iter()
        .take(SENTENCES)
        .map(|curve| curve.sentence(axis, names.len() > 1))
        .collect();
    if let Some(more @ 1..) = curves.len().checked_sub(SENTENCES) {
        text.push(format!("The table has {}.", format::counted(more, "more setting")));
    }
    let mut parts = Vec::new();
    // A few contenders on one workload are described in sentences.
    if works.len() > 1 || curves.len() > SENTENCES {
        let mut columns = vec![Column::words("workload")];
        columns.extend(names.iter().map(Column::words));
        let row = |work: &&Work<'_>| {
            let found = self::curves(summary, axis, &[*work]);
            let cell = |name: &String| {
                let curve = found.iter().find(|curve| curve.contender == *name);
                curve.map_or_else(Cell::absent, |curve| Cell::text(curve.words()))
            };
            let mut row = vec![Cell::strong(&work.title)];
            row.extend(names.iter().map(cell));
            row
        };
        parts.push(Part::Table(Table {
            columns,
            rows: works.iter().map(row).collect(),
            look: Look::Answers,
            runs: None,
        }));
    }
    (!text.is_empty()).then(|| Section {
        title: "From which value on?",
        place: Place::Answer,
        text,
        rankings: curves.into_iter().map(|curve| curve.ranking).collect(),
        parts,
    })
}

/// The ranking of the values of the axis for one contender.
struct Curve<'a> {
    contender: String,
    /// The values that have a configuration, in the order of the axis.
    values: Vec<Contender<'a>>,
    ranking: Ranking,
}

fn curves<'a>(summary: &Summary<'_>, axis: &Axis, works: &[&'a Work<'a>]) -> Vec<Curve<'a>> {
    let others = |group: &crate::summary::Group<'_>| summary.label(group, &[&axis.flag]);
    let time = summary.time_metric();
    let curve = |contender: Contender<'a>| {
        let value = |value: &String| {
            let of_value = contenders(works, |group| {
                let is_mine = others(group) == contender.label && group.flag(&axis.flag) == value;
                is_mine.then(|| value.clone())
            });
            of_value.into_iter().next()
        };
        let values: Vec<Contender<'_>> = axis.values.iter().filter_map(value).collect();
        let ranking = Ranking::of(time, &values, works).filter(|_| values.len() > 1)?;
        Some(Curve {
            contender: contender.label,
            values,
            ranking,
        })
    };
    contenders(works, |group| Some(others(group)))
        .into_iter()
        .filter_map(curve)
        .collect()
}

impl Curve<'_> {
    fn rank(&self, place: usize) -> Option<&Rank> {
        self.ranking.of_place(place)
    }

    fn is_bad(&self, place: usize) -> bool {
        let verdict = self.rank(place).map(|rank| rank.verdict);
        matches!(verdict, None | Some(Verdict::Worse | Verdict::Fails))
    }

    /// The first and the last value around the best that are not worse than it.
    fn good(&self) -> (usize, usize) {
        let best = self.ranking.first().place;
        let first = (0..best).rev().find(|&at| self.is_bad(at)).map_or(0, |at| at + 1);
        let last = (best + 1..self.values.len())
            .find(|&at| self.is_bad(at))
            .map_or(self.values.len(), |at| at);
        (first, last - 1)
    }

    /// The good values in words.
    fn range(&self) -> String {
        let text = |at: usize| &self.values[at].label;
        match self.good() {
            (first, last) if first == last => text(first).clone(),
            (first, last) if last + 1 == self.values.len() => format!("from {} on", text(first)),
            (0, last) => format!("up to {}", text(last)),
            (first, last) => format!("{} to {}", text(first), text(last)),
        }
    }

    /// How much longer the worse values next to the good ones take, below and above.
    fn worse(&self) -> Vec<String> {
        let (first, last) = self.good();
        let end = self.values.len() - 1;
        let mut places: Vec<usize> = Vec::new();
        places.extend(first.checked_sub(1));
        places.extend(Some(0).filter(|_| first > 1));
        places.extend(Some(last + 1).filter(|at| *at <= end));
        places.extend(Some(end).filter(|_| last + 1 < end));
        let takes = |at: usize| {
            let rank = self.rank(at)?;
            Some(format!("{} {}", self.values[at].label, rank.takes()))
        };
        places.into_iter().filter_map(takes).collect()
    }

    /// Whether the good values are certain to be as good as the best one.
    fn is_certain(&self) -> bool {
        let (first, last) = self.good();
        let best = self.ranking.first().place;
        let open = (first..=last).filter(|at| *at != best).filter_map(|at| self.rank(at));
        open.into_iter().all(|rank| rank.verdict == Verdict::Tied)
    }

    /// The rank that leaves the answer open, if no value is worse.
    fn open(&self) -> Option<&Rank> {
        let mut others = self.ranking.ranks[1..].iter();
        others.find(|one| !matches!(one.verdict, Verdict::Worse | Verdict::Fails | Verdict::Tied))
    }

    /// A value in the runtime's notation: `-A4m`, and OCaml's `s=256k`.
    fn written(&self, axis: &Axis, value: &str) -> String {
        let mut runs = self
            .values
            .iter()
            .flat_map(Contender::groups)
            .flat_map(|group| &group.runs);
        let is_ocaml = runs.any(|run| run.runtime.as_deref() == Some("ocaml"));
        match axis_name(&axis.flag) {
            _ if is_ocaml => format!("{}={value}", axis.flag),
            // A longer name is a long flag, whose value may be true or false.
            flag if flag.starts_with('-') && flag.len() <= 3 => format!("{flag}{value}"),
            flag => format!("{flag} = {value}"),
        }
    }

    /// A value that only seems worse, if none is.
    fn disturbed(&self) -> Option<&Rank> {
        let is_worse = |rank: &Rank| rank.verdict == Verdict::Worse;
        // The first shares the verdict of the second.
        let others = &self.ranking.ranks[1..];
        let disturbed = others.iter().find(|rank| rank.verdict == Verdict::Disturbed);
        disturbed.filter(|_| !others.iter().any(is_worse))
    }

    /// The answer in a few words, for a table.
    fn words(&self) -> String {
        if self.ranking.is_flat() {
            return format!("no difference (within {})", format::percent(NEAR));
        }
        let worse = self.worse();
        if worse.is_empty() {
            return self.open().map_or("cannot tell", |open| open.verdict.word()).to_owned();
        }
        let open = if self.is_certain() { "" } else { " (not told apart)" };
        format!("{}{open}; {}", self.range(), worse.join(", "))
    }

    /// The answer in a sentence.
    fn sentence(&self, axis: &Axis, several: bool) -> String {
        let flag = axis_name(&axis.flag);
        let name = if several {
            format!("{}: ", self.contender)
        } else {
            String::new()
        };
        let (first, end) = (&self.values[0].label, &self.values[self.values.len() - 1].label);
        if self.ranking.is_flat() {
            return format!(
                "{name}{flag} makes no difference from {first} to {end} (within {}).",
                format::percent(NEAR)
            );
        }
        let worse = self.worse();
        if let Some(disturbed) = self.disturbed() {
            let [label, best] = [disturbed, self.ranking.first()].map(|rank| self.written(axis, &rank.label));
            return format!("{name}Disturbed: {}", disturbed.disturbed(&label, &best));
        }
        if worse.is_empty() {
            let Some(open) = self.open() else {
                return format!("{name}{flag} was measured at one value that completes.");
            };
            let advice = open
                .effect
                .as_ref()
                .map_or_else(String::new, |effect| format!("; {}", format::advice(effect, NEAR)));
            let how = if open.verdict == Verdict::Unclear {
                "Not decided"
            } else {
                "Too noisy to tell"
            };
            return format!("{name}{how} whether {flag} matters from {first} to {end}{advice}.");
        }
        let best = &self.ranking.first().label;
        let good = self.good();
        let begin = match (good.0 == good.1, self.is_certain()) {
            (true, _) => format!("{} is best", self.written(axis, best)),
            (false, true) => format!("{flag} does not matter {}", self.range()),
            (false, false) => format!("not decided which {flag} {} is best", self.range()),
        };
        format!(
            "{name}{begin}; {}.{}",
            short_list(&worse, 3),
            self.other_figures(good.0)
        )
    }

    /// The change of the time in collections and of the peak of memory from the first value to the
    /// first good one.
    fn other_figures(&self, first: usize) -> String {
        if first == 0 {
            return String::new();
        }
        let (from, to) = (&self.values[0], &self.values[first]);
        let change = |metric: &Metric, name: &str| {
            let effect = to.over(from, metric).filter(Effect::differs)?;
            let ratio = effect.bound().unwrap_or(effect.ratio());
            let (verb, times) = if ratio < 1.0 {
                ("falls", ratio.recip())
            } else {
                ("grows", ratio)
            };
            let least = effect.bound().map_or("", |_| "at least ");
            (times >= WORTH_A_WORD).then(|| format!("{name} {verb} {least}{times:.1}×"))
        };
        let changes = [
            change(&metric::GC_ELAPSED, "GC time"),
            change(&metric::PEAK_IN_USE, "peak memory"),
        ];
        let changes: Vec<String> = changes.into_iter().flatten().collect();
        if changes.is_empty() {
            return String::new();
        }
        format!(" From {} to {} {}.", from.label, to.label, format::list(&changes))
    }
}
