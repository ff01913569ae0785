//! The part of JSON that a snapshot needs: keys, whole numbers, raw strings, and skipping values of
//! any kind.
//!
//! Nothing here recurses or keeps more than its caller asks for, so any depth and any length of
//! input is safe.

use crate::error::{Error, Problem, show};
use crate::input::Input;

/// The longest key of an object, in bytes. V8's are below 30.
const LONGEST_KEY: usize = 1 << 10;

impl Input<'_> {
    /// Skips white space. Returns the byte after it, without taking it.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<u8>, Error> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.take(1),
                other => return Ok(other),
            }
        }
    }

    /// Takes `byte` if it comes next after white space.
    #[inline]
    pub(crate) fn accept(&mut self, byte: u8) -> Result<bool, Error> {
        let found = self.next()? == Some(byte);
        if found {
            self.take(1);
        }
        Ok(found)
    }

    /// Takes `byte`, which must come next after white space. Messages call it `name`.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8, name: &'static str) -> Result<(), Error> {
        if self.accept(byte)? {
            Ok(())
        } else {
            Err(self.unexpected(name))
        }
    }

    /// A whole number below 2^64.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, Error> {
        const WHAT: &str = "a whole number";
        let Some(first @ b'0'..=b'9') = self.next()? else {
            return Err(self.unexpected(WHAT));
        };
        self.take(1);
        let mut value = u64::from(first - b'0');
        loop {
            match self.peek()? {
                Some(digit @ b'0'..=b'9') => {
                    let larger = value
                        .checked_mul(10)
                        .and_then(|tens| tens.checked_add(u64::from(digit - b'0')));
                    value = larger.ok_or_else(|| self.unexpected("a number below 2^64"))?;
                    self.take(1);
                }
                Some(b'.' | b'e' | b'E') => return Err(self.unexpected(WHAT)),
                Some(_) => return Ok(value),
                // Every number here is inside an array. If the text ends after one, its last digits
                // may be missing.
                None => return Err(self.unexpected("the rest of a number")),
            }
        }
    }

    /// Reads a string and passes the bytes between its quotes to `sink`, piece by piece, with
    /// escapes as they are.
    pub(crate) fn string(&mut self, sink: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        const CLOSED: &str = "the closing quote of a string";
        self.expect(b'"', "a string")?;
        loop {
            let rest = self.rest()?;
            let plain = rest
                .iter()
                .position(|&byte| byte == b'"' || byte == b'\\')
                .unwrap_or(rest.len());
            sink(&rest[..plain]);
            self.take(plain);
            match self.peek()? {
                Some(b'"') => {
                    self.take(1);
                    return Ok(());
                }
                Some(b'\\') => {
                    self.take(1);
                    match self.peek()? {
                        Some(escaped @ (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u')) => {
                            sink(&[b'\\', escaped])
                        }
                        _ => {
                            return Err(self.unexpected("one of \" \\ / b f n r t u after a backslash"));
                        }
                    }
                    self.take(1);
                }
                Some(_) => {}
                None => return Err(self.unexpected(CLOSED)),
            }
        }
    }

    /// Reads a key of an object and the colon after it.
    pub(crate) fn key(&mut self) -> Result<String, Error> {
        let (start, mut key) = (self.offset(), Vec::new());
        self.string(&mut |piece| key.extend(piece.iter().take(LONGEST_KEY - key.len())))?;
        self.expect(b':', "a colon after a key")?;
        String::from_utf8(key).map_err(|_| {
            self.error_at(
                start,
                Problem::Expected {
                    expected: "a key in UTF-8",
                    found: "other bytes".to_owned(),
                },
            )
        })
    }

    /// Skips one value of any kind. Passes its text to `sink`, without the white space around it.
    pub(crate) fn value(&mut self, mut sink: impl FnMut(&[u8])) -> Result<(), Error> {
        let mut depth = 0_u64;
        loop {
            match self.next()? {
                Some(b'"') => {
                    sink(b"\"");
                    self.string(&mut sink)?;
                    sink(b"\"");
                }
                Some(byte @ (b'{' | b'[')) => {
                    depth += 1;
                    sink(&[byte]);
                    self.take(1);
                    continue;
                }
                Some(byte @ (b'}' | b']' | b',' | b':')) if depth > 0 => {
                    depth -= u64::from(byte == b'}' || byte == b']');
                    sink(&[byte]);
                    self.take(1);
                }
                Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'a'..=b'z' | b'E') => self.word(&mut sink)?,
                _ => return Err(self.unexpected("a value")),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self, sink: &mut impl FnMut(&[u8])) -> Result<(), Error> {
        loop {
            let rest = self.rest()?;
            let inside = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'a'..=b'z' | b'E');
            let length = rest.iter().position(|byte| !inside(byte)).unwrap_or(rest.len());
            if length == 0 {
                return Ok(());
            }
            sink(&rest[..length]);
            self.take(length);
        }
    }

    /// Calls `item` for each item of an array.
    pub(crate) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.expect(b'[', "an array")?;
        if self.accept(b']')? {
            return Ok(());
        }
        loop {
            item(self)?;
            match self.next()? {
                Some(b',') => self.take(1),
                Some(b']') => {
                    self.take(1);
                    return Ok(());
                }
                _ => return Err(self.unexpected("a comma or the end of an array")),
            }
        }
    }

    /// Skips white space to the end of the file. In a gzip file this also checks its checksum.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        match self.next()? {
            None => Ok(()),
            Some(byte) => Err(self.error(Problem::Expected {
                expected: "the end of the file",
                found: show(byte),
            })),
        }
    }
}
