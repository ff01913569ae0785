//! Runs a workload under a collector, both by name.

use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::MutatorKind;
use gclab_core::stats::Statistics;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use gclab_workloads::{All, Args, RunError, Workload, WorkloadList, WorkloadVisitor};

/// A run: the workload, its arguments and the flags.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    pub workload: &'a str,
    pub args: Vec<&'a str>,
    /// Bytes of the allocation area.
    pub area: usize,
    /// Collect at every allocation whose number is divisible by this (`-DZ`).
    pub stress: Option<u64>,
    /// Check the whole heap after each collection.
    pub checked: bool,
    /// Mutator threads that may be inside the world at a time (`-N`).
    pub capabilities: u32,
    /// Bytes of the chunks that the allocation area is cut into (`-n`).
    pub chunk: Option<usize>,
    /// The heap's limit, in bytes (`-M`).
    pub limit: Option<usize>,
}

impl<'a> Run<'a> {
    pub fn new(workload: &'a str, args: &[&'a str]) -> Self {
        Run {
            workload,
            args: args.to_vec(),
            area: 256 << 10,
            stress: None,
            checked: true,
            capabilities: 1,
            chunk: None,
            limit: None,
        }
    }

    pub fn capabilities(self, capabilities: u32) -> Self {
        Run { capabilities, ..self }
    }

    pub fn chunk(self, bytes: usize) -> Self {
        let chunk = Some(bytes);
        Run { chunk, ..self }
    }

    pub fn limit(self, bytes: usize) -> Self {
        let limit = Some(bytes);
        Run { limit, ..self }
    }

    pub fn area(self, area: usize) -> Self {
        Run { area, ..self }
    }

    pub fn stress(self, every: u64) -> Self {
        Run {
            stress: Some(every),
            ..self
        }
    }

    /// Turns off checks of the whole heap, for large heaps with many collections.
    pub fn unchecked(self) -> Self {
        Run { checked: false, ..self }
    }

    /// Runs under one collector. Returns the checksum, and the statistics at the end.
    pub fn under(&self, collector: &str) -> Result<(u64, Statistics), RunError> {
        gclab_collectors::All::with(collector, self).unwrap_or_else(|| panic!("no collector {collector}"))
    }

    /// Runs under every collector. Returns the name, the checksum and the statistics of each.
    pub fn everywhere(&self) -> Vec<(&'static str, u64, Statistics)> {
        let under = |collector: &&'static gclab_core::collector::Description| {
            let (checksum, statistics) = self.under(collector.name).unwrap();
            (collector.name, checksum, statistics)
        };
        gclab_collectors::All::descriptions().iter().map(under).collect()
    }
}

impl CollectorVisitor for &Run<'_> {
    type Output = Result<(u64, Statistics), RunError>;
    fn visit<C: Collector>(self) -> Self::Output {
        let (least, most) = C::DESCRIPTION.generations;
        let config = Config {
            allocation_area: Bytes(self.area),
            reserve: Bytes(8 << 30),
            generations: Config::default().generations.clamp(least, most),
            stress: self.stress,
            capabilities: self.capabilities,
            chunk: self.chunk.map(Bytes),
            max_heap: self.limit.map(Bytes),
            // Major collections as often as possible, so that the live data that they find gets
            // close to the peak.
            old_min: Bytes(4 << 10),
            old_factor: 1.0,
            ..Config::default()
        };
        let mut world = World::new::<C>(&config).expect("a small heap");
        if self.checked {
            Checker::install(&mut world);
        }
        let checksum = All::with(
            self.workload,
            Inside {
                run: self,
                world: &world,
            },
        )
        .expect("a workload of the list")?;
        Ok((checksum, world.finish()))
    }
}

struct Inside<'a, M: MutatorKind> {
    run: &'a Run<'a>,
    world: &'a World<M>,
}

impl<M: MutatorKind> WorkloadVisitor for Inside<'_, M> {
    type Output = Result<u64, RunError>;
    fn visit<W: Workload>(self, workload: &W) -> Result<u64, RunError> {
        let args = Args::parse(&W::DESCRIPTION, &self.run.args).unwrap();
        workload.run(self.world, &args)
    }
}
