//! The charts of a report as SVG files, which need no page around them: with a legend, colours that
//! any program knows, and a generic font.

use super::html::slug;
use super::pictures::{Drawing, Picture, pictures};
use crate::chart::{Chart, escape, plain, swatch};
use crate::folder::Results;
use crate::sections::report;
use std::fmt::Write;

/// The height of a line of the legend.
const LINE: f64 = 18.0;
/// The room for a swatch and the gap behind a name, and the breadth of a letter, about.
const ENTRY: (f64, f64) = (46.0, 6.4);
/// The most letters of a file name, without its number and its end.
const LETTERS: usize = 70;

/// Every chart of these folders as the name of a file and its content. Names begin with the number
/// of the chart on the page.
pub fn svg_files(dirs: &[Results]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for dir in dirs {
        let report = report(dir);
        for picture in pictures(&report) {
            let number = files.len() + 1;
            let words = format!("{} {}", picture.topic.title(), picture.full_title());
            let name: String = slug(&words).chars().take(LETTERS).collect();
            let name = format!("{number:03}-{}.svg", name.trim_end_matches('-'));
            files.push((name, file(&picture)));
        }
    }
    files
}

fn file(picture: &Picture<'_>) -> String {
    let chart = match picture.drawing {
        Drawing::Lines(chart) => Chart {
            title: picture.full_title(),
            about: String::new(),
            ..chart.clone()
        }
        .svg(),
        Drawing::Ratios(forest) => forest.svg(),
        Drawing::Bands(stack) => stack.svg(),
    };
    let (width, height) = size(&chart);
    let (legend, lines) = legend(picture, width, height);
    let all = height + LINE * lines as f64;
    plain(&format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {all}\" width=\"{width}\" height=\"{all}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{title}</title>\n<style>text {{ font-family: sans-serif; }}</style>\n\
         <rect width=\"{width}\" height=\"{all}\" fill=\"#ffffff\"/>\n{chart}\n{legend}</svg>\n",
        title = escape(&picture.full_title()),
    ))
}

/// The width and the height of a chart, which its first tag names.
fn size(svg: &str) -> (f64, f64) {
    let words = svg
        .split_once("viewBox=\"0 0 ")
        .and_then(|(_, rest)| rest.split_once('"'));
    let ends = words.and_then(|(ends, _)| ends.split_once(' '));
    let ends = ends.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    ends.expect("a chart names its size")
}

/// The legend below a chart, and the number of its lines.
fn legend(picture: &Picture<'_>, width: f64, top: f64) -> (String, usize) {
    let (mut svg, mut left, mut line) = (String::new(), 8.0, 0);
    for (style, name) in &picture.legend {
        let breadth = ENTRY.0 + ENTRY.1 * name.chars().count() as f64;
        if left > 8.0 && left + breadth > width {
            (left, line) = (8.0, line + 1);
        }
        let down = top + LINE * line as f64;
        let _ = writeln!(
            svg,
            r##"<g transform="translate({left:.1} {down:.1})">{}<text x="32" y="10" fill="currentColor">{}</text></g>"##,
            swatch(*style),
            escape(name)
        );
        left += breadth;
    }
    let lines = if picture.legend.is_empty() { 0 } else { line + 1 };
    (svg, lines)
}
