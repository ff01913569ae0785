//! The HTML report: what the template is given, and the template.

use super::figures::{MOST_PANELS, by_other_axes, panels, split_axes, style_of};
use super::grid::{configuration_table, pause_table, plan_table, raw_table, sharing_table};
use super::{
    Advice, Answer, Best, Budgets, Standing, advice, answers, budgets, cautions, environment, headline, pause_rows,
    pauses, ratio_text, time_metric, with_range,
};
use super::{memory, parallel, profiles, timeline};
use crate::chart::swatch;
use crate::maths::Ratio;
use crate::metric;
use crate::summary::{Group, Summary, Work};
use gclab_results::{Axis, ResultsDir, shell_line};
use minijinja::{Environment, UndefinedBehavior, Value, context};

const TEMPLATE: &str = include_str!("../../templates/report.html");

/// More heap profiles than these are not drawn: each takes some twenty kilobytes, and nobody looks at a hundred.
const MOST_PROFILES: usize = 60;

/// The report of these folders as one HTML file.
///
/// # Panics
/// When the template that is part of this crate is wrong; tests render every part of it.
pub fn html(dirs: &[ResultsDir]) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // The name's ending switches escaping on.
    environment
        .add_template("report.html", TEMPLATE)
        .expect("the template parses");
    let template = environment.get_template("report.html").expect("it was just added");
    let folders: Vec<Value> = dirs.iter().map(folder).collect();
    let names: Vec<&str> = dirs.iter().map(|dir| dir.manifest().name.as_str()).collect();
    let page = template.render(context! { title => names.join(", "), folders, version => env!("CARGO_PKG_VERSION") });
    page.unwrap_or_else(|e| panic!("the template does not render: {e:#}"))
}

fn folder(dir: &ResultsDir) -> Value {
    let manifest = dir.manifest();
    let summary = Summary::of(dir);
    let answers = answers(&summary);
    let configurations = summary.groups().count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut facts = vec![count(dir.runs().len(), "run"), count(configurations, "configuration")];
    facts.extend(
        Some(dir.profiled().len())
            .filter(|n| *n > 0)
            .map(|n| count(n, "heap profile")),
    );
    facts.push(format!("seed {}", manifest.seed));
    facts.extend(Some(manifest.started.clone()).filter(|s| !s.is_empty()));
    let fixed: Vec<String> = summary
        .fixed
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let legend: Vec<Value> = summary
        .collectors
        .iter()
        .map(|&name| context! { name, swatch => Value::from_safe_string(swatch(style_of(&summary, name))) })
        .collect();
    let works: Vec<Value> = summary.works.iter().map(|work| work_view(&summary, work)).collect();
    context! {
        name => manifest.name.as_str(),
        question => manifest.question.as_deref(),
        facts,
        fixed => fixed.join(", "),
        cautions => cautions(dir, &summary),
        headline => headline(&answers),
        time_name => time_metric(&summary).title,
        answers => answers.iter().map(|answer| answer_view(&summary, answer)).collect::<Vec<_>>(),
        advice => advice(&summary).as_ref().map(|advice| advice_view(&summary, advice)),
        budgets => budgets(&summary).as_ref().map(|budgets| budgets_view(dir, &summary, budgets)),
        several_collectors => summary.collectors.len() > 1,
        legend,
        timeline_lines => timeline::LINES
            .iter()
            .enumerate()
            .map(|(style, &name)| context! { name, swatch => Value::from_safe_string(swatch(style)) })
            .collect::<Vec<_>>(),
        works,
        profiles => profiles_view(dir, &summary),
        failed => failed_runs(dir, &summary),
        configurations => configuration_table(&summary),
        raw => raw_table(dir, &summary),
        environment => environment(dir),
        command => shell_line(&manifest.command),
        experiment => manifest.experiment.as_str(),
        seed => manifest.seed,
        repeat => manifest.repeat,
        plan => plan_table(dir, &summary),
    }
}

fn answer_view(summary: &Summary<'_>, answer: &Answer<'_>) -> Value {
    let best = |best: &Best<'_>| {
        context! {
            label => best.group.label(&summary.axes),
            value => format!("{} {}", with_range(best.metric, &best.spread), best.metric.unit.name()),
        }
    };
    let rivals: Vec<Value> = answer
        .rivals
        .iter()
        .map(|rival| {
            context! {
                label => rival.best.group.label(&summary.axes),
                value => rival.ratio.map_or("–".to_owned(), |ratio| ratio_text(&ratio)),
                noise => rival.differs() == Some(false),
            }
        })
        .collect();
    context! {
        work => answer.work.title.as_str(),
        fastest => best(&answer.fastest),
        rivals,
        slowest => answer.slowest.as_ref().map(|(slowest, times)| context! {
            label => slowest.group.label(&summary.axes),
            value => format!("{times:.2}×"),
        }),
        leanest => answer.leanest.as_ref().map(best),
        smoothest => answer.smoothest.as_ref().map(best),
    }
}

fn advice_view(summary: &Summary<'_>, advice: &Advice<'_>) -> Value {
    let ratio = |ratio: &Option<Ratio>| ratio.as_ref().map_or("–".to_owned(), ratio_text);
    let cases: Vec<Value> = advice
        .cases
        .iter()
        .map(|case| {
            context! {
                work => case.work.title.as_str(),
                setting => case.setting.as_str(),
                best => case.best(),
                time => ratio(&case.time),
                gc => ratio(&case.gc),
                cpu => ratio(&case.cpu),
                call => case.call.text(),
            }
        })
        .collect();
    let charts = parallel::charts(summary);
    let legend: Vec<Value> = charts
        .legend
        .iter()
        .map(|(style, name)| context! { name, swatch => Value::from_safe_string(swatch(*style)) })
        .collect();
    let works: Vec<Value> = charts
        .works
        .iter()
        .map(|(title, charts)| {
            let charts: Vec<Value> = charts.iter().map(|c| Value::from_safe_string(c.svg())).collect();
            context! { title, charts }
        })
        .collect();
    context! {
        text => advice.text.clone(),
        cases,
        legend,
        base => charts.base,
        works,
        sharing => sharing_table(summary),
    }
}

fn budgets_view(dir: &ResultsDir, summary: &Summary<'_>, budgets: &Budgets) -> Value {
    let rows: Vec<Value> = budgets
        .budgets
        .iter()
        .map(|budget| {
            let cells = budget.standings.iter().enumerate().map(|(place, standing)| {
                context! {
                    text => memory::standing_text(standing, summary.works.len()),
                    why => memory::deaths_text(standing, summary.works.len()),
                    best => budget.best == Some(place) || budget.as_good.contains(&place),
                    dies => matches!(standing, Standing::Dies(_)),
                }
            });
            context! { multiple => memory::times(budget.multiple), cells => cells.collect::<Vec<_>>() }
        })
        .collect();
    let charts = memory::charts(summary);
    let legend: Vec<Value> = charts
        .legend
        .iter()
        .map(|(style, name)| context! { name, swatch => Value::from_safe_string(swatch(*style)) })
        .collect();
    let works: Vec<Value> = charts
        .works
        .iter()
        .map(|(title, charts)| {
            let charts: Vec<Value> = charts.iter().map(|c| Value::from_safe_string(c.svg())).collect();
            context! { title, charts }
        })
        .collect();
    let (contenders, minima) = memory::minima(dir.manifest());
    context! {
        text => budgets.text.clone(),
        contenders => budgets.contenders.clone(),
        rows,
        legend,
        works,
        searched => contenders,
        minima => minima.into_iter().map(|row| context! { work => row.work, cells => row.cells, notes => row.notes }).collect::<Vec<_>>(),
        // The curves say it all where nothing else was swept.
        alone => summary.axes.len() <= 1,
    }
}

/// Heap profiles by workload: a chart and a table of the peak each, as far as a page has room.
fn profiles_view(dir: &ResultsDir, summary: &Summary<'_>) -> Value {
    let works = profiles::profiled(dir, summary);
    let all: usize = works.iter().map(|(_, runs)| runs.len()).sum();
    let mut room = MOST_PROFILES;
    let works: Vec<Value> = works
        .iter()
        .map(|(title, runs)| {
            let shown = runs.iter().take(room).map(profile_view).collect::<Vec<_>>();
            room -= shown.len();
            context! { title, runs => shown }
        })
        .collect();
    context! { works, left_out => all.saturating_sub(MOST_PROFILES) }
}

fn profile_view(profiled: &profiles::Profiled<'_>) -> Value {
    let peak = profiled.peak().map(|(peak, rows)| {
        let rows = rows.iter().map(|row| {
            context! {
                name => row.name.as_str(),
                members => row.members.as_str(),
                bytes => profiles::bytes_text(row.bytes),
                share => format!("{} %", metric::Unit::Percent.text(row.share)),
            }
        });
        context! {
            at => profiles::time_text(peak.seconds),
            marker => peak.marker.as_deref(),
            rows => rows.collect::<Vec<_>>(),
        }
    });
    context! {
        label => profiled.label.as_str(),
        chart => profiled.chart().map(|chart| Value::from_safe_string(chart.svg())),
        peak,
        notes => profiled.notes(),
        file => profiled.profile.map(|_| profiled.file()),
    }
}

fn work_view(summary: &Summary<'_>, work: &Work<'_>) -> Value {
    let (rows, all_panels) = panels(summary, work);
    let rows: Vec<Value> = rows
        .iter()
        .map(|panel| {
            let charts = panel.charts.iter().map(|chart| Value::from_safe_string(chart.svg()));
            context! { heading => panel.heading.as_str(), charts => charts.collect::<Vec<_>>() }
        })
        .collect();
    let pause_rows = pause_rows(work);
    let (distributions, distributions_left_out) = distributions(summary, work, &pause_rows);
    let (timeline_setting, timelines) = timeline::timelines(summary, work);
    let timelines: Vec<Value> = timelines
        .iter()
        .map(|chart| Value::from_safe_string(chart.svg()))
        .collect();
    context! {
        title => work.title.as_str(),
        timeline_setting,
        timelines,
        panels => rows,
        panels_left_out => all_panels.saturating_sub(MOST_PANELS),
        distributions,
        distributions_left_out,
        pauses => pause_table(summary, &pause_rows),
    }
}

/// A chart of pauses for each value of the main axis, at the first values of the others; and how many settings are left out.
fn distributions(summary: &Summary<'_>, work: &Work<'_>, rows: &[pauses::PauseRow<'_>]) -> (Vec<Value>, usize) {
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let (_, others) = split_axes(summary);
    let first = by_other_axes(work, &others)
        .into_iter()
        .next()
        .map_or(Vec::new(), |(_, groups)| groups);
    let settings: Vec<(String, Vec<&pauses::PauseRow<'_>>)> = by_other_axes(work, &axes)
        .into_iter()
        .map(|(heading, groups)| {
            let of_setting = rows
                .iter()
                .filter(|row| groups.iter().any(|group| std::ptr::eq(*group, row.group)));
            (heading, of_setting.collect::<Vec<_>>())
        })
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    let all = settings.len();
    let in_first = |row: &&pauses::PauseRow<'_>| first.iter().any(|group| std::ptr::eq(*group, row.group));
    let settings: Vec<_> = settings
        .into_iter()
        .filter(|(_, rows)| rows.iter().any(in_first))
        .collect();
    // Evenly over the sweep, its ends included.
    let shown = settings.len().min(MOST_PANELS);
    let chosen = (0..shown).map(|i| {
        if shown > 1 {
            i * (settings.len() - 1) / (shown - 1)
        } else {
            0
        }
    });
    let charts = chosen.map(|i| {
        let (heading, rows) = &settings[i];
        let title = if heading.is_empty() {
            "Pauses, ms".to_owned()
        } else {
            format!("Pauses, ms: {heading}")
        };
        Value::from_safe_string(pauses::distribution(&title, summary, rows).svg())
    });
    let charts: Vec<Value> = charts.collect();
    let left_out = all - charts.len();
    (charts, left_out)
}

fn failed_runs(dir: &ResultsDir, summary: &Summary<'_>) -> Vec<Value> {
    let failed = dir.all_runs().filter(|run| super::is_failure(run));
    failed
        .map(|run| {
            let group = Group::empty(run);
            context! {
                work => run.configuration().work(),
                label => group.label(&summary.axes),
                outcome => run.outcome.to_string(),
                round => run.profile_flags.clone().unwrap_or_else(|| run.round.to_string()),
                after => run.wall_seconds.filter(|s| s.is_finite()).map(|s| metric::WALL.unit.text_with_unit(s)),
                stderr => run.stderr_tail.as_deref(),
                command => shell_line(&run.command),
            }
        })
        .collect()
}
