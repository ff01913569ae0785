//! Maps of the heap: their totals match the statistics of the same stop, under every collector, and
//! their parts add up.

use super::{Collectors, Node, config};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor, Observed};
use gclab_core::config::{Compact, Config};
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{Any, Gc, Mutator, MutatorKind};
use gclab_core::stats::Collection;
use gclab_core::words::{Bytes, WORD};
use gclab_core::world::World;
use gclab_heap_traverse::map::{HeapMap, MapRecorder, Recording, Use, Want};
use std::sync::{Arc, Mutex};

/// How many structures live at a time.
const SLOTS: usize = 24;

fn list<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, cells: usize) -> Gc<'m, 'h, Any> {
    m.frame(|m, [first]| {
        let first = first.put(m.alloc(|_| Node::new(0, None, None)));
        for value in 1..cells {
            let (m, cell) = m.alloc_with(|m| Node::new(value as u64, Some(first.get(m)), None));
            first.set(m, cell);
        }
        first.get(m).erase()
    })
}

/// Lists and byte arrays, some of them large, that live for different times; the first list lives
/// for ever.
fn program<M: MutatorKind>(world: &World<M>) {
    let ran = world.enter(|m| {
        m.frame(|m, [oldest, table]| {
            let oldest = oldest.put(list(m, 100));
            let table = table.put(m.alloc_array::<Any>(SLOTS, |_| None));
            for number in 0..6000 {
                m.frame(|m, [made]| {
                    let made = made.put(match number % 5 {
                        0 => m.alloc_bytes_filled(number * 131 % 9000, 1).erase(),
                        _ => list(m, 1 + number * 37 % 90),
                    });
                    let slot = number * 7919 % SLOTS;
                    table.get(m).set(m, slot, Some(made.get(m)));
                });
                if number == 3000 {
                    m.phase_marker("half");
                    m.phase_marker("half");
                }
            }
            oldest.get(m).erase();
        });
    });
    ran.expect("the heap is large enough");
}

/// The record of a collection, and the numbers of blocks, megablocks and large objects afterwards.
type Stop = (Collection, [u64; 3]);

/// The numbers of each collection, according to the statistics and the block allocator.
#[derive(Clone, Default)]
struct Figures(Arc<Mutex<Vec<Stop>>>);

impl Listener for Figures {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { collection, stopped } = event.kind {
            let mut large = 0;
            stopped.for_each_region(&mut |region| large += u64::from(region.large));
            let blocks = stopped.blocks().accounting();
            let counts = [
                u64::from(blocks.blocks_in_use),
                u64::from(blocks.megablocks_in_use),
                large,
            ];
            self.0.lock().unwrap().push((collection.clone(), counts));
        }
    }
}

/// Runs the program under the visited collector. Returns the recording and the numbers.
struct Mapped(Config, Option<Want>, bool);

impl CollectorVisitor for Mapped {
    type Output = (Recording, Vec<Stop>);

    fn visit<C: Collector>(self) -> Self::Output {
        let mut world = World::<Observed>::observed::<C>(&self.0).unwrap();
        let (recorder, figures) = (MapRecorder::new(self.1, self.2), Figures::default());
        world.listen(Box::new(figures.clone()));
        world.listen(Box::new(recorder.clone()));
        program(&world);
        world.finish();
        let figures = std::mem::take(&mut *figures.0.lock().unwrap());
        (recorder.finish(), figures)
    }
}

fn under(name: &str, config: Config, want: Option<Want>, animate: bool) -> (Recording, Vec<Stop>) {
    Collectors::with(name, Mapped(config, want, animate)).expect("it is in the list")
}

fn followed(generations: u32) -> Config {
    Config {
        follow_moves: true,
        ..config(generations)
    }
}

/// Checks a map against the numbers of the same stop.
fn agrees(map: &HeapMap, collection: &Collection, [blocks, megablocks, large]: [u64; 3], name: &str) {
    let (totals, work) = (&map.totals, &collection.work);
    let bytes = |words: u64| Bytes((words as usize) * WORD);
    let at = format!("{name}, collection {}", map.moment.collection);
    assert_eq!(bytes(totals.live), work.live, "{at}: live");
    assert_eq!(bytes(totals.live_large), work.large, "{at}: large");
    assert_eq!(bytes(totals.slop), work.slop, "{at}: slop");
    assert_eq!(
        (totals.allocated, totals.megablocks),
        (blocks, megablocks),
        "{at}: blocks"
    );
    assert_eq!(totals.large_objects, large, "{at}: large objects");
    if !work.compacted {
        assert_eq!(bytes(totals.moved), work.copied, "{at}: moved");
    }
    assert_eq!(totals.damage, None, "{at}");
    // Parts add up.
    let rows = |figure: fn(&gclab_heap_traverse::map::Row) -> u64| totals.rows.iter().map(figure).sum::<u64>();
    let tiles = |figure: fn(&gclab_heap_traverse::map::Tile) -> u64| map.tiles.iter().map(figure).sum::<u64>();
    assert_eq!(rows(|row| row.blocks), totals.blocks, "{at}");
    assert_eq!(rows(|row| row.words), tiles(|tile| tile.words), "{at}");
    assert_eq!(rows(|row| row.closures), tiles(|tile| tile.closures), "{at}");
    assert_eq!(rows(|row| row.holes), tiles(|tile| tile.holes), "{at}");
    assert_eq!(tiles(|tile| u64::from(tile.allocated)), totals.allocated, "{at}");
    let flows: u64 = totals.flows.iter().map(|(.., words)| words).sum();
    assert!(flows == totals.moved || map.moment.collection == 1, "{at}: flows");
    // The first list has survived every collection, and every closure's age is known.
    let oldest = totals.rows.iter().map(|row| row.ages.oldest).max();
    assert_eq!(oldest, Some(map.moment.collection), "{at}: the oldest");
    assert_eq!(rows(|row| row.ages.closures), rows(|row| row.closures), "{at}");
}

#[test]
fn the_totals_of_a_map_are_the_statistics_of_the_same_stop() {
    let compacts = Config {
        compact: Compact::Always,
        ..followed(2)
    };
    let parallel = Config {
        capabilities: 2,
        gc_threads: 2,
        ..followed(2)
    };
    for description in Collectors::descriptions() {
        let name = description.name;
        let configs = [
            followed(description.fitting_generations(3)),
            compacts.clone(),
            parallel.clone(),
        ];
        for (place, config) in configs.into_iter().enumerate() {
            let applies = match place {
                0 => true,
                1 => name == "compacting",
                _ => description.parallel,
            };
            if !applies {
                continue;
            }
            let (recording, figures) = under(name, config, None, true);
            assert!(recording.frames.len() > 10, "{name}: {} maps", recording.frames.len());
            for frame in &recording.frames {
                let (collection, counts) = &figures[frame.moment.collection as usize - 1];
                agrees(frame, collection, *counts, name);
            }
            let has_large = recording.frames.iter().any(|frame| !frame.large.is_empty());
            assert!(has_large, "{name}: the program has large objects");
        }
    }
}

#[test]
fn one_map_equals_the_one_of_the_animation_and_larger_tiles_keep_the_sums() {
    let (all, figures) = under("copying", followed(2), None, true);
    let (one, _) = under("copying", followed(2), Some(Want::Collection(7)), false);
    let (mut map, frame) = (one.map.expect("the run has 7 collections"), &all.frames[6]);
    agrees(&map, &figures[6].0, figures[6].1, "copying");
    assert_eq!(map.totals, frame.totals);
    assert!(one.frames.is_empty());
    assert!(
        map.totals.flows.iter().any(|(from, _, _)| *from == Use::Small(0)),
        "{:?}",
        map.totals.flows
    );
    let words = |map: &HeapMap| map.tiles.iter().map(|tile| tile.words).sum::<u64>();
    let moved = |map: &HeapMap| map.moves.iter().map(|a_move| a_move.words).sum::<u64>();
    let (tiles, sums) = (map.tiles.len(), (words(&map), moved(&map)));
    map.coarsen(16);
    assert_eq!((map.tile_blocks, map.tiles.len()), (16, tiles.div_ceil(16)));
    assert_eq!((words(&map), moved(&map)), sums);
}

#[test]
fn a_map_at_a_marker_is_of_its_first_time() {
    let (recording, _) = under("two-space", followed(1), Some(Want::Marker("half".to_owned())), false);
    let map = recording.map.expect("the program has the marker");
    assert_eq!(map.moment.marker.as_deref(), Some("half"));
    assert_eq!(recording.markers, ["half"]);
    assert!(0 < map.moment.collection && map.moment.collection < recording.collections);
    // Closures allocated since the last collection have not survived any.
    assert!(
        map.totals
            .rows
            .iter()
            .any(|row| row.usage == Use::Small(0) && row.ages.youngest == 0 && row.closures > 0)
    );
    let (none, _) = under("two-space", followed(1), Some(Want::Marker("end".to_owned())), false);
    assert!(none.map.is_none() && none.markers == ["half"]);
}

#[test]
fn a_long_run_has_a_bounded_number_of_maps() {
    let config = Config {
        allocation_area: Bytes(8 << 10),
        ..followed(2)
    };
    let (recording, figures) = under("copying", config, None, true);
    assert!(figures.len() > 250, "{} collections", figures.len());
    assert!(
        recording.stride > 1 && (40..=121).contains(&recording.frames.len()),
        "{}",
        recording.frames.len()
    );
    assert!(
        recording
            .frames
            .iter()
            .all(|frame| frame.moment.collection % recording.stride == 0)
    );
    // A map between two that were left out also knows where closures came from.
    let frame = recording.frames.last().unwrap();
    let flows: u64 = frame.totals.flows.iter().map(|(.., words)| words).sum();
    assert_eq!(flows, frame.totals.moved);
}

#[test]
fn a_plain_heap_has_a_map_without_ages_and_moves() {
    let recorder = MapRecorder::new(Some(Want::Collection(3)), false);
    let mut world = World::new::<gclab_collectors::Copying>(&config(2)).unwrap();
    world.listen(Box::new(recorder.clone()));
    program(&world);
    world.finish();
    let map = recorder.finish().map.expect("it collects more than 3 times");
    assert!(map.moves.is_empty() && map.totals.moved == 0 && map.totals.live > 0);
    assert!(map.totals.rows.iter().all(|row| row.ages.closures == 0));
}

#[test]
fn lines_and_cells_are_those_of_the_collector() {
    for (name, units) in [
        ("mark-sweep", "cells"),
        ("plain-mark-sweep", "cells"),
        ("immix", "lines"),
        ("sticky-immix", "lines"),
        ("gen-immix", "lines"),
    ] {
        let config = followed(if name.ends_with("-immix") { 2 } else { 1 });
        let (recording, _) = under(name, config, None, true);
        for map in &recording.frames {
            let at = format!("{name}, collection {}", map.moment.collection);
            assert_eq!(map.totals.units_name, Some(units), "{at}");
            let (mut all, mut free) = (0, 0);
            for row in &map.totals.rows {
                assert!(row.free_units <= row.units, "{at}: {row:?}");
                assert_eq!(row.units > 0, matches!(row.usage, Use::Small(_)), "{at}: {row:?}");
                (all, free) = (all + row.units, free + row.free_units);
            }
            let tiles = |figure: fn(&gclab_heap_traverse::map::Tile) -> u64| map.tiles.iter().map(figure).sum::<u64>();
            assert_eq!(
                (tiles(|tile| tile.units), tiles(|tile| tile.free_units)),
                (all, free),
                "{at}"
            );
            // A unit without any part of a closure is in a hole.
            let holes: u64 = map.totals.rows.iter().map(|row| row.holes).sum();
            assert!(free == 0 || holes > 0, "{at}: {free} free, {holes} holes");
            // Each closure touches a unit, and a cell has one closure.
            let small = map.totals.rows.iter().filter(|row| matches!(row.usage, Use::Small(_)));
            let closures: u64 = small.map(|row| row.closures).sum();
            assert!(
                units != "cells" || all - free == closures,
                "{at}: {} used, {closures}",
                all - free
            );
            assert!(units != "lines" || all - free > 0, "{at}");
        }
        let last = recording.frames.last().expect("there are maps");
        assert!(
            last.tiles.iter().any(|tile| tile.free_units > 0),
            "{name}: some are free"
        );
    }
    let (recording, _) = under("copying", followed(2), None, true);
    let map = recording.frames.last().expect("there are maps");
    assert!(map.totals.units_name.is_none() && map.tiles.iter().all(|tile| tile.units == 0));
}
