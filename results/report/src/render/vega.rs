//! The charts of a report as one Vega-Lite specification with the data inside, for readers who draw
//! their own.

use super::pictures::{Drawing, Picture, pictures};
use crate::chart::{Chart, Forest, Point, Series, Stack, colour_of};
use crate::folder::Results;
use crate::sections::report;
use serde_json::{Value, json};

/// The version of Vega-Lite.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";
/// The size of a chart in pixels.
const SIZE: (u32, u32) = (360, 220);
/// The shapes of points, in the order of the marks of the page.
const SHAPES: [&str; 4] = ["circle", "square", "triangle-up", "diamond"];

/// Every chart of these folders in one specification. Each has its data as rows of its own.
pub fn vega(dirs: &[Results]) -> String {
    let reports: Vec<_> = dirs.iter().map(report).collect();
    let names: Vec<&str> = reports.iter().map(|report| report.name.as_str()).collect();
    let charts: Vec<Value> = reports
        .iter()
        .flat_map(pictures)
        .map(|picture| spec(&picture))
        .collect();
    let all = json!({
        "$schema": SCHEMA,
        "title": names.join(", "),
        "description": "The charts of a gclab report. A row of data is a point: low and high are the ends of its spread.",
        "columns": 3,
        "concat": charts,
        "resolve": { "scale": { "color": "independent", "shape": "independent" } },
    });
    let mut text = serde_json::to_string_pretty(&all).expect("JSON of numbers and text");
    text.push('\n');
    text
}

fn spec(picture: &Picture<'_>) -> Value {
    let mut spec = match picture.drawing {
        Drawing::Lines(chart) => lines(chart, picture),
        Drawing::Ratios(forest) => ratios(forest),
        Drawing::Bands(stack) => bands(stack),
    };
    spec["title"] = picture.full_title().into();
    spec["description"] = picture.topic.title().into();
    spec["width"] = SIZE.0.into();
    if !matches!(picture.drawing, Drawing::Ratios(_)) {
        spec["height"] = SIZE.1.into();
    }
    spec
}

/// A number, or null for one that JSON does not have.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn lines(chart: &Chart, picture: &Picture<'_>) -> Value {
    let name = |series: &Series| match picture.name_of(series.style) {
        "" if series.cloud => "single runs".to_owned(),
        "" if !series.marks => "no change".to_owned(),
        "" => "runs".to_owned(),
        name => name.to_owned(),
    };
    let mut names: Vec<(String, &Series)> = Vec::new();
    for series in chart.series.iter().filter(|series| !series.points.is_empty()) {
        if names.iter().all(|(other, _)| *other != name(series)) {
            names.push((name(series), series));
        }
    }
    let values: Vec<Value> = chart
        .series
        .iter()
        .enumerate()
        .flat_map(|(line, series)| series.points.iter().map(move |point| (line, series, point)))
        .map(|(line, series, point)| row(chart, line, &name(series), point))
        .collect();
    let domain: Vec<&String> = names.iter().map(|(name, _)| name).collect();
    let colours: Vec<&str> = names.iter().map(|(_, series)| colour_of(series.style)).collect();
    let shapes: Vec<&str> = names.iter().map(|(_, series)| SHAPES[series.style % 4]).collect();
    // A value without ends is an estimate of which no interval is known: its mark is hollow.
    let known = json!([{ "filter": "isValid(datum.y) && isValid(datum.low)" }]);
    let mut layers = Vec::new();
    if chart.series.iter().any(|series| series.joined) {
        let interpolate = if chart.series.iter().any(|series| series.steps) {
            "step-after"
        } else {
            "linear"
        };
        // Each stretch between missing points is a line of its own.
        layers.push(json!({
            "transform": [{ "filter": "isValid(datum.y) && datum.joined" }],
            "mark": { "type": "line", "interpolate": interpolate },
            "encoding": { "y": y(chart), "detail": { "field": "stretch" } },
        }));
    }
    layers.push(json!({
        "transform": [{ "filter": "isValid(datum.low) && datum.high > datum.low" }],
        "mark": { "type": "rule" },
        "encoding": { "y": { "field": "low", "type": "quantitative" }, "y2": { "field": "high" } },
    }));
    let mut marks = |transform: Value, filled: bool| {
        layers.push(json!({
            "transform": transform,
            "mark": { "type": "point", "filled": filled },
            "encoding": {
                "y": y(chart),
                "shape": { "field": "series", "type": "nominal", "title": null, "scale": { "domain": domain, "range": shapes } },
                "tooltip": { "field": "text", "type": "nominal" },
            },
        }));
    };
    marks(known, true);
    if chart
        .series
        .iter()
        .flat_map(|series| &series.points)
        .any(|point| point.bare)
    {
        marks(json!([{ "filter": "isValid(datum.y) && !isValid(datum.low)" }]), false);
    }
    if values.iter().any(|row| row["y"].is_null()) {
        layers.push(json!({
            "transform": [{ "filter": "!isValid(datum.y)" }],
            "mark": { "type": "point", "shape": "cross", "angle": 45 },
            "encoding": { "y": { "value": SIZE.1 - 8 }, "tooltip": { "field": "text", "type": "nominal" } },
        }));
    }
    json!({
        "data": { "values": values },
        "encoding": {
            "x": x(chart),
            "color": { "field": "series", "type": "nominal", "title": null, "scale": { "domain": domain, "range": colours } },
        },
        "layer": layers,
    })
}

/// A point as a row of data. A line does not cross a missing point, so each stretch has a name.
fn row(chart: &Chart, line: usize, name: &str, point: &Point) -> Value {
    let series = &chart.series[line];
    let before = series.points.iter().take_while(|other| !std::ptr::eq(*other, point));
    let missing = before.filter(|other| other.y.is_none()).count();
    let tick = chart.x_ticks.iter().find(|(place, _)| *place == point.x);
    let (value, low, high) = point
        .y
        .map_or((Value::Null, Value::Null, Value::Null), |(value, low, high)| {
            let end = |end: f64| if point.bare { Value::Null } else { number(end) };
            (number(value), end(low), end(high))
        });
    let mut row = json!({
        "series": name, "x": number(point.x), "y": value, "low": low, "high": high,
        "joined": series.joined, "stretch": format!("{line}.{missing}"), "text": point.tip,
    });
    if let Some((_, text)) = tick {
        row["tick"] = text.as_str().into();
    }
    row
}

fn x(chart: &Chart) -> Value {
    let places: Vec<Value> = chart.x_ticks.iter().map(|(place, _)| number(*place)).collect();
    let mut texts = String::new();
    for (place, text) in &chart.x_ticks {
        texts.push_str(&format!("datum.value == {place} ? {} : ", Value::from(text.as_str())));
    }
    let mut scale = json!({ "type": if chart.x_log { "log" } else { "linear" }, "nice": false, "padding": 18 });
    // A logarithmic scale has no 0.
    if !chart.x_log {
        scale["zero"] = false.into();
    }
    json!({
        "field": "x", "type": "quantitative", "title": chart.x_label,
        "scale": scale,
        "axis": { "values": places, "labelExpr": format!("{texts}datum.label") },
    })
}

fn y(chart: &Chart) -> Value {
    let scale = if chart.y_log {
        json!({ "type": "log" })
    } else {
        json!({ "type": "linear", "zero": true })
    };
    json!({ "field": "y", "type": "quantitative", "title": null, "scale": scale })
}

fn ratios(forest: &Forest) -> Value {
    let values: Vec<Value> = forest
        .rows
        .iter()
        .map(|row| {
            let (value, low, high) = row
                .value
                .map_or((Value::Null, Value::Null, Value::Null), |(value, ends)| {
                    let (low, high) = ends.map_or((Value::Null, Value::Null), |(l, h)| (number(l), number(h)));
                    (number(value), low, high)
                });
            json!({ "setting": row.label, "ratio": value, "low": low, "high": high, "text": row.text })
        })
        .collect();
    let known = json!([{ "filter": "isValid(datum.ratio)" }]);
    let ratio = json!({ "field": "ratio", "type": "quantitative", "title": null, "scale": { "zero": true } });
    json!({
        "data": { "values": values },
        "encoding": { "y": { "field": "setting", "type": "nominal", "sort": null, "title": null } },
        "layer": [
            { "transform": [{ "filter": "isValid(datum.low)" }], "mark": { "type": "rule" },
              "encoding": { "x": { "field": "low", "type": "quantitative" }, "x2": { "field": "high" } } },
            { "transform": known, "mark": { "type": "point", "filled": true },
              "encoding": { "x": ratio, "tooltip": { "field": "text", "type": "nominal" } } },
        ],
    })
}

fn bands(stack: &Stack) -> Value {
    let values: Vec<Value> = stack
        .bands
        .iter()
        .enumerate()
        .flat_map(|(order, band)| {
            let points = stack.x.iter().zip(&band.bytes);
            points.map(move |(x, bytes)| json!({ "x": number(*x), "band": band.name, "bytes": bytes, "order": order }))
        })
        .collect();
    json!({
        "data": { "values": values },
        "mark": { "type": "area" },
        "encoding": {
            "x": { "field": "x", "type": "quantitative", "title": stack.x_label },
            "y": { "field": "bytes", "type": "quantitative", "title": "bytes", "stack": "zero" },
            "color": { "field": "band", "type": "nominal", "title": null },
            "order": { "field": "order", "type": "quantitative" },
        },
    })
}
