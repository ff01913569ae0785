//! Which collector is best at which heap size? The answer of an experiment with `heap`.
//!
//! Terms: a *budget* is a multiple of the reference minimum of each workload, the same bytes for
//! all collectors. A *contender* is a collector with the swept flags other than `heap`. It *fails*
//! at a budget where a run did not end well, and *completes* it otherwise. Its time at a budget is
//! the geometric mean, over all workloads, of its mean time over the least mean time of any
//! contender on that workload at any budget. A contender that fails on a workload has no time at
//! that budget: a mean over the other workloads would flatter it.

mod budgets;
mod charts;
mod contenders;
mod minima;

pub(crate) use budgets::{Budget, Budgets, Standing, budgets};
pub(crate) use charts::{charts, overall as overall_chart};
pub(crate) use minima::minima;
