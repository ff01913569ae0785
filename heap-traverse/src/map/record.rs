//! A listener that takes maps of the heap as a program runs.

use super::data::{HeapMap, Moment};
use gclab_core::events::{Event, EventKind, Listener, Occasion};
use gclab_core::profile::{Eras, Moves};
use gclab_core::stats::{Cause, Collection, Look};
use gclab_core::world::Stopped;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Limit on tiles of a requested map.
const MOST_TILES: usize = 1 << 14;
/// Limit on tiles of a map in an animation.
const MOST_FRAME_TILES: usize = 1 << 12;
/// Limit on maps in an animation.
const MOST_FRAMES: usize = 120;
/// Limit on names of markers kept, for a message.
const MOST_MARKERS: usize = 20;

/// When to take a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// The end of this collection; the first is 1.
    Collection(u64),
    /// The first marker of the program with this name.
    Marker(String),
}

/// The maps taken.
#[derive(Debug, Default)]
pub struct Recording {
    /// The requested map, if the program reached that moment.
    pub map: Option<HeapMap>,
    /// The maps of the animation, in order of time, all with tiles of the same size.
    pub frames: Vec<HeapMap>,
    /// One in this many collections has a map in the animation.
    pub stride: u64,
    /// The number of collections, not counting the one at the end of the run.
    pub collections: u64,
    /// The names of the markers met, each once; only the first, if there are many.
    pub markers: Vec<String>,
}

/// Takes maps. Clones share what they took.
#[derive(Debug, Clone)]
pub struct MapRecorder(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    want: Option<Want>,
    animate: bool,
    /// All collections so far.
    seen: u64,
    recording: Recording,
    /// The map before a requested one, which knows where moved closures came from.
    before: Option<HeapMap>,
    eras: Option<Eras>,
}

impl MapRecorder {
    /// A recorder of the map at `want`, and of an animation if `animate`.
    pub fn new(want: Option<Want>, animate: bool) -> MapRecorder {
        MapRecorder(Arc::new(Mutex::new(State {
            want,
            animate,
            seen: 0,
            recording: Recording {
                stride: 1,
                ..Recording::default()
            },
            before: None,
            eras: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the recording after the run. The requested map has its place in the animation, too.
    pub fn finish(&self) -> Recording {
        let mut recording = std::mem::take(&mut self.state().recording);
        if let Some(map) = recording.map.as_ref().filter(|_| !recording.frames.is_empty()) {
            let is_before = |frame: &HeapMap| frame.moment.time_ns < map.moment.time_ns;
            let place = recording.frames.partition_point(is_before);
            let is_there = recording
                .frames
                .get(place)
                .is_some_and(|frame| frame.moment == map.moment);
            if !is_there {
                recording.frames.insert(place, map.clone());
            }
        }
        let blocks = recording.frames.iter().map(|frame| frame.tile_blocks).max();
        for frame in &mut recording.frames {
            frame.coarsen(blocks.unwrap_or(1));
        }
        recording
    }
}

impl State {
    /// Whether the collection of this number has a map.
    fn takes(&self, collection: u64) -> bool {
        self.is_wanted(collection) || self.is_frame(collection)
    }

    fn is_wanted(&self, collection: u64) -> bool {
        self.want == Some(Want::Collection(collection))
    }

    fn is_frame(&self, collection: u64) -> bool {
        self.animate && collection.is_multiple_of(self.recording.stride)
    }

    fn collection(&mut self, collection: &Collection, time_ns: u64, stopped: &Stopped<'_>) {
        self.seen += 1;
        if self.eras.is_none() {
            self.eras = stopped.eras();
        }
        let moves = stopped
            .side_words()
            .map_or_else(Moves::default, |words| words.take_moves());
        let (number, is_final) = (self.seen, collection.before.cause == Cause::Final);
        self.recording.collections += u64::from(!is_final);
        if self.takes(number) || self.takes(number + 1) {
            let moment = Moment {
                collection: number,
                marker: None,
                time_ns,
                generation: Some(collection.work.generation),
                major: collection.work.is_major(),
                cause: Some(collection.before.cause),
            };
            let map = self.survey(stopped, moment, &moves, 1);
            if self.is_wanted(number) {
                self.recording.map = Some(map.clone());
            }
            if self.is_frame(number) && !is_final {
                self.recording.frames.push(map.clone());
                self.thin_out();
            }
            self.before = Some(map);
        } else {
            self.before = None;
        }
        if let Some(eras) = &mut self.eras {
            stopped.end_era(eras);
        }
    }

    fn marker(&mut self, name: &str, time_ns: u64, stopped: &Stopped<'_>) {
        let markers = &mut self.recording.markers;
        if markers.len() < MOST_MARKERS && !markers.iter().any(|known| known == name) {
            markers.push(name.to_owned());
        }
        let is_wanted = matches!(&self.want, Some(Want::Marker(wanted)) if wanted == name);
        if is_wanted && self.recording.map.is_none() {
            let moment = Moment {
                collection: self.seen,
                marker: Some(name.to_owned()),
                time_ns,
                generation: None,
                major: false,
                cause: None,
            };
            self.recording.map = Some(self.survey(stopped, moment, &Moves::default(), 0));
        }
    }

    /// A map of the heap now. A closure of the current era has survived `current` collections.
    fn survey(&self, stopped: &Stopped<'_>, moment: Moment, moves: &Moves, current: u64) -> HeapMap {
        let era = self.eras.as_ref().map(|eras| eras.side_words().era());
        let most = if self.animate { MOST_FRAME_TILES } else { MOST_TILES };
        HeapMap::survey(stopped, moment, most, moves, self.before.as_ref(), &|created| {
            era.map(|era| era.saturating_sub(created) + current)
        })
    }

    /// If there are too many maps, drop every other one.
    fn thin_out(&mut self) {
        let Recording { frames, stride, .. } = &mut self.recording;
        if frames.len() > MOST_FRAMES {
            *stride *= 2;
            frames.retain(|frame| frame.moment.collection.is_multiple_of(*stride));
        }
    }
}

impl Listener for MapRecorder {
    fn look(&self, occasion: Occasion) -> Option<Look> {
        let state = self.state();
        let looks = occasion == Occasion::Collection || matches!(state.want, Some(Want::Marker(_)));
        looks.then_some(Look::Inspect)
    }

    fn event(&mut self, event: &Event<'_>) {
        match event.kind {
            EventKind::End { collection, stopped } => self.state().collection(collection, event.time_ns, stopped),
            EventKind::Marker { name, stopped } => self.state().marker(name, event.time_ns, stopped),
            _ => {}
        }
    }
}
