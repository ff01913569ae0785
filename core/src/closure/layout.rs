//! The places of a derived closure's fields: pointers first, in order, then the others, in order.

/// The layout of a derived type.
pub trait Layout {
    /// The number of fields that are pointers.
    const POINTERS: usize;
    /// The index of each field's word in the payload.
    const PLACES: &'static [usize];
}

/// The number of fields that are pointers.
pub const fn pointers(is_pointer: &[bool]) -> usize {
    let (mut i, mut n) = (0, 0);
    while i < is_pointer.len() {
        n += is_pointer[i] as usize;
        i += 1;
    }
    n
}

/// The index of each field's word in the payload.
pub const fn places<const N: usize>(is_pointer: &[bool; N]) -> [usize; N] {
    let mut places = [0; N];
    let (mut pointer, mut other) = (0, pointers(is_pointer));
    let mut i = 0;
    while i < N {
        let next = if is_pointer[i] { &mut pointer } else { &mut other };
        places[i] = *next;
        *next += 1;
        i += 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_come_first_and_keep_their_order() {
        assert_eq!(places(&[false, true, false, true]), [2, 0, 3, 1]);
        assert_eq!(pointers(&[false, true, false, true]), 2);
        assert_eq!(places(&[]), [0; 0]);
    }
}
