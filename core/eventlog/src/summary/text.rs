//! A summary in the layout of `-s`.
//!
//! A figure that the log does not determine is a `?`, one that is within some microseconds or
//! milliseconds of GHC's has a `~` before it, and a lower bound a `>`. The last line says so. Below
//! GHC's lines stand those that GHC does not print.

use std::fmt::{Result, Write};

use gclab_stats::Pauses;
use gclab_stats::render::commas;

use super::data::{Interval, Summary};
use super::figures::PERCENTILES;

/// The text.
pub(super) fn text(summary: &Summary) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_memory(&mut text, summary);
    let _ = write_collections(&mut text, summary);
    let _ = write_times(&mut text, summary);
    let _ = write_pauses(&mut text, summary);
    text
}

/// A number with commas, or a `?`.
fn number(figure: Option<u64>) -> String {
    figure.map_or("?".to_owned(), commas)
}

/// Seconds with `decimals` behind `mark`, or a `?`, in `width` columns with the unit.
fn seconds(ns: Option<u64>, mark: &str, decimals: usize, width: usize) -> String {
    let text = ns.map_or("?".to_owned(), |ns| format!("{mark}{:.decimals$}s", ns as f64 / 1e9));
    format!("{text:>width$}")
}

fn write_memory(out: &mut String, summary: &Summary) -> Result {
    writeln!(out, "{:>16} bytes allocated in the heap", number(summary.allocated))?;
    writeln!(out, "{:>16} bytes copied during GC", number(summary.copied))?;
    if let Some(live) = summary.live {
        writeln!(
            out,
            "{:>16} bytes maximum residency ({} sample(s))",
            commas(live.max),
            live.samples
        )?;
    }
    writeln!(out, "{:>16} bytes maximum slop", number(summary.max_slop))?;
    let peak = summary
        .peak_heap
        .map_or("?".to_owned(), |bytes| format!(">{}", bytes >> 20));
    writeln!(
        out,
        "{peak:>16} MiB total memory in use (? MB lost due to fragmentation)\n"
    )
}

fn write_collections(out: &mut String, summary: &Summary) -> Result {
    writeln!(out, "{:37}Tot time (elapsed)  Avg pause  Max pause", "")?;
    if summary.collections.is_none() {
        writeln!(
            out,
            "  Gen  ?         ? colls,     ? par         ?        ?          ?          ?"
        )?;
    } else {
        for (number, generation) in summary.generations.iter().enumerate() {
            writeln!(
                out,
                "  Gen {number:2}     {:5} colls, {:5} par   {:>7}  {}     {}    {}",
                generation.collections,
                generation.par_collections,
                "?",
                seconds(Some(generation.elapsed_ns), "", 3, 7),
                seconds(Some(generation.avg_pause_ns()), "", 4, 7),
                seconds(Some(generation.max_pause_ns), "", 4, 7)
            )?;
        }
    }
    if let Some(sync) = &summary.nonmoving_sync {
        writeln!(
            out,
            "  Gen  1     {:5} syncs,                      {}     {}    {}",
            sync.count,
            seconds(Some(sync.total_ns), "~", 3, 7),
            seconds(Some(sync.avg_ns()), "~", 4, 7),
            seconds(Some(sync.max_ns), "~", 4, 7)
        )?;
    }
    out.push('\n');
    if let Some(parallel) = &summary.parallel
        && parallel.balance() > 0.0
    {
        writeln!(
            out,
            "  Parallel GC work balance: {:.2}% (serial 0%, perfect 100%)\n",
            100.0 * parallel.balance()
        )?;
    }
    if summary.threaded {
        let capabilities = number(summary.capabilities);
        writeln!(
            out,
            "  TASKS: ? (? bound, ? peak workers (? total), using -N{capabilities})\n"
        )?;
    }
    if let Some(sparks) = &summary.sparks {
        writeln!(
            out,
            "  SPARKS: {} ({} converted, {} overflowed, {} dud, {} GC'd, {} fizzled)\n",
            sparks.total(),
            sparks.converted,
            sparks.overflowed,
            sparks.dud,
            sparks.gcd,
            sparks.fizzled
        )?;
    }
    Ok(())
}

fn write_times(out: &mut String, summary: &Summary) -> Result {
    let mut line = |name: &str, ns: Option<u64>, mark: &str| {
        writeln!(
            out,
            "  {name:7} time  {:>8}  ({} elapsed)",
            "?",
            seconds(ns, mark, 3, 8)
        )
    };
    line("INIT", None, "")?;
    line("MUT", summary.mutator_ns, "~")?;
    line("GC", summary.gc_ns, if summary.census { "~" } else { "" })?;
    line("EXIT", None, "")?;
    let is_whole = summary.interval == Interval::default();
    line("Total", summary.total_ns, if is_whole { "~" } else { "" })?;
    let rate = summary
        .allocation_rate()
        .map_or("?".to_owned(), |rate| format!("~{}", commas(rate)));
    writeln!(
        out,
        "\n  Alloc rate    ? bytes per MUT second ({rate} per elapsed MUT second)\n"
    )?;
    let share = summary
        .productivity()
        .map_or("?".to_owned(), |share| format!("~{:.1}", 100.0 * share));
    writeln!(out, "  Productivity     ?% of total user, {share}% of total elapsed\n")
}

/// Lines that GHC does not print.
fn write_pauses(out: &mut String, summary: &Summary) -> Result {
    write_lengths(out, "Pauses of the program", &summary.pauses)?;
    write_lengths(out, "Pauses of capabilities", &summary.cap_pauses)?;
    if let Some(stops) = &summary.time_to_stop {
        writeln!(
            out,
            "  Time to stop: {} in all, {} mean, {} longest",
            milliseconds(stops.total_ns),
            milliseconds(stops.avg_ns()),
            milliseconds(stops.max_ns)
        )?;
    }
    if !summary.utilisation.is_empty() && summary.collections.is_some() {
        let shares = summary.utilisation.iter();
        let shares = shares.map(|(window, share)| format!("{:.1}% in {} ms", 100.0 * share, window / 1_000_000));
        writeln!(out, "  Least utilisation: {}", shares.collect::<Vec<_>>().join(", "))?;
    }
    for times in summary.caps.iter().filter(|times| times.gc_ns > 0) {
        writeln!(
            out,
            "  Cap {:2}: {} in {} colls, of which {} idle ({:.1}%)",
            times.cap,
            milliseconds(times.gc_ns),
            times.collections,
            milliseconds(times.idle_ns),
            100.0 * times.idle_ns as f64 / times.gc_ns as f64
        )?;
    }
    writeln!(
        out,
        "\n  (? is not in the log, ~ is near the figure of -s, > is at least)"
    )
}

fn write_lengths(out: &mut String, name: &str, pauses: &Pauses) -> Result {
    if pauses.count() == 0 {
        return Ok(());
    }
    write!(
        out,
        "  {name}: {}, longest {}",
        pauses.count(),
        milliseconds(pauses.longest_ns())
    )?;
    let percentiles = pauses.exceeded_by_one_in(PERCENTILES.map(|(_, rarer)| rarer));
    for ((name, _), ns) in PERCENTILES.into_iter().zip(percentiles) {
        if let Some(ns) = ns {
            write!(out, ", {name} {}", milliseconds(ns))?;
        }
    }
    out.push('\n');
    Ok(())
}

fn milliseconds(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}
