//! `-s`: the summary, and `-t`: one line.
//!
//! Lines that GHC does not have: the machine memory that the heap held (`Heap memory`), how
//! collections were shared (`GC sharing`), the time until all mutators had stopped (`GC sync`),
//! which GHC counts as mutator time and does not print, the work of collectors that collect in
//! slices (`Slices`), time in which almost everything went into
//! collections that freed almost nothing (`Thrashing`), figures by name (`Figures`), the part of
//! mutator time in which the collector looked for room (`Refills`), and the times of set-up and of
//! the measured phase (`Measured`). `GC sharing` and `GC sync` are there only with several
//! capabilities or GC threads, `GC sync` also with a concurrent collector, `Measured` only if the
//! program says where it begins. Each begins unlike any line of GHC's, in its own paragraph, so that
//! tools that read GHC's lines skip them.
//!
//! INIT, MUT, GC and EXIT mean what they mean in GHC, whatever the program measures. RP (retainer
//! censuses) and PROF (other censuses) are listed if there were any, as in GHC's profiled runtime.
//! Two lines below them follow GHC's form: CHECK is the time of the checker (`-DS`), INSPECT the
//! time of other looks at the stopped heap.

use std::fmt::Write;

use super::super::{Sharing, Statistics, Times, ratio};
use super::number::{commas, mib, seconds};

/// The summary of `-s`. The line of work balance is printed if a collection ran in parallel and
/// some of it in balance. Sparks do not exist here and are zero.
pub fn summary(stats: &Statistics) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_memory(&mut text, stats);
    let _ = write_collections(&mut text, stats);
    let _ = write_heap_memory(&mut text, stats);
    let _ = write_thrashing(&mut text, stats);
    let _ = write_slices(&mut text, stats);
    let _ = write_figures(&mut text, stats);
    let _ = write_refills(&mut text, stats);
    let _ = write_phases(&mut text, stats);
    let _ = write_times(&mut text, stats);
    text
}

fn write_memory(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    writeln!(out, "{:>16} bytes allocated in the heap", commas(stats.allocated))?;
    writeln!(out, "{:>16} bytes copied during GC", commas(stats.copied))?;
    if stats.major_gcs > 0 {
        writeln!(
            out,
            "{:>16} bytes maximum residency ({} sample(s))",
            commas(stats.max_live),
            stats.major_gcs
        )?;
    }
    writeln!(out, "{:>16} bytes maximum slop", commas(stats.max_slop))?;
    writeln!(
        out,
        "{:>16} MiB total memory in use ({} MB lost due to fragmentation)\n",
        mib(stats.peak_in_use),
        mib(stats.peak_fragmentation)
    )
}

fn write_collections(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    writeln!(out, "{:37}Tot time (elapsed)  Avg pause  Max pause", "")?;
    for (number, generation) in stats.generations.iter().enumerate() {
        writeln!(
            out,
            "  Gen {number:2}     {:5} colls, {:5} par   {:6.3}s  {:6.3}s     {:3.4}s    {:3.4}s",
            generation.collections,
            generation.par_collections,
            seconds(generation.cpu_ns),
            seconds(generation.elapsed_ns),
            seconds(generation.avg_pause_ns()),
            seconds(generation.max_pause_ns)
        )?;
    }
    write_cycles(out, stats)?;
    out.push('\n');
    if stats.work_balance() > 0.0 {
        writeln!(
            out,
            "  Parallel GC work balance: {:.2}% (serial 0%, perfect 100%)\n",
            100.0 * stats.work_balance()
        )?;
    }
    write_sharing(out, stats)?;
    let tasks = &stats.tasks;
    writeln!(
        out,
        "  TASKS: {} ({} bound, {} peak workers ({} total), using -N{})\n",
        tasks.total, tasks.bound, tasks.peak_workers, tasks.workers, stats.capabilities
    )?;
    writeln!(
        out,
        "  SPARKS: 0 (0 converted, 0 overflowed, 0 dud, 0 GC'd, 0 fizzled)\n"
    )
}

/// Lines that GHC does not print; none in a run of one capability and one GC thread.
fn write_sharing(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    let sharings = &stats.sharings;
    if sharings.any_choice() {
        let generations = (0..sharings.taken.len()).filter_map(|generation| {
            let counts: Vec<String> = Sharing::ALL
                .into_iter()
                .map(|sharing| (sharings.count(generation, sharing), sharing.name()))
                .filter(|(count, _)| *count > 0)
                .map(|(count, name)| format!("{count} {name}"))
                .collect();
            (!counts.is_empty()).then(|| format!("gen {generation}: {}", counts.join(", ")))
        });
        write!(out, "  GC sharing: {}", generations.collect::<Vec<_>>().join("; "))?;
        if sharings.elapsed_ns > 0 {
            write!(
                out,
                " ({:.1}% of parallel pauses sequential)",
                100.0 * sharings.sequential_share()
            )?;
        }
        out.push_str("\n\n");
    }
    if (stats.capabilities > 1 || stats.concurrent.elapsed_ns > 0) && stats.max_sync_ns > 0 {
        writeln!(
            out,
            "  GC sync: {:.3}s in all, {:.4}s mean, {:.4}s longest\n",
            seconds(stats.sync_ns),
            seconds(stats.mean_sync_ns()),
            seconds(stats.max_sync_ns)
        )?;
    }
    Ok(())
}

/// A line that GHC does not print. (There is reserved memory whenever there was a heap.)
fn write_heap_memory(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    if stats.reserved == 0 {
        return Ok(());
    }
    write!(
        out,
        "  Heap memory: {} MiB at most with its tables, {} MiB returned, {} of addresses",
        mib(stats.peak_taken),
        mib(stats.returned),
        match stats.reserved >> 30 {
            0 => format!("{} MiB", mib(stats.reserved)),
            whole => format!("{whole} GiB"),
        }
    )?;
    if let Some(resident) = stats.max_resident {
        write!(
            out,
            "; process: {} MiB resident at most after major collections",
            mib(resident)
        )?;
    }
    if mib(stats.statistics_bytes) > 0 {
        write!(out, "; statistics: {} MiB", mib(stats.statistics_bytes))?;
    }
    out.push_str("\n\n");
    Ok(())
}

/// A line that GHC does not print; none if the run did not thrash.
fn write_thrashing(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    if stats.thrashing.major_gcs == 0 {
        return Ok(());
    }
    writeln!(out, "  Thrashing: {}\n", stats.thrashing)
}

/// A line that GHC does not print; none if no allocator was refilled.
fn write_refills(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    let refills = &stats.refills;
    if refills.count == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "  Refills: {} of allocators, {:.3}s of MUT elapsed ({:.1}%)\n",
        commas(refills.count),
        seconds(refills.elapsed_ns),
        100.0 * ratio(refills.elapsed_ns, stats.mutator.elapsed_ns)
    )
}

/// A line that GHC does not print; none if no collection was done in slices.
fn write_slices(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    let slices = &stats.slices;
    if slices.count == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "  Slices: {} in {} cycle(s), {} MiB marked, {} MiB swept, {:.4}s mean, {:.4}s longest\n",
        commas(slices.count),
        commas(slices.cycles),
        mib(slices.marked),
        mib(slices.swept),
        seconds(slices.elapsed_ns / slices.count),
        seconds(slices.max_pause_ns)
    )
}

/// GHC's lines for its nonmoving collector: the pauses that ended cycles, and the concurrent work of
/// cycles. None unless the collector worked concurrently.
fn write_cycles(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    let cycles = &stats.concurrent_cycles;
    if cycles.count == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "  Gen  1     {:5} syncs,                      {:6.3}s     {:3.4}s    {:3.4}s",
        cycles.count,
        seconds(cycles.sync_ns),
        seconds(cycles.sync_ns / cycles.count),
        seconds(cycles.max_sync_ns)
    )?;
    writeln!(
        out,
        "  Gen  1      concurrent,             {:6.3}s  {:6.3}s     {:3.4}s    {:3.4}s",
        seconds(stats.concurrent.cpu_ns),
        seconds(stats.concurrent.elapsed_ns),
        seconds(stats.concurrent.elapsed_ns / cycles.count),
        seconds(cycles.max_elapsed_ns)
    )
}

/// A line that GHC does not print; none if the run has no figures of its own.
fn write_figures(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    if stats.figures.is_empty() {
        return Ok(());
    }
    let figures = stats.figures.iter();
    let figures = figures.map(|figure| format!("{} {}", figure.name, commas(figure.value)));
    writeln!(out, "  Figures: {}\n", figures.collect::<Vec<_>>().join(", "))
}

/// A line that GHC does not print; none if the program does not say what is measured.
fn write_phases(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    let phases = &stats.phases;
    if !phases.marked {
        return Ok(());
    }
    let measured = &phases.measured;
    writeln!(
        out,
        "  Measured phase: {:.3}s elapsed (MUT {:.3}s, GC {:.3}s in {} colls, longest pause {:.4}s); before it {:.3}s, after it {:.3}s\n",
        seconds(measured.total().elapsed_ns),
        seconds(measured.mutator.elapsed_ns),
        seconds(measured.gc.elapsed_ns),
        measured.collections,
        seconds(measured.max_pause_ns),
        seconds((stats.init + phases.setup.total()).elapsed_ns),
        seconds(phases.exit.total().elapsed_ns)
    )
}

fn write_times(out: &mut String, stats: &Statistics) -> std::fmt::Result {
    let mut line = |name: &str, times: Times| {
        writeln!(
            out,
            "  {name:7} time  {:7.3}s  ({:7.3}s elapsed)",
            seconds(times.cpu_ns),
            seconds(times.elapsed_ns)
        )
    };
    line("INIT", stats.init)?;
    line("MUT", stats.mutator)?;
    line("GC", stats.paused())?;
    if stats.concurrent.elapsed_ns > 0 {
        line("CONC GC", stats.concurrent)?;
    }
    let looks = &stats.looks;
    if (looks.retainers + looks.census).elapsed_ns > 0 {
        line("RP", looks.retainers)?;
        line("PROF", looks.census)?;
    }
    for (name, times) in [("CHECK", looks.check), ("INSPECT", looks.inspect)] {
        if times.elapsed_ns > 0 {
            line(name, times)?;
        }
    }
    line("EXIT", stats.exit)?;
    line("Total", stats.total)?;
    writeln!(
        out,
        "\n  %GC     time     {:5.1}%  ({:.1}% elapsed)",
        100.0 * stats.gc_cpu(),
        100.0 * stats.gc_elapsed()
    )?;
    writeln!(
        out,
        "\n  Alloc rate    {} bytes per MUT second\n",
        commas(stats.alloc_rate())
    )?;
    writeln!(
        out,
        "  Productivity {:5.1}% of total user, {:.1}% of total elapsed\n",
        100.0 * stats.productivity_cpu(),
        100.0 * stats.productivity_elapsed()
    )
}

/// The line of `-t`, between `<<ghc:` and `:ghc>>`, so that tools that read GHC's line read this
/// one.
pub fn one_line(stats: &Statistics) -> String {
    let part = |name: &str, times: Times| {
        format!(
            "{:.3} {name} ({:.3} elapsed)",
            seconds(times.cpu_ns),
            seconds(times.elapsed_ns)
        )
    };
    format!(
        "<<ghc: {} bytes, {} GCs, {}/{} avg/max bytes residency ({} samples), {}M in use, {}, {}, {} :ghc>>\n",
        stats.allocated,
        stats.collections_count(),
        stats.average_live(),
        stats.max_live,
        stats.major_gcs,
        mib(stats.peak_in_use),
        part("INIT", stats.init),
        part("MUT", stats.mutator),
        part("GC", stats.paused())
    )
}
