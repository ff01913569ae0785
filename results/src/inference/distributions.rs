//! Student's t and the normal distribution: quantiles and tails.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::sync::OnceLock;

/// The 97.5 % quantile of Student's t distribution.
///
/// # Panics
/// Panics with less than one degree of freedom.
pub(crate) fn quantile_975(degrees_of_freedom: f64) -> f64 {
    let calculated = || quantile(0.975, degrees_of_freedom);
    if degrees_of_freedom.fract() == 0.0
        && let Some(known) = KNOWN.get(degrees_of_freedom as usize)
    {
        return *known.get_or_init(calculated);
    }
    calculated()
}

/// The 97.5 % quantiles of integer degrees of freedom. A report needs the same few for each figure,
/// and each takes some ten microseconds.
static KNOWN: [OnceLock<f64>; 128] = [const { OnceLock::new() }; 128];

/// The quantile of Student's t distribution at a probability between 0 and 1.
///
/// # Panics
/// Panics with less than one degree of freedom.
pub(crate) fn quantile(probability: f64, degrees_of_freedom: f64) -> f64 {
    student(degrees_of_freedom).inverse_cdf(probability)
}

/// The probability that |t| is as large as this or larger, for Student's t. With a standard error
/// of 0, `t` is infinite, and the probability 0.
///
/// # Panics
/// Panics with less than one degree of freedom.
pub(crate) fn both_tails(t: f64, degrees_of_freedom: f64) -> f64 {
    (2.0 * student(degrees_of_freedom).sf(t.abs())).clamp(0.0, 1.0)
}

fn student(degrees_of_freedom: f64) -> StudentsT {
    assert!(degrees_of_freedom >= 1.0, "{degrees_of_freedom} degrees of freedom");
    StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("one degree of freedom or more")
}

/// The probability that a standard normal value is below `z`.
pub(crate) fn normal_below(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[track_caller]
    fn close(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-10, "{a} is not {b}");
    }

    /// One, two and four degrees of freedom have closed forms (Shaw 2006).
    #[test]
    fn closed_forms() {
        let alpha: f64 = 4.0 * 0.975 * 0.025;
        close(quantile_975(1.0), (PI * 0.475).tan());
        close(quantile_975(2.0), 0.95 * (2.0 / alpha).sqrt());
        let q = (alpha.sqrt().acos() / 3.0).cos() / alpha.sqrt();
        close(quantile_975(4.0), 2.0 * (q - 1.0).sqrt());
    }

    /// The values of printed tables, and the normal distribution at the end.
    #[test]
    fn tables() {
        for (degrees, quantile) in [
            (3.0, 3.182_446_305_284_263),
            (5.0, 2.570_581_835_636_314),
            (9.0, 2.262_157_162_798_205),
            (10.0, 2.228_138_851_964_939),
            (30.0, 2.042_272_456_301_238),
            (100.0, 1.983_971_518_449_634),
        ] {
            close(quantile_975(degrees), quantile);
        }
        assert!((quantile_975(1e5) - 1.959_963_984_540_054).abs() < 3e-5);
        assert!(quantile_975(2.5) < quantile_975(2.0) && quantile_975(2.5) > quantile_975(3.0));
        assert!((normal_below(1.959_963_984_540_054) - 0.975).abs() < 1e-9);
    }

    /// A tail is the inverse of a quantile, and 0 for an infinite t.
    #[test]
    fn tails() {
        for degrees in [1.0, 2.5, 9.0, 40.0] {
            assert!((both_tails(quantile_975(degrees), degrees) - 0.05).abs() < 1e-9);
        }
        assert_eq!((both_tails(f64::INFINITY, 3.0), both_tails(0.0, 3.0)), (0.0, 1.0));
    }
}
