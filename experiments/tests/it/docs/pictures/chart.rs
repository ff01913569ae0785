//! The README's chart: time against memory, from the table of `docs/memory.md`.

use super::svg::{Picture, Rect, SMALL, TEXT, TITLE};

/// One collector at one heap size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Standing {
    /// The time over the best time, and the ends of its interval.
    Time(f64, f64, f64),
    /// The collector fails on a workload.
    Fails,
}

/// The collectors, and for each multiple of the least heap their standings.
#[derive(Debug, PartialEq)]
pub(super) struct Budgets {
    pub collectors: Vec<String>,
    pub rows: Vec<(f64, Vec<Standing>)>,
}

/// The table whose first heading begins with `heap`.
///
/// # Panics
/// If the page has no such table, or a cell of it is neither a ratio with an interval nor a
/// failure.
pub(super) fn budgets(page: &str) -> Budgets {
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().replace(['`', '*'], "")).collect()
    };
    let is_head = |line: &&str| line.starts_with('|') && line.to_lowercase().starts_with("| heap");
    let mut lines = page.lines().skip_while(|line| !is_head(line));
    let collectors = cells(lines.next().expect("a table of heaps")).split_off(1);
    let rows = lines.skip(1).take_while(|line| line.starts_with('|')).map(|line| {
        let mut row = cells(line);
        let standings = row.split_off(1).iter().map(|cell| standing(cell)).collect();
        (number(&row[0]), standings)
    });
    Budgets {
        collectors,
        rows: rows.collect(),
    }
}

fn number(text: &str) -> f64 {
    let text = text.trim().trim_end_matches('×');
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

fn standing(cell: &str) -> Standing {
    if cell.starts_with("fails") {
        return Standing::Fails;
    }
    let (ratio, interval) = cell
        .split_once('(')
        .unwrap_or_else(|| panic!("{cell:?} has no interval"));
    let (least, most) = interval.trim_end_matches(')').split_once('–').expect("two ends");
    Standing::Time(number(ratio), number(least), number(most))
}

const COLOURS: [&str; 8] = [
    "#2f5fa8", "#b4532a", "#3d7f52", "#7a4fa3", "#0f8a8a", "#8a6d1f", "#a8326b", "#4b5563",
];
/// The distance of marks of one column.
const STEP: f64 = 5.5;
/// The greatest time of the axis; longer ones are drawn at its end.
const TICKS: [f64; 5] = [1.0, 1.25, 1.5, 2.0, 3.0];
const LONGEST: f64 = 5.0;

/// A mark of a collector; its shape, full or hollow, tells it apart in grey.
fn mark(place: usize, x: f64, y: f64) -> String {
    let colour = COLOURS[place];
    let fill = if place < COLOURS.len() / 2 { colour } else { "#fff" };
    let style = format!("style=\"stroke:{colour};stroke-width:1.6;fill:{fill}\"");
    match place % 4 {
        0 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" {style}/>"#),
        1 => format!(
            r#"<rect x="{:.1}" y="{:.1}" width="8" height="8" {style}/>"#,
            x - 4.0,
            y - 4.0
        ),
        2 => format!(r#"<path d="M{x:.1} {:.1} l4.5 8 h-9z" {style}/>"#, y - 5.0),
        _ => format!(r#"<path d="M{x:.1} {:.1} l5 5 -5 5 -5 -5z" {style}/>"#, y - 5.0),
    }
}

pub(super) fn picture(budgets: &Budgets) -> String {
    let about = "Time against memory: total time of collectors over the best, by the size of the heap in multiples of the \
                 least heap, with 95 % intervals. Crosses are heaps with which a collector fails.";
    let mut picture = Picture::new(900.0, 500.0, about);
    picture.text(20.0, 28.0, "How much time does memory save?", TITLE);
    picture.text(
        20.0,
        46.0,
        "total time over the best (geometric mean of four programs, 95 % interval)",
        SMALL,
    );
    let area = Rect::new(60.0, 160.0, 640.0, 280.0);
    let span = |value: f64, most: f64| value.ln() / most.ln();
    let last = budgets.rows.last().expect("the table has rows").0;
    let x = |multiple: f64| area.x + 30.0 + span(multiple, last) * (area.width - 60.0);
    let y = |time: f64| area.bottom() - 10.0 - span(time.min(LONGEST), LONGEST) * (area.height - 20.0);
    for tick in TICKS.into_iter().chain([LONGEST]) {
        picture.raw(&format!(
            r##"<path d="M{:.0} {:.1} H{:.0}" stroke="#d5d9e0" stroke-width="1"/>"##,
            area.x,
            y(tick),
            area.right()
        ));
        picture.centred(area.x - 24.0, y(tick) + 4.0, &format!("{tick}×"), SMALL);
    }
    picture.path(&[(area.x, area.bottom()), (area.right(), area.bottom())], "line");
    for (multiple, _) in &budgets.rows {
        picture.centred(x(*multiple), area.bottom() + 18.0, &format!("{multiple}×"), SMALL);
    }
    picture.centred(
        area.middle(),
        area.bottom() + 42.0,
        "heap, in multiples of the least heap of each program",
        TEXT,
    );
    for (place, collector) in budgets.collectors.iter().enumerate() {
        let colour = COLOURS[place];
        // Marks of one column stand side by side.
        let at = |multiple: f64| x(multiple) + (place as f64 - (budgets.collectors.len() - 1) as f64 / 2.0) * STEP;
        let mut points = Vec::new();
        for (multiple, standings) in &budgets.rows {
            match standings[place] {
                Standing::Time(time, least, most) => {
                    points.push((at(*multiple), y(time)));
                    picture.raw(&format!(
                        r#"<path d="M{:.1} {:.1} V{:.1}" stroke="{colour}" stroke-width="1.6"/>"#,
                        at(*multiple),
                        y(least),
                        y(most)
                    ));
                }
                Standing::Fails => {
                    let (x, y) = (x(*multiple), area.y - 12.0 - 11.0 * place as f64);
                    picture.raw(&format!(
                        r#"<path d="M{:.1} {:.1} l8 8 m0 -8 l-8 8" stroke="{colour}" stroke-width="1.8"/>"#,
                        x - 4.0,
                        y - 4.0
                    ));
                }
            }
        }
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        if !line.is_empty() {
            picture.raw(&format!(
                r#"<path d="M{}" stroke="{colour}" stroke-width="1.6" fill="none"/>"#,
                line.join(" L")
            ));
        }
        for (x, y) in points {
            picture.raw(&mark(place, x, y));
        }
        let line = 130.0 + 28.0 * place as f64;
        picture.raw(&mark(place, 730.0, line - 4.0));
        picture.text(746.0, line, collector, TEXT);
    }
    let line = 130.0 + 28.0 * budgets.collectors.len() as f64;
    picture.raw(&format!(
        r##"<path d="M726 {:.0} l8 8 m0 -8 l-8 8" stroke="#45526b" stroke-width="1.8"/>"##,
        line - 8.0
    ));
    picture.text(746.0, line, "cannot run the", TEXT);
    picture.text(746.0, line + 16.0, "programs with it", TEXT);
    picture.finish()
}
