//! Rules for one capability: its times, and its collections.

use crate::event::Event;
use crate::kinds::number::*;

/// The state of a capability, or of the global events.
#[derive(Debug, Default)]
pub(super) struct Cap {
    /// The latest time so far.
    latest: u64,
    /// The end of the block that the events are in.
    block_end: Option<u64>,
    /// The beginning of the collection in progress.
    pub(super) started: Option<u64>,
    synced: bool,
    allocated: u64,
}

/// The rule broken, and how.
type Broken = Option<(&'static str, String)>;

impl Cap {
    /// Checks an event against the rules for times.
    pub(super) fn time(&mut self, event: &Event<'_>) -> Broken {
        let (number, time) = (event.known(), event.time());
        if number == BLOCK_MARKER {
            let [_, end] = event.numbers();
            self.block_end = end;
            return end.filter(|end| *end < time).map(|end| {
                let text = format!("the block ends at {end} ns, before it begins");
                ("a block begins before it ends", text)
            });
        }
        let latest = self.latest;
        self.latest = latest.max(time);
        if let Some(end) = self.block_end.filter(|end| time > *end) {
            let text = format!("the event is later than the end of its block, {end} ns");
            return Some(("events are not later than their blocks", text));
        }
        // GHC reads the clock for the end before it writes the collection's statistics.
        let is_end = number == GC_END && self.started.is_some_and(|start| time >= start);
        (time < latest && !is_end).then(|| {
            let text = format!("the time stamp is {} ns before that of an earlier event", latest - time);
            ("time does not run backwards", text)
        })
    }

    /// Checks an event of a capability against the rules for collections. `begins`: the log has the
    /// beginning of every collection.
    pub(super) fn collection(&mut self, event: &Event<'_>, begins: bool) -> Broken {
        let time = event.time();
        let broken = |rule, text: &str| Some((rule, text.to_owned()));
        match event.known() {
            GC_START => {
                self.synced = false;
                if let Some(open) = self.started.replace(time) {
                    let text = format!("GC_START before the end of the collection that began at {open} ns");
                    return Some(("every collection ends before the next one", text));
                }
            }
            GC_END => match self.started.take() {
                None => return broken("every GC_END follows a GC_START", "GC_END without GC_START"),
                Some(start) if time < start => {
                    let text = format!("GC_END is {} ns before its GC_START", start - time);
                    return Some(("collections end after they begin", text));
                }
                Some(_) => {}
            },
            GC_GLOBAL_SYNC => {
                self.synced = true;
                if self.started.is_none() {
                    return broken(
                        "GC_GLOBAL_SYNC lies within a collection",
                        "GC_GLOBAL_SYNC outside of a collection",
                    );
                }
            }
            GC_STATS_GHC => {
                if self.started.is_none() {
                    return broken(
                        "statistics lie within a collection",
                        "GC_STATS_GHC outside of a collection",
                    );
                }
                if !self.synced {
                    return broken(
                        "statistics follow GC_GLOBAL_SYNC",
                        "GC_STATS_GHC without GC_GLOBAL_SYNC",
                    );
                }
            }
            GC_WORK | GC_IDLE | GC_DONE if begins && self.started.is_none() => {
                return broken(
                    "GC threads work within a collection",
                    "a GC thread works, idles or ends outside of a collection",
                );
            }
            HEAP_ALLOCATED => {
                let [_, Some(bytes)] = event.numbers() else { return None };
                let before = std::mem::replace(&mut self.allocated, bytes);
                if bytes < before {
                    let text = format!("HEAP_ALLOCATED falls from {before} to {bytes}");
                    return Some(("HEAP_ALLOCATED does not fall", text));
                }
            }
            _ => {}
        }
        None
    }
}

/// Whether events of this type are meaningless, and stop ThreadScope, unless they belong to a
/// capability.
pub(super) fn needs_cap(number: u16) -> bool {
    matches!(
        number,
        GC_START | GC_END | HEAP_ALLOCATED | GC_STATS_GHC | SPARK_COUNTERS
    )
}
