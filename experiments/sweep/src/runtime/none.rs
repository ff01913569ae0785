//! Programs without a runtime that gclab knows: no flags, and only the system's statistics. The
//! memory limit is on address space.

use gclab_results::RunRecord;

use super::adapter::{Command, Ended, Failure, Runtime, Start, Task, limit_ended};
use super::flag::{ADDRESS_SPACE, ADDRESS_SPACE_KEY, Flag, Setting, address_space};

/// The adapter.
#[derive(Debug)]
pub(super) struct Plain;

const FLAGS: &[Flag] = &[ADDRESS_SPACE];

impl Runtime for Plain {
    fn name(&self) -> &'static str {
        "none"
    }

    fn flags(&self) -> &'static [Flag] {
        FLAGS
    }

    fn limit(&self) -> &'static str {
        ADDRESS_SPACE_KEY
    }

    fn start(&self, command: Command<'_>, setting: &Setting, _: Task<'_>) -> Start {
        Start {
            address_space: address_space(setting),
            ..command.start()
        }
    }

    fn failure(&self, ended: &Ended<'_>) -> Option<Failure> {
        // Any program may print words about memory. They count only with a limit.
        limit_ended(ended).then_some(Failure::Exhausted)
    }

    fn figures(&self, _: &Ended<'_>) -> RunRecord {
        RunRecord::default()
    }
}
