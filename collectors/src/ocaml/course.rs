//! The course of a pause.

use super::cycle::Done;
use super::task::Task;
use gclab_core::collector::Cycle;
use gclab_core::trace::Marked;

/// What has happened in a pause so far.
pub(super) struct Course {
    pub(super) task: Task,
    pub(super) promoted: Marked,
    pub(super) cycle: Cycle,
    pub(super) done: Done,
}
