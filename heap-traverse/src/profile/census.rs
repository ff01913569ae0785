//! The census: how many bytes of what are reachable.

use super::bands::{Bands, NONE};
use crate::{Traversal, Visit};
use gclab_core::world::Stopped;

/// Bytes by the number of a band, of all that roots keep alive.
pub(super) fn census(stopped: &Stopped<'_>, traversal: &mut Traversal, bands: &mut Bands) -> Vec<u64> {
    let mut words: Vec<u64> = vec![0; bands.names().len()];
    let (mut last, mut band) = (None, NONE);
    traversal.each(stopped.root_closures(), |closure| {
        let info = closure.info();
        // Neighbours are often of one type.
        if !last.is_some_and(|last| std::ptr::eq(last, info)) {
            last = Some(info);
            band = bands.of(info);
            if band != NONE && band as usize >= words.len() {
                words.resize(band as usize + 1, 0);
            }
        }
        if band != NONE {
            words[band as usize] += closure.words().0 as u64;
        }
        Visit::Descend(())
    });
    words.iter().map(|words| words * 8).collect()
}
