//! Shrinks a program that fails: it drops operations, many at a time and then one by one, and lowers
//! numbers, until nothing more can go.

use super::numbers::Numbers;

/// Returns the smallest program that was found to fail, and its fault. `program` fails with `fault`.
/// Runs at most `most` candidates; `fault_of` runs one.
pub(super) fn smallest(
    program: Numbers,
    fault: String,
    most: u32,
    fault_of: impl FnMut(&Numbers) -> Option<String>,
) -> (Numbers, String) {
    let mut search = Search {
        best: program,
        fault,
        left: most,
        fault_of,
    };
    loop {
        let before = search.best.clone();
        search.drop_operations();
        search.lower_numbers();
        if search.best == before {
            return (search.best, search.fault);
        }
    }
}

struct Search<F> {
    best: Numbers,
    fault: String,
    /// Candidates that may still be run.
    left: u32,
    fault_of: F,
}

impl<F: FnMut(&Numbers) -> Option<String>> Search<F> {
    /// Runs a candidate, and continues with it if it fails.
    fn fails(&mut self, candidate: Numbers) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        let fault = (self.fault_of)(&candidate);
        let fails = fault.is_some();
        if let Some(fault) = fault {
            (self.best, self.fault) = (candidate, fault);
        }
        fails
    }

    /// Drops halves, quarters, and so on down to single operations, each time from the end:
    /// operations need those before them.
    fn drop_operations(&mut self) {
        let mut size = self.best.ops.len();
        while size > 0 {
            let mut end = self.best.ops.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                let mut candidate = self.best.clone();
                candidate.ops.drain(start..end);
                self.fails(candidate);
                end = start;
            }
            size /= 2;
        }
    }

    fn lower_numbers(&mut self) {
        for at in 0..self.best.head.len() {
            self.lower(|program| &mut program.head[at]);
        }
        for at in 0..self.best.ops.len() {
            for number in 2..6 {
                self.lower(|program| &mut program.ops[at][number]);
            }
        }
    }

    /// Lowers one number as far as possible. The number of a global variable ends in the bits of 3,
    /// and the kind of a size is in the lowest four bits.
    fn lower(&mut self, of: impl Fn(&mut Numbers) -> &mut u32) {
        loop {
            let now = *of(&mut self.best);
            let lower = [0, 3, now % 16, now / 32 * 16 + now % 16, now / 2];
            let is_lowered = lower.into_iter().filter(|lower| *lower < now).any(|lower| {
                let mut candidate = self.best.clone();
                *of(&mut candidate) = lower;
                self.fails(candidate)
            });
            if !is_lowered {
                return;
            }
        }
    }
}
