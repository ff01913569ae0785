//! The memory that a heap keeps after a major collection: GHC's rule (`-F`, `-Fd`).
//!
//! GHC estimates the memory that is needed until the next major collection is over: the allocation
//! areas; closures that are copied, once in place, once for their copy, and F times to grow in; and
//! closures that are not copied, F times and a fifth. An idle program needs less. Each major
//! collection that the program requested, not allocation, is a step by which the factor decays: F'
//! = F / 2^(c / Fd) after c of them in a row. A major collection that allocation caused sets c
//! to 0. So a busy program keeps the memory it needs, and pays for page faults only after it has
//! shrunk or was idle.

use crate::block::BLOCK;
use crate::config::{Config, HeapHint};
use crate::words::Bytes;

/// The rule's parameters and the count of idle collections. See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retention {
    /// F, the factor without decay.
    factor: f64,
    /// Fd, the decay; 0 for none.
    decay: f64,
    /// `-O`: an oldest generation that is smaller counts as this.
    old_min: Bytes,
    /// `-H`: the least that is kept.
    least: Bytes,
    /// c, the number of major collections in a row that allocation did not cause.
    idle_majors: u32,
}

/// The state of the heap after a major collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AfterMajor {
    /// Bytes in blocks of allocation areas.
    pub preallocated: Bytes,
    /// Bytes in blocks of closures that are moved.
    pub copied: Bytes,
    /// Bytes in blocks of closures that are not moved.
    pub large: Bytes,
    /// Whether the oldest generation is collected in place: no copy of it will be needed.
    pub in_place: bool,
}

/// The megablocks that a heap keeps after a major collection, and those that it returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The megablocks that were committed before.
    pub current: u32,
    /// The megablocks that the heap needs until the next major collection is over.
    pub needed: u32,
    /// The megablocks that it returned to the system.
    pub returned: u32,
}

/// GHC's part for closures collected in place, in addition to F times as much.
const IN_PLACE: f64 = 1.2;
/// Once in place, once for the copy.
const COPIED: f64 = 2.0;

impl Retention {
    pub(super) fn new(config: &Config) -> Retention {
        Retention {
            factor: config.old_factor,
            decay: config.decay,
            old_min: config.old_min,
            least: match config.heap_hint {
                HeapHint::Size(size) => size,
                HeapHint::None | HeapHint::Auto => Bytes::ZERO,
            },
            idle_majors: 0,
        }
    }

    /// Notes a major collection, caused by `allocation` or by a request.
    pub(super) fn note_major(&mut self, allocation: bool) {
        self.idle_majors = if allocation {
            0
        } else {
            self.idle_majors.saturating_add(1)
        };
    }

    /// F', the factor after decay.
    fn decayed_factor(&self) -> f64 {
        if self.decay > 0.0 {
            self.factor / (f64::from(self.idle_majors) / self.decay).exp2()
        } else {
            self.factor
        }
    }

    /// The bytes to keep. (GHC's `-M` bounds them too; here the limit holds anyway.)
    pub(super) fn needed(&self, left: AfterMajor) -> Bytes {
        let AfterMajor {
            mut copied, mut large, ..
        } = left;
        let extra = Bytes(self.old_min.0.saturating_sub(copied.0 + large.0));
        if left.in_place {
            large += extra;
        } else {
            copied += extra;
        }
        let factor = self.decayed_factor();
        let for_copied = factor + if left.in_place { IN_PLACE } else { COPIED };
        let blocks = |bytes: Bytes, times: f64| ((bytes.0 / BLOCK.0) as f64 * times) as usize * BLOCK.0;
        let needed = left.preallocated.0 + blocks(copied, for_copied) + blocks(large, factor + IN_PLACE);
        Bytes(needed).max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GHC's megablocks for the blocks of `bytes`: the first megablock of a group has 252 blocks.
    fn ghcs_megablocks(bytes: Bytes) -> usize {
        1 + (bytes.0 / BLOCK.0 - 252).div_ceil(256)
    }

    fn after(idle: u32) -> Retention {
        let mut retention = Retention::new(&Config::default());
        (0..idle).for_each(|_| retention.note_major(false));
        retention
    }

    #[test]
    fn what_is_kept_is_what_ghc_keeps() {
        // 1000 MiB copied, -A4m, -F2, -Fd4.
        let left = AfterMajor {
            preallocated: Bytes::mib(4),
            copied: Bytes::mib(1000),
            ..AfterMajor::default()
        };
        let kept = [(0, 4005), (1, 3686), (4, 3005), (8, 2505), (12, 2255), (20, 2067)];
        for (idle, megablocks) in kept {
            assert_eq!(
                ghcs_megablocks(after(idle).needed(left)),
                megablocks,
                "{idle} idle collections"
            );
        }
    }

    #[test]
    fn what_is_not_copied_needs_less() {
        let mib = |left: AfterMajor| after(0).needed(left).0 as f64 / (1 << 20) as f64;
        let (large, in_place) = (Bytes::mib(100), true);
        assert_eq!(
            mib(AfterMajor {
                large,
                ..AfterMajor::default()
            })
            .round(),
            320.0
        );
        let copied = Bytes::mib(1000);
        assert_eq!(
            mib(AfterMajor {
                copied,
                in_place,
                ..AfterMajor::default()
            })
            .round(),
            3200.0
        );
        // Little is live: `-O` counts, as copied or as collected in place.
        assert_eq!(mib(AfterMajor::default()), 4.0);
        assert_eq!(
            mib(AfterMajor {
                in_place,
                ..AfterMajor::default()
            })
            .round(),
            3.0
        );
    }

    #[test]
    fn allocation_ends_idleness_and_fd0_knows_none() {
        let left = AfterMajor {
            copied: Bytes::mib(1000),
            ..AfterMajor::default()
        };
        let mut retention = after(7);
        assert!(retention.needed(left) < Bytes::mib(3000));
        retention.note_major(true);
        assert_eq!(retention.needed(left), Bytes::mib(4000));
        let mut never = Retention {
            decay: 0.0,
            ..retention
        };
        (0..50).for_each(|_| never.note_major(false));
        assert_eq!(never.needed(left), Bytes::mib(4000));
        let hinted = Retention {
            least: Bytes::gib(5),
            ..retention
        };
        assert_eq!(hinted.needed(left), Bytes::gib(5));
    }
}
