//! The frames of a thread: a linked list on its stack.

use crate::closure::Slot;

/// The header of a frame; its slots follow.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct FrameHeader {
    /// The frame that was opened before this one.
    pub(crate) below: *const FrameHeader,
    /// Number of slots.
    pub(crate) slots: usize,
}

/// Calls `visit` for each slot of the frames from `top` down.
///
/// # Safety
/// The thread that owns the frames must be stopped inside the heap.
pub(crate) unsafe fn for_each_frame_slot(top: *const FrameHeader, mut visit: impl FnMut(Slot)) {
    let mut frame = top;
    while !frame.is_null() {
        // SAFETY: frames are linked while they are open, and an open frame does not move (it is
        // borrowed by its slots).
        let header = unsafe { &*frame };
        // SAFETY: `header.slots` slots follow the header (`repr(C)`, both aligned to 8).
        let first = unsafe { frame.add(1) }.cast::<u64>().cast_mut();
        for i in usize::from(mutant!("copy/root-skipped"))..header.slots {
            visit(Slot(first.wrapping_add(i)));
        }
        frame = header.below;
    }
}
