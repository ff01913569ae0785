//! The phases of a collection, as collectors announce them.

use super::svg::{Picture, Rect, TEXT, TITLE};

/// Collectors that go through the same phases.
#[derive(Debug)]
pub(super) struct Course {
    /// The collectors, and the kind of collection.
    pub name: String,
    /// The phases in order: name, and state at the end of the phase.
    pub phases: Vec<(String, String)>,
}

const WIDTH: f64 = 206.0;
const HEIGHT: f64 = 116.0;
const GAP: f64 = 18.0;
/// Boxes on a line.
const IN_A_LINE: usize = 5;

pub(super) fn picture(courses: &[Course]) -> String {
    let about = "The phases of a collection in their order, with the state of the heap when each is over.";
    let lines = |course: &Course| course.phases.len().div_ceil(IN_A_LINE);
    let height: f64 = courses
        .iter()
        .map(|course| 84.0 + lines(course) as f64 * (HEIGHT + GAP))
        .sum();
    let width = GAP + IN_A_LINE as f64 * (WIDTH + GAP);
    let mut picture = Picture::new(width, height, about);
    let mut top = 8.0;
    for course in courses {
        picture.text(GAP, top + 20.0, &course.name, TITLE);
        picture.text(
            GAP,
            top + 40.0,
            "The mutators have stopped; EventKind::Start is announced.",
            TEXT,
        );
        top += 54.0;
        let mut before: Option<Rect> = None;
        for (place, (name, text)) in course.phases.iter().enumerate() {
            let x = GAP + (place % IN_A_LINE) as f64 * (WIDTH + GAP);
            let y = top + (place / IN_A_LINE) as f64 * (HEIGHT + GAP);
            let rect = Rect::new(x, y, WIDTH, HEIGHT);
            let class = match name.as_str() {
                "Condemned" => "red",
                "Released" => "sand",
                "Marked" | "Planned" | "Moved" => "green",
                _ => "blue",
            };
            match before {
                Some(before) if before.y == y => {
                    let middle = y + HEIGHT / 2.0;
                    picture.path(&[(before.right(), middle), (x - 1.0, middle)], "arrow");
                }
                Some(before) => {
                    let between = y - GAP / 2.0;
                    let points = [
                        (before.middle(), before.bottom()),
                        (before.middle(), between),
                        (rect.middle(), between),
                        (rect.middle(), y - 1.0),
                    ];
                    picture.path(&points, "arrow");
                }
                None => {}
            }
            picture.boxed(rect, class, &format!("{}. {name}", place + 1), text);
            before = Some(rect);
        }
        top += lines(course) as f64 * (HEIGHT + GAP);
        picture.text(GAP, top + 2.0, "EventKind::End is announced; the mutators go on.", TEXT);
        top += 30.0;
    }
    picture.finish()
}
