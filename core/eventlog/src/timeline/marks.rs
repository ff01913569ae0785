//! Markers and messages of the program.

use super::data::Mark;
use super::series::Series;

/// Limit on marks kept. Beyond that neighbours are merged.
const MOST: usize = 2000;

/// Longest text, in characters.
const LONGEST: usize = 120;

/// The marks so far.
#[derive(Debug)]
pub(super) struct Marks {
    series: Series<Mark>,
    step: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Marks {
            series: Series::default(),
            step: 1,
        }
    }
}

impl Marks {
    pub(super) fn mark(&mut self, is_marker: bool, text: &[u8], time: u64) {
        let at = self.series.last().map_or(time, |last| time.max(last.at));
        let mark = Mark {
            at,
            is_marker,
            text: cut(text),
            count: 1,
        };
        self.series.push(mark, self.step);
        while self.series.len() > MOST {
            self.step *= 2;
            self.series.coarsen(self.step);
        }
    }

    pub(super) fn finish(self) -> Vec<Mark> {
        self.series.into_entries()
    }
}

/// A text from the log, cut to a length that can be drawn.
pub(super) fn cut(text: &[u8]) -> String {
    // A character has at most four bytes.
    let start = &text[..text.len().min(4 * LONGEST)];
    let text = String::from_utf8_lossy(start);
    let mut cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() {
        cut.push('\u{2026}');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_marks_are_counted_and_a_marker_comes_before_messages() {
        let mut marks = Marks::default();
        for n in 0..10_000_u64 {
            marks.mark(n == 5001, format!("mark {n}").as_bytes(), 10 * n);
        }
        let marks = marks.finish();
        assert!((MOST / 2..=MOST).contains(&marks.len()), "{}", marks.len());
        assert_eq!(marks.iter().map(|mark| mark.count).sum::<u64>(), 10_000);
        let marker = marks.iter().find(|mark| mark.is_marker).unwrap();
        assert_eq!(marker.text, "mark 5001");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("µ".repeat(120).as_bytes()), "µ".repeat(120));
        assert_eq!(cut("µ".repeat(121).as_bytes()), "µ".repeat(120) + "…");
        assert_eq!(cut(b"a\xffb"), "a\u{fffd}b");
    }
}
