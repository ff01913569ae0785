//! The figure of each folder, the size of each change with its interval, and the change of the last
//! folder.

use crate::inference::effect::{Effect, FOLDERS};
use crate::inference::sample::RUNS_FOR_INTERVAL;
use crate::inference::sample::moments;

/// With fewer degrees of freedom, the scatter of the folders is too uncertain. The scatter of their
/// runs is then used instead.
const LEAST_DEGREES: usize = 3;

/// A figure of a folder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The mean of the logarithms of its runs.
    pub(super) log: f64,
    /// The variance of that mean, from the scatter of the runs; absent with too few runs.
    variance: Option<f64>,
    /// The number of runs.
    runs: usize,
}

impl Point {
    /// The point of a folder with these values; `None` if there are none, or if one is not above 0.
    pub fn of(values: &[f64]) -> Option<Point> {
        let usable = !values.is_empty() && values.iter().all(|value| *value > 0.0 && value.is_finite());
        let logs: Vec<f64> = values.iter().filter(|_| usable).map(|value| value.ln()).collect();
        let runs = logs.len();
        let (log, variance) = moments(&logs);
        usable.then(|| Point {
            log,
            variance: (runs >= RUNS_FOR_INTERVAL).then_some(variance / runs as f64),
            runs,
        })
    }

    /// The geometric mean of the values.
    pub fn mean(&self) -> f64 {
        self.log.exp()
    }
}

/// The changes between neighbouring levels, each with the index of its first point. `starts` are
/// the first points of all levels except the first, in order.
pub fn changes(points: &[Point], starts: &[usize]) -> Vec<(usize, Effect)> {
    let edges = edges(points.len(), starts);
    let error = error(points, &edges);
    let levels = edges.windows(3);
    levels
        .map(|edge| {
            let (before, after) = (&points[edge[0]..edge[1]], &points[edge[1]..edge[2]]);
            (edge[1], between(before, after, error))
        })
        .collect()
}

/// The change of the last point: against the other folders of its own level, or against the level
/// before if its level has no other. `None` with fewer than two points.
pub fn last_change(points: &[Point], starts: &[usize]) -> Option<Effect> {
    let last = points.len().checked_sub(1).filter(|last| *last > 0)?;
    let mut alone: Vec<usize> = starts.iter().copied().filter(|start| *start < last).collect();
    let from = alone.last().copied().unwrap_or(0);
    alone.push(last);
    let error = error(points, &edges(points.len(), &alone));
    Some(between(&points[from..last], &points[last..], error))
}

/// Drops changes smaller than `threshold`, a share, the smallest first. What remains are the starts
/// of levels that differ from their neighbours by at least that much. Many small changes in one
/// direction become fewer large ones.
pub fn large(points: &[Point], starts: &[usize], threshold: f64) -> Vec<usize> {
    let mut starts = starts.to_vec();
    loop {
        let size = |change: &Effect| change.ratio().ln().abs();
        let found = changes(points, &starts);
        let smallest = found.iter().min_by(|(_, a), (_, b)| size(a).total_cmp(&size(b)));
        match smallest {
            Some((at, change)) if is_small(change, threshold) => starts.retain(|start| start != at),
            _ => return starts,
        }
    }
}

fn is_small(change: &Effect, threshold: f64) -> bool {
    change.ratio() < 1.0 + threshold && change.ratio() > 1.0 - threshold
}

/// The starts with the ends of the history around them.
fn edges(points: usize, starts: &[usize]) -> Vec<usize> {
    let mut edges = vec![0];
    edges.extend(starts);
    edges.push(points);
    edges
}

/// The standard error of a folder's mean, with its degrees of freedom.
///
/// It is estimated from the folders around the means of their levels. The scatter of runs within
/// folders is a lower bound. If there are too few folders, it counts twice, as in a comparison of
/// two. `None` without either.
fn error(points: &[Point], edges: &[usize]) -> Option<(f64, f64)> {
    let levels = edges.windows(2).map(|edge| &points[edge[0]..edge[1]]);
    let squares = levels.map(|level| {
        let mean = mean(level);
        level.iter().map(|point| (point.log - mean).powi(2)).sum::<f64>()
    });
    let degrees = points.len() + 1 - edges.len();
    let folders = (degrees >= LEAST_DEGREES).then(|| (squares.sum::<f64>() / degrees as f64, degrees as f64));
    let of_runs: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|point| Some((point.variance?, (point.runs - 1) as f64)))
        .collect();
    let runs = (!of_runs.is_empty()).then(|| {
        let variance = of_runs.iter().map(|(variance, _)| variance).sum::<f64>() / of_runs.len() as f64;
        (variance, of_runs.iter().map(|(_, degrees)| degrees).sum())
    });
    let (variance, degrees) = match (folders, runs) {
        (Some(folders), Some(runs)) if runs.0 > folders.0 => runs,
        (Some(folders), _) => folders,
        (None, runs) => runs.map(|(variance, degrees)| (variance * FOLDERS.powi(2), degrees))?,
    };
    Some((variance.sqrt(), degrees))
}

/// The standard error of the mean of one folder, from the scatter of some folders, with its degrees
/// of freedom; `None` with fewer than three folders.
pub fn scatter(points: &[Point]) -> Option<(f64, f64)> {
    let degrees = points.len().checked_sub(1).filter(|degrees| *degrees > 1)? as f64;
    let mean = mean(points);
    let squares: f64 = points.iter().map(|point| (point.log - mean).powi(2)).sum();
    Some(((squares / degrees).sqrt(), degrees))
}

fn mean(level: &[Point]) -> f64 {
    level.iter().map(|point| point.log).sum::<f64>() / level.len() as f64
}

fn between(before: &[Point], after: &[Point], error: Option<(f64, f64)>) -> Effect {
    let inverse = |level: &[Point]| 1.0 / level.len() as f64;
    let widen = (inverse(before) + inverse(after)).sqrt();
    let runs = |level: &[Point]| level.iter().map(|point| point.runs).sum::<usize>();
    Effect::with_error(
        mean(before).exp(),
        mean(after).exp(),
        runs(before).min(runs(after)),
        error.map(|(error, degrees)| (error * widen, degrees)),
    )
}
