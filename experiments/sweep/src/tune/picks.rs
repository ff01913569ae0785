//! Choices of settings for the next runs.

use rand_pcg::Pcg64;

use super::space::Space;
use crate::plan::shuffle;

/// `wanted` settings other than the default, or all there are, such that each value of each flag
/// occurs about equally often.
pub(super) fn balanced(space: &Space, wanted: usize, random: &mut Pcg64) -> Vec<usize> {
    let default = space.default_setting();
    let mut order: Vec<usize> = (0..space.len()).filter(|setting| *setting != default).collect();
    shuffle(&mut order, random);
    let mut used: Vec<Vec<usize>> = space.axes().iter().map(|axis| vec![0; axis.values.len()]).collect();
    let mut chosen = Vec::new();
    while chosen.len() < wanted {
        let crowd = |setting: &usize| -> usize {
            let point = space.point(*setting).iter();
            point.zip(&used).map(|(value, used)| used[*value]).sum()
        };
        // Of equals the first one, in the shuffled order.
        let Some(least) = (0..order.len()).min_by_key(|at| crowd(&order[*at])) else {
            break;
        };
        let next = order.swap_remove(least);
        for (value, used) in space.point(next).iter().zip(&mut used) {
            used[*value] += 1;
        }
        chosen.push(next);
    }
    chosen
}

/// `most` runs for `settings` that have these numbers of runs: each run goes to the setting with
/// the fewest, and of equals to the first one. No setting gets more than `limit` in all.
pub(super) fn levelled(settings: &[usize], runs: impl Fn(usize) -> usize, most: usize, limit: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = settings.iter().map(|setting| runs(*setting)).collect();
    let mut wanted = Vec::new();
    while wanted.len() < most {
        let Some(least) = (0..counts.len()).min_by_key(|at| counts[*at]) else {
            break;
        };
        if counts[least] >= limit {
            break;
        }
        counts[least] += 1;
        wanted.push(settings[least]);
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::space::Axis;

    #[test]
    fn each_value_occurs_about_equally_often() {
        let axis = |key: &str, values: usize| Axis {
            key: key.to_owned(),
            values: (0..values)
                .map(|value| (value > 0).then(|| value.to_string()))
                .collect(),
            ordered: true,
        };
        let space = Space::new(vec![axis("A", 4), axis("F", 3)], |_, _| true);
        let chosen = balanced(&space, 6, &mut Pcg64::new(5, 0));
        assert_eq!(chosen.len(), 6);
        for (flag, least, most) in [(0, 1, 2), (1, 2, 2)] {
            for value in 0..space.axes()[flag].values.len() {
                let with = chosen.iter().filter(|setting| space.point(**setting)[flag] == value);
                let count = with.count();
                assert!((least..=most).contains(&count), "{count} settings with value {value}");
            }
        }
        assert_eq!(
            balanced(&space, 50, &mut Pcg64::new(5, 0)).len(),
            11,
            "all but the default"
        );
    }

    #[test]
    fn runs_go_to_the_settings_with_the_fewest() {
        let has = |setting: usize| [5, 1, 0, 1][setting];
        assert_eq!(levelled(&[1, 2, 3], has, 4, 9), [2, 1, 2, 3]);
        assert_eq!(levelled(&[0, 2], has, 9, 3), [2, 2, 2]);
        assert!(levelled(&[], has, 9, 3).is_empty());
    }
}
