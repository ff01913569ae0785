//! The answer of a search in words, as a table and as JSON.

use std::fmt::Write as _;
use std::path::Path;

use gclab_report::{folded, wrapped};
use gclab_results::{path_name, shell_line};
use gclab_sweep::text::counted;
use gclab_sweep::tune::answer::{Answer, Comparison, Medians, Verdict, answer as answer_of, medians};
use gclab_sweep::tune::figures::{Goal, shown};
use gclab_sweep::tune::offer::Offer;
use gclab_sweep::tune::search::{Fate, Search};
use serde::Serialize;

/// The name of the default setting.
const DEFAULT: &str = "(default)";

/// A search that is over.
pub(super) struct Tuned<'t> {
    /// The work, as on a command line.
    pub(super) work: String,
    pub(super) offer: &'t Offer,
    pub(super) search: &'t Search,
    /// The folder of the records.
    pub(super) folder: &'t Path,
}

/// The flags of a setting.
fn label(offer: &Offer, setting: usize) -> &str {
    match offer.labels[setting].as_str() {
        "" => DEFAULT,
        label => label,
    }
}

/// The settings that a search could try, one a line.
pub(super) fn settings(offer: &Offer) -> String {
    let mut text = format!("{} to choose from\n", counted(offer.space.len(), "setting"));
    for setting in 0..offer.space.len() {
        let _ = writeln!(text, "  {}", label(offer, setting));
    }
    text
}

/// The answer in a sentence, the flags to use if there are any, and the evidence.
pub(super) fn answer(tuned: &Tuned<'_>) -> String {
    let (search, offer) = (tuned.search, tuned.offer);
    let answer = answer_of(search);
    // The last lines of a program that failed stay lines.
    let sentence = sentence(tuned, &answer);
    let (first, more) = sentence
        .split_once('\n')
        .map_or((&*sentence, None), |(first, more)| (first, Some(more)));
    let mut text = format!("{}\n", wrapped(first));
    if let Some(more) = more {
        let _ = writeln!(text, "{more}");
    }
    if let Answer::Compared(Comparison {
        setting,
        verdict: Verdict::Better | Verdict::Needed(_),
        ..
    }) = &answer
    {
        let command = shell_line(&offer.command(*setting));
        let _ = write!(text, "\n  {command}\n");
    }
    if matches!(answer, Answer::DefaultFails(_)) {
        return text;
    }
    let tried = tried(tuned);
    let _ = write!(
        text,
        "\nThe medians of {} of {}; {} had no run.\n{}",
        counted(search.asked(), "run"),
        counted(tried.len(), "setting"),
        counted(offer.space.len() - tried.len(), "other"),
        table(tuned, &tried)
    );
    for (setting, candidate) in search.candidates().iter().enumerate() {
        if let Fate::Failed(reason) = &candidate.fate {
            let _ = writeln!(text, "{} failed: {reason}", label(offer, setting));
        }
    }
    let _ = write!(
        text,
        "{}\nAll runs are in {}\n",
        wrapped("The answer holds for this input on this machine: another input may need other flags."),
        path_name(tuned.folder)
    );
    text
}

/// The settings with a run, the best medians of the goal first.
fn tried(tuned: &Tuned<'_>) -> Vec<Medians> {
    let all = (0..tuned.offer.space.len()).filter_map(|setting| medians(tuned.search, setting));
    let mut all: Vec<Medians> = all.collect();
    let goal = tuned.search.rules().goal;
    let at = Goal::ALL.iter().position(|other| *other == goal).unwrap_or(0);
    let key = |of: &Medians| of.figures[at].unwrap_or(f64::INFINITY);
    all.sort_by(|one, other| key(one).total_cmp(&key(other)));
    all
}

/// The answer in a sentence.
fn sentence(tuned: &Tuned<'_>, answer: &Answer) -> String {
    let goal = tuned.search.rules().goal.words();
    let work = &tuned.work;
    let comparison = match answer {
        Answer::DefaultFails(reason) => return format!("{work} fails with its default flags: {reason}"),
        Answer::NoOther => {
            return format!("Keep the default flags of {work}: every other setting tried is worse or failed.");
        }
        Answer::Compared(comparison) => comparison,
    };
    let flags = label(tuned.offer, comparison.setting);
    let runs = tuned.search.candidates()[comparison.setting].confirmation.len();
    let figure = match &comparison.effect {
        Some(effect) if effect.is_too_noisy() => format!("the {goal} is too noisy to compare"),
        Some(effect) => {
            let ratio = effect.ratio();
            let places = if ratio < 0.1 { 4 } else { 2 };
            let size = match (effect.bound(), effect.ci95()) {
                (Some(bound), _) if bound < 1.0 => format!("at most {bound:.places$}"),
                (Some(bound), _) => format!("at least {bound:.places$}"),
                (None, Some(ci)) => format!("{ratio:.places$} ({:.places$} to {:.places$})", ci.low, ci.high),
                (None, None) => format!("{ratio:.places$}"),
            };
            format!(
                "{size} of the default's {goal}, by {} of each",
                counted(runs, "new run")
            )
        }
        None => format!("the last runs report no {goal}"),
    };
    let dropped = tuned.search.longer().map_or_else(String::new, |longer| {
        format!(
            " No run shows that {} is better than {flags}.",
            label(tuned.offer, longer)
        )
    });
    match comparison.verdict {
        Verdict::Better => format!("Use {flags}: {figure}.{dropped}"),
        Verdict::Disturbed(disturbed) => format!(
            "Keep the default: other programs disturbed {disturbed} of the last {} runs, so they do not show that {flags} is \
             better; repeat the search on a quiet machine. {flags}: {figure}.",
            2 * runs
        ),
        Verdict::AsGood => format!("Keep the default: it is as good as the best flags found. {flags}: {figure}."),
        Verdict::Unclear if comparison.effect.is_some_and(|effect| effect.is_too_noisy()) => {
            format!("Keep the default: {figure}, so these runs cannot tell whether {flags} is better.")
        }
        Verdict::Unclear => {
            format!("Keep the default: these runs cannot tell whether {flags} is better. {flags}: {figure}.")
        }
        Verdict::Worse => format!("Keep the default. The best others, {flags}: {figure}."),
        Verdict::Needed(limit) => format!("Use {flags}: {figure}. The default breaks the limit: {limit}.{dropped}"),
        Verdict::NoneKeeps(limit) => {
            format!("No setting that was tried keeps the limit: {limit}. The nearest, {flags}: {figure}.")
        }
    }
}

/// How a setting left the race, and why.
fn fate(search: &Search, setting: usize) -> String {
    if setting == search.space().default_setting() {
        return "the default".to_owned();
    }
    if search.finalist() == Some(setting) {
        return "compared with the default at the end".to_owned();
    }
    match &search.candidates()[setting].fate {
        Fate::Untried => String::new(),
        Fate::Racing => "in the race to its end".to_owned(),
        Fate::Failed(reason) => format!("out: {}", reason.lines().next().unwrap_or_default()),
        Fate::Worse { ratio, rung } => {
            let goal = search.rules().goal.words();
            format!(
                "out after rung {rung}: at least {:.2} of the leader's {goal}",
                ratio.low
            )
        }
        Fate::Breaks { limit, rung } => format!("out after rung {rung}: it breaks the limit, {limit}"),
    }
}

/// The most settings of a table.
const SHOWN: usize = 12;

/// A table of the best settings, the default and the finalist, with their figures and runs.
fn table(tuned: &Tuned<'_>, settings: &[Medians]) -> String {
    let header = ["flags", "time", "pause", "memory", "runs", ""];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let role = |setting: usize| match setting {
        _ if setting == tuned.search.space().default_setting() => "the default",
        _ if tuned.search.finalist() == Some(setting) => "compared with it",
        _ => "",
    };
    let is_shown = |(at, medians): &(usize, &Medians)| *at < SHOWN || !role(medians.setting).is_empty();
    for (_, medians) in settings.iter().enumerate().filter(is_shown) {
        let mut row = vec![label(tuned.offer, medians.setting).to_owned()];
        let figures = Goal::ALL.iter().zip(medians.figures);
        row.extend(figures.map(|(goal, of)| of.map_or_else(|| "–".to_owned(), |median| shown(*goal, median))));
        row.push(medians.runs.to_string());
        row.push(role(medians.setting).to_owned());
        rows.push(row);
    }
    let mut text = columns(&rows);
    if settings.len() >= rows.len() {
        let _ = writeln!(text, "  and {} more (--json has all)", settings.len() + 1 - rows.len());
    }
    text
}

/// The rows in columns, at most 80 wide: the first cell goes on in more lines.
fn columns(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let others: usize = widths[1..].iter().map(|width| width + 2).sum();
    widths[0] = widths[0].min(WIDTH.saturating_sub(others + 2));
    let mut text = String::new();
    for row in rows {
        let flags = folded(&row[0], widths[0]);
        for (at, flags) in flags.iter().enumerate() {
            let others = row[1..].iter().map(|cell| if at == 0 { cell } else { "" });
            let cells = std::iter::once(flags.as_str()).chain(others).zip(&widths);
            let cells: Vec<String> = cells.map(|(cell, &width)| format!("{cell:width$}")).collect();
            let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
        }
    }
    text
}

/// The width of a table, like that of text.
const WIDTH: usize = 80;

/// The answer for programs.
#[derive(Serialize)]
struct Json<'t> {
    work: &'t str,
    goal: &'static str,
    limits: Vec<String>,
    seed: u64,
    verdict: &'static str,
    /// The setting that was compared with the default.
    flags: Option<&'t str>,
    command: Option<Vec<String>>,
    /// Its goal over the default's, with the 95 % interval.
    ratio: Option<f64>,
    ratio_ci95: Option<[f64; 2]>,
    runs: usize,
    settings: usize,
    tried: Vec<Attempt<'t>>,
    folder: &'t Path,
}

/// A setting that had a run, with the medians of its runs: seconds and bytes.
#[derive(Serialize)]
struct Attempt<'t> {
    flags: &'t str,
    runs: usize,
    fate: String,
    time: Option<f64>,
    pause: Option<f64>,
    memory: Option<f64>,
}

/// The answer as JSON, with all settings that had a run.
pub(super) fn json(tuned: &Tuned<'_>) -> String {
    let (search, offer) = (tuned.search, tuned.offer);
    let rules = search.rules();
    let (verdict, comparison) = match answer_of(search) {
        Answer::DefaultFails(_) => ("default fails", None),
        Answer::NoOther => ("keep the default", None),
        Answer::Compared(comparison) => {
            let word = match comparison.verdict {
                Verdict::Better => "better",
                Verdict::AsGood => "default as good",
                Verdict::Unclear => "unclear",
                Verdict::Disturbed(_) => "disturbed",
                Verdict::Worse => "keep the default",
                Verdict::Needed(_) => "default breaks a limit",
                Verdict::NoneKeeps(_) => "none keeps the limits",
            };
            (word, Some(comparison))
        }
    };
    let effect = comparison.as_ref().and_then(|comparison| comparison.effect);
    let setting = comparison.map(|comparison| comparison.setting);
    let tried = tried(tuned).into_iter().map(|of| Attempt {
        flags: &offer.labels[of.setting],
        runs: of.runs,
        fate: fate(search, of.setting),
        time: of.figures[0],
        pause: of.figures[1],
        memory: of.figures[2],
    });
    let answer = Json {
        work: &tuned.work,
        goal: rules.goal.name(),
        limits: rules
            .limits
            .iter()
            .map(gclab_sweep::tune::figures::Limit::written)
            .collect(),
        seed: rules.seed,
        verdict,
        flags: setting.map(|setting| offer.labels[setting].as_str()),
        command: setting.map(|setting| offer.command(setting)),
        ratio: effect.map(|effect| effect.ratio()),
        ratio_ci95: effect.and_then(|effect| effect.ci95()).map(|ci| [ci.low, ci.high]),
        runs: search.asked(),
        settings: offer.space.len(),
        tried: tried.collect(),
        folder: tuned.folder,
    };
    serde_json::to_string_pretty(&answer).expect("an answer has only string keys") + "\n"
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn long_flags_go_on_in_the_next_line() {
        let row = |flags: &str| {
            let rest = ["50.0 ms", "17.8 ms", "3112 MiB", "12", "compared with it"];
            std::iter::once(flags)
                .chain(rest)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let text = columns(&[row("-XX:+UseShenandoahGC -Xmn256m -Xms1g"), row("-Xms1g")]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(lines.len(), 3, "{text}");
        assert!(
            lines[1].trim() == "-Xmn256m -Xms1g" && lines[2].contains("12"),
            "{text}"
        );
    }
}
