//! Charts as inline SVG: readable on screen and in print, without any script. All text is escaped.

mod cross;
mod forest;
mod line;
mod scale;
mod series;
mod stack;
mod style;
mod subject;

pub(crate) use forest::{Forest, ForestRow};
pub(crate) use line::{Chart, ChartSet};
pub(crate) use scale::{linear_ticks, log_ticks};
pub(crate) use series::{Point, Series};
pub(crate) use stack::{ALONE_COLOURS, BAND_COLOURS, Band, Stack, View};
pub(crate) use style::{escape, swatch};
pub(crate) use subject::Subject;
