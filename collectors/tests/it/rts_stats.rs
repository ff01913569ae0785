//! The statistics that a running program reads, against those at the end of the run.

use crate::basics::config;
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::mutator::Request;
use gclab_core::stats::{GcDetails, NotEnabled, RtsStats};
use gclab_core::world::{EnterError, RtsStatsError, World};

under_every_collector! {
    fn a_program_reads_the_statistics_that_its_run_ends_with<C>() {
        let mut world = World::new::<C>(&config::<C>(64 << 10)).expect("a small heap");
        world.enable_rts_stats();
        let inside = world.enter(|m| {
            let first = m.rts_stats().expect("enabled");
            (0..3).for_each(|_| _ = m.alloc_bytes_filled(30_000, 7));
            m.collect(Request::Full);
            (first, m.rts_stats().expect("enabled"))
        });
        let (first, second) = inside.expect("room enough");
        assert_eq!((first.gcs, first.allocated_bytes, &first.gc), (0, 0, &None));
        assert!(second.allocated_bytes >= 90_000 && second.major_gcs >= 1);
        assert!(second.elapsed_ns >= second.init_elapsed_ns + second.mutator_elapsed_ns + second.gc_elapsed_ns);
        assert!(second.elapsed_ns > first.elapsed_ns && second.max_mem_in_use_bytes > 0);
        let outside = world.rts_stats().expect("enabled");
        assert_eq!(outside.gc, second.gc);
        assert_eq!(world.rts_stats_enabled(), Ok(true));

        let statistics = world.finish();
        let end = RtsStats::from(&statistics);
        // The last collection comes after the program last reads them.
        assert_eq!((end.gcs, end.major_gcs), (outside.gcs + 1, outside.major_gcs + 1));
        assert_eq!(end.allocated_bytes, outside.allocated_bytes);
        assert_eq!(end.gc, statistics.collections.last().map(GcDetails::from));
        let before = &statistics.collections[statistics.collections.len() - 2];
        assert_eq!(outside.gc, Some(GcDetails::from(before)));
        assert_eq!(end.copied_bytes, outside.copied_bytes + end.gc.map_or(0, |gc| gc.copied_bytes));
    }

    fn without_a_flag_the_statistics_are_refused<C>() {
        let world = World::new::<C>(&config::<C>(64 << 10)).expect("a small heap");
        assert_eq!(world.rts_stats_enabled(), Ok(false));
        assert_eq!(world.rts_stats(), Err(RtsStatsError::NotEnabled(NotEnabled)));
        world.enter(|m| {
            assert_eq!(m.rts_stats(), Err(NotEnabled));
            assert_eq!(world.rts_stats(), Err(RtsStatsError::Enter(EnterError::Entered)));
        }).expect("room enough");
        assert!(NotEnabled.to_string().contains("+RTS -T"));
    }
}
