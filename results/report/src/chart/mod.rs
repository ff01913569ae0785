//! Charts as inline SVG: readable on screen and in print, without scripts. All text is escaped.

mod forest;
mod line;
mod scale;
mod series;
mod stack;
mod style;

pub(crate) use forest::{Forest, ForestRow};
pub(crate) use line::Chart;
pub(crate) use scale::{linear_ticks, log_ticks};
pub(crate) use series::{Point, Series, Subject};
pub(crate) use stack::{ALONE_COLOURS, BAND_COLOURS, Band, Stack, View};
pub(crate) use style::{escape, swatch};
