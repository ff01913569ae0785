//! Pointers: roots, weak handles and all slots, of reachable closures first, lead to the start of a
//! closure.

use super::fault::{self, Check, Fault};
use crate::addr_set::AddrSet;
use crate::traverse::{Traversal, Visit};
use crate::walk;
use gclab_core::profile::CostCentre;
use gclab_core::words::{Addr, Words};
use gclab_core::world::{ClosureView, FramePlace, RootOrigin, Stopped, StoppedRegion};

/// Checks that every root and every weak handle leads to one of `starts`.
pub(super) fn roots(stopped: &Stopped<'_>, starts: &AddrSet) -> Result<(), Fault> {
    let mut bad: Option<(RootOrigin, Addr)> = None;
    stopped.for_each_root(|origin, address| {
        if !starts.contains(address) {
            bad.get_or_insert((origin, address));
        }
    });
    let Some((origin, address)) = bad else {
        return Ok(());
    };
    let (check, name) = match origin {
        RootOrigin::Frame(place) => (Check::Roots, slot_of_frame(stopped, place)),
        RootOrigin::Handle => (Check::Roots, "a handle".to_owned()),
        RootOrigin::Ephemeron => (Check::Weak, "an ephemeron".to_owned()),
        RootOrigin::Weak => (Check::Weak, "a weak handle".to_owned()),
    };
    Err(Fault::new(
        check,
        format!("{name} holds {}", fault::place(stopped, address)),
    ))
}

/// Describes a slot of a frame.
fn slot_of_frame(stopped: &Stopped<'_>, place: FramePlace) -> String {
    let FramePlace {
        capability,
        frame,
        slot,
    } = place;
    let centre = stopped.cost_centre(capability);
    let centre = centre.map_or_else(String::new, |CostCentre { label, file, line, .. }| {
        format!(", in cost centre {label} ({file}:{line}),")
    });
    format!("slot {slot} of frame {frame} (the innermost is 0) of the thread on capability {capability}{centre}")
}

/// Checks that every reachable closure of a profiled heap has a side word: it was created, and
/// perhaps used, in an era that has begun.
pub(super) fn side_words(stopped: &Stopped<'_>, traversal: &mut Traversal) -> Result<(), Fault> {
    let Some(side_words) = stopped.side_words() else {
        return Ok(());
    };
    let now = side_words.era();
    let mut bad = None;
    traversal.each(stopped.root_closures(), |closure| {
        let word = side_words.get(closure.addr());
        let used = word.last_used().unwrap_or(word.created());
        if word.created() == 0 || used < word.created() || used > now {
            bad.get_or_insert((closure, word));
        }
        Visit::Descend(())
    });
    let Some((closure, word)) = bad else {
        return Ok(());
    };
    Err(Fault::new(
        Check::SideWords,
        format!(
            "{} was created in era {} and last used in {:?}; this is era {now}",
            fault::closure(stopped, closure),
            word.created(),
            word.last_used(),
        ),
    ))
}

/// Checks that every slot of every reachable closure is null or leads to one of `starts`. Returns
/// the size of the reachable closures.
pub(super) fn reachable(stopped: &Stopped<'_>, starts: &AddrSet, traversal: &mut Traversal) -> Result<Words, Fault> {
    let mut bad = None;
    let mut words = Words(0);
    traversal.each(stopped.root_closures(), |closure| {
        words.0 += closure.words().0;
        let wrong = |(_, (_, to)): &(usize, (Addr, Addr))| to.0 != 0 && !starts.contains(*to);
        if let Some(slot) = closure.slots().enumerate().find(wrong) {
            bad.get_or_insert((closure, slot));
        }
        // After the first fault, do not trust pointers.
        if bad.is_some() { Visit::Skip } else { Visit::Descend(()) }
    });
    match bad {
        None => Ok(words),
        Some((closure, slot)) => Err(bad_slot(Check::Pointers, stopped, closure, slot)),
    }
}

/// Checks that every slot of every closure in `regions`, which are known to parse, is null or leads
/// to one of `starts`: a collector keeps what its closures lead to, reachable or not.
pub(super) fn kept<'a>(stopped: &Stopped<'a>, regions: &[StoppedRegion<'a>], starts: &AddrSet) -> Result<(), Fault> {
    let mut bad = None;
    let parsed = walk::for_each_closure(stopped, regions, |_, closure| {
        let wrong = |(_, (_, to)): &(usize, (Addr, Addr))| to.0 != 0 && !starts.contains(*to);
        if let Some(slot) = closure.slots().enumerate().find(wrong) {
            bad.get_or_insert((closure, slot));
        }
    });
    debug_assert!(parsed.is_ok(), "closures were found to parse before");
    bad.map_or(Ok(()), |(closure, slot)| {
        Err(bad_slot(Check::Kept, stopped, closure, slot))
    })
}

fn bad_slot(
    check: Check,
    stopped: &Stopped<'_>,
    closure: ClosureView<'_>,
    (index, (at, to)): (usize, (Addr, Addr)),
) -> Fault {
    Fault::new(
        check,
        format!(
            "slot {index} (at {at}) of {} holds {}",
            fault::closure(stopped, closure),
            fault::place(stopped, to)
        ),
    )
}
