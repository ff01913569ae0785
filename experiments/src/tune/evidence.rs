//! The end of each setting of a search, in words.

use gclab_sweep::tune::contestant::Fate;
use gclab_sweep::tune::figures::shown;
use gclab_sweep::tune::search::Search;

/// The end of a setting in the race, and the reason.
pub(super) fn fate(search: &Search, setting: usize) -> String {
    if setting == search.space().default_setting() {
        return "the default".to_owned();
    }
    if search.finalist() == Some(setting) {
        return "compared with the default at the end".to_owned();
    }
    match &search.contestants()[setting].fate {
        Fate::Untried => String::new(),
        Fate::Racing => "in the race to its end".to_owned(),
        Fate::Failed(reason) => format!("out: {}", reason.lines().next().unwrap_or_default()),
        Fate::Worse { ratio, rung } => format!(
            "out after rung {rung}: {:.2} to {:.2} of the leader's {}",
            ratio.low,
            ratio.high,
            search.rules().goal.words()
        ),
        Fate::Breaks { limit, interval, rung } => format!(
            "out after rung {rung}: {} of {} to {}, and the limit is {}",
            limit.goal.words(),
            shown(limit.goal, interval.low),
            shown(limit.goal, interval.high),
            shown(limit.goal, limit.most)
        ),
        Fate::SetAside { ratio, rung } => format!(
            "set aside after rung {rung}: estimated {:.2} to {:.2} of the leader's {}",
            ratio.low,
            ratio.high,
            search.rules().goal.words()
        ),
    }
}
