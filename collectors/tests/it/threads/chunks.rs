//! Chunks of the allocation area go to the threads that need them.

use super::{all_at_once, checked, meet, of_many};
use gclab_collectors::Copying;
use gclab_core::config::Config;
use gclab_core::words::Bytes;
use std::sync::Barrier;

/// The number of collections while four threads allocate at rates of 1 : 2 : 4 : 8 kibibytes a
/// round.
fn collections_at_unequal_rates(chunk: usize) -> u64 {
    let config = Config {
        chunk: Some(Bytes(chunk)),
        ..of_many::<Copying>(4, 64 << 10)
    };
    let world = checked::<Copying>(&config);
    let round = Barrier::new(4);
    all_at_once(&world, 4, |m, number| {
        for _ in 0..200 {
            for _ in 0..1 << number {
                m.alloc_bytes_filled(1024 - 16, 0);
            }
            meet(m, &round);
        }
    });
    world.statistics().expect("not inside").collections_count()
}

/// Without chunks the fastest thread fills its 64 KiB in 8 rounds, so 200 rounds have 25
/// collections. With chunks all threads share 256 KiB and fill 15 KiB a round. A thread's last
/// chunk may be nearly empty, so collections are slightly less than 17 rounds apart.
#[test]
fn chunks_leave_the_share_of_slow_threads_to_fast_ones() {
    let (without, with) = (collections_at_unequal_rates(0), collections_at_unequal_rates(4096));
    assert!((24..=26).contains(&without), "{without} collections without chunks");
    assert!((11..=13).contains(&with), "{with} collections with chunks");
}
