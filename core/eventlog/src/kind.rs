//! Descriptions of event types: number, name, size and fields.

/// The number that ends the data, in place of an event type.
pub(crate) const END: u16 = 0xffff;

/// A type of events as GHC writes it.
#[derive(Debug)]
pub struct Kind {
    /// The number of the type in logs.
    pub number: u16,
    /// GHC's name, without its `EVENT_`.
    pub name: &'static str,
    /// The description that GHC declares.
    pub description: &'static str,
    /// Whether all its events have one size.
    pub size: Size,
    /// The fields of its payload, in order.
    pub fields: &'static [Field],
    /// The sentence for an event in text; `{field}` is the field's value.
    pub text: &'static str,
}

/// How the size of a payload is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// The sum of the fields. Older versions of GHC wrote fewer fields, at least `required`.
    Fixed {
        /// The number of fields that every version writes.
        required: usize,
    },
    /// Each event begins with the length of its payload. Older versions of GHC wrote fewer fields,
    /// at least `required`.
    Variable {
        /// The number of fields that every version writes.
        required: usize,
    },
}

/// A part of a payload.
#[derive(Debug)]
pub struct Field {
    /// The name of the field, as in JSON.
    pub name: &'static str,
    /// How its bytes are decoded.
    pub form: Form,
}

/// How the bytes of a field are decoded. All numbers are unsigned and big-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One byte.
    U8,
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
    /// Eight bytes.
    U64,
    /// Eight bytes, shown in hexadecimal: a task or an address.
    Hex,
    /// Two bytes: why a thread stopped.
    Status,
    /// Two bytes: the type of a capability set.
    CapsetType,
    /// Four bytes: the breakdown of a heap profile.
    Breakdown,
    /// A byte: why gclab looks at its stopped heap.
    Purpose,
    /// Text up to a NUL, inclusive.
    Zero,
    /// Text up to the end of the payload.
    Text,
    /// Texts up to the end of the payload, each followed or separated by a NUL.
    List,
    /// Any bytes up to the end of the payload.
    Bytes,
    /// A byte with a number of ids, and that many ids of four bytes.
    Ids,
}

impl Form {
    /// The size of a number in bytes; `None` for other forms.
    pub const fn width(self) -> Option<usize> {
        match self {
            Form::U8 | Form::Purpose => Some(1),
            Form::U16 | Form::Status | Form::CapsetType => Some(2),
            Form::U32 | Form::Breakdown => Some(4),
            Form::U64 | Form::Hex => Some(8),
            Form::Zero | Form::Text | Form::List | Form::Bytes | Form::Ids => None,
        }
    }
}

impl Kind {
    /// The payload size that a log declares: `None` for variable sizes.
    pub fn payload_size(&self) -> Option<u16> {
        match self.size {
            Size::Fixed { .. } => Some(self.size_of(self.fields.len())),
            Size::Variable { .. } => None,
        }
    }

    /// The number of fields that every version of GHC writes.
    pub(crate) fn required(&self) -> usize {
        match self.size {
            Size::Fixed { required } | Size::Variable { required } => required,
        }
    }

    /// The size of the first `fields` fields of a type of fixed size, in bytes.
    fn size_of(&self, fields: usize) -> u16 {
        let widths = self.fields[..fields].iter().filter_map(|field| field.form.width());
        widths.sum::<usize>() as u16
    }

    /// The number of fields in events declared with this size; `None` if the declaration is not
    /// GHC's.
    pub(crate) fn fields_in(&self, declared: Option<u16>) -> Option<usize> {
        match (self.size, declared) {
            (Size::Variable { .. }, None) => Some(self.fields.len()),
            (Size::Fixed { required }, Some(size)) => {
                let all = self.fields.len();
                if size >= self.size_of(all) {
                    return Some(all);
                }
                (required..all).find(|fields| self.size_of(*fields) == size)
            }
            _ => None,
        }
    }
}

/// The name of a stop status, numbered as in GHC 9.
pub fn status_text(status: u64) -> Option<&'static str> {
    Some(match status {
        0 => "no reason given",
        1 => "heap overflow",
        2 => "stack overflow",
        3 => "thread yielding",
        4 => "thread blocked",
        5 => "thread finished",
        6 | 14..=17 => "making a foreign call",
        7 => "blocked on an MVar",
        8 => "blocked on black hole",
        9 => "blocked on I/O read",
        10 => "blocked on I/O write",
        11 => "blocked on threadDelay",
        12 => "blocked in STM retry",
        13 => "blocked on asyncDoProc",
        18 => "blocked on throwTo",
        19 => "thread migrating",
        20 => "blocked reading an MVar",
        _ => return None,
    })
}

/// The name of a stop status, numbered as in GHC 7.8.2, which inserted the wait to read an `MVar`
/// at 8 and moved the later ones up.
pub fn status_text_of_7_8_2(status: u64) -> Option<&'static str> {
    match status {
        8 => status_text(20),
        9.. => status_text(status - 1).filter(|_| status <= 20),
        _ => status_text(status),
    }
}

/// The name of a type of capability set, as in the library ghc-events.
pub fn capset_type_text(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "CapsetCustom",
        2 => "CapsetOsProcess",
        3 => "CapsetClockDomain",
        _ => return None,
    })
}

/// The number of a census in [`Form::Purpose`].
pub const CENSUS: u64 = 1;
/// The number of a census by retainers in [`Form::Purpose`].
pub const RETAINERS: u64 = 2;
/// The number of the checker in [`Form::Purpose`].
pub const CHECK: u64 = 3;
/// The number of any other look in [`Form::Purpose`].
pub const INSPECT: u64 = 4;

/// The name of a purpose of a look at the stopped heap.
pub fn purpose_text(number: u64) -> Option<&'static str> {
    Some(match number {
        CENSUS => "census",
        RETAINERS => "census by retainers",
        CHECK => "check of the heap",
        INSPECT => "inspection",
        _ => return None,
    })
}

/// The name of a heap profile's breakdown.
pub fn breakdown_text(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "cost centre",
        2 => "module",
        3 => "closure description",
        4 => "type description",
        5 => "retainer",
        6 => "biography",
        7 => "closure type",
        8 => "info table",
        9 => "era",
        _ => return None,
    })
}
