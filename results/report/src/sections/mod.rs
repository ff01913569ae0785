//! The sections of a report: the analyses, put into words, tables and charts.

mod answers;
mod charts;
mod environment;
mod latency;
mod logs;
mod overhead;
mod own;
mod profiles;
mod report;
mod runs;
mod shares;
mod sharing;
mod steadiness;

pub(crate) use report::{brief, report};
