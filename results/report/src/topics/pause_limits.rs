//! Which collector for which pause? The answer of an experiment with `pause`.
//!
//! A setting keeps a limit if no pause of any run of any workload is longer. Among those that keep
//! it, the one with the least CPU time is named: collectors shorten pauses by doing more work, between
//! pauses or concurrently.

use super::common::{Context, rank_cell};
use crate::document::{Cell, Column, Look, Part, Place, Section, Table, Tone};
use crate::format::{capital, counted, number, short_list};
use crate::metric;
use crate::ranking::{Contender, Ranking, Verdict, settings};
use crate::summary::{Group, Work};

/// The settings that keep a limit.
struct Limit<'a> {
    /// `5 ms`.
    name: String,
    seconds: f64,
    keep: Vec<Contender<'a>>,
    /// By CPU time; absent if nothing keeps it.
    ranking: Option<Ranking>,
}

/// The longest pause of all runs of a configuration in seconds; `None` if a run failed.
fn longest(group: &Group<'_>) -> Option<f64> {
    let spread = group.spread(&metric::MAX_PAUSE).filter(|_| group.failures().is_empty());
    spread.map(|spread| spread.max)
}

impl Limit<'_> {
    fn is_kept_on(&self, group: Option<&Group<'_>>) -> bool {
        group.and_then(longest).is_some_and(|longest| longest <= self.seconds)
    }

    /// What is said of the settings that keep the limit, if any does.
    fn verdict(&self) -> Option<String> {
        let ranking = self.ranking.as_ref()?;
        let leaders: Vec<&str> = ranking.leaders().map(|rank| rank.label.as_str()).collect();
        Some(match (ranking.first().verdict, ranking.ranks.len()) {
            (Verdict::Best, 1) => format!("only {}", leaders[0]),
            (Verdict::Best, _) => format!("{} takes the least CPU time", leaders[0]),
            (Verdict::Tied, _) => format!("{} tie", short_list(&leaders, 3)),
            (Verdict::Disturbed, _) => format!(
                "disturbed: stop other programs to tell {} apart",
                short_list(&leaders, 3)
            ),
            _ => format!("not decided between {}", short_list(&leaders, 3)),
        })
    }

    fn cell(&self, of: &Contender<'_>) -> Cell {
        let place = self.keep.iter().position(|one| one.label == of.label);
        if let Some((place, ranking)) = place.zip(self.ranking.as_ref()) {
            return ranking.of_place(place).map_or_else(Cell::absent, rank_cell);
        }
        let late = of.groups.iter().filter(|group| !self.is_kept_on(**group)).count();
        let text = match late {
            _ if of.groups().any(|group| !group.failures().is_empty()) => "fails".to_owned(),
            all if all == of.groups.len() => "too long".to_owned(),
            some => format!("too long on {some}"),
        };
        Cell {
            tone: Tone::Failed,
            ..Cell::text(text)
        }
    }
}

/// The section of an experiment with `pause`.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let works: Vec<&Work<'_>> = summary.works.iter().collect();
    let mut all = settings(summary, &works);
    all.retain(|one| one.groups().any(|group| group.has(&metric::MAX_PAUSE)));
    if of.dir.manifest().pause.is_empty() || all.is_empty() {
        return None;
    }
    let limit = |seconds: &f64| {
        let mut limit = Limit {
            name: format!("{} ms", number(1e3 * seconds)),
            seconds: *seconds,
            keep: Vec::new(),
            ranking: None,
        };
        let keeps = |one: &&Contender<'_>| one.groups.iter().all(|group| limit.is_kept_on(*group));
        limit.keep = all.iter().filter(keeps).cloned().collect();
        limit.ranking = Ranking::of(&metric::TOTAL_CPU, &limit.keep, &works);
        limit
    };
    let limits: Vec<Limit<'_>> = of.dir.manifest().pause.iter().map(limit).collect();
    // The ones that keep the most limits first, since a terminal has room for only some.
    let kept = |one: &&Contender<'_>| {
        let keeps = |limit: &&Limit<'_>| limit.keep.iter().any(|kept| kept.label == one.label);
        limits.iter().filter(keeps).count()
    };
    let mut ordered: Vec<&Contender<'_>> = all.iter().collect();
    ordered.sort_by_key(|one| std::cmp::Reverse(kept(one)));
    let mut columns = vec![Column::words("pauses within")];
    columns.extend(ordered.iter().map(|one| Column::words(one.label.clone())));
    let row = |limit: &Limit<'_>| {
        let cells = ordered.iter().map(|one| limit.cell(one));
        std::iter::once(Cell::strong(limit.name.clone())).chain(cells).collect()
    };
    let longest_of = |one: &&Contender<'_>| {
        let all: Option<Vec<f64>> = one.groups.iter().map(|group| longest((*group)?)).collect();
        all.map_or_else(
            || Cell::text("fails"),
            |all| {
                let longest = all.into_iter().fold(0.0, f64::max);
                let milliseconds = metric::MAX_PAUSE.unit.text_with_unit(longest);
                Cell::number(milliseconds, longest)
            },
        )
    };
    let mut rows: Vec<Vec<Cell>> = limits.iter().map(row).collect();
    rows.push(
        std::iter::once(Cell::text("longest"))
            .chain(ordered.iter().map(longest_of))
            .collect(),
    );
    // A verdict holds from its first limit on.
    let mut verdicts: Vec<(&str, String)> = Vec::new();
    for limit in &limits {
        if let Some(verdict) = limit.verdict()
            && verdicts.last().is_none_or(|(_, last)| *last != verdict)
        {
            verdicts.push((&limit.name, verdict));
        }
    }
    let mut said: Vec<String> = verdicts
        .iter()
        .map(|(within, verdict)| format!("within {within} {verdict}"))
        .collect();
    if let Some(none) = limits.iter().rev().find(|limit| limit.ranking.is_none()) {
        said.insert(0, format!("no setting keeps its pauses within {}", none.name));
    }
    let note = format!(
        "A setting keeps a limit if no pause of any run of {} is longer. Figures are the total CPU time, concurrent work \
         included, over the least among the settings that keep the limit: the geometric mean over the workloads with its \
         95 % interval.",
        counted(works.len(), "workload")
    );
    Some(Section {
        title: "Which collector for which pause?",
        place: Place::Answer,
        text: vec![format!("{}.", capital(&said.join("; ")))],
        rankings: limits.into_iter().filter_map(|limit| limit.ranking).collect(),
        parts: vec![
            Part::Table(Table {
                columns,
                rows,
                look: Look::Answers,
                runs: None,
            }),
            Part::Note(note),
        ],
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::synthetic::{Experiment, manifest, runs, small, write};

    /// `concurrent` has short pauses and takes more CPU time, in each of three rounds.
    #[test]
    fn the_least_cpu_time_is_named_for_each_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let experiment = Experiment {
            collectors: vec!["copying", "concurrent"],
            workloads: vec![
                ("binary_trees", vec!["14"], 24.0, 4.0),
                ("long_list", vec!["20"], 24.0, 4.0),
            ],
            sweep: Vec::new(),
            ..small()
        };
        let mut manifest = manifest(&experiment);
        manifest.pause = vec![0.002, 0.005, 0.02, 0.05];
        let mut runs = runs(&experiment);
        for run in &mut runs {
            let (mut pause, cpu) = match run.collector.as_str() {
                "copying" => (0.004, 1.0),
                _ => (0.003, 1.5),
            };
            // One long pause in one run of one workload is enough.
            if run.collector == "copying" && run.workload == "long_list" && run.round == 2 {
                pause = 0.009;
            }
            let stats = run.stats.as_mut().expect("a good run");
            stats.total_cpu_seconds = Some(cpu);
            if let Some(phase) = &mut stats.phases {
                phase.measured.max_pause_seconds = Some(pause);
                phase.measured.total_cpu_seconds = Some(cpu);
            }
            for generation in &mut stats.generations {
                generation.max_pause_seconds = Some(pause);
            }
        }
        let document = crate::report(&write(folder.path(), manifest, &runs));
        assert_eq!(
            document.answer[0],
            "No setting keeps its pauses within 2 ms; within 5 ms only concurrent; within 20 ms copying takes the least CPU \
             time."
        );
        assert_eq!(document.best, None, "no setting is the best within every limit");
        let all = crate::terminal(&document, true);
        let row = |name: &str| {
            all.lines()
                .find(|line| line.trim_start().starts_with(name))
                .expect(&all)
        };
        assert!(row("5 ms  ").contains("too long on 1"), "{all}");
        assert!(
            row("longest").contains("9.000 ms") && row("longest").contains("3.000 ms"),
            "{all}"
        );
    }
}
