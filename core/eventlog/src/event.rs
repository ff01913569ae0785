//! One event of a log, decoded in place.

use crate::header::Declared;
use crate::kind::Kind;
use crate::value::{Fields, number};

/// An event. It borrows the reader's buffer.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    pub(crate) offset: u64,
    pub(crate) time: u64,
    pub(crate) cap: Option<u16>,
    pub(crate) declared: &'a Declared,
    pub(crate) payload: &'a [u8],
}

impl<'a> Event<'a> {
    /// The event's offset in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The time stamp: nanoseconds since the start of the runtime.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The capability whose buffer held the event; `None` for the global one.
    pub fn cap(&self) -> Option<u16> {
        self.cap
    }

    /// The type as the log declares it.
    pub fn declared(&self) -> &'a Declared {
        self.declared
    }

    /// The type in the table; `None` for an event that can only be skipped.
    pub fn kind(&self) -> Option<&'static Kind> {
        self.declared.kind
    }

    /// The number of the type if it is in the table, for a `match`; `u16::MAX` for an event that
    /// can only be skipped.
    #[inline]
    pub fn known(&self) -> u16 {
        self.declared.known
    }

    /// The payload, without its length.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The fields and their values. Fields that this log lacks are left out; an event that can only
    /// be skipped has none.
    pub fn fields(&self) -> Fields<'a> {
        let fields = self
            .declared
            .kind
            .map_or(&[][..], |kind| &kind.fields[..self.declared.fields]);
        Fields::new(fields, self.payload)
    }

    /// The numbers at the start of the payload, in the order of the table. A field that the event
    /// does not have, or that is not a number, is absent.
    #[inline]
    pub fn numbers<const N: usize>(&self) -> [Option<u64>; N] {
        let mut all = [None; N];
        let mut rest = self.payload;
        let fields = self.declared.kind.map_or(&[][..], |kind| kind.fields);
        for (place, field) in all.iter_mut().zip(fields) {
            let split = field.form.width().and_then(|width| rest.split_at_checked(width));
            let Some((bytes, behind)) = split else { break };
            *place = Some(number(bytes));
            rest = behind;
        }
        all
    }
}
