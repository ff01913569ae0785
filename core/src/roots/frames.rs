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
    // SAFETY: the caller vouches for it.
    unsafe { for_each_numbered_slot(top, |_, slot| visit(slot)) };
}

/// As [`for_each_frame_slot`], with the number of the frame, 0 for `top`, and of the slot in it.
///
/// # Safety
/// As there.
pub(crate) unsafe fn for_each_numbered_slot(top: *const FrameHeader, mut visit: impl FnMut((usize, usize), Slot)) {
    let (mut frame, mut number) = (top, 0);
    while !frame.is_null() {
        // SAFETY: frames are linked while they are open, and an open frame does not move (it is
        // borrowed by its slots).
        let header = unsafe { &*frame };
        // SAFETY: `header.slots` slots follow the header (`repr(C)`, both aligned to 8).
        let first = unsafe { frame.add(1) }.cast::<u64>().cast_mut();
        for i in usize::from(mutant!("copy/root-skipped"))..header.slots {
            visit((number, i), Slot(first.wrapping_add(i)));
        }
        frame = header.below;
        number += 1;
    }
}
