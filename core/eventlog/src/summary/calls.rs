//! The main thread's calls into Haskell, which bound the mutator's time.
//!
//! GHC's runtime ends `INIT` when it has started, and `MUT` when `main` has returned. The log
//! records neither moment, but it has the main thread's calls: a task is created when a call begins
//! and deleted when it ends. The threaded runtime makes a short call while it starts, after which
//! `INIT` ends. The call of `main` is the longest one.
//!
//! In gclab's own logs every thread of the program makes calls, and none spans the run. There the
//! mutator's time begins when the log names its runtime, which has then started, and ends with the
//! request for the last collection, after the program's end.

/// Limit on calls open at a time; a correct log has one.
const MOST: usize = 64;

/// Beginning and end of a call.
type Span = (u64, u64);

fn length((from, to): &Span) -> u64 {
    to.saturating_sub(*from)
}

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The process id, which is also that of its main thread.
    process: Option<u64>,
    /// Tasks, with the beginnings of their calls.
    open: Vec<(u64, u64)>,
    /// The first call that ended.
    first: Option<Span>,
    longest: Option<Span>,
    first_run: Option<u64>,
    last_stop: Option<u64>,
    /// The number of Haskell threads running.
    running: i64,
    /// When the runtime had started, in a log of gclab's own.
    started: Option<u64>,
    /// The last request for a collection.
    requested: Option<u64>,
}

impl Calls {
    pub(super) fn process(&mut self, process: Option<u64>) {
        self.process = process;
    }

    /// The name of the runtime.
    pub(super) fn runtime(&mut self, identifier: &str, time: u64) {
        self.started = identifier.starts_with("gclab-").then_some(time);
    }

    /// A task is created for a system thread.
    pub(super) fn begin(&mut self, task: u64, thread: u64, time: u64) {
        if self.process == Some(thread) && self.open.len() < MOST {
            self.open.push((task, time));
        }
    }

    /// A task is deleted.
    pub(super) fn end(&mut self, task: u64, time: u64) {
        let Some(place) = self.open.iter().position(|(known, _)| *known == task) else {
            return;
        };
        let (_, from) = self.open.swap_remove(place);
        let call = (from, time.max(from));
        self.first.get_or_insert(call);
        if self.longest.is_none_or(|longest| length(&call) >= length(&longest)) {
            self.longest = Some(call);
        }
    }

    /// A Haskell thread runs.
    #[inline]
    pub(super) fn run(&mut self, time: u64) {
        let first = self.first_run.get_or_insert(time);
        *first = time.min(*first);
        self.running += 1;
    }

    /// A Haskell thread stops.
    #[inline]
    pub(super) fn stop(&mut self, time: u64) {
        self.last_stop = self.last_stop.max(Some(time));
        self.running -= 1;
    }

    /// A collection is requested.
    #[inline]
    pub(super) fn request(&mut self, time: u64) {
        self.requested = self.requested.max(Some(time));
    }

    /// Beginning and end of the mutator's time in a log whose last event is at `last`; `None` if
    /// the log has neither calls nor threads.
    pub(super) fn mutator(&self, threaded: bool, last: u64) -> Option<Span> {
        if let Some(started) = self.started {
            // A killed program has threads that still run.
            let ended = self.last_stop.max(self.requested);
            let end = if self.running > 0 { Some(last) } else { ended };
            // Without threads and requests the log does not tell.
            let end = end.filter(|_| self.last_stop.is_some());
            return end.map(|end| (started, end.max(started)));
        }
        // The main thread of a killed program is still in its longest call.
        let open = self.open.first().map(|(_, from)| (*from, last));
        let Some(main) = self.longest.into_iter().chain(open).max_by_key(length) else {
            return self.first_run.zip(self.last_stop);
        };
        let started = self
            .first
            .filter(|first| threaded && *first != main && first.1 <= main.0);
        Some((started.map_or(main.0, |first| first.1), main.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads with overlapping calls; the main thread's is short.
    fn two_threads(calls: &mut Calls) {
        calls.process(Some(7));
        calls.begin(1, 7, 10);
        calls.run(10);
        calls.run(20);
        calls.stop(15);
        calls.end(1, 15);
        calls.run(16);
        calls.stop(90);
    }

    #[test]
    fn mut_of_gclabs_own_log_spans_the_calls_of_all_threads() {
        let mut own = Calls::default();
        own.runtime("gclab-0.1.0 copying rts_thr", 5);
        two_threads(&mut own);
        assert_eq!(own.mutator(true, 200), Some((5, 200)), "one still runs");
        own.stop(95);
        own.request(50);
        assert_eq!(own.mutator(true, 200), Some((5, 95)), "the last request is lost");
        own.request(120);
        assert_eq!(own.mutator(true, 200), Some((5, 120)));
        let mut ghc = Calls::default();
        ghc.runtime("GHC-9.0.2 rts_thr", 5);
        two_threads(&mut ghc);
        assert_eq!(ghc.mutator(true, 200), Some((10, 15)));
    }
}
