//! Trace events as JSON. Times are in microseconds, with nanoseconds as decimals.

use std::collections::BTreeSet;
use std::io::{Result, Write};

use super::lane::Slice;
use crate::push;
use crate::summary::Interval;

/// Bytes gathered before a write.
const GATHERED: usize = 256 << 10;

/// A thread of the trace by number: a capability, or the global events. No thread is numbered 0:
/// Perfetto would take it for the main thread of the process, number 1, and drop slices that then
/// overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Track(u32);

impl Track {
    /// Events that belong to no capability.
    pub(super) const GLOBAL: Track = Track(1);

    pub(super) fn cap(cap: u16) -> Track {
        Track(u32::from(cap) + 2)
    }

    pub(super) fn of(cap: Option<u16>) -> Track {
        cap.map_or(Track::GLOBAL, Track::cap)
    }
}

/// The object of trace events being written.
pub(super) struct Out<'a> {
    out: &'a mut dyn Write,
    gathered: Vec<u8>,
    named: BTreeSet<Track>,
    events: u64,
}

impl std::fmt::Debug for Out<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Out({} events)", self.events)
    }
}

impl<'a> Out<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Result<Self> {
        // chrome://tracing nests slices by their times in this unit. With `ms` it rounds them to
        // microseconds, so that one short slice seems to lie within another.
        let mut started = Out {
            out,
            gathered: b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[".to_vec(),
            named: BTreeSet::new(),
            events: 0,
        };
        started.process(b"Haskell program")?;
        Ok(started)
    }

    /// Begins an event: its phase, its track, and its name.
    fn begin(&mut self, phase: u8, track: Track, name: &[u8]) {
        let separator: &[u8] = if self.events == 0 { b"\n" } else { b",\n" };
        self.events += 1;
        let line = &mut self.gathered;
        line.extend_from_slice(separator);
        line.extend_from_slice(b"{\"ph\":\"");
        line.push(phase);
        line.extend_from_slice(b"\",\"pid\":1,\"tid\":");
        push::number(line, u64::from(track.0));
        line.extend_from_slice(b",\"name\":");
        push::quoted(line, name);
    }

    fn text(&mut self, text: &str) {
        self.gathered.extend_from_slice(text.as_bytes());
    }

    /// Appends a time in microseconds.
    fn time(&mut self, key: &str, ns: u64) {
        self.text(key);
        push::number(&mut self.gathered, ns / 1000);
        let rest = (ns % 1000) as usize;
        let decimals = [rest / 100, rest / 10 % 10, rest % 10].map(|digit| b"0123456789"[digit]);
        self.gathered.push(b'.');
        self.gathered.extend_from_slice(&decimals);
    }

    /// Ends an event.
    fn end(&mut self) -> Result<()> {
        self.gathered.push(b'}');
        if self.gathered.len() >= GATHERED {
            self.out.write_all(&self.gathered)?;
            self.gathered.clear();
        }
        Ok(())
    }

    /// The name of the program.
    pub(super) fn process(&mut self, name: &[u8]) -> Result<()> {
        self.begin(b'M', Track::GLOBAL, b"process_name");
        self.text(",\"args\":{\"name\":");
        push::quoted(&mut self.gathered, name);
        self.text("}");
        self.end()
    }

    /// Names a track and gives its position when it is first used.
    fn name(&mut self, track: Track) -> Result<()> {
        if !self.named.insert(track) {
            return Ok(());
        }
        let name = match track {
            Track::GLOBAL => "global".to_owned(),
            Track(number) => format!("cap {}", number - 2),
        };
        self.begin(b'M', track, b"thread_name");
        self.text(",\"args\":{\"name\":");
        push::quoted(&mut self.gathered, name.as_bytes());
        self.text("}");
        self.end()?;
        self.begin(b'M', track, b"thread_sort_index");
        self.text(",\"args\":{\"sort_index\":");
        push::number(&mut self.gathered, u64::from(track.0));
        self.text("}");
        self.end()
    }

    /// The part of a slice that lies in the interval.
    pub(super) fn slice(&mut self, track: Track, slice: &Slice, interval: Interval) -> Result<()> {
        let (from, to) = match interval.clip((slice.from, slice.to)) {
            Some(part) => part,
            None if slice.from == slice.to && interval.contains(slice.from) => (slice.from, slice.to),
            None => return Ok(()),
        };
        self.name(track)?;
        self.begin(b'X', track, slice.name.as_bytes());
        self.text(",\"cat\":\"");
        self.text(slice.category);
        self.text("\"");
        self.time(",\"ts\":", from);
        self.time(",\"dur\":", to - from);
        if let Some(stop) = slice.stop {
            self.text(",\"args\":{\"stop\":");
            push::quoted(&mut self.gathered, stop.as_bytes());
            self.text("}");
        }
        self.end()
    }

    /// A counter of bytes.
    pub(super) fn counter(&mut self, name: &str, time: u64, bytes: u64) -> Result<()> {
        self.begin(b'C', Track::GLOBAL, name.as_bytes());
        self.time(",\"ts\":", time);
        self.text(",\"args\":{\"bytes\":");
        push::number(&mut self.gathered, bytes);
        self.text("}");
        self.end()
    }

    /// An instant of the whole program or of one track.
    pub(super) fn instant(&mut self, track: Track, name: &[u8], time: u64, is_marker: bool) -> Result<()> {
        self.name(track)?;
        self.begin(b'i', track, name);
        self.text(if is_marker {
            ",\"cat\":\"marker\",\"s\":\"p\""
        } else {
            ",\"cat\":\"message\",\"s\":\"t\""
        });
        self.time(",\"ts\":", time);
        self.end()
    }

    /// Writes the end of the object. Returns the number of events.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.text("\n]}\n");
        self.out.write_all(&self.gathered)?;
        self.out.flush()?;
        Ok(self.events)
    }
}
