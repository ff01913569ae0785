//! The answer of a search as JSON.

use gclab_sweep::tune::answer::{Answer, FRONT, Interval, Means, Verdict, answer as answer_of, means};
use gclab_sweep::tune::front::front;
use serde_json::{Value, json};

use super::evidence::fate;
use super::tuned::Tuned;

/// The answer, the front and all settings that had a run.
pub(super) fn answer(tuned: &Tuned<'_>) -> Value {
    let (search, offer) = (tuned.search, tuned.offer);
    let rules = search.rules();
    let answer = answer_of(search);
    let (verdict, setting, ratio) = match &answer {
        Answer::DefaultFails(_) => ("default fails", None, None),
        Answer::NoOther => ("keep the default", None, None),
        Answer::Compared(comparison) => {
            let word = match comparison.verdict {
                Verdict::Better => "better",
                Verdict::AsGood => "default as good",
                Verdict::Unclear(_) => "unclear",
                Verdict::Worse => "keep the default",
                Verdict::Needed(_) => "default breaks a limit",
                Verdict::NoneKeeps(_) => "none keeps the limits",
            };
            (word, Some(comparison.setting), comparison.ratio)
        }
    };
    let more = match &answer {
        Answer::Compared(comparison) => comparison.verdict.more_runs(),
        _ => None,
    };
    let all = (0..offer.space.len()).filter_map(|setting| means(search, setting));
    json!({
        "work": tuned.work,
        "goal": rules.goal.name(),
        "limits": rules.limits.iter().map(|limit| json!({ "figure": limit.goal.name(), "most": limit.most })).collect::<Vec<_>>(),
        "seed": rules.seed,
        "verdict": verdict,
        "flags": setting.map(|setting| offer.labels[setting].clone()),
        "command": setting.map(|setting| offer.command(setting)),
        "ratio": ratio.map(|ratio| ratio.estimate),
        "ratio_ci95": ratio.and_then(|ratio| ratio.ci95).map(ends),
        "more_runs": more,
        "runs": search.asked(),
        "settings": offer.space.len(),
        "front": front(search).iter().map(|means| offer.labels[means.setting].clone()).collect::<Vec<_>>(),
        "tried": all.map(|means| tried(tuned, &means)).collect::<Vec<_>>(),
        "folder": tuned.folder,
    })
}

fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

fn tried(tuned: &Tuned<'_>, means: &Means) -> Value {
    let mut setting = json!({
        "flags": tuned.offer.labels[means.setting],
        "runs": means.runs,
        "fate": fate(tuned.search, means.setting),
    });
    for (goal, figure) in FRONT.iter().zip(means.figures) {
        let Some((mean, interval)) = figure else { continue };
        setting[goal.name()] = json!(mean);
        if let Some(interval) = interval {
            setting[format!("{}_ci95", goal.name())] = json!(ends(interval));
        }
    }
    setting
}
