//! The parts of a report, and the marks in its charts.

use super::svg::{Picture, Rect, SMALL, TEXT, TITLE};

/// The groups of parts from top to bottom: class, name, and the parts or their meaning.
const PARTS: [(&str, &str, &str); 6] = [
    (
        "sand",
        "The question",
        "the text of the experiment file, the number of runs, the seed, the date",
    ),
    (
        "red",
        "Warnings",
        "wrong checksums first, then everything about the machine that makes figures doubtful",
    ),
    (
        "green",
        "The answer",
        "in sentences, then a table: the winner, its lead with an interval, \"may be noise\"",
    ),
    (
        "blue",
        "Charts",
        "time against memory, times and peaks by flag, memory over time, pauses, heap profiles",
    ),
    (
        "grey",
        "Tables",
        "failed runs, a table for each workload, all configurations, all runs",
    ),
    (
        "sand",
        "Repeat it",
        "the machine, the build, the command, the experiment file, the order of all runs",
    ),
];

pub(super) fn picture() -> String {
    let about = "Left, the parts of a report from top to bottom: the question, warnings, the answer, charts, tables, and \
                 how to repeat it. Right, the marks of its charts: a point with a bar, a band, and a cross.";
    let mut picture = Picture::new(980.0, 500.0, about);
    picture.text(20.0, 26.0, "report.html, from top to bottom", TITLE);
    let mut top = 40.0;
    for (place, (class, name, text)) in PARTS.iter().enumerate() {
        let rect = Rect::new(20.0, top, 440.0, 66.0);
        picture.boxed(rect, class, &format!("{}  {name}", place + 1), text);
        top = rect.bottom() + 8.0;
    }
    picture.text(520.0, 26.0, "the marks of a chart", TITLE);
    let chart = Rect::new(560.0, 50.0, 400.0, 270.0);
    picture.path(
        &[
            (chart.x, chart.y),
            (chart.x, chart.bottom()),
            (chart.right(), chart.bottom()),
        ],
        "line",
    );
    picture.centred(chart.middle(), chart.bottom() + 34.0, "memory, or a flag", TEXT);
    picture.text(chart.x + 8.0, chart.y + 10.0, "time", TEXT);
    // A curve with its band, falling as the heap grows.
    let curve = [(660.0, 110.0), (730.0, 190.0), (810.0, 232.0), (930.0, 248.0)];
    let upper = curve.map(|(x, y)| format!("{x} {}", y - 16.0)).join(" ");
    let lower: Vec<String> = curve.iter().rev().map(|(x, y)| format!("{x} {}", y + 16.0)).collect();
    picture.raw(&format!(
        r##"<polygon points="{upper} {}" fill="#4467a5" fill-opacity="0.18"/>"##,
        lower.join(" ")
    ));
    picture.path(&curve, "line");
    for (x, y) in curve {
        picture.raw(&format!(r##"<circle cx="{x}" cy="{y}" r="4.5" fill="#4467a5"/>"##));
    }
    picture.path(&[(612.0, 104.0), (624.0, 116.0)], "line");
    picture.path(&[(612.0, 116.0), (624.0, 104.0)], "line");
    picture.path(&[(860.0, 140.0), (860.0, 196.0)], "line");
    picture.raw(r##"<circle cx="860" cy="172" r="4.5" fill="#3d7f52"/>"##);
    picture.centred(618.0, 136.0, "heap", SMALL);
    picture.centred(618.0, 150.0, "exhausted", SMALL);
    picture.text(690.0, 104.0, "mean", SMALL);
    picture.text(756.0, 166.0, "band: 95 %", SMALL);
    picture.text(756.0, 180.0, "interval", SMALL);
    picture.text(872.0, 146.0, "greatest run", SMALL);
    picture.text(872.0, 176.0, "median", SMALL);
    picture.text(872.0, 200.0, "least run", SMALL);
    let notes = [
        "A cross: no run of this configuration ended well; the reason is next to it.",
        "Bands or bars that overlap decide nothing: look at the interval of the ratio.",
        "The shape of a mark names the collector, as its colour does.",
    ];
    for (place, note) in notes.iter().enumerate() {
        picture.text(520.0, 400.0 + 24.0 * place as f64, note, SMALL);
    }
    picture.finish()
}
