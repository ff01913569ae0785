//! Random programs as numbers: what the generators draw, what is shrunk, and what a child process is
//! told.

use std::fmt;

/// A program. Any numbers make one, since an index is taken modulo the number of things that exist.
/// Without some of its operations, or with lower numbers, it is a simpler program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    /// The settings; of zeros the simplest ones.
    pub head: Vec<u32>,
    /// The operations: the number of the thread, the kind, and what [`decode`](super::generate)
    /// makes of the others.
    pub ops: Vec<[u32; 6]>,
}

/// Lines of numbers: the settings, then the operations.
impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        f.write_str(&line(&self.head))?;
        self.ops.iter().try_for_each(|op| write!(f, "\n{}", line(op)))
    }
}

impl Numbers {
    /// Reads what `Display` wrote.
    pub(super) fn read(text: &str) -> Option<Numbers> {
        let numbers = |line: &str| {
            line.split(' ')
                .map(|number| number.parse().ok())
                .collect::<Option<Vec<u32>>>()
        };
        let mut lines = text.lines();
        let head = numbers(lines.next()?)?;
        let ops = lines.map(|line| numbers(line)?.try_into().ok());
        Some(Numbers {
            head,
            ops: ops.collect::<Option<_>>()?,
        })
    }
}
