//! Performance counters of a run.
//!
//! The runner opens the counters on its own thread before it starts the process. The process
//! inherits them, as do its threads and the processes that it starts; they begin to count when it
//! becomes another program (`enable_on_exec`), so the runner itself is never counted. What an
//! inheriting process counted is added when it ends.

use std::io;
use std::sync::OnceLock;

use gclab_results::Counters;
use perf_event::Counter;

use super::system::close_on_exec;
use crate::counters::{Counted, KINDS, Kind, Reading, built, counts};

/// The counters that the machine has, each with one that stays open for the life of this process
/// and never counts.
///
/// The kernel patches its code when the first counter of a kind is opened, and again when the last
/// one is closed. With one that stays open, a run opens neither the first nor closes the last: that
/// saves a tenth of the runner's time.
fn there() -> &'static [(&'static Kind, Counter)] {
    static THERE: OnceLock<Vec<(&Kind, Counter)>> = OnceLock::new();
    THERE.get_or_init(|| {
        let stays = |kind: &'static Kind| Some((kind, opened(kind, Counted::Thread).ok()?));
        KINDS.iter().filter_map(stays).collect()
    })
}

/// A counter that no child has a descriptor of.
fn opened(kind: &Kind, counted: Counted) -> io::Result<Counter> {
    let counter = built(kind, counted)?;
    close_on_exec(&counter)?;
    Ok(counter)
}

/// Counters that the next process inherits.
pub(super) struct Open(Vec<(&'static Kind, Counter)>);

impl Open {
    /// Opens all counters that the machine has.
    pub(super) fn all() -> Open {
        let open = |(kind, _): &(&'static Kind, Counter)| Some((*kind, opened(kind, Counted::Child).ok()?));
        Open(there().iter().filter_map(open).collect())
    }

    /// The counts; `None` if the machine has no counter at all. The process must have ended.
    pub(super) fn read(self) -> Option<Counters> {
        let readings = self.0.into_iter();
        counts(readings.filter_map(|(kind, mut counter)| Some((kind, Reading::of(&mut counter).ok()?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::available;

    /// A counter that stays counts nothing, and each run opens all kinds that are there.
    #[test]
    fn the_counters_that_stay_count_nothing() {
        let keys = |kinds: &[(&Kind, Counter)]| kinds.iter().map(|(kind, _)| kind.key).collect::<Vec<_>>();
        assert_eq!(keys(there()), available().0);
        assert_eq!(keys(&Open::all().0), available().0);
        for kind in &KINDS {
            let Ok(mut stays) = opened(kind, Counted::Thread) else {
                continue;
            };
            let memory = vec![1_u8; 1 << 20];
            assert!(memory.iter().all(|byte| *byte == 1), "pages are touched");
            std::thread::yield_now();
            assert_eq!(stays.read().expect("a count"), 0, "{}", kind.key);
        }
    }
}
