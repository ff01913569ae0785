//! Writes logs: the header, blocks of events, and the end.
//!
//! A [`Buffer`] gathers the events of one capability; a [`Writer`] writes it as one block. The same
//! table drives them and the readers ([`crate::kinds`]).

use std::io::{self, Write};

use crate::kind::{END, Field, Form, Kind, Size};
use crate::kinds::BLOCK_MARKER;
use crate::value::Value;

/// The bytes of a block marker.
const MARKER: usize = 24;

/// Writes a log.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
}

/// Why an event cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {reason}")]
pub struct Misfit {
    /// The name of the event type.
    pub kind: &'static str,
    /// The reason in words.
    pub reason: String,
}

impl<W: Write> Writer<W> {
    /// Writes the header of a log, which declares `kinds`. Readers need a declaration of every type
    /// that occurs; that of the block marker is always written.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(mut out: W, kinds: impl IntoIterator<Item = &'static Kind>) -> io::Result<Self> {
        let mut kinds: Vec<&Kind> = kinds.into_iter().chain([&BLOCK_MARKER]).collect();
        kinds.sort_by_key(|kind| kind.number);
        kinds.dedup_by_key(|kind| kind.number);
        let mut header = b"hdrbhetb".to_vec();
        for kind in kinds {
            header.extend(b"etb\0");
            header.extend(kind.number.to_be_bytes());
            header.extend(kind.payload_size().unwrap_or(0xffff).to_be_bytes());
            header.extend((kind.description.len() as u32).to_be_bytes());
            header.extend(kind.description.as_bytes());
            header.extend(0_u32.to_be_bytes());
            header.extend(b"ete\0");
        }
        header.extend(b"hetehdredatb");
        out.write_all(&header)?;
        Ok(Writer { out })
    }

    /// Writes the events of `buffer` as one block that ends at `end_time`, and empties the buffer.
    /// Writes nothing if there are none: readers would take the event after an empty block to be in
    /// it.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn block(&mut self, buffer: &mut Buffer, end_time: u64) -> io::Result<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        let size = buffer.bytes.len() as u32;
        let mut marker = Vec::with_capacity(MARKER);
        marker.extend(BLOCK_MARKER.number.to_be_bytes());
        marker.extend(buffer.begin.to_be_bytes());
        marker.extend(size.to_be_bytes());
        marker.extend(end_time.to_be_bytes());
        marker.extend(buffer.cap.unwrap_or(0xffff).to_be_bytes());
        buffer.bytes[..MARKER].copy_from_slice(&marker);
        self.out.write_all(&buffer.bytes)?;
        buffer.bytes.truncate(MARKER);
        Ok(())
    }

    /// Flushes the output.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes the end mark and returns the output.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&END.to_be_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The events of one capability, or global ones, to be written to a log.
#[derive(Debug)]
pub struct Buffer {
    cap: Option<u16>,
    /// The time of the first event.
    begin: u64,
    /// Room for the marker, and the events.
    bytes: Vec<u8>,
}

impl Buffer {
    /// Limit on the bytes of events in a buffer: a block's size must fit in four bytes.
    const MOST: usize = 1 << 31;

    /// An empty buffer for a capability, or for global events if `None`.
    pub fn new(cap: Option<u16>) -> Self {
        Buffer {
            cap,
            begin: 0,
            bytes: vec![0; MARKER],
        }
    }

    /// The size of the events so far, in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len() - MARKER
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event with a value for each field. On error the buffer is unchanged.
    ///
    /// # Errors
    /// If the values do not fit the type: the wrong number of values, a number too large for its
    /// field, a text with a NUL, or more than 65535 bytes in all.
    pub fn event(&mut self, kind: &Kind, time: u64, values: &[Value<'_>]) -> Result<(), Misfit> {
        let start = self.bytes.len();
        if self.is_empty() {
            self.begin = time;
        }
        self.bytes.extend(kind.number.to_be_bytes());
        self.bytes.extend(time.to_be_bytes());
        let put = self.payload(kind, values);
        put.map_err(|reason| {
            self.bytes.truncate(start);
            Misfit {
                kind: kind.name,
                reason,
            }
        })
    }

    fn payload(&mut self, kind: &Kind, values: &[Value<'_>]) -> Result<(), String> {
        if values.len() != kind.fields.len() {
            return Err(format!("{} values for {} fields", values.len(), kind.fields.len()));
        }
        let length_at = self.bytes.len();
        let is_variable = matches!(kind.size, Size::Variable { .. });
        if is_variable {
            self.bytes.extend([0; 2]);
        }
        for (field, value) in kind.fields.iter().zip(values) {
            self.value(field, value)?;
        }
        if is_variable {
            let length = self.bytes.len() - length_at - 2;
            let fits = u16::try_from(length).map_err(|_| format!("{length} bytes, more than 65535"))?;
            self.bytes[length_at..length_at + 2].copy_from_slice(&fits.to_be_bytes());
        }
        if self.bytes.len() > Self::MOST {
            return Err("the buffer is full".to_owned());
        }
        Ok(())
    }

    fn value(&mut self, field: &Field, value: &Value<'_>) -> Result<(), String> {
        let name = field.name;
        match (field.form, value) {
            (Form::Zero | Form::Text, Value::Text(text)) => {
                if text.contains(&0) {
                    return Err(format!("`{name}` has a NUL"));
                }
                self.bytes.extend_from_slice(text);
                if field.form == Form::Zero {
                    self.bytes.push(0);
                }
            }
            (Form::List, Value::List(bytes)) | (Form::Bytes, Value::Bytes(bytes)) => {
                self.bytes.extend_from_slice(bytes);
            }
            (Form::Ids, Value::Ids(ids)) => {
                let count =
                    u8::try_from(ids.len()).map_err(|_| format!("`{name}` has {} ids, more than 255", ids.len()))?;
                self.bytes.push(count);
                self.bytes.extend_from_slice(ids.as_flattened());
            }
            (form, Value::Number(number)) if form.width().is_some() => {
                let width = form.width().unwrap_or(8);
                let bytes = number.to_be_bytes();
                let (unused, bytes) = bytes.split_at(8 - width);
                if unused.iter().any(|byte| *byte != 0) {
                    return Err(format!("`{name}` is {number}, which needs more than {width} bytes"));
                }
                self.bytes.extend_from_slice(bytes);
            }
            (form, value) => return Err(format!("`{name}` is {value:?}, expected {form:?}")),
        }
        Ok(())
    }
}
