//! Workloads at test size, every collection checked.

use crate::random::in_child;
use gclab_core::collector::Collector;
use gclab_core::config::Config;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use gclab_workloads::{Workload, WorkloadList, WorkloadVisitor};
use std::any::type_name;
use std::marker::PhantomData;

/// Minimum number of collections in a run at test size: fewer would prove nothing.
const LEAST_COLLECTIONS: u64 = 4;

/// Runs a workload at its test size under a small allocation area.
struct Checked<C>(PhantomData<C>);

impl<C: Collector> WorkloadVisitor for Checked<C> {
    type Output = ();

    fn visit<W: Workload>(self, workload: &W) {
        let (program, collector) = (W::DESCRIPTION, C::DESCRIPTION.name);
        let (least, most) = C::DESCRIPTION.generations;
        let config = Config {
            allocation_area: Bytes::kib(64),
            reserve: Bytes::gib(4),
            generations: Config::default().generations.clamp(least, most),
            ..Config::default()
        };
        let mut world = World::new::<C>(&config).expect("a small heap");
        world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
        let checksum = workload
            .run(&world, &program.test_args().expect("legal arguments"))
            .expect("it fits");
        let expected = program.test.checksum.unwrap_or(checksum);
        assert_eq!(checksum, expected, "{} under {collector}", program.name);
        assert!(
            world.finish().collections_count() >= LEAST_COLLECTIONS,
            "{} under {collector} hardly collected",
            program.name
        );
    }
}

/// Runs workload `name` of the list `W` at its test size under collector `C`, with the checker on, in a
/// child process.
///
/// # Panics
/// If the checker finds a fault, the collector panics or crashes, the checksum is wrong, or the list has no
/// such workload.
#[track_caller]
pub fn workload<C: Collector, W: WorkloadList>(name: &str) {
    in_child(&format!("{name} {}", type_name::<C>()), || {
        W::with(name, Checked::<C>(PhantomData)).unwrap_or_else(|| panic!("no workload is called {name}"));
    });
}

/// Runs every workload of the list `W`: see [`workload`].
///
/// # Panics
/// As [`workload`].
pub fn workloads<C: Collector, W: WorkloadList>() {
    for description in W::descriptions() {
        workload::<C, W>(description.name);
    }
}
