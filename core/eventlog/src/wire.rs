//! Decodes one event, and tracks the block that it is in.

use crate::error::Problem;
use crate::header::{Header, Slot};
use crate::kind::END;
use crate::kinds::number;
use crate::value;

/// The longest event in bytes: number, time, length, and a payload.
pub(crate) const LONGEST: usize = 2 + 8 + 2 + 0xffff;

/// The size of a block marker as GHC writes it.
pub(crate) const MARKER: u64 = 24;

/// The number for no capability.
const NO_CAP: u16 = 0xffff;

/// An event, as offsets into the bytes that it was read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw {
    pub(crate) number: u16,
    /// The index of the type among those declared.
    pub(crate) place: u32,
    pub(crate) time: u64,
    /// The bytes before the payload.
    pub(crate) head: usize,
    /// The bytes of the payload.
    pub(crate) payload: usize,
}

impl Raw {
    pub(crate) fn bytes(&self) -> usize {
        self.head + self.payload
    }
}

/// What some bytes begin with.
#[derive(Debug)]
pub(crate) enum Step {
    Event(Raw),
    /// The end mark.
    End,
    /// The bytes end before the event does.
    Short,
    /// An event of a type that the header does not declare.
    Undeclared(u16),
}

/// Reads the event at the start of `bytes`, of which there are at least [`LONGEST`], or all that is
/// left.
#[inline]
pub(crate) fn step(bytes: &[u8], header: &Header) -> Step {
    let Some(head) = bytes.first_chunk::<10>() else {
        return if bytes.starts_with(&END.to_be_bytes()) {
            Step::End
        } else {
            Step::Short
        };
    };
    let [a, b, time @ ..] = *head;
    let number = u16::from_be_bytes([a, b]);
    let slot = header.slot(number);
    let (head, payload) = match slot.size {
        Slot::UNDECLARED if number == END => return Step::End,
        Slot::UNDECLARED => return Step::Undeclared(number),
        Slot::VARIABLE => {
            let Some(&[a, b]) = bytes.get(10..12) else {
                return Step::Short;
            };
            (12, usize::from(u16::from_be_bytes([a, b])))
        }
        size => (10, size as usize),
    };
    if bytes.len() < head + payload {
        return Step::Short;
    }
    Step::Event(Raw {
        number,
        place: slot.place,
        time: u64::from_be_bytes(time),
        head,
        payload,
    })
}

/// Whether these bytes look like the marker of a block: it is as long as its marker at least, and
/// does not end before it begins.
pub(crate) fn is_marker(bytes: &[u8], header: &Header) -> bool {
    let Step::Event(raw) = step(bytes, header) else {
        return false;
    };
    let field = |range| value::number(&bytes[raw.head..][range]);
    raw.number == number::BLOCK_MARKER && field(0..4) >= raw.bytes() as u64 && field(4..12) >= raw.time
}

/// The most events of a block that [`is_block`] looks at.
const LOOKED_AT: usize = 32;

/// Whether these bytes, [`LONGEST`] of them or all that are left, begin with a block whose first
/// events are sound, and behind which a block, the end mark or the end of the file comes, as far
/// as they show it. Bytes of damaged events often look like a marker, and never like this.
pub(crate) fn is_block(bytes: &[u8], header: &Header) -> bool {
    let mut block = Block::OUTSIDE;
    let mut at = 0;
    for seen in 0..LOOKED_AT {
        if at > 0 && block.end == Some(at as u64) {
            return bytes.len() < at + MARKER as usize || is_marker(&bytes[at..], header);
        }
        match step(&bytes[at..], header) {
            Step::Event(raw) => {
                let payload = &bytes[at + raw.head..at + raw.bytes()];
                let is_first = at == 0;
                if is_first != (raw.number == number::BLOCK_MARKER)
                    || block.pass(&raw, at as u64, payload).is_err()
                    || !block.covers(raw.time)
                {
                    return false;
                }
                at += raw.bytes();
            }
            Step::Short => return seen > 1,
            // The end mark is in the last block, or cuts it off.
            Step::End => return at > 0 && bytes.len() == at + END.to_be_bytes().len(),
            Step::Undeclared(_) => return false,
        }
    }
    true
}

/// The block that the next event is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) cap: Option<u16>,
    /// The place in the file after the block's last byte; `None` outside blocks.
    pub(crate) end: Option<u64>,
    /// The times from its first event to its last; outside blocks, all times up to the end of the
    /// block before.
    pub(crate) times: (u64, u64),
}

/// An event may be stamped with an earlier time than the one at which it is written, as the ends of
/// collections are: by less than this, in nanoseconds, before the block begins.
const EARLIER: u64 = 1_000_000_000;

impl Block {
    pub(crate) const OUTSIDE: Block = Block {
        cap: None,
        end: None,
        times: (0, u64::MAX),
    };

    /// Whether an event of the block may have this time.
    pub(crate) fn covers(&self, time: u64) -> bool {
        let (first, last) = self.times;
        time.saturating_add(EARLIER) >= first && time <= last
    }

    /// Ends the block if it ends at `offset`.
    #[inline]
    pub(crate) fn leave(&mut self, offset: u64) {
        if self.end == Some(offset) {
            (self.cap, self.end, self.times.0) = (None, None, 0);
        }
    }

    /// Goes past the event at `offset` with this payload. Ends the block if it is the last event in
    /// it, and begins one if it is a block marker.
    #[inline]
    pub(crate) fn pass(&mut self, raw: &Raw, offset: u64, payload: &[u8]) -> Result<(), Problem> {
        self.leave(offset);
        if let Some(end) = self.end
            && offset + raw.bytes() as u64 > end
        {
            return Err(Problem::Block(format!(
                "the event here runs past the end of its block, at byte {end}"
            )));
        }
        if raw.number == number::BLOCK_MARKER {
            return self.begin(offset, payload, raw);
        }
        Ok(())
    }

    #[cold]
    fn begin(&mut self, offset: u64, payload: &[u8], raw: &Raw) -> Result<(), Problem> {
        let bytes = raw.bytes() as u64;
        if self.end.is_some() {
            return Err(Problem::Block("a block begins here, within another one".to_owned()));
        }
        // A header whose markers lack these fields was refused.
        let (size, cap) = (value::number(&payload[..4]), value::number(&payload[12..14]) as u16);
        if size < bytes.max(MARKER) {
            return Err(Problem::Block(format!(
                "the block here has {size} bytes, and its marker alone has {bytes}"
            )));
        }
        *self = Block {
            cap: (cap != NO_CAP).then_some(cap),
            end: Some(offset.saturating_add(size)),
            times: (raw.time, value::number(&payload[4..12])),
        };
        Ok(())
    }
}
