//! Prints a log as text while it is being written.

use std::io::{self, Cursor, Write};

use super::{Filter, Lines, ShowError, show};
use crate::kind::END;
use crate::kinds::number::BLOCK_MARKER;
use crate::merged::Merged;

/// The end of the header.
const HEADER_END: &[u8] = b"hdredatb";

/// The bytes of a block marker.
const MARKER: usize = 24;

/// Limit on the bytes of blocks kept: 64 MiB.
const MOST: usize = 64 << 20;

/// Prints the events of a log that is written to it, as [`show`](fn@show) prints them.
///
/// Each flush prints the events written since the one before, in order of time. So all events come
/// out in order if, at each flush, the writer's blocks reach the same moment for every capability.
#[derive(Debug)]
pub struct LiveText<W> {
    out: W,
    /// The header, once it is complete.
    header: Option<Vec<u8>>,
    /// The bytes not printed yet.
    held: Vec<u8>,
}

impl<W: Write> LiveText<W> {
    /// Prints to `out`.
    pub fn new(out: W) -> Self {
        LiveText {
            out,
            header: None,
            held: Vec::new(),
        }
    }

    /// Prints the complete blocks held.
    fn print(&mut self) -> io::Result<()> {
        if self.header.is_none() {
            let found = self
                .held
                .windows(HEADER_END.len())
                .position(|bytes| bytes == HEADER_END);
            let Some(at) = found else { return Ok(()) };
            self.header = Some(self.held.drain(..at + HEADER_END.len()).collect());
        }
        let whole = whole_blocks(&self.held);
        if whole == 0 {
            return Ok(());
        }
        let mut log = self.header.clone().unwrap_or_default();
        log.extend(self.held.drain(..whole));
        log.extend(END.to_be_bytes());
        let shown = Merged::new(Cursor::new(log), "event log as text", false)
            .map_err(ShowError::Log)
            .and_then(|mut log| show(&mut log, &Filter::default(), Lines::Text, &mut self.out));
        match shown {
            Ok(_) => Ok(()),
            Err(ShowError::Write(error)) => Err(error),
            Err(ShowError::Log(error)) => Err(io::Error::other(error)),
        }
    }
}

/// The length of the complete blocks at the start of `bytes`. The end mark is not a block.
fn whole_blocks(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(marker) = bytes.get(at..at + MARKER) {
        let is_block = marker[..2] == BLOCK_MARKER.to_be_bytes();
        let size = u32::from_be_bytes([marker[10], marker[11], marker[12], marker[13]]) as usize;
        if !is_block || size < MARKER || bytes.len() - at < size {
            break;
        }
        at += size;
    }
    at
}

impl<W: Write> Write for LiveText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() > MOST {
            self.print()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.print()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;
    use crate::writer::{Buffer, Writer};

    fn lines(live: &LiveText<Vec<u8>>) -> Vec<String> {
        String::from_utf8(live.out.clone())
            .expect("text")
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn events_are_printed_when_the_log_is_flushed_in_the_order_of_time() {
        let mut live = LiveText::new(Vec::new());
        let mut caps = [0, 1].map(|cap| Buffer::new(Some(cap)));
        let mut writer = Writer::new(&mut live, kinds::current()).expect("memory");
        for (cap, time) in [(0, 10), (1, 20), (0, 30)] {
            caps[cap].event(&kinds::GC_WORK, time, &[]).expect("it fits");
        }
        for cap in &mut caps {
            writer.block(cap, 30).expect("memory");
        }
        writer.flush().expect("memory");
        caps[1].event(&kinds::GC_IDLE, 40, &[]).expect("it fits");
        writer.block(&mut caps[1], 40).expect("memory");
        writer.finish().expect("memory");
        let expected = [
            "       10: cap 0: GC working",
            "       20: cap 1: GC working",
            "       30: cap 0: GC working",
            "       40: cap 1: GC idle",
        ];
        assert_eq!(lines(&live), expected);
    }

    #[test]
    fn nothing_is_printed_before_a_flush_or_of_half_a_block() {
        let mut whole = Vec::new();
        let mut cap = Buffer::new(Some(0));
        let mut writer = Writer::new(&mut whole, kinds::current()).expect("memory");
        cap.event(&kinds::GC_WORK, 10, &[]).expect("it fits");
        writer.block(&mut cap, 10).expect("memory");
        writer.finish().expect("memory");
        let mut live = LiveText::new(Vec::new());
        let half = whole.len() - 5;
        live.write_all(&whole[..20]).expect("memory");
        live.flush().expect("memory");
        live.write_all(&whole[20..half]).expect("memory");
        live.flush().expect("memory");
        assert_eq!(lines(&live), [""; 0]);
        live.write_all(&whole[half..]).expect("memory");
        assert_eq!(lines(&live), [""; 0]);
        live.flush().expect("memory");
        live.flush().expect("memory");
        assert_eq!(lines(&live), ["       10: cap 0: GC working"]);
    }
}
