//! Scales: from figures to pixels, and where ticks go.

/// A linear or logarithmic scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Maps `low ..= high` to the pixels `from ..= to`. An empty range is widened, so that a single
    /// value has a place. A logarithmic scale needs `low > 0` and is linear otherwise.
    pub(crate) fn new(low: f64, high: f64, log: bool, from: f64, to: f64) -> Scale {
        let log = log && low > 0.0;
        let (low, high) = match (low < high, log) {
            (true, _) => (low, high),
            (false, true) => (low / 2.0, low * 2.0),
            (false, false) => (low - 0.5, low + 0.5),
        };
        Scale {
            low,
            high,
            log,
            from,
            to,
        }
    }

    /// The pixel of a value; a value outside the range gets the pixel of the nearer end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }
}

/// Round steps from 0 to at least `max`, at most `most + 1` of them: multiples of 1, 2 or 5 times a
/// power of ten. The last one is the upper end of the axis.
pub(crate) fn linear_ticks(max: f64, most: usize) -> Vec<f64> {
    let rough = max / most as f64;
    // A subnormal step has lost its digits, and its multiples would never end.
    if !rough.is_normal() || rough < 0.0 {
        return vec![0.0, 1.0];
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= rough * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * power);
    let count = (max / step - 1e-9).ceil() as usize;
    (0..=count).map(|i| i as f64 * step).collect()
}

/// The lowest value on a logarithmic axis.
const LEAST: f64 = 1e-300;

/// Ticks of a logarithmic axis that enclose `low ..= high`: 1, 2 and 5 times powers of ten if these
/// are few, otherwise powers of ten.
pub(crate) fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    // Subnormal powers of ten have lost their digits.
    let low = low.max(LEAST);
    let high = high.max(low);
    let inside = |steps: &[f64]| -> Vec<f64> {
        let exponents = (low.log10().floor() as i32 - 1)..=(high.log10().ceil() as i32 + 1);
        let all: Vec<f64> = exponents
            .flat_map(|e| steps.iter().map(move |s| s * 10f64.powi(e)))
            .collect();
        let first = all.iter().rposition(|&t| t <= low * (1.0 + 1e-9)).unwrap_or(0);
        let last = all
            .iter()
            .position(|&t| t >= high * (1.0 - 1e-9))
            .unwrap_or(all.len() - 1);
        all[first..=last.max(first)].to_vec()
    };
    let fine = inside(&[1.0, 2.0, 5.0]);
    if fine.len() <= 7 { fine } else { inside(&[1.0]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of another program may have any number; 5e-324 is the smallest above 0.
    #[test]
    fn numbers_without_digits_have_ticks() {
        for tiny in [5e-324, 1e-320, f64::MIN_POSITIVE, 1e-300] {
            for ticks in [linear_ticks(tiny, 5), log_ticks(tiny, tiny), log_ticks(tiny, 1.0)] {
                let ascending = ticks.windows(2).all(|pair| pair[0] < pair[1]);
                assert!((1..700).contains(&ticks.len()) && ascending, "{tiny}: {ticks:?}");
            }
        }
        assert!(linear_ticks(f64::MAX, 5).len() < 12);
    }

    #[test]
    fn ticks_are_round_and_enclose() {
        assert_eq!(linear_ticks(0.83, 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(linear_ticks(1.0, 5).last(), Some(&1.0));
        assert_eq!(linear_ticks(7.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(linear_ticks(f64::NAN, 5), [0.0, 1.0]);
        assert_eq!(linear_ticks(0.0, 5), [0.0, 1.0]);
        assert_eq!(log_ticks(0.3, 4.0), [0.2, 0.5, 1.0, 2.0, 5.0]);
        assert_eq!(log_ticks(1.0, 1.0).first(), Some(&1.0));
    }

    #[test]
    fn log_scale_puts_the_geometric_mean_in_the_middle() {
        let scale = Scale::new(1.0, 100.0, true, 0.0, 200.0);
        assert!((scale.at(10.0) - 100.0).abs() < 1e-9);
        assert_eq!(Scale::new(5.0, 5.0, true, 0.0, 10.0).at(5.0), 5.0);
        assert_eq!(Scale::new(0.0, 0.0, false, 0.0, 10.0).at(0.0), 5.0);
    }
}
