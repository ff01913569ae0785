//! The two arrays of records, and the checks of a record's numbers.

use crate::error::{Error, Problem};
use crate::input::Input;
use crate::snapshot::Snapshot;

/// The most digits of which every number is below 2^64.
const LONGEST: usize = 19;

/// Calls `each` with every `width` numbers of a flat array. An error of `each` is placed at the
/// record's first number.
#[inline]
pub(crate) fn records(
    input: &mut Input<'_>,
    width: usize,
    mut each: impl FnMut(&[u64]) -> Result<(), Problem>,
) -> Result<(), Error> {
    let mut row = vec![0; width];
    input.array(|input| {
        input.next()?;
        let start = input.offset();
        if let Some(length) = plain(input.rest()?, &mut row) {
            input.take(length);
        } else {
            row[0] = input.number()?;
            for field in &mut row[1..] {
                input.expect(b',', "the rest of a record")?;
                *field = input.number()?;
            }
        }
        each(&row).map_err(|problem| input.error_at(start, problem))
    })
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

/// Checks that every name is one of the strings.
pub(crate) fn check_names(snapshot: &Snapshot) -> Result<(), Problem> {
    let end = snapshot.strings.len() as u64;
    let check = |what, index: u32| {
        let value = u64::from(index);
        if value < end {
            Ok(())
        } else {
            Err(Problem::Range { what, value, end })
        }
    };
    snapshot
        .node_names
        .iter()
        .try_for_each(|&name| check("a node's name", name))?;
    let named = std::iter::zip(&snapshot.edge_names, &snapshot.edge_types);
    let mut named = named.filter(|(_, kind)| !snapshot.indexed_types[usize::from(**kind)]);
    named.try_for_each(|(&name, _)| check("an edge's name", name))
}
