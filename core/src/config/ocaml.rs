//! The parameters of OCaml's collector, by the letters of `OCAMLRUNPARAM`.

/// A letter of `OCAMLRUNPARAM`: a whole number in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OcamlLetter {
    /// `s`: words of the minor heap.
    MinorHeap,
    /// `i`: the smallest growth of the major heap, in percent up to 1000, in words above.
    Increment,
    /// `o`: memory for garbage, in percent of live data.
    SpaceOverhead,
    /// `O`: free memory at which the major heap is compacted, in percent of live data.
    MaxOverhead,
    /// `a`: the allocation policy.
    Policy,
    /// `w`: the window over which slices are smoothed.
    Window,
    /// `h`: initial words of the major heap.
    InitialHeap,
    /// `v`: a bit for each kind of message.
    Verbose,
    /// `M`: memory outside the heap, in percent of the major heap.
    CustomMajor,
    /// `m`: memory outside the heap, in percent of the minor heap.
    CustomMinor,
    /// `n`: bytes outside the heap that one closure counts for in the minor heap at most.
    CustomMinorMax,
}

/// Number of words in the address space.
const MOST_WORDS: u64 = 1 << 44;

impl OcamlLetter {
    /// Every letter, in the order in which help lists them.
    pub const ALL: [OcamlLetter; 11] = [
        OcamlLetter::MinorHeap,
        OcamlLetter::Increment,
        OcamlLetter::SpaceOverhead,
        OcamlLetter::MaxOverhead,
        OcamlLetter::Policy,
        OcamlLetter::Window,
        OcamlLetter::InitialHeap,
        OcamlLetter::Verbose,
        OcamlLetter::CustomMajor,
        OcamlLetter::CustomMinor,
        OcamlLetter::CustomMinorMax,
    ];

    /// The default, as in OCaml 4.14.
    pub const fn default(self) -> u64 {
        match self {
            OcamlLetter::MinorHeap => 256 << 10,
            OcamlLetter::Increment => 15,
            OcamlLetter::SpaceOverhead => 120,
            OcamlLetter::MaxOverhead => 500,
            OcamlLetter::Policy => 2,
            OcamlLetter::Window => 1,
            OcamlLetter::InitialHeap => 31 * 4096,
            OcamlLetter::Verbose => 0,
            OcamlLetter::CustomMajor => 44,
            OcamlLetter::CustomMinor => 100,
            OcamlLetter::CustomMinorMax => 8192,
        }
    }

    /// The smallest and largest legal value.
    pub const fn range(self) -> (u64, u64) {
        match self {
            OcamlLetter::MinorHeap => (4096, 1 << 28),
            OcamlLetter::Increment | OcamlLetter::InitialHeap => (0, MOST_WORDS),
            OcamlLetter::SpaceOverhead | OcamlLetter::CustomMajor | OcamlLetter::CustomMinor => (1, 1_000_000),
            OcamlLetter::MaxOverhead => (0, u32::MAX as u64),
            OcamlLetter::Policy => (0, 2),
            OcamlLetter::Window => (1, 50),
            OcamlLetter::Verbose => (0, 0x7ff),
            OcamlLetter::CustomMinorMax => (1, MOST_WORDS),
        }
    }
}

/// The letters that are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OcamlLetters([Option<u64>; OcamlLetter::ALL.len()]);

impl OcamlLetters {
    /// The value of a letter, if it is given.
    pub fn given(&self, letter: OcamlLetter) -> Option<u64> {
        self.0[letter as usize]
    }

    /// The value of a letter, given or not.
    pub fn value(&self, letter: OcamlLetter) -> u64 {
        self.given(letter).unwrap_or(letter.default())
    }

    /// Sets or unsets the value of a letter.
    pub fn set(&mut self, letter: OcamlLetter, value: Option<u64>) {
        self.0[letter as usize] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_letter_has_its_own_place_and_a_legal_default() {
        for letter in OcamlLetter::ALL {
            let (least, most) = letter.range();
            assert!((least..=most).contains(&letter.default()), "{letter:?}");
            let mut letters = OcamlLetters::default();
            letters.set(letter, Some(least));
            let given = OcamlLetter::ALL.map(|other| letters.given(other));
            let expected = OcamlLetter::ALL.map(|other| (other == letter).then_some(least));
            assert_eq!(given, expected, "{letter:?}");
        }
    }
}
