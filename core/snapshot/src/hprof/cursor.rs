//! The numbers of a dump, which are big-endian, and their offsets in the file.

use crate::error::{Error, Problem};
use crate::input::Input;

/// The first bytes of every dump.
pub(crate) const MAGIC: &[u8] = b"JAVA PROFILE ";

/// The longest name of the format at the start of a file, with its final zero. Known names have 19
/// bytes.
const LONGEST_MAGIC: usize = 32;

/// A place in a dump, after its header.
pub(super) struct Cursor<'r> {
    input: Input<'r>,
    /// The bytes of an id: 4 or 8.
    pub(super) id_bytes: u32,
}

impl<'r> Cursor<'r> {
    /// Reads the header.
    pub(super) fn new(input: Input<'r>) -> Result<Self, Error> {
        let mut cursor = Cursor { input, id_bytes: 8 };
        let mut magic = Vec::new();
        while magic.last() != Some(&0) && magic.len() < LONGEST_MAGIC {
            magic.push(cursor.u1("the name of the format")?);
        }
        if !matches!(
            magic.strip_prefix(MAGIC),
            Some(b"1.0\0" | b"1.0.1\0" | b"1.0.2\0" | b"1.0.3\0")
        ) {
            let found = String::from_utf8_lossy(&magic).into_owned();
            return Err(cursor.input.error_at(
                0,
                Problem::Dump(format!(
                    "not a JVM heap dump, version 1.0 to 1.0.3: it begins with {found:?}"
                )),
            ));
        }
        let at = cursor.offset();
        cursor.id_bytes = cursor.u4("the size of ids")?;
        if !matches!(cursor.id_bytes, 4 | 8) {
            return Err(cursor.error_at(at, format!("ids of {} bytes, expected 4 or 8", cursor.id_bytes)));
        }
        cursor.skip(8, "the time of the dump")?;
        Ok(cursor)
    }

    pub(super) fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// The error that `sentence` describes, at `offset`.
    pub(super) fn error_at(&self, offset: u64, sentence: String) -> Error {
        self.input.error_at(offset, Problem::Dump(sentence))
    }

    /// The error of a problem at the next byte.
    pub(super) fn problem(&self, problem: Problem) -> Error {
        self.input.error(problem)
    }

    /// The next byte, without taking it. `None` at the end of the file.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Error> {
        self.input.peek()
    }

    /// The next `count` bytes, without taking them, or all that are left of the file.
    pub(super) fn head(&mut self, count: usize) -> Result<&[u8], Error> {
        self.input.head(count)
    }

    /// The error for a file that ends here although `what` should follow.
    pub(super) fn cut_off(&self, what: &'static str) -> Error {
        self.input.error(Problem::Truncated(what))
    }

    /// Passes the next `count` bytes to `sink`, piece by piece.
    pub(super) fn bytes(&mut self, count: u64, what: &'static str, mut sink: impl FnMut(&[u8])) -> Result<(), Error> {
        let mut left = count;
        while left > 0 {
            let rest = self.input.rest()?;
            if rest.is_empty() {
                return Err(self.cut_off(what));
            }
            let piece = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            sink(&rest[..piece]);
            self.input.take(piece);
            left -= piece as u64;
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, count: u64, what: &'static str) -> Result<(), Error> {
        self.bytes(count, what, |_| {})
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Error> {
        if let Some(&array) = self.input.rest()?.first_chunk() {
            self.input.take(N);
            return Ok(array);
        }
        let (mut array, mut filled) = ([0; N], 0);
        self.bytes(N as u64, what, |piece| {
            array[filled..filled + piece.len()].copy_from_slice(piece);
            filled += piece.len();
        })?;
        Ok(array)
    }

    #[inline]
    pub(super) fn u1(&mut self, what: &'static str) -> Result<u8, Error> {
        Ok(self.array::<1>(what)?[0])
    }

    #[inline]
    pub(super) fn u2(&mut self, what: &'static str) -> Result<u16, Error> {
        Ok(u16::from_be_bytes(self.array(what)?))
    }

    #[inline]
    pub(super) fn u4(&mut self, what: &'static str) -> Result<u32, Error> {
        Ok(u32::from_be_bytes(self.array(what)?))
    }

    #[inline]
    pub(super) fn id(&mut self, what: &'static str) -> Result<u64, Error> {
        if self.id_bytes == 4 {
            self.u4(what).map(u64::from)
        } else {
            Ok(u64::from_be_bytes(self.array(what)?))
        }
    }

    /// Reads the type of a value.
    pub(super) fn basic(&mut self, what: &'static str) -> Result<Basic, Error> {
        let at = self.offset();
        let tag = self.u1(what)?;
        Basic::of(tag).ok_or_else(|| self.error_at(at, format!("{what} is {tag}, expected 2 (object) or 4 to 11")))
    }
}

/// Types of values, with their numbers in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Basic {
    Object = 2,
    Boolean = 4,
    Char,
    Float,
    Double,
    Byte,
    Short,
    Int,
    Long,
}

impl Basic {
    pub(super) fn of(tag: u8) -> Option<Self> {
        use Basic::{Boolean, Byte, Char, Double, Float, Int, Long, Object, Short};
        [Object, Boolean, Char, Float, Double, Byte, Short, Int, Long]
            .into_iter()
            .find(|basic| *basic as u8 == tag)
    }

    /// The bytes of a value in the dump (and in memory, except for references).
    pub(super) fn bytes(self, id_bytes: u32) -> u32 {
        match self {
            Basic::Object => id_bytes,
            Basic::Boolean | Basic::Byte => 1,
            Basic::Char | Basic::Short => 2,
            Basic::Float | Basic::Int => 4,
            Basic::Double | Basic::Long => 8,
        }
    }

    /// The type's name in Java source.
    pub(super) fn name(self) -> &'static str {
        match self {
            Basic::Object => "object",
            Basic::Boolean => "boolean",
            Basic::Char => "char",
            Basic::Float => "float",
            Basic::Double => "double",
            Basic::Byte => "byte",
            Basic::Short => "short",
            Basic::Int => "int",
            Basic::Long => "long",
        }
    }
}
