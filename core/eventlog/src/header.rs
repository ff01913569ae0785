//! The header of a log: the event types that it declares.

use std::io::Read;

use crate::error::{Error, Problem, show};
use crate::input::Input;
use crate::kind::Kind;
use crate::kinds::{self, number};

/// The longest header read, in bytes. GHC 9 writes about 3000.
const LONGEST_HEADER: u64 = 1 << 20;

/// The table's code for a variable size.
const VARIABLE: u16 = 0xffff;

/// An event type as a log declares it.
#[derive(Debug)]
pub struct Declared {
    /// The number of the type.
    pub number: u16,
    /// The bytes of each payload, or `None` if each event has its own length.
    pub size: Option<u16>,
    /// The description in the log.
    pub description: String,
    /// The type in the table, if the declaration fits it. Events without one can only be skipped.
    pub kind: Option<&'static Kind>,
    /// How many fields of `kind` each event has.
    pub(crate) fields: usize,
    /// The number of `kind`, for the innermost loop; `u16::MAX` if there is none.
    pub(crate) known: u16,
}

/// The size of a type's events and its index among those declared, for the innermost loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// The bytes of each payload, [`Slot::VARIABLE`] or [`Slot::UNDECLARED`].
    pub(crate) size: u32,
    pub(crate) place: u32,
}

impl Slot {
    pub(crate) const UNDECLARED: u32 = u32::MAX;
    pub(crate) const VARIABLE: u32 = u32::MAX - 1;
}

/// The event types of a log.
#[derive(Debug, Default)]
pub struct Header {
    declared: Vec<Declared>,
    /// By number, up to the largest one.
    slots: Vec<Slot>,
    /// Whether sizes are those of GHC 6.12, which were wrong.
    of_6_12: bool,
}

/// The bytes that GHC 6.12 declared for a thread. Its events use [`THREAD`] bytes.
const THREAD_OF_6_12: u16 = 8;

/// The bytes of a thread in events.
const THREAD: u16 = 4;

impl Header {
    /// The types in the order in which the log declares them.
    pub fn declared(&self) -> &[Declared] {
        &self.declared
    }

    /// The type with this number.
    pub fn numbered(&self, number: u16) -> Option<&Declared> {
        let slot = self.slot(number);
        (slot.size != Slot::UNDECLARED).then(|| &self.declared[slot.place as usize])
    }

    /// Whether stop statuses are numbered as in GHC 7.8.2. Readers recognise its logs by type 58
    /// declared without 59.
    pub fn has_statuses_of_7_8_2(&self) -> bool {
        let declares = |number| self.numbered(number).is_some();
        declares(number::USER_MARKER) && !declares(number::HACK_BUG_T9003)
    }

    #[inline]
    pub(crate) fn slot(&self, number: u16) -> Slot {
        let undeclared = Slot {
            size: Slot::UNDECLARED,
            place: 0,
        };
        self.slots.get(usize::from(number)).copied().unwrap_or(undeclared)
    }

    #[inline]
    pub(crate) fn at(&self, place: u32) -> &Declared {
        &self.declared[place as usize]
    }

    /// Reads the header and the mark at the start of the data.
    pub(crate) fn read<R: Read>(input: &mut Input<R>) -> Result<Header, Error> {
        let head = input.head(4)?;
        if head != b"hdrb" {
            let found = show(head);
            return Err(input.error(Problem::NotALog(found)));
        }
        input.take(4);
        expect(input, b"hetb", "`hetb`, the beginning of the event types")?;
        let mut header = Header::default();
        loop {
            let mark = mark(input, "the event types")?;
            match &mark {
                b"hete" => break,
                b"etb\0" => header.entry(input)?,
                _ => {
                    let found = show(&mark);
                    let expected = "`etb`, an event type, or `hete`, their end";
                    return Err(input.error_at(input.offset() - 4, Problem::Header { expected, found }));
                }
            }
            if input.offset() > LONGEST_HEADER {
                let problem = Problem::Declaration(format!("more than {LONGEST_HEADER} bytes of event types"));
                return Err(input.error(problem));
            }
        }
        expect(input, b"hdre", "`hdre`, the end of the header")?;
        expect(input, b"datb", "`datb`, the beginning of the data")?;
        Ok(header)
    }

    /// Reads one declaration, after its mark.
    fn entry<R: Read>(&mut self, input: &mut Input<R>) -> Result<(), Error> {
        let place = input.offset() - 4;
        let refuse = |input: &Input<R>, text: String| Err(input.error_at(place, Problem::Declaration(text)));
        let fixed = exactly(input, 8, "an event type")?;
        let number = u16::from_be_bytes([fixed[0], fixed[1]]);
        let size = u16::from_be_bytes([fixed[2], fixed[3]]);
        let length = u32::from_be_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]);
        let size = (size != VARIABLE).then_some(size);
        let description = text(input, place, length)?;
        let extra = exactly(input, 4, "an event type")?;
        let extra = u32::from_be_bytes([extra[0], extra[1], extra[2], extra[3]]);
        text(input, place, extra)?;
        expect(input, b"ete\0", "`ete`, the end of an event type")?;
        if number == crate::kind::END {
            return refuse(input, format!("event type {number} is reserved for the end mark"));
        }
        if self.numbered(number).is_some() {
            return refuse(input, format!("event type {number} is declared twice"));
        }
        if number == number::BLOCK_MARKER && size.is_none_or(|size| size < 14) {
            let size = size.map_or("a variable size".to_owned(), |size| format!("{size} bytes"));
            return refuse(input, format!("block markers have {size}, expected 14 bytes"));
        }
        self.declare(number, size, description);
        Ok(())
    }

    fn declare(&mut self, number: u16, size: Option<u16>, description: String) {
        // Logs of GHC 6.12 are recognised by this type, which they declare first.
        self.of_6_12 |= number == number::CREATE_THREAD && size == Some(THREAD_OF_6_12);
        let size = size.map(|size| if self.of_6_12 { size_in_6_12(number, size) } else { size });
        let resolved = kinds::resolve(number, size);
        let place = self.declared.len() as u32;
        self.declared.push(Declared {
            number,
            size,
            description,
            kind: resolved.map(|(kind, _)| kind),
            fields: resolved.map_or(0, |(_, fields)| fields),
            known: resolved.map_or(u16::MAX, |(kind, _)| kind.number),
        });
        let at = usize::from(number);
        if self.slots.len() <= at {
            let undeclared = Slot {
                size: Slot::UNDECLARED,
                place: 0,
            };
            self.slots.resize(at + 1, undeclared);
        }
        let size = size.map_or(Slot::VARIABLE, u32::from);
        self.slots[at] = Slot { size, place };
    }
}

/// The payload size that GHC 6.12 wrote where it declared `size`.
fn size_in_6_12(number: u16, size: u16) -> u16 {
    use number::*;
    match number {
        CREATE_THREAD..=STEAL_SPARK | THREAD_WAKEUP | CREATE_SPARK_THREAD => {
            size.saturating_sub(THREAD_OF_6_12 - THREAD)
        }
        // The number of capabilities.
        STARTUP => 2,
        _ => size,
    }
}

/// Takes the next `N` bytes.
fn exactly<'i, R: Read>(input: &'i mut Input<R>, count: usize, within: &'static str) -> Result<&'i [u8], Error> {
    let there = input.head(count)?.len();
    if there < count {
        let offset = input.offset() + there as u64;
        return Err(input.error_at(offset, Problem::Truncated(within)));
    }
    Ok(input.taken(count))
}

fn mark<R: Read>(input: &mut Input<R>, within: &'static str) -> Result<[u8; 4], Error> {
    let bytes = exactly(input, 4, within)?;
    Ok([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn expect<R: Read>(input: &mut Input<R>, wanted: &[u8; 4], expected: &'static str) -> Result<(), Error> {
    let mark = mark(input, "the header")?;
    if mark == *wanted {
        return Ok(());
    }
    let found = show(&mark);
    Err(input.error_at(input.offset() - 4, Problem::Header { expected, found }))
}

/// Takes a text of a declaration, bounded by the header's limit.
fn text<R: Read>(input: &mut Input<R>, place: u64, length: u32) -> Result<String, Error> {
    const LONGEST: u32 = 1 << 16;
    if length > LONGEST {
        let text = format!("an event type has a text of {length} bytes, more than {LONGEST}");
        return Err(input.error_at(place, Problem::Declaration(text)));
    }
    let bytes = exactly(input, length as usize, "the description of an event type")?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
