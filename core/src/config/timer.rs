//! The intervals of a run's timer, in seconds, as given. `intervals` has the rules for missing
//! ones.

/// The intervals of the timer and of idle collections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimerConfig {
    /// `-V` as given: seconds between two ticks, 0 for no timer.
    /// [`Config::tick`](super::Config::tick) applies GHC's rule.
    pub tick: Option<f64>,
    /// `-I` as given: seconds without a running thread before an idle collection, 0 for none.
    /// [`Config::idle_delay`](super::Config::idle_delay) applies GHC's rule.
    pub idle: Option<f64>,
    /// `-Iw`: least number of seconds between two idle collections. Default 0.
    pub idle_wait: f64,
}
