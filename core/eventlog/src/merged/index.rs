//! Finds the streams of a log from its block markers.

use std::io::{Read, Seek};

use super::stream::{Extent, Stream};
use crate::error::{Error, Problem};
use crate::kinds::number;
use crate::reader::Reader;

/// Limit on streams. GHC has at most 256 capabilities unless it is built for more.
pub(super) const MOST_STREAMS: usize = 1024;

/// Limit on stretches of a file: 64 MiB of memory, enough for a log of terabytes.
pub(super) const MOST_EXTENTS: usize = 1 << 22;

/// The streams of a log.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) streams: Vec<Stream>,
    /// Whether the file ends right after a block, without an end mark.
    pub(super) ends_in_block: bool,
    /// The place of the first event outside blocks that follows an empty block.
    pub(super) behind_empty: Option<u64>,
}

/// Finds the streams of a log. A reader that salvages looks at each event, since the size of a block
/// may be what is damaged: then the streams are without damage.
///
/// # Errors
/// If the log is damaged between its blocks, or has too many of them.
pub(super) fn index<R: Read + Seek>(reader: &mut Reader<R>, file: &str, file_bytes: u64) -> Result<Index, Error> {
    let mut streams: Vec<Stream> = Vec::new();
    // By capability; the global stream comes first.
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut extents = 0;
    let (mut last_block, mut behind_empty, mut empty) = (None, None, None);
    let salvages = reader.salvages();
    loop {
        let ends_in_block = last_block == Some(file_bytes);
        let next = if ends_in_block { None } else { reader.next_event()? };
        let Some(event) = next else {
            interrupt(&mut streams, &places, reader.interrupted());
            return Ok(Index {
                streams,
                ends_in_block,
                behind_empty,
            });
        };
        let (from, cap) = (event.offset, event.cap);
        let is_block = event.known() == number::BLOCK_MARKER;
        let is_empty = is_block && reader.is_at_end_of_block();
        let to = if is_block && !salvages {
            reader.skip_block(file_bytes)?
        } else {
            reader.offset()
        };
        last_block = (is_block && !salvages).then_some(to);
        interrupt(&mut streams, &places, reader.interrupted());
        if !is_block && empty == Some(from) {
            behind_empty.get_or_insert(from);
        }
        empty = is_empty.then_some(to);
        let key = key(cap);
        if places.len() <= key {
            places.resize(key + 1, None);
        }
        let place = *places[key].get_or_insert_with(|| {
            streams.push(Stream::new(cap));
            streams.len() - 1
        });
        streams[place].damaged = false;
        let known = &mut streams[place].extents;
        match known.last_mut() {
            Some(extent) if extent.to == from => extent.to = to,
            _ => {
                known.push(Extent { from, to });
                extents += 1;
            }
        }
        let too_many = |of, most: usize| Error::new(file, from, Problem::TooMany { of, most: most as u64 });
        if extents > MOST_EXTENTS {
            return Err(too_many(
                "blocks of alternating capabilities, which cannot be sorted by time",
                MOST_EXTENTS,
            ));
        }
        if streams.len() > MOST_STREAMS {
            return Err(too_many("capabilities, which cannot be sorted by time", MOST_STREAMS));
        }
    }
}

/// Notes that the stream of a capability ends with damage, unless a later event of it is found.
fn interrupt(streams: &mut [Stream], places: &[Option<usize>], cap: Option<Option<u16>>) {
    if let Some(place) = cap.and_then(|cap| *places.get(key(cap))?) {
        streams[place].damaged = true;
    }
}

/// The place of a capability in a list of all; the global stream is first.
fn key(cap: Option<u16>) -> usize {
    cap.map_or(0, |cap| usize::from(cap) + 1)
}
