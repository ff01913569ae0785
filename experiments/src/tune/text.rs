//! The answer of a search in words and tables.

use std::fmt::Write as _;

use gclab_results::shell_line;
use gclab_sweep::text::counted;
use gclab_sweep::tune::answer::{Answer, Comparison, FRONT, Interval, Means, Verdict, answer as answer_of, means};
use gclab_sweep::tune::contestant::Fate;
use gclab_sweep::tune::figures::{Goal, shown};
use gclab_sweep::tune::front::front;
use gclab_sweep::tune::offer::Offer;

use super::evidence::fate;
use super::tuned::Tuned;

/// The name of the default setting.
const DEFAULT: &str = "(default)";

/// The flags of a setting.
pub(super) fn label(offer: &Offer, setting: usize) -> &str {
    Some(offer.labels[setting].as_str())
        .filter(|label| !label.is_empty())
        .unwrap_or(DEFAULT)
}

/// The settings that a search could try, one a line.
pub(super) fn settings(offer: &Offer) -> String {
    let mut text = format!("{} to choose from\n", counted(offer.space.len(), "setting"));
    for setting in 0..offer.space.len() {
        let _ = writeln!(text, "  {}", label(offer, setting));
    }
    text
}

/// The answer, the flags, the front and the evidence.
pub(super) fn answer(tuned: &Tuned<'_>) -> String {
    let (search, offer) = (tuned.search, tuned.offer);
    let answer = answer_of(search);
    let mut text = format!("{}\n", sentence(tuned, &answer));
    if let Answer::Compared(Comparison { setting, verdict, .. }) = &answer
        && !matches!(verdict, Verdict::Worse | Verdict::NoneKeeps(_))
    {
        let command = shell_line(&offer.command(*setting));
        let _ = write!(text, "\nThe flags in full:\n  {command}\n");
    }
    if matches!(answer, Answer::DefaultFails(_)) {
        return text;
    }
    text.push_str("\nThe Pareto front: settings within all limits than which none was shown to be better in one figure, and better or equal in all\n");
    text.push_str(&table(tuned, &front(search)));
    let all: Vec<Means> = (0..offer.space.len())
        .filter_map(|setting| means(search, setting))
        .collect();
    let untried = offer.space.len() - search.contestants().iter().filter(|one| one.runs().count() > 0).count();
    let _ = write!(
        text,
        "\nThe evidence: {} of {}; {} without a run. Means of all runs, with intervals of 95 % from three runs on\n",
        counted(search.asked(), "run"),
        counted(all.len(), "setting"),
        counted(untried, "setting"),
    );
    let mut rows = all;
    let goal = FRONT.iter().position(|goal| *goal == search.rules().goal).unwrap_or(0);
    let key = |means: &Means| means.figures[goal].map_or(f64::INFINITY, |(mean, _)| mean);
    rows.sort_by(|one, other| key(one).total_cmp(&key(other)));
    text.push_str(&table(tuned, &rows));
    for (setting, contestant) in search.contestants().iter().enumerate() {
        if let Fate::Failed(reason) = &contestant.fate {
            let _ = writeln!(text, "{} failed: {reason}", label(offer, setting));
        }
    }
    let _ = write!(
        text,
        "All eliminations together are wrong in at most one search in twenty. A setting that waited with few runs may be as good.\n\
         The answer is that of this input on this machine: another input may need other flags.\n\
         All runs are in {}\n",
        tuned.folder.display()
    );
    text
}

/// The answer in a sentence.
fn sentence(tuned: &Tuned<'_>, answer: &Answer) -> String {
    let goal = tuned.search.rules().goal.words();
    let work = &tuned.work;
    let comparison = match answer {
        Answer::DefaultFails(reason) => return format!("{work} fails with its default flags: {reason}"),
        Answer::NoOther => {
            return format!(
                "Keep the default flags of {work}: every other setting that was tried is worse, or failed."
            );
        }
        Answer::Compared(comparison) => comparison,
    };
    let flags = label(tuned.offer, comparison.setting);
    let runs = tuned.search.contestants()[comparison.setting].confirmation.len();
    let figure = match &comparison.ratio {
        Some(ratio) => {
            let interval = ratio.ci95.map_or_else(
                || " (too noisy for an interval)".to_owned(),
                |ci| between(ci.low, ci.high),
            );
            format!(
                "{:.2}{interval} of the default's {goal}, by {} of each",
                ratio.estimate,
                counted(runs, "new run")
            )
        }
        None => format!("the last runs tell no ratio of the {goal}"),
    };
    match comparison.verdict {
        Verdict::Better => format!("Use {flags}: {figure}."),
        Verdict::AsGood => format!("The default is as good as the best flags that were found. {flags}: {figure}."),
        Verdict::Unclear(more) => {
            let more = more.map_or_else(String::new, |more| {
                format!("; about {} of each would decide", counted(more, "more run"))
            });
            format!("It is unclear whether {flags} is better than the default: {figure}{more}.")
        }
        Verdict::Worse => format!("Keep the default flags. The best others, {flags}: {figure}."),
        Verdict::Needed(limit) => format!("Use {flags}: {figure}. The default breaks the limit: {limit}."),
        Verdict::NoneKeeps(limit) => {
            format!("No setting that was tried keeps the limit: {limit}. The nearest, {flags}: {figure}.")
        }
    }
}

fn between(low: f64, high: f64) -> String {
    format!(" ({low:.2} to {high:.2})")
}

/// A table of settings with their figures, runs and fates.
fn table(tuned: &Tuned<'_>, settings: &[Means]) -> String {
    let mut rows = vec![
        ["flags", "elapsed time", "longest pause", "peak memory", "runs", ""]
            .map(str::to_owned)
            .to_vec(),
    ];
    let figure = |goal: Goal, figure: Option<(f64, Option<Interval>)>| match figure {
        None => "–".to_owned(),
        Some((mean, None)) => shown(goal, mean),
        Some((mean, Some(ci))) => format!(
            "{} ({} to {})",
            shown(goal, mean),
            shown(goal, ci.low),
            shown(goal, ci.high)
        ),
    };
    for means in settings {
        let mut row = vec![label(tuned.offer, means.setting).to_owned()];
        row.extend(FRONT.iter().zip(means.figures).map(|(goal, of)| figure(*goal, of)));
        row.push(means.runs.to_string());
        row.push(fate(tuned.search, means.setting));
        rows.push(row);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "  {}", line.trim_end());
    }
    text
}
