//! The levels that fit a series best: for each number of changes, the change points that minimise
//! the sum of squares around the means of the levels.
//!
//! Source: Auger and Lawrence, "Algorithms for the optimal identification of segment
//! neighborhoods" (1989); Bai and Perron (2003) date structural changes by the same dynamic
//! programme. It takes k n² steps for k changes among n points, and finds the true optimum, as
//! PELT does for a given penalty (Killick, Fearnhead and Eckley, 2012); histories are short, so
//! nothing needs to be pruned.

/// The best partition for a number of changes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Partition {
    /// The first points of all levels except the first, in order.
    pub(super) starts: Vec<usize>,
    /// The sum of squares around the means of the levels.
    pub(super) squares: f64,
}

/// Sums of squares of any stretch of a series, in constant time.
#[derive(Debug)]
pub(super) struct Sums {
    /// Sums of the values before each point, and of their squares. The values are centred on the
    /// overall mean, to limit rounding errors.
    before: Vec<(f64, f64)>,
}

impl Sums {
    pub(super) fn of(values: &[f64]) -> Sums {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mut sums = (0.0, 0.0);
        let mut before = vec![sums];
        before.extend(values.iter().map(|value| {
            let from_mean = value - mean;
            sums = (sums.0 + from_mean, sums.1 + from_mean * from_mean);
            sums
        }));
        Sums { before }
    }

    /// The number of points of the series.
    pub(super) fn points(&self) -> usize {
        self.before.len() - 1
    }

    /// The sum of squares around the mean of the points from `from` to `to`, without `to`.
    pub(super) fn squares(&self, from: usize, to: usize) -> f64 {
        let ((sum_from, squares_from), (sum_to, squares_to)) = (self.before[from], self.before[to]);
        let sum = sum_to - sum_from;
        (squares_to - squares_from - sum * sum / (to - from) as f64).max(0.0)
    }

    /// The largest reduction of the sum of squares by one more change within a stretch.
    pub(super) fn gain(&self, from: usize, to: usize) -> f64 {
        let whole = self.squares(from, to);
        let splits = (from + 1..to).map(|at| whole - self.squares(from, at) - self.squares(at, to));
        splits.fold(0.0, f64::max)
    }
}

/// The best partitions with 0 to `most` changes, with at least `least` points in each level. There
/// are fewer if the series is too short.
pub(super) fn partitions(sums: &Sums, most: usize, least: usize) -> Vec<Partition> {
    let n = sums.points();
    // `best[k][end]`: the least squares of the points before `end` with k changes, and the start
    // of the last level.
    let mut best: Vec<Vec<(f64, usize)>> = Vec::new();
    let none = (f64::INFINITY, 0);
    best.push(
        (0..=n)
            .map(|end| if end >= least { (sums.squares(0, end), 0) } else { none })
            .collect(),
    );
    for changes in 1..=most {
        let row: Vec<(f64, usize)> = (0..=n)
            .map(|end| {
                let starts = changes * least..(end + 1).saturating_sub(least);
                let of = |start: usize| (best[changes - 1][start].0 + sums.squares(start, end), start);
                starts.map(of).fold(none, |a, b| if b.0 < a.0 { b } else { a })
            })
            .collect();
        best.push(row);
    }
    let partition = |changes: usize| {
        let squares = best[changes][n].0;
        let (mut starts, mut end) = (Vec::new(), n);
        for row in best[1..=changes].iter().rev() {
            end = row[end].1;
            starts.push(end);
        }
        starts.reverse();
        squares.is_finite().then_some(Partition { starts, squares })
    };
    (0..=most).map_while(partition).collect()
}
