//! The census: the bytes of reachable closures, by band.

use super::bands::{Bands, NONE};
use crate::traverse::{Traversal, Visit};
use gclab_core::world::Stopped;

/// Bytes by the number of a band, of all closures that roots keep alive.
pub(super) fn census(stopped: &Stopped<'_>, traversal: &mut Traversal, bands: &mut Bands) -> Vec<u64> {
    if bands.look_at_stacks() {
        return census_by_stacks(stopped, traversal, bands);
    }
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

/// The same, if the band depends on the side word of each closure.
fn census_by_stacks(stopped: &Stopped<'_>, traversal: &mut Traversal, bands: &mut Bands) -> Vec<u64> {
    let side_words = stopped.side_words().map(|side_words| &**side_words);
    let mut bytes: Vec<u64> = Vec::new();
    traversal.each(stopped.root_closures(), |closure| {
        let band = bands.of_closure(closure, side_words);
        if band != NONE {
            let band = band as usize;
            if band >= bytes.len() {
                bytes.resize(band + 1, 0);
            }
            bytes[band] += closure.words().to_bytes().0 as u64;
        }
        Visit::Descend(())
    });
    bytes.resize(bytes.len().max(bands.names().len()), 0);
    bytes
}
