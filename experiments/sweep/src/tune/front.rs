//! The Pareto front of a search: the settings that trade time, pauses and memory for each other.
//!
//! A setting is off the front if another one is *clearly better* in one figure, and better or equal
//! in all. Intervals of 95 % decide: clearly better means that the interval of the ratio lies below
//! 1, and equal that it lies within [`EQUAL`] on both sides. A figure for which the interval says
//! neither counts as better if the mean is. Settings of one run have intervals, too: the spread of
//! the logarithms is that of all settings together ([`Pooled`]). Of two settings only the one whose
//! means have the smaller product can put the other off, so no circle of settings empties the
//! front. Settings that break a limit of the search are left out.

use gclab_report::inference::Pooled;

use super::answer::{EQUAL, FRONT, Means, keeps, means};
use super::search::Search;

/// The confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// The values of a setting's runs for each figure; none of a figure that no run tells.
type Samples = [Vec<f64>; FRONT.len()];

/// The settings of the Pareto front, by their time.
pub fn front(search: &Search) -> Vec<Means> {
    let contestants = search.contestants();
    let keeps_all = |setting: usize| {
        let mut limits = search.rules().limits.iter();
        limits.all(|limit| keeps(&contestants[setting], limit))
    };
    let settings = (0..search.space().len()).filter(|setting| keeps_all(*setting));
    let all: Vec<Means> = settings.filter_map(|setting| means(search, setting)).collect();
    let samples: Vec<Samples> = all
        .iter()
        .map(|means| {
            FRONT.map(|goal| {
                let runs = contestants[means.setting].runs();
                runs.filter_map(|figures| goal.of(figures)).collect()
            })
        })
        .collect();
    let free = undominated(&samples);
    let mut front: Vec<Means> = all
        .into_iter()
        .zip(free)
        .filter_map(|(means, is_free)| is_free.then_some(means))
        .collect();
    let time = |means: &Means| means.figures[0].map_or(f64::INFINITY, |(mean, _)| mean);
    front.sort_by(|one, other| time(one).total_cmp(&time(other)));
    front
}

/// A figure of one setting beside that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// The interval says that it is smaller.
    Better,
    /// The interval says that they are equal, or no run of either tells it; or only the mean says
    /// that it is smaller.
    AsGood,
    /// It is greater, or may be.
    Worse,
}

/// For each setting, whether no other puts it off the front.
fn undominated(samples: &[Samples]) -> Vec<bool> {
    let pooled: [Option<Pooled>; FRONT.len()] = std::array::from_fn(|figure| {
        let positive = samples.iter().map(|of| of[figure].as_slice());
        Pooled::of(positive.filter(|values| values.iter().all(|value| *value > 0.0)))
    });
    let dominates = |one: &Samples, other: &Samples| {
        let found: Vec<Beside> = (0..FRONT.len())
            .map(|figure| beside(pooled[figure].as_ref(), &one[figure], &other[figure]))
            .collect();
        found.contains(&Beside::Better) && !found.contains(&Beside::Worse) && size(one, other) < size(other, one)
    };
    let is_free = |one: &Samples| !samples.iter().any(|other| dominates(other, one));
    samples.iter().map(is_free).collect()
}

fn beside(pooled: Option<&Pooled>, one: &[f64], other: &[f64]) -> Beside {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match (one.is_empty(), other.is_empty()) {
        (true, true) => return Beside::AsGood,
        (true, false) => return Beside::Worse,
        (false, true) => return Beside::Better,
        (false, false) => {}
    }
    // A pause may be 0, which has no logarithm.
    let is_positive = least(one) > 0.0 && least(other) > 0.0;
    let Some(pooled) = pooled.filter(|_| is_positive) else {
        return if most(one) < least(other) {
            Beside::Better
        } else if mean(one) <= mean(other) {
            Beside::AsGood
        } else {
            Beside::Worse
        };
    };
    let ratio = pooled.ratio(other, one, CONFIDENCE);
    let is_equal = ratio.contains(1.0) && ratio.high <= 1.0 + EQUAL && ratio.low >= 1.0 / (1.0 + EQUAL);
    if ratio.high < 1.0 {
        Beside::Better
    } else if is_equal || ratio.low * ratio.high <= 1.0 {
        Beside::AsGood
    } else {
        Beside::Worse
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of the logarithms of the means. A figure that only the other setting has counts as the
/// greatest number.
fn size(of: &Samples, beside: &Samples) -> f64 {
    let figures = of.iter().zip(beside);
    let logs = figures.map(|(one, other)| match (one.is_empty(), other.is_empty()) {
        (true, true) => 0.0,
        (true, false) => f64::MAX.ln(),
        _ => mean(one).max(f64::MIN_POSITIVE).ln(),
    });
    logs.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(time: &[f64], pause: &[f64], memory: &[f64]) -> Samples {
        [time, pause, memory].map(<[f64]>::to_vec)
    }

    /// The default with ten runs of 10 % noise in time, which gives all settings their intervals.
    fn default() -> Samples {
        let time = [0.9, 1.1, 1.0, 0.95, 1.05, 0.9, 1.1, 1.0, 0.95, 1.05];
        of(&time, &[1.0; 10], &[100.0; 10])
    }

    /// A single run that is 5 % quicker is no more than noise, and one that takes half the time is.
    #[test]
    fn noise_puts_no_setting_off_the_front() {
        let slightly = of(&[0.95], &[1.0], &[100.0]);
        assert_eq!(undominated(&[default(), slightly]), [true, true]);
        let clearly = of(&[0.5], &[1.0], &[100.0]);
        assert_eq!(undominated(&[default(), clearly]), [false, true]);
    }

    /// More memory, or a longer pause, keeps both on the front.
    #[test]
    fn a_trade_keeps_both_on_the_front() {
        assert_eq!(undominated(&[default(), of(&[0.5], &[1.0], &[101.0])]), [true, true]);
        assert_eq!(undominated(&[default(), of(&[0.5], &[1.2], &[100.0])]), [true, true]);
    }

    /// Memory that is the same but for noise within 5 % is equal.
    #[test]
    fn a_difference_that_does_not_matter_is_equal() {
        let noisy = |memory: f64| [memory, memory * 1.01, memory * 0.99].to_vec();
        let mut base = default();
        base[2] = [noisy(100.0), noisy(100.0), noisy(100.0)].concat();
        let mut quicker = of(&[0.5], &[1.0], &[]);
        quicker[2] = [noisy(100.4), noisy(100.4), noisy(100.4)].concat();
        assert_eq!(undominated(&[base.clone(), quicker.clone()]), [false, true]);
        quicker[2] = [noisy(104.0), noisy(104.0), noisy(104.0)].concat();
        assert_eq!(undominated(&[base, quicker]), [true, true]);
    }

    /// A program may have no pause at all, and a setting may not tell one.
    #[test]
    fn a_pause_may_be_nothing_or_unknown() {
        let none = of(&[0.9], &[0.0], &[100.0]);
        assert_eq!(undominated(&[default(), none.clone()]), [false, true]);
        let unknown = of(&[1.0], &[], &[100.0]);
        assert_eq!(undominated(&[unknown, none]), [false, true]);
    }

    /// Without any spread there is no interval, and the values themselves decide.
    #[test]
    fn single_runs_alone_have_no_interval() {
        let one = of(&[1.0], &[1.0], &[1.0]);
        let other = of(&[0.5], &[1.0], &[1.0]);
        assert_eq!(undominated(&[one, other]), [false, true]);
        assert!(undominated(&[]).is_empty());
    }
}
