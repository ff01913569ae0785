//! A validator: the rules that GHC's logs keep, and that their readers rely on.
//!
//! It reads the log in order of time, and each capability in file order. Damage that stops a reader
//! is an [`Error`], not a complaint.

mod bytes;
mod caps;
mod complaints;
mod profile;
mod threads;

use std::collections::HashMap;
use std::io::{Read, Seek};

pub use complaints::{Complaint, Complaints, Rule};

use crate::error::Error;
use crate::event::Event;
use crate::kinds::number;
use crate::merged::Merged;

/// The state of all rules.
#[derive(Debug, Default)]
struct Checker {
    caps: HashMap<Option<u16>, caps::Cap>,
    threads: threads::Threads,
    profile: profile::Profile,
    events: u64,
    /// Whether stop statuses are numbered as in GHC 7.8.2.
    old_statuses: bool,
    /// Whether the log declares the statistics of collections. Logs of GHC 7.4 and older do not,
    /// and show only what the GC threads did in the last collection.
    has_statistics: bool,
    /// The block that ends last: its marker, and its end.
    last_block: (u64, u64),
    complaints: Complaints,
}

impl Checker {
    fn event(&mut self, event: &Event<'_>) {
        let complaints = &mut self.complaints;
        let mut complain = |broken: Option<(&'static str, String)>| {
            if let Some((rule, text)) = broken {
                complaints.add(rule, || Complaint {
                    offset: Some(event.offset()),
                    time: event.time(),
                    cap: event.cap(),
                    text,
                });
            }
        };
        let cap = self.caps.entry(event.cap()).or_default();
        complain(cap.time(event));
        let known = event.known();
        if known == number::BLOCK_MARKER {
            let [Some(size)] = event.numbers() else { return };
            let end = event.offset().saturating_add(size);
            if end > self.last_block.1 {
                self.last_block = (event.offset(), end);
            }
            return;
        }
        self.events += 1;
        if event.cap().is_some() {
            complain(cap.collection(event, self.has_statistics));
        } else if caps::needs_cap(known) {
            let name = event.kind().map_or("", |kind| kind.name);
            let text = format!("{name} outside of a capability's block: ThreadScope stops here");
            complain(Some(("events of collections belong to a capability", text)));
        }
        complain(bytes::payload(event));
        if known == number::STOP_THREAD {
            complain(bytes::status(event, self.old_statuses));
        }
        if known < number::GC_START || (number::TASK_CREATE..=number::TASK_DELETE).contains(&known) {
            complain(self.threads.event(event));
        } else if (number::HEAP_PROF_BEGIN..=number::PROF_BEGIN).contains(&known) {
            complain(self.profile.event(event));
        }
    }
}

/// Checks a log. Returns the complaints and the number of events.
///
/// # Errors
/// If the log is damaged, unless the reader salvages.
pub fn check<R: Read + Seek>(log: &mut Merged<R>) -> Result<(Complaints, u64), Error> {
    let mut checker = Checker {
        old_statuses: log.header().has_statuses_of_7_8_2(),
        has_statistics: log.header().numbered(number::GC_STATS_GHC).is_some(),
        profile: profile::Profile::before(log.header()),
        ..Checker::default()
    };
    bytes::header(log.header(), &mut checker.complaints);
    while let Some(event) = log.next_event()? {
        checker.event(&event);
    }
    let whole = |text: String| Complaint {
        offset: None,
        time: 0,
        cap: None,
        text,
    };
    let at = |offset, text: String| Complaint {
        offset: Some(offset),
        time: 0,
        cap: None,
        text,
    };
    if let Some(offset) = log.behind_empty() {
        let text = "the event here follows an empty block: ghc-events takes it to be in that block".to_owned();
        checker
            .complaints
            .add("no event follows an empty block", || at(offset, text));
    }
    if log.damage().is_none() {
        let (begin, end) = checker.last_block;
        if end > log.file_bytes() {
            let text = format!(
                "the block here ends at byte {end}, and the file at byte {}",
                log.file_bytes()
            );
            checker.complaints.add("blocks end within the file", || at(begin, text));
        }
        let mut open: Vec<_> = checker
            .caps
            .iter()
            .filter_map(|(cap, state)| Some((*cap, state.started?)))
            .collect();
        open.sort_unstable();
        for (cap, start) in open {
            let cap = cap.map_or("no cap".to_owned(), |cap| format!("cap {cap}"));
            let text = format!("{cap}: the collection that began at {start} ns has not ended");
            checker.complaints.add("every collection ends", || whole(text));
        }
    }
    if checker.events == 0 {
        checker
            .complaints
            .add("a log has events", || whole("the log has no events".to_owned()));
    }
    Ok((checker.complaints, checker.events))
}

/// Checks a file. Returns the complaints and the number of events.
///
/// # Errors
/// If the log is damaged, unless the reader salvages.
pub fn check_file(log: &mut Merged<std::fs::File>) -> Result<(Complaints, u64), Error> {
    check(log)
}
