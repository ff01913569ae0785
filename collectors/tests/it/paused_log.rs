//! The event log of a run that pauses it.

use crate::basics::config;
use gclab_collectors::ocaml::GcModule;
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::mutator::{Mutator, MutatorKind, Request};
use gclab_core::world::World;
use gclab_eventlog::kinds::number;
use gclab_eventlog::record::{About, EventLog};
use gclab_eventlog::{Merged, Value, check};
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

/// A file in memory.
#[derive(Clone, Default)]
pub(crate) struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("sound").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl File {
    /// What was written.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("sound").clone()
    }

    fn len(&self) -> usize {
        self.0.lock().expect("sound").len()
    }
}

/// Pauses or resumes the log, through the module `Gc` if there is one.
fn pause<M: MutatorKind>(m: &mut Mutator<'_, M>, is_paused: bool) {
    if let Ok(mut gc) = m.gc() {
        return if is_paused {
            gc.eventlog_pause()
        } else {
            gc.eventlog_resume()
        };
    }
    m.pause_events(is_paused);
}

under_every_collector! {
    fn a_log_lacks_what_happens_while_it_is_paused_and_keeps_the_rules<C>() {
        let file = File::default();
        let log = EventLog::new(Box::new(file.clone()), About::default()).expect("memory");
        let mut world = World::new::<C>(&config::<C>(16 << 10)).expect("a small heap");
        world.listen(Box::new(log.clone()));
        let ran = world.enter(|m| {
            m.message("before");
            m.collect(Request::Full);
            let written = file.len();
            pause(m, true);
            let paused = file.len();
            assert!(paused > written, "what has happened is written out");
            for _ in 0..3 {
                m.message("meanwhile");
                m.collect(Request::Full);
                (0..1000).for_each(|_| _ = m.alloc_mut_bytes(80));
            }
            assert_eq!(file.len(), paused, "and nothing more");
            pause(m, false);
            m.message("after");
            m.collect(Request::Minor);
        });
        ran.expect("room enough");
        let collections = world.finish().collections_count();
        log.finish().expect("memory");
        let bytes = file.bytes();
        let name = C::DESCRIPTION.name;
        let merged = || Merged::new(Cursor::new(&bytes[..]), "log", false).expect("a log");
        let (complaints, _) = check(&mut merged()).expect("whole");
        assert!(complaints.rules().is_empty(), "{name}: {:?}", complaints.rules());
        let (mut logged, mut messages, mut log) = (0, Vec::new(), merged());
        while let Some(event) = log.next_event().expect("whole") {
            match event.known() {
                number::GC_START => logged += 1,
                number::USER_MSG => messages.extend(event.fields().map(|(_, value)| format!("{value:?}"))),
                _ => {}
            }
        }
        let expected = ["before", "after"].map(|text| format!("{:?}", Value::Text(text.as_bytes())));
        assert_eq!(messages, expected, "{name}");
        // One before, one after, and one at the end of the run.
        assert!(logged >= 3 && collections >= logged + 3, "{name}: {logged} of {collections}");
    }
}
