//! The places of crosses, which mark missing points.

use super::style::escape;
use std::fmt::Write;

/// The distance of crosses at the same place, one above the other.
const APART: f64 = 11.0;

/// The crosses of missing points: those at the same place stand one above the other, with their
/// reasons above them.
pub(super) struct Crosses<'c> {
    /// The height of the lowest cross.
    base: f64,
    /// The pixel, the number of crosses, and the reasons.
    places: Vec<(f64, usize, Vec<&'c str>)>,
}

impl<'c> Crosses<'c> {
    /// No crosses so far; the lowest ones are to stand at this height.
    pub(super) fn above(base: f64) -> Crosses<'c> {
        Crosses {
            base,
            places: Vec::new(),
        }
    }

    /// The height of the next cross at a place.
    pub(super) fn next(&mut self, left: f64, why: &'c str) -> f64 {
        let at = self.places.iter().position(|(other, ..)| (other - left).abs() < 0.5);
        let at = at.unwrap_or_else(|| {
            self.places.push((left, 0, Vec::new()));
            self.places.len() - 1
        });
        let (_, count, reasons) = &mut self.places[at];
        if !why.is_empty() && !reasons.contains(&why) {
            reasons.push(why);
        }
        *count += 1;
        self.base - APART * (*count - 1) as f64
    }

    /// Draws the reasons, upwards.
    pub(super) fn reasons(&self, svg: &mut String) {
        for (left, count, reasons) in &self.places {
            let (x, y) = (left + 3.0, self.base - APART * *count as f64 + 3.0);
            if !reasons.is_empty() {
                let _ = write!(
                    svg,
                    r#"<text x="{x:.1}" y="{y:.1}" font-size="8.5" fill="currentColor" transform="rotate(-90 {x:.1} {y:.1})">{}</text>"#,
                    escape(&reasons.join(", "))
                );
            }
        }
    }
}
