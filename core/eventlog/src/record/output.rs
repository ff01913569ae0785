//! The log on its way to the file: a buffer for each capability, one for global events, and the
//! file.

use std::io::{self, Write};

use crate::{Buffer, Kind, Value, Writer, kinds};

/// A buffer with this many bytes is written at the next opportunity.
const MANY: usize = 64 << 10;

/// A capability's buffer with this many bytes is written at once.
const FULL: usize = 1 << 20;

/// The longest time that events are kept, in nanoseconds: a second.
const LONGEST_NS: u64 = 1_000_000_000;

/// A buffer, and the time of its last event.
#[derive(Debug)]
struct Part {
    buffer: Buffer,
    last_ns: u64,
}

impl Part {
    fn new(cap: Option<u16>) -> Part {
        Part {
            buffer: Buffer::new(cap),
            last_ns: 0,
        }
    }

    fn put(&mut self, kind: &'static Kind, time_ns: u64, values: &[Value<'_>]) -> io::Result<()> {
        self.last_ns = self.last_ns.max(time_ns);
        let put = self.buffer.event(kind, self.last_ns, values);
        put.map_err(io::Error::other)
    }
}

/// Limit on waiting global events: a few minutes of a time profile.
const MOST_WAITING: usize = 1 << 16;

/// A global event that is not in its buffer yet.
#[derive(Debug)]
struct Waiting {
    time_ns: u64,
    kind: &'static Kind,
    values: Vec<Owned>,
}

/// A value of a waiting event.
#[derive(Debug)]
enum Owned {
    Number(u64),
    Text(Vec<u8>),
    Ids(Vec<[u8; 4]>),
}

impl Owned {
    fn of(value: &Value<'_>) -> Owned {
        match value {
            Value::Number(number) => Owned::Number(*number),
            Value::Text(text) | Value::List(text) | Value::Bytes(text) => Owned::Text(text.to_vec()),
            Value::Ids(ids) => Owned::Ids(ids.to_vec()),
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Owned::Number(number) => Value::Number(*number),
            Owned::Text(text) => Value::Text(text),
            Owned::Ids(ids) => Value::Ids(ids),
        }
    }
}

/// The buffers and the file.
pub(crate) struct Output {
    /// `None` after an error, and after the end.
    writer: Option<Writer<Box<dyn Write + Send>>>,
    error: Option<io::Error>,
    global: Part,
    caps: Vec<Part>,
    /// Global events of threads, samples of a time profile, debug messages. Capabilities deliver
    /// theirs one after another, so these are sorted once all have.
    waiting: Vec<Waiting>,
    /// Whether events of capabilities are left out.
    is_paused: bool,
    written_ns: u64,
}

impl Output {
    /// Writes the header.
    pub(crate) fn new(file: Box<dyn Write + Send>) -> io::Result<Output> {
        Ok(Output {
            writer: Some(Writer::new(file, kinds::current())?),
            error: None,
            global: Part::new(None),
            caps: Vec::new(),
            waiting: Vec::new(),
            is_paused: false,
            written_ns: 0,
        })
    }

    /// From now on there are `count` capabilities.
    pub(crate) fn set_caps(&mut self, count: usize) {
        let missing = self.caps.len()..count;
        self.caps.extend(missing.map(|cap| Part::new(Some(cap as u16))));
    }

    pub(crate) fn caps(&self) -> usize {
        self.caps.len()
    }

    /// Adds an event of capability `cap`.
    pub(crate) fn put(&mut self, cap: usize, kind: &'static Kind, time_ns: u64, values: &[Value<'_>]) {
        if self.writer.is_none() || self.is_paused {
            return;
        }
        self.set_caps(cap + 1);
        let put = self.caps[cap].put(kind, time_ns, values);
        self.note(put);
    }

    /// Starts or stops leaving out events of capabilities. Global events, which define the names of
    /// others, are kept.
    pub(crate) fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Adds a global event, after those that wait and are not later.
    pub(crate) fn put_global(&mut self, kind: &'static Kind, time_ns: u64, values: &[Value<'_>]) {
        if self.writer.is_none() {
            return;
        }
        if self.waiting.iter().any(|event| event.time_ns <= time_ns) {
            self.settle_to(time_ns);
        }
        self.append_global(kind, time_ns, values);
    }

    /// Adds a global event that is left out like those of capabilities.
    pub(crate) fn put_global_unless_paused(&mut self, kind: &'static Kind, time_ns: u64, values: &[Value<'_>]) {
        if !self.is_paused {
            self.put_global(kind, time_ns, values);
        }
    }

    /// Adds a global event after all others.
    fn append_global(&mut self, kind: &'static Kind, time_ns: u64, values: &[Value<'_>]) {
        if self.writer.is_some() {
            let put = self.global.put(kind, time_ns, values);
            self.note(put);
        }
    }

    /// Adds a global event of numbers, texts or ids, which events added later may precede. Events
    /// at the same time stay in the order in which they were added.
    ///
    /// A program that does not collect may add many, so only [`MOST_WAITING`] wait: an event added
    /// after that with an earlier time gets the time of the last one.
    pub(crate) fn put_waiting(&mut self, kind: &'static Kind, time_ns: u64, values: &[Value<'_>]) {
        if self.writer.is_none() {
            return;
        }
        self.waiting.push(Waiting {
            time_ns,
            kind,
            values: values.iter().map(Owned::of).collect(),
        });
        if self.waiting.len() >= MOST_WAITING {
            self.settle();
            if self.global.buffer.len() >= FULL {
                self.write_part(None);
            }
        }
    }

    /// All capabilities have delivered their events.
    pub(crate) fn settle(&mut self) {
        self.settle_to(u64::MAX);
    }

    /// All capabilities have delivered their events up to `time_ns`.
    fn settle_to(&mut self, time_ns: u64) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|event| event.time_ns);
        self.waiting = waiting.split_off(waiting.partition_point(|event| event.time_ns <= time_ns));
        for Waiting { time_ns, kind, values } in waiting {
            let values: Vec<Value<'_>> = values.iter().map(Owned::value).collect();
            self.append_global(kind, time_ns, &values);
        }
    }

    /// Writes the buffers if one has many bytes, or it has been long since the last write.
    pub(crate) fn write_if_due(&mut self, now_ns: u64) {
        let many = self.parts().any(|part| part.buffer.len() >= MANY);
        if many || now_ns.saturating_sub(self.written_ns) >= LONGEST_NS {
            self.write(now_ns);
        }
    }

    /// Writes a capability's buffer if it is full.
    pub(crate) fn write_if_full(&mut self, cap: usize) {
        if self.caps.get(cap).is_some_and(|part| part.buffer.len() >= FULL) {
            self.write_part(Some(cap));
        }
    }

    /// Writes the buffer of a capability, or of global events for `None`.
    fn write_part(&mut self, cap: Option<usize>) {
        let part = cap.map_or(&mut self.global, |cap| &mut self.caps[cap]);
        if let Some(writer) = &mut self.writer {
            let written = writer.block(&mut part.buffer, part.last_ns);
            self.note(written);
        }
    }

    /// Writes all buffers.
    pub(crate) fn write(&mut self, now_ns: u64) {
        self.written_ns = now_ns;
        let Some(writer) = &mut self.writer else { return };
        let parts = std::iter::once(&mut self.global).chain(&mut self.caps);
        let mut written = Ok(());
        for part in parts {
            written = written.and_then(|()| writer.block(&mut part.buffer, part.last_ns));
        }
        // A file does nothing here; text is printed now.
        let written = written.and_then(|()| writer.flush());
        self.note(written);
    }

    /// Writes all buffers, out of turn.
    pub(crate) fn write_all(&mut self) {
        self.write(self.written_ns);
    }

    /// Writes the rest and the end mark.
    ///
    /// # Errors
    /// The first error of the whole log.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.settle();
        self.write(self.written_ns);
        let ended = self.writer.take().map_or(Ok(()), |writer| writer.finish().map(drop));
        self.error.take().map_or(ended, Err)
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.global).chain(&self.caps)
    }

    /// After an error nothing is kept or written.
    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
            self.writer = None;
            self.global = Part::new(None);
            self.waiting = Vec::new();
            for (cap, part) in self.caps.iter_mut().enumerate() {
                *part = Part::new(Some(cap as u16));
            }
        }
    }
}

/// A text without NULs, of at most `most` bytes.
pub(crate) fn fitting(text: &str, most: usize) -> String {
    let mut text = text.replace('\0', "");
    while text.len() > most {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;
    use std::sync::{Arc, Mutex};

    /// Accepts this many bytes, then fails.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut taken = self.0.lock().expect("sound");
            if taken.len() + bytes.len() > self.1 {
                return Err(io::Error::other("full"));
            }
            taken.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn thread(number: u64) -> [Value<'static>; 1] {
        [number.into()]
    }

    #[test]
    fn after_an_error_the_log_ends_and_the_first_error_is_reported() {
        let disk = Disk(Arc::default(), 12_000);
        let mut output = Output::new(Box::new(disk.clone())).expect("room for the header");
        let before = disk.0.lock().expect("sound").len();
        for number in 0..10_000 {
            output.put(0, &kinds::RUN_THREAD, number, &thread(number));
        }
        output.put_waiting(&kinds::TASK_DELETE, 9_999, &thread(1));
        output.write(10_000);
        output.put(0, &kinds::RUN_THREAD, 10_001, &thread(1));
        output.put_global(&kinds::TASK_DELETE, 10_001, &thread(1));
        output.put_waiting(&kinds::TASK_DELETE, 10_001, &thread(1));
        assert!(output.parts().all(|part| part.buffer.is_empty()), "events are kept");
        assert!(output.waiting.is_empty());
        output.write(10_001);
        assert_eq!(disk.0.lock().expect("sound").len(), before);
        assert_eq!(output.finish().expect_err("full").to_string(), "full");
    }

    #[test]
    fn while_it_is_paused_events_of_capabilities_are_left_out() {
        let disk = Disk(Arc::default(), usize::MAX);
        let mut output = Output::new(Box::new(disk.clone())).expect("room");
        for number in 0..4 {
            output.pause(number == 1 || number == 2);
            output.put(0, &kinds::RUN_THREAD, number, &thread(number));
            output.put_waiting(&kinds::TASK_DELETE, number, &thread(number));
        }
        output.finish().expect("room");
        let bytes = disk.0.lock().expect("sound").clone();
        let mut log = Reader::new(&bytes[..], "log").expect("a log");
        let (mut runs, mut ends) = (0, 0);
        while let Some(event) = log.next_event().expect("sound") {
            match event.known() {
                kinds::number::RUN_THREAD => runs += 1,
                kinds::number::TASK_DELETE => ends += 1,
                _ => {}
            }
        }
        assert_eq!((runs, ends), (2, 4));
    }

    #[test]
    fn global_events_of_threads_are_sorted_and_times_do_not_run_backwards() {
        let disk = Disk(Arc::default(), usize::MAX);
        let mut output = Output::new(Box::new(disk.clone())).expect("room");
        for (time, task) in [(30, 3), (10, 1), (20, 2)] {
            output.put_waiting(&kinds::TASK_DELETE, time, &thread(task));
        }
        output.settle();
        output.put_global(&kinds::TASK_DELETE, 25, &thread(4));
        output.write_if_due(999);
        assert!(output.parts().any(|part| !part.buffer.is_empty()), "nothing is due yet");
        output.write_if_due(LONGEST_NS);
        assert!(output.parts().all(|part| part.buffer.is_empty()));
        output.finish().expect("room");
        let bytes = disk.0.lock().expect("sound").clone();
        let mut log = Reader::new(&bytes[..], "log").expect("a log");
        let mut tasks = Vec::new();
        while let Some(event) = log.next_event().expect("sound") {
            if event.known() == kinds::number::TASK_DELETE {
                let [task] = event.numbers();
                tasks.push((event.time(), task.expect("a task")));
            }
        }
        assert_eq!(tasks, [(10, 1), (20, 2), (30, 3), (30, 4)]);
    }

    #[test]
    fn waiting_events_keep_their_values_and_do_not_wait_forever() {
        let disk = Disk(Arc::default(), usize::MAX);
        let mut output = Output::new(Box::new(disk.clone())).expect("room");
        let ids = [[0, 0, 0, 3], [0, 0, 0, 1]];
        let sample = |tick: u64| [1.into(), tick.into(), Value::Ids(&ids)];
        output.put_waiting(&kinds::PROF_SAMPLE_COST_CENTRE, 20, &sample(2));
        let text = Value::from("said");
        output.put_waiting(&kinds::LOG_MSG, 10, &[text]);
        for tick in 3..=MOST_WAITING as u64 {
            assert!(output.global.buffer.is_empty(), "{tick}");
            output.put_waiting(&kinds::PROF_SAMPLE_COST_CENTRE, 10 * tick, &sample(tick));
        }
        // There was no collection, and all of them are in their block, which was full.
        assert!(output.waiting.is_empty() && output.global.buffer.is_empty());
        output.finish().expect("room");
        let bytes = disk.0.lock().expect("sound").clone();
        let mut log = Reader::new(&bytes[..], "log").expect("a log");
        let (mut samples, mut last) = (0, 0);
        while let Some(event) = log.next_event().expect("sound") {
            match event.known() {
                kinds::number::LOG_MSG => assert_eq!((event.time(), event.payload()), (10, &b"said"[..])),
                kinds::number::PROF_SAMPLE_COST_CENTRE => {
                    assert!(event.time() >= last && event.fields().any(|(_, value)| value == Value::Ids(&ids)));
                    (samples, last) = (samples + 1, event.time());
                }
                _ => {}
            }
        }
        assert_eq!(samples, MOST_WAITING - 1);
    }

    #[test]
    fn a_text_fits_without_nuls_and_whole_letters() {
        assert_eq!(fitting("a\0b", 9), "ab");
        assert_eq!(fitting("aé", 2), "a");
        assert_eq!(fitting("aé", 3), "aé");
    }
}
