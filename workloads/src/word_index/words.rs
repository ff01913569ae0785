//! Words of a text: maximal runs of letters, digits and bytes above 127 (so that words in UTF-8
//! stay whole), in lower case.

/// The words of a text with their places in it, counted in words from 0.
#[derive(Clone, Debug)]
pub(super) struct Words<'t> {
    text: &'t [u8],
    at: usize,
}

#[inline]
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

impl<'t> Words<'t> {
    /// The words of `text` from byte `at` on. If `at` is inside a word, the rest of that word comes
    /// first.
    pub(super) fn new(text: &'t [u8], at: usize) -> Self {
        Words { text, at }
    }

    /// Moves past the word that contains `at`, so that the next word is whole.
    pub(super) fn skip_part(mut self) -> Self {
        if self.at > 0 && is_word(self.text[self.at - 1]) {
            self.at += self.text[self.at..].iter().take_while(|byte| is_word(**byte)).count();
        }
        self
    }

    /// Puts the next word into `word`, in lower case. Returns false at the end of the text.
    #[inline]
    pub(super) fn next_into(&mut self, word: &mut Vec<u8>) -> bool {
        let rest = &self.text[self.at..];
        let start = rest.iter().position(|byte| is_word(*byte)).unwrap_or(rest.len());
        let found = rest[start..].iter().take_while(|byte| is_word(**byte));
        word.clear();
        word.extend(found.map(u8::to_ascii_lowercase));
        self.at += start + word.len();
        !word.is_empty()
    }
}

/// FNV-1a, 64 bits: the hash of a word.
#[inline]
pub(super) fn hash(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{Words, hash};

    fn words(text: &str, at: usize) -> Vec<String> {
        let (mut words, mut word, mut all) = (Words::new(text.as_bytes(), at).skip_part(), Vec::new(), Vec::new());
        while words.next_into(&mut word) {
            all.push(String::from_utf8(word.clone()).unwrap());
        }
        all
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(
            words("The heap's 2 Spaces, übung--end", 0),
            ["the", "heap", "s", "2", "spaces", "übung", "end"]
        );
        assert_eq!(words(" ,.", 0), [""; 0]);
    }

    #[test]
    fn a_part_of_a_word_is_skipped() {
        assert_eq!(words("alpha beta", 0), ["alpha", "beta"]);
        assert_eq!(words("alpha beta", 2), ["beta"]);
        assert_eq!(words("alpha beta", 6), ["beta"]);
        assert_eq!(words("alpha beta", 7), [""; 0]);
    }

    #[test]
    fn hash_is_fnv_1a() {
        assert_eq!([hash(b""), hash(b"a")], [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c]);
    }
}
