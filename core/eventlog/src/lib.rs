//! Reads and writes the binary event logs of GHC's runtime, versions 7 to 9, and computes from a
//! log the figures that the same run prints with `+RTS -s`. [`record`] writes the log of a run of
//! this project, and [`hp`] reads and writes GHC's heap profiles.
//!
//! **Terms.** An *event* has a type, a time stamp in nanoseconds since the start of the runtime,
//! and a payload. The header *declares* the types: number, size, description. A *block* is a
//! stretch of the file with events of one capability, or global ones. All numbers are big-endian.
//!
//! **How.** One table ([`kinds`]) describes every type: number, name, size, fields, and a sentence
//! for text. It drives [`Reader`], [`Merged`] and [`Writer`]. A reader takes an event from its
//! buffer by the size that the *log* declares, so types missing from the table are skipped, and
//! newer versions of its types are read as far as they are known. An [`Event`] is a view of the
//! buffer; fields are decoded only on request.
//!
//! **Order.** [`Reader`] reads the file front to back, [`Merged`] in order of time.
//!
//! **Memory** is half a MiB for [`Reader`], whatever the log; see [`Merged`] for its own.
//!
//! **Damage.** A truncated or invalid log gives one [`Error`] with its place, never a panic. A
//! salvaging reader keeps the error and ends, or resumes at the next block.
//!
//! ```
//! use gclab_eventlog::{Buffer, Reader, Writer, kinds};
//!
//! let mut log = Writer::new(Vec::new(), [&kinds::GC_START, &kinds::HEAP_LIVE])?;
//! let mut buffer = Buffer::new(Some(0));
//! buffer.event(&kinds::GC_START, 1000, &[])?;
//! buffer.event(&kinds::HEAP_LIVE, 2000, &[0.into(), 4096.into()])?;
//! log.block(&mut buffer, 3000)?;
//! let bytes = log.finish()?;
//!
//! let mut reader = Reader::new(&bytes[..], "example.eventlog")?;
//! let mut live = None;
//! while let Some(event) = reader.next_event()? {
//!     if event.known() == kinds::number::HEAP_LIVE {
//!         let [_, bytes] = event.numbers();
//!         live = bytes;
//!     }
//! }
//! assert_eq!(live, Some(4096));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod check;
mod chrome;
mod classes;
mod debug;
mod diff;
mod error;
mod event;
mod header;
mod history;
pub mod hp;
mod input;
mod kind;
pub mod kinds;
mod merged;
mod push;
mod reader;
pub mod record;
mod show;
mod summary;
mod timeline;
mod value;
mod wire;
mod writer;

pub use check::{Complaint, Complaints, Rule, check, check_file};
pub use chrome::{chrome, chrome_file};
pub use classes::{Classes, NoClass};
pub use debug::{DebugMessages, NoMessages};
pub use diff::{Amount, Row, Setting, Side, rows, settings};
pub use error::{Error, Problem};
pub use event::Event;
pub use header::{Declared, Header};
pub use history::History;
pub use kind::{
    CENSUS, CHECK, Field, Form, INSPECT, Kind, RETAINERS, Size, breakdown_text, capset_type_text, purpose_text,
    status_text, status_text_of_7_8_2,
};
pub use merged::Merged;
pub use reader::Reader;
pub use show::{Filter, Lines, LiveText, ShowError, Shown, show, show_file};
pub use summary::{
    CapTimes, Figure, Generation, Interval, Live, LookTimes, Parallel, Sparks, Stops, Summary, TimeSamples,
};
pub use timeline::{
    Census, Collections, GENERATIONS, HeapProfile, Lane, Mark, Pause, Piece, STATES, Sample, SparkSample, State,
    Stretch, Timeline,
};
pub use value::{Fields, Value, texts};
pub use writer::{Buffer, Misfit, Writer};
