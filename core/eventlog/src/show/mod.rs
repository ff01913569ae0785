//! The events of a log as lines, in order of time: text as `ghc-events show` prints it, or JSON.

mod line;
mod live;

pub use live::LiveText;

use std::fs::File;
use std::io::{Read, Seek, Write};

use crate::error::Error;
use crate::event::Event;
use crate::kinds::number;
use crate::merged::Merged;
use crate::summary::Interval;

/// Bytes gathered before a write.
const LINES: usize = 256 << 10;

/// The form of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// Time, capability, and a sentence.
    Text,
    /// A JSON object.
    Json,
}

/// Which events are shown.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Numbers of event types; if empty, all but block markers.
    pub types: Vec<u16>,
    /// Capabilities, `None` for global events; if empty, all.
    pub caps: Vec<Option<u16>>,
    /// The time of the events.
    pub interval: Interval,
}

impl Filter {
    /// Whether an event is shown.
    pub fn has(&self, event: &Event<'_>) -> bool {
        let declared = event.declared().number;
        let typed = match &self.types[..] {
            [] => declared != number::BLOCK_MARKER,
            types => types.contains(&declared),
        };
        typed && (self.caps.is_empty() || self.caps.contains(&event.cap())) && self.interval.contains(event.time())
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// The number of lines.
    pub lines: u64,
    /// The time of the last event of the log, shown or not.
    pub last_ns: u64,
}

/// Why not all events were shown.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// The log is damaged.
    #[error(transparent)]
    Log(#[from] Error),
    /// The lines cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
}

/// Writes the wanted events of a log as lines.
///
/// # Errors
/// If the log is damaged (the lines before the damage are written), or if `out` fails.
pub fn show<R: Read + Seek>(
    log: &mut Merged<R>,
    wanted: &Filter,
    lines: Lines,
    out: &mut dyn Write,
) -> Result<Shown, ShowError> {
    let sentences = line::Sentences::new(log.header());
    let mut shown = Shown::default();
    let mut gathered = Vec::with_capacity(LINES + (64 << 10));
    loop {
        let event = match log.next_event() {
            Ok(Some(event)) => event,
            end => {
                out.write_all(&gathered)?;
                out.flush()?;
                return end.map(|_| shown).map_err(ShowError::Log);
            }
        };
        shown.last_ns = shown.last_ns.max(event.time());
        if !wanted.has(&event) {
            continue;
        }
        shown.lines += 1;
        match lines {
            Lines::Text => sentences.text(&mut gathered, &event),
            Lines::Json => line::json(&mut gathered, &event),
        }
        if gathered.len() >= LINES {
            out.write_all(&gathered)?;
            gathered.clear();
        }
    }
}

/// Writes the wanted events of a file as lines.
///
/// # Errors
/// If the log is damaged (the lines before the damage are written), or if `out` fails.
pub fn show_file(
    log: &mut Merged<File>,
    wanted: &Filter,
    lines: Lines,
    out: &mut dyn Write,
) -> Result<Shown, ShowError> {
    show(log, wanted, lines, out)
}
