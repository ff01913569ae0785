//! Figures that are judged together, and the runs that would decide.

use super::compare::{compared, slower, steady};
use super::synthetic;
use crate::analysis::verdict::Verdict;
use crate::{comparison as text, comparison_json};

/// Without any change, some of many figures pass by themselves: one in twenty intervals of 95 %
/// misses. None of them is called changed.
#[test]
fn chance_among_many_figures_is_no_change() {
    let mut noise = synthetic::Noise::new(12);
    let (mut called, mut taken_back) = (0, 0);
    for _ in 0..20 {
        let noisy = |noise: &mut synthetic::Noise| {
            let mut runs = steady();
            for s in runs.iter_mut().filter_map(|run| run.stats.as_mut()) {
                for time in [
                    &mut s.total_elapsed_seconds,
                    &mut s.gc_cpu_seconds,
                    &mut s.mut_cpu_seconds,
                ] {
                    *time = time.map(|t| t * (1.0 + 0.2 * noise.next()));
                }
            }
            runs
        };
        let comparison = compared(&noisy(&mut noise), &noisy(&mut noise));
        assert!(comparison.judged >= 36, "{}", comparison.judged);
        called += usize::from(comparison.regressed());
        taken_back += comparison.taken_back;
        if comparison.taken_back > 0 {
            let text = text(&comparison);
            assert!(
                text.contains("may be chance among ") && text.contains("judged together"),
                "{text}"
            );
        }
    }
    assert!(
        taken_back >= 10 && called <= 2,
        "{taken_back} taken back, {called} called"
    );
}

/// An unclear figure says how many more runs would decide, and the sum of all figures says it for
/// half of them and for all.
#[test]
fn unclear_figures_say_how_many_more_runs_would_decide() {
    let mut noisy = steady();
    let mut noise = synthetic::Noise::new(4);
    for s in noisy.iter_mut().filter_map(|run| run.stats.as_mut()) {
        s.mut_cpu_seconds = s.mut_cpu_seconds.map(|t| t * (1.0 + 0.1 * noise.next()));
    }
    let unclear = compared(&steady(), &noisy);
    let mut figures = unclear.rows.iter().flat_map(|row| &row.figures);
    let figure = figures.find(|figure| figure.verdict == Verdict::Unclear && figure.runs_to_decide.is_some());
    let figure = figure.expect("an unclear figure");
    let more = figure.more_runs().expect("a number");
    assert!(more >= 1 && figure.runs_to_decide == Some(more + 3), "{figure:?}");
    let text = text(&unclear);
    assert!(
        text.contains("would decide)") && text.contains("more runs of each would decide"),
        "{text}"
    );
    let (half, all, count) = unclear.more_runs().expect("unclear figures");
    assert!(half <= all && more <= all && count <= unclear.count(Verdict::Unclear));
    let json: serde_json::Value = serde_json::from_str(&comparison_json(&unclear)).expect("JSON");
    let rows = json["configurations"].as_array().expect("an array");
    let mut figures = rows.iter().flat_map(|row| row["figures"].as_array().expect("an array"));
    assert!(figures.any(|figure| figure["more_runs"] == more), "{json:#}");
}

/// Each side has three runs. With five, 10 or 43 runs in all, two, seven or 40 are missing. A
/// figure that as many runs as are there would probably have decided needs at least one more.
#[test]
fn the_runs_that_are_missing_are_counted() {
    let mut comparison = compared(&steady(), &slower(&steady(), 1.0));
    let mut wanted = [Some(10), Some(43), None, Some(5)].into_iter();
    for figure in comparison.rows.iter_mut().flat_map(|row| &mut row.figures) {
        figure.runs_to_decide = wanted.next().unwrap_or(Some(1000));
        let is_unclear = wanted.len() > 0 || figure.runs_to_decide == Some(5);
        figure.verdict = if is_unclear { Verdict::Unclear } else { Verdict::Same };
    }
    let more: Vec<Option<usize>> = comparison.rows[0]
        .figures
        .iter()
        .take(4)
        .map(|figure| figure.more_runs())
        .collect();
    assert_eq!(more, [Some(7), Some(40), None, Some(2)]);
    assert_eq!(comparison.more_runs(), Some((7, 40, 3)));
    let words = text(&comparison);
    assert!(
        words.contains("; 40 more runs of each would decide 3 of them, 7 half of these"),
        "{words}"
    );
    for row in &mut comparison.rows {
        row.figures
            .iter_mut()
            .for_each(|figure| figure.runs_to_decide = Some(3));
    }
    assert_eq!(comparison.rows[0].figures[0].more_runs(), Some(1));
    assert_eq!(comparison.more_runs(), Some((1, 1, 4)));
}
