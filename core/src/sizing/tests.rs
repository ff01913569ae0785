//! Sizing as a whole, on heaps with real memory: memory that was planned fits.

use super::*;
use crate::block::LARGE_OBJECT;
use crate::block::{BLOCK, BlockRun, BlockState};
use crate::heap::LargeRequest;
use crate::words::Words;
use proptest::prelude::*;

const MIB: usize = 1 << 20;

fn config(limit: usize) -> Config {
    Config {
        max_heap: Some(Bytes(limit)),
        reserve: Bytes(256 * MIB),
        huge_pages: false,
        ..Config::default()
    }
}

fn heap(config: &Config) -> Heap {
    Heap::new(config).expect("address space")
}

/// Occupies `blocks` blocks in runs of up to `most` blocks and frees every `freed`-th run again.
fn occupy(heap: &mut Heap, blocks: usize, most: u32, freed: usize) -> Result<Vec<BlockRun>, OutOfMemory> {
    let (mut runs, mut taken) = (Vec::new(), 0);
    while taken < blocks {
        let run = heap.allocate(1, most, BlockState::of_step(2))?;
        taken += run.blocks() as usize;
        runs.push(run);
    }
    let mut number = 0_usize;
    runs.retain(|run| {
        number += 1;
        let keep = !number.is_multiple_of(freed);
        if !keep {
            heap.free(*run);
        }
        keep
    });
    Ok(runs)
}

fn live(copied: usize) -> Live {
    Live {
        copied: Bytes(copied),
        old: Bytes(copied),
        ..Live::default()
    }
}

#[test]
fn the_allocation_area_shrinks_before_the_heap_is_exhausted() {
    let config = config(64 * MIB);
    let sizing = Sizing::new(&config, &heap(&config), MajorStrategy::Copying);
    let area = |mib: usize| sizing.area(live(mib * MIB), Bytes(0), MajorStrategy::Copying);
    assert_eq!(area(4).expect("fits"), Bytes(4 * MIB));
    let shrunk = area(28).expect("still fits");
    assert!(shrunk < Bytes(4 * MIB) && shrunk > Bytes(0), "{shrunk}");
    assert!(area(32).is_err());
    // Data that is not moved may take more: four fifths of the limit.
    let area = |mib: usize| sizing.area(live(mib * MIB), Bytes(0), MajorStrategy::Compacting);
    let shrunk = area(52).expect("fits");
    assert!(shrunk >= Bytes(MIB) && shrunk < Bytes(4 * MIB), "{shrunk}");
    assert!(area(63).is_err());
    // A minor collection that leaves that much merely makes a major one due.
    let mut sizing = Sizing::new(&config, &heap(&config), MajorStrategy::Copying);
    sizing.last_was_major = false;
    let least = sizing.area(live(63 * MIB), Bytes(0), MajorStrategy::Compacting);
    assert_eq!(least.expect("the least"), Bytes(4 * BLOCK.0));
    sizing.strategy = MajorStrategy::Compacting;
    assert!(!sizing.fits_after_minor(live(63 * MIB), Young::default()));
    assert!(sizing.fits_after_minor(live(30 * MIB), Young::default()));
}

#[test]
fn in_place_all_free_memory_is_an_allocation_area() {
    let config = config(64 * MIB);
    let sizing = Sizing::new(&config, &heap(&config), MajorStrategy::Copying);
    let area = |mib: usize, strategy| sizing.area(live(mib * MIB), Bytes(0), strategy);
    // 2 MiB of area and as much in young large objects; with copying, there is less room.
    let (in_place, with_copy) = (area(58, MajorStrategy::InPlace), area(58, MajorStrategy::Compacting));
    let (in_place, with_copy) = (in_place.expect("fits").0, with_copy.expect("fits").0);
    assert!(
        (2 * MIB..3 * MIB).contains(&in_place) && with_copy < 2 * MIB,
        "{in_place} {with_copy}"
    );
    assert!(area(63, MajorStrategy::InPlace).is_err());
    let urgent = |mib: usize, strategy| {
        let sizing = Sizing::new(&config, &heap(&config), strategy);
        !sizing.fits_after_minor(live(mib * MIB), Young::default())
    };
    assert!(!urgent(60, MajorStrategy::InPlace) && urgent(63, MajorStrategy::InPlace));
    assert!(urgent(32, MajorStrategy::Copying));
    // Memory between closures that are not moved is free. Between closures that are copied it is
    // lost.
    let work = crate::stats::Work {
        live: Bytes(50 * MIB),
        large: Bytes(10 * MIB),
        slop: Bytes(13 * MIB),
        ..Default::default()
    };
    let live = Live::in_place(&work);
    assert_eq!((live.total(), live.copied), (Bytes(50 * MIB), Bytes(40 * MIB)));
    assert!(sizing.area(live, Bytes(0), MajorStrategy::InPlace).is_ok());
    let slop = Live {
        slop: work.slop,
        ..live
    };
    assert!(sizing.area(slop, Bytes(0), MajorStrategy::InPlace).is_err());
    let (old, copied) = (MajorStrategy::InPlace, MajorStrategy::Copying);
    assert!(sizing.old_limit_of(live, old) > sizing.old_limit_of(live, copied));
}

#[test]
fn the_oldest_generation_is_compacted_as_in_ghc_or_when_a_copy_would_not_fit() {
    let due = |config: Config, mib: usize| {
        let sizing = Sizing::new(&config, &heap(&config), MajorStrategy::Copying);
        sizing.copying_or_compacting(live(mib * MIB)) == MajorStrategy::Compacting
    };
    assert!(!due(config(100 * MIB), 29) && due(config(100 * MIB), 31));
    let of = |compact| Config {
        compact,
        ..config(100 * MIB)
    };
    assert!(due(of(Compact::Always), 0));
    assert!(!due(of(Compact::Above(44.0)), 43) && due(of(Compact::Above(44.0)), 45));
    assert!(due(of(Compact::Above(90.0)), 55));
    // Without a limit it never compacts.
    let unlimited = Config {
        max_heap: None,
        ..of(Compact::Above(1.0))
    };
    assert!(!due(unlimited, 20));
}

#[test]
fn a_heap_of_fixed_size_grows_to_it() {
    let fixed = Config {
        sizing: SizingPolicy::Fixed,
        ..config(64 * MIB)
    };
    let sizing = Sizing::new(&fixed, &heap(&fixed), MajorStrategy::Copying);
    // For any live data: half of the limit, or all, less an allocation area of 4 MiB and the side
    // tables.
    for mib in [0, 10, 25] {
        let copying = sizing.old_limit_of(live(mib * MIB), MajorStrategy::Copying).0 as f64 / MIB as f64;
        let compacting = sizing.old_limit_of(live(mib * MIB), MajorStrategy::Compacting).0 as f64 / MIB as f64;
        assert!((29.0..=30.0).contains(&copying), "{copying}");
        assert!((58.0..=60.0).contains(&compacting), "{compacting}");
    }
    let area = sizing
        .area_of_one_generation(live(10 * MIB), MajorStrategy::Copying)
        .expect("fits");
    assert!(area.0 > 16 * MIB && area.0 < 22 * MIB, "{area}");
    let in_place = sizing.area_in_place(Bytes(40 * MIB)).expect("fits");
    assert!(in_place.0 > 22 * MIB && in_place.0 <= 24 * MIB, "{in_place}");
    // `-H` is not a limit: data that does not fit may still grow by -O.
    let hinted = Config {
        heap_hint: HeapHint::Size(Bytes(16 * MIB)),
        max_heap: None,
        ..fixed
    };
    let sizing = Sizing::new(&hinted, &heap(&hinted), MajorStrategy::Copying);
    assert_eq!(sizing.old_limit_of(live(MIB), MajorStrategy::Copying), Bytes(6 * MIB));
    assert_eq!(
        sizing.old_limit_of(live(20 * MIB), MajorStrategy::Copying),
        Bytes(21 * MIB)
    );
    assert_eq!(
        sizing.area(live(20 * MIB), Bytes(0), MajorStrategy::Copying),
        Ok(Bytes(4 * MIB))
    );
}

#[test]
fn hints_raise_the_allocation_area() {
    let hinted = Config {
        heap_hint: HeapHint::Size(Bytes(100 * MIB)),
        ..config(1024 * MIB)
    };
    let sizing = Sizing::new(&hinted, &heap(&hinted), MajorStrategy::Copying);
    let area = sizing
        .area(live(10 * MIB), Bytes(0), MajorStrategy::Copying)
        .expect("fits");
    assert_eq!(area, hinted_area(Bytes(100 * MIB), Bytes(20 * MIB), 30));
}

/// GHC's clamp keeps a full allocation area free. Beyond it, the old generation could not grow, so
/// every collection was a major one.
#[test]
fn near_the_limit_the_old_generation_may_take_half_of_what_is_free() {
    let config = config(64 * MIB);
    let sizing = Sizing::new(&config, &heap(&config), MajorStrategy::Copying);
    for (mib, strategy, growth) in [
        (60, MajorStrategy::InPlace, 1..3),
        (59, MajorStrategy::Compacting, 1..3),
        (29, MajorStrategy::Copying, 0..2),
    ] {
        let live = live(mib * MIB);
        let limit = sizing.old_limit_of(live, strategy);
        assert!(
            limit > live.old && growth.contains(&((limit - live.old).0 / MIB)),
            "{strategy:?}: {limit}"
        );
    }
}

/// An allocation area that took all free memory would leave no room for a minor collection in which
/// everything survives.
#[test]
fn a_minor_collection_fits_into_every_area_but_the_least() {
    let config = config(64 * MIB);
    for strategy in [
        MajorStrategy::InPlace,
        MajorStrategy::Compacting,
        MajorStrategy::Copying,
    ] {
        let sizing = Sizing::new(&config, &heap(&config), strategy);
        let live = |kib: usize| match strategy {
            MajorStrategy::Copying => live(kib << 9),
            _ => live(kib << 10),
        };
        let areas = (0..64 << 10).step_by(64).map_while(|kib| {
            let area = sizing.area(live(kib), Bytes(0), strategy).ok()?;
            Some((kib, area, sizing.fits_after_minor(live(kib), Young::of_area(area))))
        });
        let areas: Vec<_> = areas.collect();
        assert!(areas.last().is_some_and(|&(kib, ..)| kib > 60 << 10), "{strategy:?}");
        for (kib, area, fits) in areas {
            assert!(fits, "{strategy:?}: {area} with {kib} KiB");
        }
    }
}

/// The words that a collection must declare before it starts.
fn need(live: Live, young: Bytes, strategy: MajorStrategy) -> Words {
    (live.to_copy(strategy) + young).to_words_up()
}

/// The plan and the collection agree: if one thread can copy the data, the heap is not exhausted.
#[test]
fn a_limit_without_room_for_the_lanes_of_all_threads_is_not_exhaustion() {
    let config = config(4 * MIB);
    let mut heap = heap(&config);
    heap.set_copiers(64);
    let sizing = Sizing::new(&config, &heap, MajorStrategy::Copying);
    let small = live(16 << 10);
    sizing
        .area(small, Bytes(0), MajorStrategy::Copying)
        .expect("room for one thread");
    let copiers = heap
        .prepare_to_copy(small.copied.to_words_up(), 6)
        .expect("room for one");
    assert!((1..64).contains(&copiers), "{copiers} threads");
}

#[test]
fn where_the_limit_leaves_no_room_for_the_lanes_of_all_threads_as_many_copy_as_fit() {
    let (lanes, words) = (6, Words(100_000));
    // How many threads may copy if `copiers` are available: all of them, up to some number.
    let granted = |copiers: usize| {
        let mut heap = heap(&config(4 * MIB));
        heap.set_copiers(copiers);
        assert!(heap.keep_room_to_copy(words, lanes));
        heap.prepare_to_copy(words, lanes).expect("room for one")
    };
    let most = granted(256);
    assert!((2..256).contains(&most), "{most} threads");
    for copiers in [1, 2, most - 1, most, most + 1, 2 * most, 255] {
        assert_eq!(granted(copiers), copiers.min(most), "of {copiers} threads");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_planned_fits(
        (limit, area) in (3usize..48, 4usize..4096),
        (used, young, most, freed) in (0usize..100, 0usize..100, 1u32..12, 2usize..9),
        (generations, capabilities, copiers) in (1u32..5, 1u32..5, 1usize..5),
        large in proptest::collection::vec(LARGE_OBJECT.0..200_000, 0..12),
        compacting in any::<bool>(),
    ) {
        let config = Config {
            allocation_area: Bytes(area * 1024),
            generations,
            capabilities,
            ..config(limit * MIB)
        };
        let mut heap = heap(&config);
        heap.set_copiers(copiers);
        let Ok(runs) = occupy(&mut heap, limit * 256 * used / 100, most, freed) else { return Ok(()) };
        let held: usize = runs.iter().map(|run| run.bytes().0).sum();
        let live = Live { copied: Bytes(held), young: Bytes(held * young / 100), ..Live::default() };
        let strategy = if compacting { MajorStrategy::Compacting } else { MajorStrategy::Copying };
        let mut sizing = Sizing::new(&config, &heap, MajorStrategy::Copying);
        let planned = sizing.area(live, Bytes(0), strategy);
        let Ok(mut nursery) = Nursery::new(&mut heap, Bytes(0), &config) else { return Ok(()) };
        if sizing.resize(&mut nursery, &mut heap, live, planned, strategy).is_err() {
            return Ok(());
        }
        // Mutators allocate large objects until something collects.
        for words in large {
            let request = LargeRequest { words: Words(words), has_pointers: words.is_multiple_of(2) };
            if !matches!(nursery.allocate_large(&mut heap, request), Ok(Some(_))) {
                break;
            }
        }
        let lanes = 2 * generations.max(2) as usize;
        let found = heap.prepare_to_copy(need(live, nursery.size(), strategy), lanes);
        prop_assert!(found.is_ok(), "{found:?} with {live:?} and a nursery of {}", nursery.size());
        prop_assert!(heap.blocks().accounting().committed() <= heap.limit());
    }

    #[test]
    fn more_live_data_never_enlarges_the_area(
        limit in 2usize..256,
        area in 8usize..8192,
        mut lives in proptest::collection::vec((0usize..100, 0usize..100, 0usize..50), 2..20),
        compacting in any::<bool>(),
    ) {
        let config = Config { allocation_area: Bytes(area * 1024), ..config(limit * MIB) };
        let mut sizing = Sizing::new(&config, &heap(&config), MajorStrategy::Copying);
        sizing.last_was_major = false;
        let strategy = if compacting { MajorStrategy::Compacting } else { MajorStrategy::Copying };
        lives.sort_unstable();
        let mut last: Option<(Live, Bytes)> = None;
        for (copied, young, large) in lives {
            let part = |percent: usize| Bytes(limit * MIB * percent / 100);
            let copied = part(copied);
            let live = Live { copied, young: Bytes(copied.0 * young / 100), large: part(large), ..Live::default() };
            let area = sizing.area(live, Bytes(0), strategy).expect("a minor collection");
            if let Some((before, larger)) = last
                && before.copied <= live.copied && before.young <= live.young && before.large <= live.large
            {
                prop_assert!(area <= larger, "{live:?}: {area}, {before:?}: {larger}");
            }
            last = Some((live, area));
        }
    }
}
