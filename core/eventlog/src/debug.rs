//! Debug messages to print: GHC's `-D<x>`.

/// The parts of the runtime that log what they do in words (`LOG_MSG`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DebugMessages {
    /// `s`, the scheduler: threads enter the heap, stop, run again and leave.
    pub scheduler: bool,
    /// `g`: collections, with their phases.
    pub gc: bool,
    /// `b`, the block allocator: the heap's memory after each collection.
    pub blocks: bool,
    /// `p`, the profiler: censuses.
    pub profiler: bool,
}

/// A letter that is not a part of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a kind of debug message: expected s, g, b or p")]
pub struct NoMessages(pub char);

impl DebugMessages {
    /// Each letter with its part.
    fn each(&mut self) -> [(char, &mut bool); 4] {
        [
            ('s', &mut self.scheduler),
            ('g', &mut self.gc),
            ('b', &mut self.blocks),
            ('p', &mut self.profiler),
        ]
    }

    /// Reads the letters after `-D`.
    ///
    /// # Errors
    /// The first letter that is not a part.
    pub fn parse(text: &str) -> Result<DebugMessages, NoMessages> {
        let mut messages = DebugMessages::default();
        for letter in text.chars() {
            let mut all = messages.each().into_iter();
            let (_, part) = all.find(|(name, _)| *name == letter).ok_or(NoMessages(letter))?;
            *part = true;
        }
        Ok(messages)
    }

    /// The letters that `parse` reads back as these parts.
    pub fn text(mut self) -> String {
        let parts = self.each().into_iter();
        parts.filter(|(_, part)| **part).map(|(letter, _)| letter).collect()
    }

    /// Whether any part is on.
    pub fn any(mut self) -> bool {
        self.each().iter().any(|(_, part)| **part)
    }

    /// Adds the parts of `more`.
    pub fn add(&mut self, mut more: DebugMessages) {
        for ((_, part), (_, more)) in self.each().into_iter().zip(more.each()) {
            *part |= *more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_parts_and_round_trip() {
        let parse = |text| DebugMessages::parse(text).map(DebugMessages::text);
        for (text, written) in [("", ""), ("s", "s"), ("gs", "sg"), ("bb", "b"), ("pbgs", "sgbp")] {
            assert_eq!(parse(text).as_deref(), Ok(written), "{text}");
        }
        for (text, wrong) in [("S", 'S'), ("s1", '1'), ("-s", '-')] {
            assert_eq!(parse(text), Err(NoMessages(wrong)), "{text}");
        }
        let mut both = DebugMessages::parse("s").expect("legal");
        both.add(DebugMessages::parse("p").expect("legal"));
        assert!(both.text() == "sp" && both.any() && !DebugMessages::default().any());
    }
}
