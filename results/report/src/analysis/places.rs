//! The places of configurations on a horizontal axis: the values of a swept flag, or the
//! collectors.

use crate::summary::{Group, HEAP, Summary, axis_name};
use gclab_core::words::size::read_number;
use gclab_results::Axis;

/// The places of configurations on the horizontal axis.
#[derive(Debug)]
pub(crate) struct Places<'s> {
    axis: Option<&'s Axis>,
    collectors: &'s [&'s str],
    numeric: bool,
    /// Whether the axis is logarithmic.
    pub(crate) log: bool,
    /// Whether the places are numbers, so that points can be joined by a line.
    pub(crate) joined: bool,
    /// The label of the axis.
    pub(crate) label: String,
    /// The ticks, each with its place and its text.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl<'s> Places<'s> {
    /// At this ratio of the greatest to the least number, or more, an axis is logarithmic.
    const LOG_FROM: f64 = 8.0;

    /// The places on an axis; the collectors without one.
    pub(crate) fn new(summary: &'s Summary<'_>, axis: Option<&'s Axis>) -> Places<'s> {
        let collectors = &summary.collectors;
        let Some(axis) = axis else {
            let ticks = collectors
                .iter()
                .enumerate()
                .map(|(i, name)| (i as f64, (*name).to_owned()))
                .collect();
            let label = "collector".to_owned();
            return Places {
                axis: None,
                collectors,
                numeric: false,
                log: false,
                joined: false,
                label,
                ticks,
            };
        };
        let numbers: Vec<f64> = axis.values.iter().filter_map(|v| read_number(v)).collect();
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = numbers.iter().copied().fold(0.0, f64::max);
        let wide = greatest >= Self::LOG_FROM * least;
        // A zero among numbers of many sizes (`n = ["0", "1m"]`) fits on neither kind of scale.
        let numeric = numbers.len() == axis.values.len() && !(least <= 0.0 && wide);
        let place = |(i, value): (usize, &String)| {
            (
                if numeric {
                    read_number(value).unwrap_or(i as f64)
                } else {
                    i as f64
                },
                value.clone(),
            )
        };
        Places {
            axis: Some(axis),
            collectors,
            numeric,
            log: numeric && wide,
            joined: numeric,
            label: label(axis, numeric && wide),
            ticks: axis.values.iter().enumerate().map(place).collect(),
        }
    }

    /// The place of a configuration.
    pub(crate) fn of(&self, group: &Group<'_>) -> f64 {
        let Some(axis) = self.axis else {
            let at = self
                .collectors
                .iter()
                .position(|name| *name == group.configuration.collector);
            return at.unwrap_or(0) as f64;
        };
        let value = group.flag(&axis.flag);
        let index = axis.values.iter().position(|v| v == value).unwrap_or(0) as f64;
        if self.numeric {
            read_number(value).unwrap_or(index)
        } else {
            index
        }
    }
}

fn label(axis: &Axis, log: bool) -> String {
    let name = if axis.flag == HEAP {
        "heap, in multiples of the least heap".to_owned()
    } else {
        axis_name(&axis.flag)
    };
    if log { format!("{name}, logarithmic") } else { name }
}
