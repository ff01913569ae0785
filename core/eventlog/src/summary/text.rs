//! A summary in the layout of `-s`.
//!
//! A figure that the log does not determine is a `?`; `~` marks a figure within some microseconds
//! or milliseconds of GHC's, and `>` a lower bound. The last line says so. Lines that GHC does not
//! print follow GHC's.
//!
//! In a damaged log, sums and maxima are lower bounds, and means and shares are approximate. If it
//! has several capabilities, their events end at different places, so the mutator's time and the
//! figures derived from it are unknown.

use std::fmt::{Result, Write};

use gclab_core::stats::Pauses;
use gclab_core::stats::render::{commas, escaped};

use super::data::{Interval, LookTimes, Stops, Summary};
use super::figures::PERCENTILES;

/// The text.
pub(super) fn text(summary: &Summary) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_memory(&mut text, summary);
    let _ = write_collections(&mut text, summary);
    let _ = write_times(&mut text, summary);
    let mut more = String::new();
    let _ = write_pauses(&mut more, summary);
    text.extend(more.lines().map(fitted));
    text
}

/// A line, broken where it would be wider than 80 columns.
fn fitted(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 1);
    let mut width = 0;
    for part in line.split_inclusive(", ") {
        if width + part.trim_end().chars().count() > COLUMNS {
            text.truncate(text.trim_end().len());
            text.push_str(CONTINUED);
            width = CONTINUED.len() - 1;
        }
        text.push_str(part);
        width += part.chars().count();
    }
    text + "\n"
}

/// The width of a terminal, and what continues a line that is wider.
const COLUMNS: usize = 80;
const CONTINUED: &str = "\n    ";

/// A number with commas, or a `?`.
fn number(figure: Option<u64>, mark: &str) -> String {
    figure.map_or("?".to_owned(), |figure| format!("{mark}{}", commas(figure)))
}

/// Seconds with `decimals` after `mark`, or a `?`, in `width` columns with the unit.
fn seconds(ns: Option<u64>, mark: &str, decimals: usize, width: usize) -> String {
    let text = ns.map_or("?".to_owned(), |ns| format!("{mark}{:.decimals$}s", ns as f64 / 1e9));
    format!("{text:>width$}")
}

/// The marks of figures that are exact in a complete log.
#[derive(Debug, Clone, Copy)]
struct Marks {
    /// Before sums and maxima.
    sum: &'static str,
    /// Before means and shares.
    mean: &'static str,
}

impl Summary {
    fn is_whole(&self) -> bool {
        self.interval == Interval::default()
    }

    fn marks(&self) -> Marks {
        let (sum, mean) = if self.damaged { (">", "~") } else { ("", "") };
        Marks { sum, mean }
    }

    /// The mark of a figure that is close to GHC's if the log is complete.
    fn near(&self) -> &'static str {
        if self.damaged { ">" } else { "~" }
    }
}

fn write_memory(out: &mut String, summary: &Summary) -> Result {
    let mark = summary.marks().sum;
    // The counter of a capability that takes no part in a collection is reported at another time.
    let allocated = if summary.is_whole() { mark } else { summary.near() };
    writeln!(
        out,
        "{:>16} bytes allocated in the heap",
        number(summary.allocated, allocated)
    )?;
    writeln!(out, "{:>16} bytes copied during GC", number(summary.copied, mark))?;
    if summary.live.is_some() || summary.collections.is_none() {
        let most = summary.live.map(|live| live.max);
        let samples = summary.live.map(|live| live.samples);
        writeln!(
            out,
            "{:>16} bytes maximum residency ({} sample(s))",
            number(most, mark),
            number(samples, mark)
        )?;
    }
    writeln!(out, "{:>16} bytes maximum slop", number(summary.max_slop, mark))?;
    let peak = number(summary.peak_heap.map(|bytes| bytes >> 20), ">");
    writeln!(
        out,
        "{peak:>16} MiB total memory in use (? MB lost due to fragmentation)\n"
    )
}

fn write_collections(out: &mut String, summary: &Summary) -> Result {
    let Marks { sum, mean } = summary.marks();
    writeln!(out, "{:37}Tot time (elapsed)  Avg pause  Max pause", "")?;
    if summary.collections.is_none() {
        writeln!(
            out,
            "  Gen  ?         ? colls,     ? par         ?        ?          ?          ?"
        )?;
    } else {
        let mut shown = 0;
        for (number, generation) in summary.shown_generations() {
            writeln!(
                out,
                "  Gen {number:2}     {:>5} colls, {:>5} par   {:>7}  {}     {}    {}",
                format!("{sum}{}", generation.collections),
                format!("{sum}{}", generation.par_collections),
                "?",
                seconds(Some(generation.elapsed_ns), sum, 3, 7),
                seconds(Some(generation.avg_pause_ns()), mean, 4, 7),
                seconds(Some(generation.max_pause_ns), sum, 4, 7)
            )?;
            shown += 1;
        }
        let more = summary.generations.len() - shown;
        if more > 0 {
            writeln!(out, "  and {more} generations without collections")?;
        }
    }
    if let Some(sync) = &summary.syncs() {
        writeln!(
            out,
            "  Gen  1     {:>5} syncs,                      {}     {}    {}",
            format!("{sum}{}", sync.count),
            seconds(Some(sync.total_ns), summary.near(), 3, 7),
            seconds(Some(sync.avg_ns()), "~", 4, 7),
            seconds(Some(sync.max_ns), summary.near(), 4, 7)
        )?;
    }
    out.push('\n');
    if let Some(parallel) = &summary.parallel
        && parallel.balance() > 0.0
    {
        writeln!(
            out,
            "  Parallel GC work balance: {mean}{:.2}% (serial 0%, perfect 100%)\n",
            100.0 * parallel.balance()
        )?;
    }
    if summary.threaded {
        let capabilities = number(summary.capabilities, "");
        writeln!(
            out,
            "  TASKS: ? (? bound, ? peak workers (? total), using -N{capabilities})\n"
        )?;
    }
    if let Some(sparks) = &summary.sparks {
        writeln!(
            out,
            "  SPARKS: {sum}{} ({sum}{} converted, {sum}{} overflowed, {sum}{} dud, {sum}{} GC'd, {sum}{} fizzled)\n",
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
    let Marks { sum, .. } = summary.marks();
    line("INIT", summary.init_ns, "~")?;
    line("MUT", summary.mutator_ns, "~")?;
    line("GC", summary.gc_ns, if summary.census { "~" } else { sum })?;
    for (name, ns) in summary.looks.iter().flat_map(LookTimes::lines) {
        line(name, Some(ns), sum)?;
    }
    if summary.census {
        line("RP", None, "")?;
        line("PROF", None, "")?;
    }
    line("EXIT", summary.exit_ns, "~")?;
    let total = if summary.is_whole() { summary.near() } else { sum };
    line("Total", summary.total_ns, total)?;
    let rate = number(summary.allocation_rate(), "~");
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
    let marks = summary.marks();
    let Marks { sum, mean } = marks;
    write_lengths(out, "Pauses of the program", &summary.pauses, marks)?;
    write_lengths(out, "Pauses of capabilities", &summary.cap_pauses, marks)?;
    if let Some(ns) = summary.max_average_ns {
        writeln!(
            out,
            "  Longest pause, averaged over capabilities: {sum}{}",
            milliseconds(ns)
        )?;
    }
    if let Some(Stops { total_ns, max_ns, .. }) = summary.time_to_stop {
        writeln!(
            out,
            "  Time to stop: {sum}{} in all, {mean}{} mean, {sum}{} longest",
            milliseconds(total_ns),
            milliseconds(summary.time_to_stop.map_or(0, |stops| stops.avg_ns())),
            milliseconds(max_ns)
        )?;
    }
    if !summary.utilisation.is_empty() && summary.collections.is_some() {
        let shares = summary.utilisation.iter();
        let shares = shares.map(|(window, share)| format!("{mean}{:.1}% in {} ms", 100.0 * share, window / 1_000_000));
        writeln!(out, "  Least utilisation: {}", shares.collect::<Vec<_>>().join(", "))?;
    }
    for times in summary.caps.iter().filter(|times| times.gc_ns > 0) {
        writeln!(
            out,
            "  Cap {:2}: {sum}{} in {sum}{} colls, of which {sum}{} idle ({mean}{:.1}%)",
            times.cap,
            milliseconds(times.gc_ns),
            times.collections,
            milliseconds(times.idle_ns),
            100.0 * times.idle_ns as f64 / times.gc_ns as f64
        )?;
    }
    write_samples(out, summary)?;
    writeln!(
        out,
        "\n  (? is not in the log, ~ is near the figure of -s, > is at least)"
    )
}

/// How many cost centres of a time profile are named.
const NAMED: usize = 5;

fn write_samples(out: &mut String, summary: &Summary) -> Result {
    let Some(samples) = &summary.time_samples else {
        return Ok(());
    };
    let every = samples
        .tick_ns
        .map_or(String::new(), |ns| format!(", a tick every {}", milliseconds(ns)));
    write!(
        out,
        "  Time profile: {}{} samples{every}",
        summary.marks().sum,
        samples.count
    )?;
    for (place, (name, count)) in samples.centres.iter().take(NAMED).enumerate() {
        let joint = if place == 0 { "; innermost " } else { ", " };
        let share = 100.0 * *count as f64 / samples.count as f64;
        write!(out, "{joint}{} {share:.1}%", escaped(name))?;
    }
    let more = samples.centres.len().saturating_sub(NAMED);
    if more > 0 {
        write!(out, ", {more} more")?;
    }
    out.push('\n');
    Ok(())
}

fn write_lengths(out: &mut String, name: &str, pauses: &Pauses, Marks { sum, mean }: Marks) -> Result {
    if pauses.count() == 0 {
        return Ok(());
    }
    write!(
        out,
        "  {name}: {sum}{}, longest {sum}{:.3}",
        pauses.count(),
        pauses.longest_ns() as f64 / 1e6
    )?;
    let percentiles = pauses.exceeded_by_one_in(PERCENTILES.map(|(_, rarer)| rarer));
    for ((name, _), ns) in PERCENTILES.into_iter().zip(percentiles) {
        if let Some(ns) = ns {
            write!(out, ", {name} {mean}{:.3}", ns as f64 / 1e6)?;
        }
    }
    out.push_str(" ms\n");
    Ok(())
}

fn milliseconds(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn long_pauses_fit_a_terminal() {
        let line = "  Pauses of capabilities: 166, longest 183.859, p50 0.135, p90 0.748, p99 183.751 ms";
        let two = "  Pauses of capabilities: 166, longest 183.859, p50 0.135, p90 0.748,\n    p99 183.751 ms\n";
        assert_eq!(fitted(line), two);
        assert_eq!(fitted("  12"), "  12\n");
    }
}
