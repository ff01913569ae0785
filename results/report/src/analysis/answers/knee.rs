//! One flag with numbers was swept: from which value on does it not matter?
//!
//! Each contender (a collector with the other swept flags) has a curve: its time at each value over
//! that at its best value, as a geometric mean over the workloads. A value is *worse* if its ratio
//! is [`NEAR`] or more and the whole interval lies above 1. The *knee* is the first value after the
//! last worse one below the best value. Without a worse value the flag either makes no difference
//! (all intervals lie within [`NEAR`]), or the runs cannot tell. The same holds of the values
//! around the best one: they are as good as the best only if their intervals lie within [`NEAR`].

use super::settings::{Setting, least, settings};
use crate::analysis::panels::split_axes;
use crate::format::{self, list};
use crate::inference::Ratio;
use crate::metric::{self, Metric};
use crate::power;
use crate::summary::{ARGS, HEAP, Summary, WorkloadRuns};
use gclab_core::words::size::read_number;
use gclab_results::Axis;

/// Below this ratio two times count as the same.
const NEAR: f64 = 1.05;

/// The most contenders that have a sentence; the others are in the table.
pub(crate) const SENTENCES: usize = 4;

/// Changes of other figures below this ratio are not mentioned.
const WORTH_A_WORD: f64 = 1.2;

/// The answers about one flag.
#[derive(Debug)]
pub(crate) struct Knees {
    /// The flag.
    pub(crate) flag: String,
    /// The contenders, in the order of the summary.
    pub(crate) contenders: Vec<String>,
    /// The answer for each contender over all workloads, in a sentence or two.
    pub(crate) sentences: Vec<String>,
    /// Each workload with a few words for each contender.
    pub(crate) works: Vec<(String, Vec<String>)>,
}

/// The answers about the swept flag whose values are numbers; `None` without such a flag, for
/// multiples of the least heap, which have an answer of their own, and for arguments, which may
/// make another work of it.
pub(crate) fn knees(summary: &Summary<'_>) -> Option<Knees> {
    let axis = split_axes(summary).0?;
    let numeric = axis.values.iter().all(|value| read_number(value).is_some());
    if !numeric || axis.flag == HEAP || axis.flag.starts_with(ARGS) {
        return None;
    }
    let works: Vec<&WorkloadRuns<'_>> = summary.timed_works().collect();
    let time = summary.time_metric();
    let all = settings(summary, &works);
    let curves = curves(summary, axis, &all, time);
    if curves.is_empty() {
        return None;
    }
    // Several collectors have an answer of their own.
    let best = (summary.collectors.len() < 2)
        .then(|| best_of_all(&curves, time))
        .flatten();
    let mut sentences: Vec<String> = best.into_iter().collect();
    let told = curves.iter().take(SENTENCES);
    sentences.extend(told.map(|curve| curve.sentence(&axis.flag, time)));
    if curves.len() > SENTENCES {
        let left = curves.len() - SENTENCES;
        sentences.push(format!(
            "{} more {} in the table of the page and of Markdown.",
            left,
            if left == 1 { "setting is" } else { "settings are" }
        ));
    }
    let rows = works.iter().map(|work| {
        let of_work = settings(summary, &[*work]);
        let found = self::curves(summary, axis, &of_work, time);
        let cell = |contender: &String| {
            let curve = found.iter().find(|curve| curve.contender == *contender);
            curve.map_or_else(|| format::ABSENT.to_owned(), |curve| curve.words(time))
        };
        let contenders = curves.iter().map(|curve| &curve.contender);
        (work.title.clone(), contenders.map(cell).collect())
    });
    Some(Knees {
        flag: axis.flag.clone(),
        works: rows.collect(),
        sentences,
        contenders: curves.iter().map(|curve| curve.contender.clone()).collect(),
    })
}

/// The best setting of all, and by how much it is better than the next contender at its best.
/// `None` with one contender.
fn best_of_all(curves: &[Curve<'_, '_>], time: &Metric) -> Option<String> {
    let base = least(curves.iter().map(Curve::best_setting), time)?;
    let others = curves
        .iter()
        .map(Curve::best_setting)
        .filter(|setting| !std::ptr::eq(*setting, base))
        .filter_map(|setting| Some((setting, setting.over(base, time)?)));
    let (next, ratio) = others.min_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate))?;
    let verdict = match ratio.differs() {
        Some(true) => String::new(),
        _ => format!(": {}", power::verdict(next.variance_over(base, time), Some(&ratio))),
    };
    Some(format!(
        "Of all settings {} has the least {} time; {} takes {}{verdict}.",
        base.label,
        time.title,
        next.label,
        format::ratio(&ratio)
    ))
}

/// The curve of one contender: the complete settings in the order of the axis.
struct Curve<'s, 'a> {
    contender: String,
    values: Vec<Value<'s, 'a>>,
    /// The index of the best value.
    best: usize,
}

struct Value<'s, 'a> {
    text: String,
    setting: &'s Setting<'a>,
    /// The time over that of the best value.
    ratio: Ratio,
}

fn curves<'s, 'a>(
    summary: &Summary<'_>,
    axis: &Axis,
    settings: &'s [Setting<'a>],
    time: &Metric,
) -> Vec<Curve<'s, 'a>> {
    let others: Vec<Axis> = summary
        .axes
        .iter()
        .filter(|other| other.flag != axis.flag)
        .cloned()
        .collect();
    let mut contenders: Vec<String> = Vec::new();
    for setting in settings {
        let name = setting.group().label(&others);
        if !contenders.contains(&name) {
            contenders.push(name);
        }
    }
    let curve = |contender: String| {
        let mine: Vec<&Setting<'_>> = settings
            .iter()
            .filter(|setting| setting.group().label(&others) == contender)
            .collect();
        let best = least(mine.iter().copied(), time)?;
        let values: Vec<Value<'_, '_>> = axis
            .values
            .iter()
            .filter_map(|value| {
                let setting = *mine.iter().find(|setting| setting.group().flag(&axis.flag) == value)?;
                Some(Value {
                    text: value.clone(),
                    setting,
                    ratio: setting.over(best, time)?,
                })
            })
            .collect();
        let best = values.iter().position(|value| std::ptr::eq(value.setting, best))?;
        (values.len() > 1).then_some(Curve {
            contender,
            values,
            best,
        })
    };
    contenders.into_iter().filter_map(curve).collect()
}

impl<'s, 'a> Curve<'s, 'a> {
    fn best_setting(&self) -> &'s Setting<'a> {
        self.values[self.best].setting
    }
}

impl Curve<'_, '_> {
    fn is_worse(&self, index: usize) -> bool {
        let ratio = &self.values[index].ratio;
        ratio.estimate >= NEAR && ratio.ci95.is_some_and(|ci| ci.low > 1.0)
    }

    /// The first and the last value that are not worse than the best and lie around it.
    fn good(&self) -> (usize, usize) {
        let first = (0..self.best)
            .rev()
            .find(|&at| self.is_worse(at))
            .map_or(0, |at| at + 1);
        let last = (self.best + 1..self.values.len()).find(|&at| self.is_worse(at));
        (first, last.map_or(self.values.len() - 1, |at| at - 1))
    }

    fn others(&self) -> impl Iterator<Item = &Value<'_, '_>> {
        let best = self.best;
        self.values
            .iter()
            .enumerate()
            .filter(move |(at, _)| *at != best)
            .map(|(_, value)| value)
    }

    fn has_intervals(&self) -> bool {
        self.others().all(|value| value.ratio.ci95.is_some())
    }

    /// Whether all values have a time that differs by less than [`NEAR`] for certain.
    fn is_flat(&self) -> bool {
        self.others().all(|value| power::is_no_difference(&value.ratio))
    }

    /// The value that is farthest from the best.
    fn farthest(&self) -> &Value<'_, '_> {
        let far = self
            .others()
            .max_by(|a, b| a.ratio.estimate.total_cmp(&b.ratio.estimate));
        far.expect("a curve has two values")
    }

    fn takes(&self, value: &Value<'_, '_>) -> String {
        format!("{} takes {}", value.text, format::ratio(&value.ratio))
    }

    fn more_runs(&self, time: &Metric) -> String {
        let far = self.farthest();
        let variance = far.setting.variance_over(self.values[self.best].setting, time);
        power::advice(variance, far.ratio.estimate, far.ratio.runs)
    }

    /// The worse value next to the good ones below, and the one that is farthest away.
    fn worse_below(&self, first: usize) -> Vec<&Value<'_, '_>> {
        let mut worse: Vec<&Value<'_, '_>> = Vec::new();
        if first > 0 {
            worse.push(&self.values[first - 1]);
            if first > 1 {
                worse.push(&self.values[0]);
            }
        }
        worse
    }

    fn worse_above(&self, last: usize) -> Vec<&Value<'_, '_>> {
        let end = self.values.len() - 1;
        let mut worse: Vec<&Value<'_, '_>> = Vec::new();
        if last < end {
            worse.push(&self.values[last + 1]);
            if last + 1 < end {
                worse.push(&self.values[end]);
            }
        }
        worse
    }

    /// The answer in a few words, for a table.
    fn words(&self, time: &Metric) -> String {
        let (first, last) = self.good();
        let end = self.values.len() - 1;
        if !self.has_intervals() {
            return format!("{} (too few runs)", self.values[self.best].text);
        }
        if (first, last) == (0, end) {
            return match self.is_flat() {
                true => power::no_difference(),
                false => format!("cannot tell; {}", self.more_runs(time)),
            };
        }
        let worse = self.worse_below(first).into_iter().chain(self.worse_above(last));
        let worse: Vec<String> = worse.map(|value| self.takes(value)).collect();
        let unseen = match self.unseen(first, last) {
            Some(percent) => format!(" (cannot tell within {percent:.0} %)"),
            None => String::new(),
        };
        format!("{}{unseen}; {}", self.range(first, last), worse.join(", "))
    }

    fn range(&self, first: usize, last: usize) -> String {
        let text = |at: usize| &self.values[at].text;
        match (first, last) {
            (first, last) if first == last => text(first).clone(),
            (first, last) if last == self.values.len() - 1 => format!("from {} on", text(first)),
            (0, last) => format!("up to {}", text(last)),
            (first, last) => format!("{} to {}", text(first), text(last)),
        }
    }

    fn sentence(&self, flag: &str, time: &Metric) -> String {
        let (name, title) = (&self.contender, time.title);
        let best = &self.values[self.best].text;
        let (first, last) = self.good();
        let end = self.values.len() - 1;
        if !self.has_intervals() {
            return format!(
                "{name}: {flag} = {best} has the least {title} time, but the runs are too few or too noisy to tell it \
                 from the other values; {}.",
                self.more_runs(time)
            );
        }
        if (first, last) == (0, end) {
            let range = format!("from {} to {}", self.values[0].text, self.values[end].text);
            return match self.is_flat() {
                true => format!("{name}: {flag} makes no difference {range}: the {title} time stays within 5 %."),
                false => format!(
                    "{name}: these runs cannot tell whether {flag} matters {range}. {best} has the least {title} time, \
                     {}; {}.",
                    self.takes(self.farthest()),
                    self.more_runs(time)
                ),
            };
        }
        let mut parts = vec![match (first == last, self.best == end) {
            (true, true) => format!(
                "{name}: the larger {flag}, the less {title} time, up to {best}, the largest value that was run"
            ),
            (true, false) => format!("{name}: {flag} = {best} has the least {title} time"),
            (false, _) => self.plateau(flag, title, first, last),
        }];
        let below = self.worse_below(first);
        parts.extend(
            below
                .iter()
                .chain(&self.worse_above(last))
                .map(|value| self.takes(value)),
        );
        format!("{}.{}", parts.join("; "), self.other_figures(first))
    }

    /// The sentence on several values that are not worse than the best one, without its end.
    fn plateau(&self, flag: &str, title: &str, first: usize, last: usize) -> String {
        let (name, best) = (&self.contender, &self.values[self.best].text);
        let range = self.range(first, last);
        match self.unseen(first, last) {
            None => format!(
                "{name}: with {flag} {range} the {title} time is as good as at the best value, {best} (within 5 %)"
            ),
            Some(percent) => format!(
                "{name}: with {flag} {range} these runs cannot tell the {title} time from that at the best value, \
                 {best} (they would not show differences below {percent:.0} %)"
            ),
        }
    }

    /// The difference in percent up to which a value among the good ones may be worse than the
    /// best; `None` if it is 5 % at most.
    fn unseen(&self, first: usize, last: usize) -> Option<f64> {
        let highs = (first..=last)
            .filter(|at| *at != self.best)
            .filter_map(|at| self.values[at].ratio.ci95);
        let most = highs.map(|ci| ci.high).fold(1.0, f64::max);
        (most > NEAR).then_some((most - 1.0) * 100.0)
    }

    /// The change of the time in collections and of the peak of memory from the first value to the
    /// knee.
    fn other_figures(&self, first: usize) -> String {
        if first == 0 {
            return String::new();
        }
        let (from, to) = (&self.values[0], &self.values[first]);
        let change = |metric: &Metric, name: &str| {
            let ratio = to
                .setting
                .over(from.setting, metric)
                .filter(|ratio| ratio.differs() == Some(true))?;
            let (verb, times) = if ratio.estimate < 1.0 {
                ("falls", ratio.estimate.recip())
            } else {
                ("grows", ratio.estimate)
            };
            (times >= WORTH_A_WORD).then(|| format!("{name} {verb} {times:.1}×"))
        };
        let changes = [
            change(&metric::GC_ELAPSED, "GC time"),
            change(&metric::PEAK_IN_USE, "peak memory"),
        ];
        let changes: Vec<String> = changes.into_iter().flatten().collect();
        if changes.is_empty() {
            return String::new();
        }
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        format!(" From {} to {} {}.", from.text, to.text, list(&changes))
    }
}
