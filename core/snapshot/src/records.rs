//! The two arrays of records, and the checks of a record's numbers.

use crate::error::{Error, Problem};
use crate::input::Input;
use crate::snapshot::Snapshot;

/// The most digits of which every number is below 2^64.
const LONGEST: usize = 19;

/// Numbers that are not whole, where no figure needs them: how many, and the place of the first.
pub(crate) type Odd = Option<(u64, u64)>;

/// Calls `each` with every `width` numbers of a flat array. An error of `each` is placed at the
/// record's first number. Fields that are not `needed` may have any number; one that is not whole
/// counts as the largest.
#[inline]
pub(crate) fn records(
    input: &mut Input<'_>,
    width: usize,
    needed: &[usize],
    mut each: impl FnMut(&[u64]) -> Result<(), Problem>,
) -> Result<Odd, Error> {
    let mut row = vec![0; width];
    let mut odd = None;
    input.array(|input| {
        input.next()?;
        let start = input.offset();
        if let Some(length) = plain(input.rest()?, &mut row) {
            input.take(length);
        } else {
            for (index, field) in row.iter_mut().enumerate() {
                if index > 0 {
                    input.expect(b',', "the rest of a record")?;
                }
                *field = if needed.contains(&index) {
                    input.number()?
                } else {
                    any_number(input, &mut odd)?
                };
            }
        }
        each(&row).map_err(|problem| input.error_at(start, problem))
    })?;
    Ok(odd)
}

/// A number of any form, as [`records`] says.
fn any_number(input: &mut Input<'_>, odd: &mut Odd) -> Result<u64, Error> {
    if !matches!(input.next()?, Some(b'-' | b'0'..=b'9')) {
        return input.number();
    }
    let (start, mut text) = (input.offset(), Vec::new());
    input.value(|piece| text.extend(piece.iter().take(LONGEST + 1)))?;
    let number = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
    Ok(number.unwrap_or_else(|| {
        odd.get_or_insert((0, start)).0 += 1;
        u64::MAX
    }))
}

/// The length of a record at the beginning of a text. None if the text ends before it is known to
/// be whole, or if the record is unlike those of V8.
#[inline]
fn plain(text: &[u8], row: &mut [u64]) -> Option<usize> {
    let mut at = 0;
    for (index, field) in row.iter_mut().enumerate() {
        if index > 0 {
            (*text.get(at)? == b',').then_some(())?;
            at += 1;
        }
        let start = at;
        *field = 0;
        while let digit @ 0..=9 = text.get(at)?.wrapping_sub(b'0') {
            *field = field.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        (1..=LONGEST).contains(&(at - start)).then_some(())?;
    }
    (!matches!(text[at], b'.' | b'e' | b'E')).then_some(at)
}

/// Refuses more records than declared as soon as they are found, so that no damage makes a column
/// grow without end.
pub(crate) fn check_count(what: &'static str, declared: u64, found: u64) -> Result<(), Problem> {
    if found > declared {
        Err(Problem::Count { what, declared, found })
    } else {
        Ok(())
    }
}

/// A type, which must be below 256.
pub(crate) fn type_of(what: &'static str, value: u64) -> Result<u8, Problem> {
    u8::try_from(value).map_err(|_| Problem::Range { what, value, end: 256 })
}

/// Gives the types up to `most` a name where the description has none: old versions of V8 wrote
/// types that they did not declare.
pub(crate) fn declare(names: &mut Vec<String>, most: u8) {
    while names.len() <= usize::from(most) {
        names.push(format!("type {}", names.len()));
    }
}

/// A name, which must be below 2^32.
pub(crate) fn narrow(what: &'static str, value: u64) -> Result<u32, Problem> {
    u32::try_from(value).map_err(|_| Problem::Range {
        what,
        value,
        end: 1 << 32,
    })
}

/// Gives `word` to everything whose name is beyond the strings. Returns the number of such nodes and
/// edges.
pub(crate) fn fill_names(snapshot: &mut Snapshot, word: &str) -> Result<u64, Problem> {
    let end = snapshot.strings.len() as u32;
    let Snapshot {
        node_names,
        edge_names,
        edge_types,
        indexed_types,
        ..
    } = snapshot;
    let named = std::iter::zip(edge_names, edge_types).filter(|(_, kind)| !indexed_types[usize::from(**kind)]);
    let names = node_names.iter_mut().chain(named.map(|(name, _)| name));
    let missing = names.filter(|name| **name >= end).map(|name| *name = end).count();
    if missing > 0 {
        snapshot.strings.push(word)?;
    }
    Ok(missing as u64)
}
