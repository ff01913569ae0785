//! The figures of a stack under the pointer.

use super::{BASE, LEFT, LEGEND_LETTERS, LONE, RIGHT, Stack, TOP};
use crate::chart::scale::Scale;
use crate::chart::style::escape;
use crate::format::{self, shortened};
use std::fmt::Write;

/// Maximum length of a name under the pointer.
const TIP_LETTERS: usize = 200;
/// How many places show their values under the pointer, and how many bands they name.
const STRIPS: usize = 80;
/// See [`STRIPS`].
const NAMED: usize = 6;

impl Stack {
    /// Draws a transparent field over each band at each place, which shows the value there.
    pub(super) fn values(&self, svg: &mut String, edges: &[Vec<f64>], x: &Scale, y: &Scale, unit: &str) {
        let middle = |one: usize, other: usize| (x.at(self.x[one]) + x.at(self.x[other])) / 2.0;
        let last = self.x.len().saturating_sub(1);
        svg.push_str(r#"<g fill="none" pointer-events="all">"#);
        for (at, place) in self.x.iter().enumerate() {
            let left = match last {
                0 => x.at(*place) - LONE,
                _ => middle(at.saturating_sub(1), at),
            };
            let width = middle(at, (at + 1).min(last)) - left;
            let total = edges.last().map_or(0.0, |top| top[at]);
            let below = std::iter::once(0.0).chain(edges.iter().map(|edge| edge[at]));
            for ((band, edge), below) in self.bands.iter().zip(edges).zip(below) {
                let bytes = band.bytes[at];
                if bytes == 0 {
                    continue;
                }
                let high = y.at(edge[at]);
                let _ = write!(
                    svg,
                    r#"<rect x="{left:.1}" y="{high:.1}" width="{width:.1}" height="{height:.1}"><title>{name}: {bytes} ({share:.1} % of {total}) at {time} {unit}</title></rect>"#,
                    height = y.at(below) - high,
                    name = escape(&shortened(&band.name, TIP_LETTERS)),
                    bytes = format::bytes(bytes),
                    share = 100.0 * bytes as f64 / total,
                    total = format::bytes(total as u64),
                    time = format::number(*place),
                );
            }
        }
        svg.push_str("</g>");
    }

    /// Draws an invisible strip at each place, which shows the largest bands there under the
    /// pointer.
    pub(super) fn strips(&self, svg: &mut String, x: &Scale) {
        let every = self.x.len().div_ceil(STRIPS).max(1);
        let places: Vec<usize> = (0..self.x.len()).step_by(every).collect();
        let middle = |a: usize, b: usize| f64::midpoint(x.at(self.x[a]), x.at(self.x[b]));
        for (index, &place) in places.iter().enumerate() {
            let from = index
                .checked_sub(1)
                .map_or(LEFT, |before| middle(places[before], place));
            let to = places.get(index + 1).map_or(RIGHT, |&after| middle(place, after));
            let mut bands: Vec<(&str, u64)> = self.bands.iter().map(|band| (&*band.name, band.bytes[place])).collect();
            let sum = bands.iter().map(|(_, bytes)| bytes).sum();
            bands.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
            let named = bands.iter().filter(|(_, bytes)| *bytes > 0).take(NAMED);
            let named: Vec<String> = named
                .map(|(name, bytes)| format!("{} {}", shortened(name, LEGEND_LETTERS), format::bytes(*bytes)))
                .collect();
            let _ = write!(
                svg,
                r#"<rect x="{from:.1}" y="{TOP}" width="{:.1}" height="{}" fill="none" pointer-events="all"><title>{}: {}; {}</title></rect>"#,
                (to - from).max(0.0),
                BASE - TOP,
                escape(&format::number((self.x[place] * 1000.0).round() / 1000.0)),
                escape(&format::bytes(sum)),
                escape(&named.join(", ")),
            );
        }
    }
}
