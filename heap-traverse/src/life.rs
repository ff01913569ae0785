//! The life of one closure in words (`-DT`), in the style of GHC's debug messages.

use crate::walk;
use gclab_core::block::BlockState;
use gclab_core::events::{Event, EventKind, Listener, Occasion};
use gclab_core::profile::{LifeEvent, Reference, SideWords};
use gclab_core::stats::{Collection, Look};
use gclab_core::words::Addr;
use gclab_core::world::{ClosureView, Stopped};
use std::io::Write;

/// Reports the life of the closure that the heap follows
/// ([`gclab_core::config::Config::follow_closure`]): where it was allocated, where each collection
/// found it, and which one found it dead.
pub struct LifeTeller<W> {
    out: W,
    /// The number of collections so far.
    collections: u64,
    state: State,
}

/// The closure as the last look found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is not allocated yet.
    ToCome,
    /// It lives, at this address and in this step.
    Alive { at: Addr, step: u8 },
    /// It is dead.
    Dead,
}

impl<W> std::fmt::Debug for LifeTeller<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LifeTeller({:?})", self.state)
    }
}

impl<W: Write> LifeTeller<W> {
    /// Reports it on `out`.
    pub fn new(out: W) -> Self {
        LifeTeller {
            out,
            collections: 0,
            state: State::ToCome,
        }
    }

    /// Prints a line. Output that fails does not stop the run.
    fn say(&mut self, time_ns: u64, text: &str) {
        let _ = writeln!(self.out, "{time_ns:9}: closure: {text}");
    }

    fn look_back(&mut self, collection: &Collection, time_ns: u64, stopped: &Stopped<'_>) {
        self.collections += 1;
        let Some(side_words) = stopped.side_words() else { return };
        let mut moved = false;
        for event in side_words.take_life() {
            match event {
                LifeEvent::Allocated { at, step, .. } => {
                    let text = born(&event, side_words);
                    self.say(time_ns, &text);
                    self.state = State::Alive { at, step };
                }
                LifeEvent::Moved { from, to } => {
                    moved = true;
                    let step = match self.state {
                        State::Alive { step, .. } => step,
                        _ => stopped.state(to).step(),
                    };
                    self.say(
                        time_ns,
                        &format!("{}: copied from {from} to {to}", self.collection(collection)),
                    );
                    self.state = State::Alive { at: to, step };
                }
                LifeEvent::Replaced { at } => {
                    self.say(
                        time_ns,
                        &format!(
                            "{}: died at {at}, where another closure is now",
                            self.collection(collection)
                        ),
                    );
                    self.state = State::Dead;
                }
                LifeEvent::Counted { reference, counts } => {
                    let [before, after] =
                        counts.map(|count| count.map_or("stuck".to_owned(), |count| count.to_string()));
                    let place = place(reference);
                    self.say(
                        time_ns,
                        &format!("{}: count {before}, now {after}: {place}", self.collection(collection)),
                    );
                }
            }
        }
        if let State::Alive { at, step } = self.state {
            self.find(collection, time_ns, stopped, (at, step, moved));
        }
    }

    /// The collection in words.
    fn collection(&self, collection: &Collection) -> String {
        format!(
            "collection {} of generation {}",
            self.collections, collection.work.generation
        )
    }

    /// Looks for the closure, last known at this address and in this step.
    fn find(
        &mut self,
        collection: &Collection,
        time_ns: u64,
        stopped: &Stopped<'_>,
        (at, before, moved): (Addr, u8, bool),
    ) {
        let name = self.collection(collection);
        let Some((closure, step)) = closure_at(stopped, at) else {
            let block = block_now(stopped.state(at));
            self.say(time_ns, &format!("{name}: died at {at}, whose block {block}"));
            self.state = State::Dead;
            if let Some(side_words) = stopped.side_words() {
                side_words.end_life();
            }
            return;
        };
        if step > before {
            let what = if moved { "promoted" } else { "promoted in place" };
            self.say(time_ns, &format!("{name}: {what} from step {before} to step {step}"));
        } else if !moved && u32::from(before.saturating_sub(1)) <= collection.work.generation {
            let size = closure.words().0;
            self.say(
                time_ns,
                &format!("{name}: marked, stays at {at} in step {step} ({size} words)"),
            );
        }
        self.state = State::Alive { at, step };
    }
}

/// The reference that was counted, or no longer counts.
fn place(reference: Reference) -> String {
    match reference {
        Reference::Slot(at) => format!("a reference in the slot at {at}"),
        Reference::Buried(at) => format!("lost the one in the slot at {at}, whose closure is dead"),
        Reference::Overwritten => "lost one that was overwritten".to_owned(),
        Reference::OftenOverwritten => "overwritten too often to count".to_owned(),
        Reference::Frame => "a reference in a frame".to_owned(),
        Reference::FormerFrame => "lost one in a frame of the collection before".to_owned(),
        Reference::Handle => "a handle, weak handle, ephemeron or finaliser".to_owned(),
    }
}

/// The allocation in words.
fn born(event: &LifeEvent, side_words: &SideWords) -> String {
    let LifeEvent::Allocated {
        number,
        at,
        words,
        info,
        stack,
        ..
    } = event
    else {
        return String::new();
    };
    let centres = side_words.cost_centres(*stack);
    let centre = centres.first().map_or("MAIN", |centre| centre.label);
    format!(
        "allocation {number}: {}, {:?} of {} words, at {at}, by the cost centre {centre}",
        info.name, info.kind, words.0
    )
}

/// The state of a dead closure's block in words. `docs/new-collector.md` explains them.
fn block_now(state: BlockState) -> String {
    let step = state.step();
    if state.is_outside() {
        return "was freed".to_owned();
    }
    if state.is_large() {
        return format!("has a large object of step {step} now");
    }
    if step == BlockState::NURSERY.step() {
        return "is for new closures now (the nursery, step 0)".to_owned();
    }
    let condemned = if state.is_condemned() { ", condemned" } else { "" };
    let mixed = if state.is_mixed() { ", mixed" } else { "" };
    format!("is still in use (step {step}{condemned}{mixed})")
}

/// The closure that begins at an address, and its step.
fn closure_at<'a>(stopped: &Stopped<'a>, at: Addr) -> Option<(ClosureView<'a>, u8)> {
    let regions = walk::regions(stopped);
    let region = regions.iter().find(|region| region.start <= at && at < region.end)?;
    let mut closures = stopped.closures(*region).map_while(Result::ok);
    let found = closures.find(|closure| closure.addr() >= at)?;
    (found.addr() == at).then_some((found, region.step))
}

impl<W: Write + Send> Listener for LifeTeller<W> {
    fn event(&mut self, event: &Event<'_>) {
        match event.kind {
            EventKind::End { collection, stopped } => self.look_back(collection, event.time_ns, stopped),
            EventKind::RunEnd { .. } if self.state == State::ToCome => {
                self.say(event.time_ns, "the program did not allocate it");
            }
            EventKind::RunEnd { .. } if self.state != State::Dead => {
                self.say(event.time_ns, "alive at the end of the run");
            }
            _ => {}
        }
    }

    fn look(&self, occasion: Occasion) -> Option<Look> {
        let looks = occasion == Occasion::Collection && self.state != State::Dead;
        looks.then_some(Look::Inspect)
    }
}
