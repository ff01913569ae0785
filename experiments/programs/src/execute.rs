//! One run: a heap, a collector, a workload. Names become types here.

use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gclab_core::block::{OutOfMemory, Shortage};
use gclab_core::collector::{Chosen, Collector, CollectorList, CollectorVisitor, Description};
use gclab_core::config::{Config, SizingPolicy};
use gclab_core::events::{Listener, RunInfo};
use gclab_core::memory::MemoryError;
use gclab_core::mutator::MutatorKind;
use gclab_core::recorder::{FinalCounts, Recorder};
use gclab_core::stats::render::Printer;
use gclab_core::stats::{Sink, StatsLevel};
use gclab_core::words::size::size_text;
use gclab_core::words::{Addr, Bytes};
use gclab_core::world::World;
use gclab_core::world::{EnterError, StartError};
use gclab_eventlog::record::DebugPrinter;
use gclab_flags::Flags;
use gclab_heap_traverse::{Checker, LifeTeller};
use gclab_workloads::{Latency, RunError, Workload, WorkloadDescription, WorkloadList, WorkloadVisitor};

use crate::interrupt::interruptible;
use crate::log::Logging;
use crate::outputs::{Outputs, Purpose};
use crate::profile::Profiling;
use crate::request::{Done, Ended, Executor, Request};
use crate::time_profile::{Bell, TimeProfiling};
use crate::timer::with_timer;

/// A heap starts at a multiple of this.
const ALIGNMENT: Bytes = Bytes::mib(2);

/// An executor over two lists of types. Every workload is compiled for every kind of mutators of
/// the collectors: once for each allocator with its barrier, and once for profiles. This crate has
/// gclab's own workloads for the kinds of gclab's own collectors already (`compiled.rs`).
#[derive(Debug)]
pub struct Lists<Collectors, Workloads>(PhantomData<(Collectors, Workloads)>);

impl<Collectors, Workloads> Lists<Collectors, Workloads> {
    /// The executor over these lists.
    pub const NEW: Self = Lists(PhantomData);
}

impl<Collectors: CollectorList, Workloads: WorkloadList> Executor for Lists<Collectors, Workloads> {
    fn collectors(&self) -> Vec<&'static Description> {
        Collectors::descriptions()
    }

    fn workloads(&self) -> Vec<&'static WorkloadDescription> {
        Workloads::descriptions()
    }

    fn execute(&self, request: &Request<'_>, listeners: Vec<Box<dyn Listener>>) -> Done {
        let none = || {
            Done::without_heap(Ended::Refused(format!(
                "this build has no workload {} for collector {}",
                request.workload, request.collector
            )))
        };
        let visitor = ByCollector::<Workloads> {
            request,
            listeners,
            workloads: PhantomData,
        };
        let done = Collectors::with(request.collector, visitor);
        done.flatten().unwrap_or_else(none)
    }
}

struct ByCollector<'r, Workloads> {
    request: &'r Request<'r>,
    listeners: Vec<Box<dyn Listener>>,
    workloads: PhantomData<Workloads>,
}

impl<Workloads: WorkloadList> CollectorVisitor for ByCollector<'_, Workloads> {
    type Output = Option<Done>;

    // This is compiled for each collector; everything else only for each kind of mutators.
    fn visit<C: Collector>(self) -> Self::Output {
        if self.request.flags.config.needs_side_words() {
            by_name::<_, Workloads>(Chosen::observed::<C>(), self.request, self.listeners)
        } else {
            by_name::<_, Workloads>(Chosen::plain::<C>(), self.request, self.listeners)
        }
    }
}

/// Starts a program with a collector.
pub(crate) type Start<C> = fn(C, &Request<'_>, Vec<Box<dyn Listener>>) -> Option<Done>;

/// Runs the requested workload of a list. `None` if the list has none of that name.
pub(crate) fn by_name<M: MutatorKind, Workloads: WorkloadList>(
    collector: Chosen<M>,
    request: &Request<'_>,
    listeners: Vec<Box<dyn Listener>>,
) -> Option<Done> {
    Workloads::with(
        request.workload,
        ByWorkload {
            request,
            listeners,
            collector,
        },
    )
}

struct ByWorkload<'r, M: MutatorKind> {
    request: &'r Request<'r>,
    listeners: Vec<Box<dyn Listener>>,
    collector: Chosen<M>,
}

impl<M: MutatorKind> WorkloadVisitor for ByWorkload<'_, M> {
    type Output = Done;

    fn visit<W: Workload>(self, workload: &W) -> Self::Output {
        program(workload, self.collector, self.request, self.listeners)
    }
}

/// Runs a workload. This is compiled for each workload and kind, so it is small: the program's own
/// code, and a call. It is never inlined, so that the programs in [`crate::compiled`] are not
/// compiled again.
#[inline(never)]
fn program<W: Workload, M: MutatorKind>(
    workload: &W,
    collector: Chosen<M>,
    request: &Request<'_>,
    listeners: Vec<Box<dyn Listener>>,
) -> Done {
    run(
        collector,
        &mut |world| workload.run(world, request.args),
        &|| workload.latency(),
        request,
        listeners,
    )
}

/// The end of a run whose heap could not be made. Its figures are an empty run's.
/// Its event log describes the process.
fn exhausted_at_start(
    flags: &Flags,
    run: &RunInfo,
    printer: &Printer,
    (mut outputs, logging): (Outputs, Option<Logging>),
    cause: OutOfMemory,
) -> Done {
    if let Err(problem) = outputs.begin() {
        return Done::without_heap(Ended::Refused(problem));
    }
    let config = &flags.config;
    let statistics = Recorder::new(config.generations, config.capabilities).finish(&FinalCounts::default());
    printer.finish(&statistics);
    Done {
        unlogged: logging.and_then(|logging| logging.finish_without_heap(run, &statistics)),
        statistics: Some(statistics),
        ..Done::without_heap(Ended::Exhausted(cause))
    }
}

/// Prints the statistics that the flags ask for.
fn printer(request: &Request<'_>, outputs: &Outputs) -> Printer {
    let option = &request.flags.stats;
    match (outputs.file(Purpose::Statistics), &option.file) {
        (Some(file), Some(path)) => {
            let file = Sink::open_file(path, Box::new(file));
            Printer::to_file(option, file, request.program, request.words)
        }
        _ => Printer::to(option, Sink::stderr()),
    }
}

/// Makes a heap and runs `program` in it. Compiled for each kind, not for each program; never
/// inlined, for the same reason as [`program`].
#[inline(never)]
fn run<M: MutatorKind>(
    collector: Chosen<M>,
    program: &mut dyn FnMut(&World<M>) -> Result<u64, RunError>,
    latency: &dyn Fn() -> Option<Latency>,
    request: &Request<'_>,
    listeners: Vec<Box<dyn Listener>>,
) -> Done {
    // Opened first, so that a file that cannot be written is found before the run.
    let opened = Outputs::open(request).and_then(|mut outputs| {
        let profiling = Profiling::begin(request, &outputs)?;
        let time = TimeProfiling::begin(request, &outputs);
        let logging = Logging::begin(request, &mut outputs)?;
        Ok((outputs, profiling, time, logging))
    });
    let (mut outputs, profiling, time, logging) = match opened {
        Ok(opened) => opened,
        Err(problem) => return Done::without_heap(Ended::Refused(problem)),
    };
    let printer = printer(request, &outputs);
    let run = collector.run_info(&request.flags.config);
    let mut world = match World::with(collector, &request.flags.config) {
        Ok(world) => world,
        Err(StartError::OutOfMemory(cause)) => {
            return exhausted_at_start(request.flags, &run, &printer, (outputs, logging), cause);
        }
        Err(StartError::Memory(error @ MemoryError::OnPurpose { .. })) => {
            let cause = OutOfMemory {
                requested: request.flags.config.reserve,
                in_use: Bytes::ZERO,
                limit: request.flags.config.max_heap,
                cause: Shortage::System(error),
            };
            return exhausted_at_start(request.flags, &run, &printer, (outputs, logging), cause);
        }
        Err(error) => return Done::without_heap(Ended::Refused(error.to_string())),
    };
    if let Some(problem) = elsewhere(&request.flags.config, world.base()) {
        return Done::without_heap(Ended::Refused(problem));
    }
    let cut_area = cut_area(&request.flags.config, world.allocation_area());
    world.print_with(printer.clone());
    if request.flags.stats.level != StatsLevel::None {
        world.enable_rts_stats();
    }
    if let Some(logging) = &logging {
        logging.listen(&mut world);
    }
    // The life comes first: it shows how the closure came to where the checker finds it.
    if request.flags.config.follow_closure.is_some() {
        world.listen(Box::new(LifeTeller::new(io::stderr())));
    }
    if request.flags.sanity {
        Checker::install(&mut world);
    }
    listeners.into_iter().for_each(|listener| world.listen(listener));
    if request.flags.bell {
        world.listen(Box::new(Bell));
    }
    if request.flags.debug.any() && logging.is_none() {
        world.listen(Box::new(DebugPrinter::new(request.flags.debug, io::stderr())));
    }
    if let (Some(time), Some(logging)) = (&time, &logging) {
        time.log_to(logging, &mut world);
    }
    if let Some(profiling) = &profiling {
        profiling.listen(&mut world);
        if let Some(logging) = &logging {
            profiling.log_to(logging, &request.flags.config.profile);
        }
    }
    let mut program = || {
        let config = &request.flags.config;
        let ran = with_timer(&world, config, profiling.as_ref(), time.as_ref(), || {
            // From here on the run can no longer be refused.
            outputs.begin()?;
            // After the program panics the heap is consistent, and its figures are worth having.
            Ok(catch_unwind(AssertUnwindSafe(|| program(&world))))
        });
        ran.and_then(|result| result)
    };
    let (result, signal) = if request.interruptible {
        interruptible(&world, &mut program)
    } else {
        (program(), None)
    };
    let result = match result {
        Ok(result) => result,
        Err(problem) => return Done::without_heap(Ended::Refused(problem)),
    };
    let ended = match (result, signal) {
        (Err(_), _) => Ended::Panicked,
        (Ok(Err(_)), Some(signal)) => Ended::Interrupted(signal),
        (Ok(result), _) => ended(result, latency),
    };
    let costs = world
        .side_words()
        .map_or_else(Vec::new, |side_words| side_words.costs());
    let statistics = world.finish();
    printer.finish(&statistics);
    // The time profile comes first in a file that it shares with sets of retainers.
    let unwritten = time.and_then(|time| time.finish(costs));
    let profile = profiling.map(|profiling| profiling.finish(&statistics));
    Done {
        ended,
        unwritten,
        profile,
        unlogged: logging.and_then(Logging::finish),
        statistics: Some(statistics),
        cut_area,
    }
}

/// `area`, if it is smaller than `-A` or `-H` asks for, by more than rounding, and no flag limits
/// memory.
fn cut_area(config: &Config, area: Bytes) -> Option<Bytes> {
    let is_limited = config.max_heap.is_some() || config.sizing == SizingPolicy::Fixed;
    (!is_limited && area.0 + area.0 / 100 < config.asked_area().0).then_some(area)
}

/// The message for a heap that begins at `base`, and not where the flags want it (`-xm`).
fn elsewhere(config: &Config, base: Addr) -> Option<String> {
    let wanted = config
        .map_near
        .filter(|&near| !(base..base + ALIGNMENT).contains(&near))?;
    Some(format!(
        "-xm{:x}: the system has no room for a heap there (-xr{}): write another address, as in -xm4200000000",
        wanted.0,
        size_text(config.reserve)
    ))
}

/// The end of a program that no signal ended.
fn ended(result: Result<u64, RunError>, latency: &dyn Fn() -> Option<Latency>) -> Ended {
    match result {
        Ok(checksum) => Ended::Checksum(checksum, latency()),
        Err(RunError::Heap(EnterError::Exhausted(exhaustion))) => Ended::Exhausted(exhaustion.cause),
        Err(error @ RunError::Damaged(_)) => Ended::Broken(error.to_string()),
        Err(error) => Ended::Refused(error.to_string()),
    }
}
