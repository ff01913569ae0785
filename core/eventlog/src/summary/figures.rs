//! The figures of a summary by name: those of `-s` and `-t --machine-readable`, and some that GHC
//! does not print.

use gclab_core::stats::Pauses;

use super::data::{LookTimes, Stops, Summary};

/// A figure, in the form in which it is printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// A whole number.
    Integer(u64),
    /// A number with the decimals that GHC prints.
    Decimal(String),
    /// A share from 0 to 1.
    Share(f64),
    /// Text.
    Text(String),
    /// A property.
    Flag(bool),
}

/// Percentiles of pauses by name: all but one in so many pauses are no longer.
pub(crate) const PERCENTILES: [(&str, u64); 4] = [("p50", 2), ("p90", 10), ("p99", 100), ("p999", 1000)];

/// A list of names and figures.
#[derive(Debug, Default)]
struct List(Vec<(String, Figure)>);

impl List {
    fn integer(&mut self, name: &str, figure: impl Into<Option<u64>>) {
        if let Some(figure) = figure.into() {
            self.0.push((name.to_owned(), Figure::Integer(figure)));
        }
    }

    fn share(&mut self, name: &str, figure: f64) {
        self.0.push((name.to_owned(), Figure::Share(figure)));
    }

    fn decimal(&mut self, name: &str, decimals: usize, figure: impl Into<Option<f64>>) {
        if let Some(figure) = figure.into() {
            self.0
                .push((name.to_owned(), Figure::Decimal(format!("{figure:.decimals$}"))));
        }
    }

    fn seconds(&mut self, name: &str, decimals: usize, ns: impl Into<Option<u64>>) {
        self.decimal(name, decimals, ns.into().map(|ns| ns as f64 / 1e9));
    }
}

/// Every figure of `summary` that the log determines, by name.
pub(super) fn figures(summary: &Summary) -> Vec<(String, Figure)> {
    let mut list = List::default();
    run(&mut list, summary);
    memory(&mut list, summary);
    generations(&mut list, summary);
    parallel(&mut list, summary);
    times(&mut list, summary);
    pauses(&mut list, "pause", &summary.pauses);
    pauses(&mut list, "cap_pause", &summary.cap_pauses);
    list.integer("cap_pause.max_average_ns", summary.max_average_ns);
    more_times(&mut list, summary);
    list.0
}

fn run(list: &mut List, summary: &Summary) {
    if let Some(rts) = &summary.rts {
        list.0.push(("rts".to_owned(), Figure::Text(rts.clone())));
    }
    if !summary.args.is_empty() {
        list.0.push(("args".to_owned(), Figure::Text(summary.args.join(" "))));
    }
    if summary.damaged {
        list.0.push(("lower_bounds".to_owned(), Figure::Flag(true)));
    }
    list.integer("events", summary.events);
    list.integer("from_ns", summary.interval.from);
    list.integer("to_ns", summary.interval.to);
    list.integer("n_capabilities", summary.capabilities);
}

fn memory(list: &mut List, summary: &Summary) {
    list.integer("allocated_bytes", summary.allocated);
    list.integer("bytes allocated", summary.allocated);
    list.integer("copied_bytes", summary.copied);
    if let Some(live) = summary.live {
        for name in ["max_live_bytes", "max_bytes_used"] {
            list.integer(name, live.max);
        }
        for name in ["live_samples", "num_byte_usage_samples"] {
            list.integer(name, live.samples);
        }
        list.integer("average_bytes_used", live.sum / live.samples);
        list.integer("cumulative_live_bytes", live.sum);
    }
    list.integer("max_slop_bytes", summary.max_slop);
    // Measured after collections, so a lower bound.
    list.integer("max_mem_in_use_bytes", summary.peak_heap);
    for name in ["total_memory_mib", "peak_megabytes_allocated"] {
        list.integer(name, summary.peak_heap.map(|bytes| bytes >> 20));
    }
    list.integer("num_GCs", summary.collections);
    list.integer("major_gcs", summary.major);
}

fn generations(list: &mut List, summary: &Summary) {
    // Without events of collections, the list of generations is empty.
    for (number, generation) in summary.shown_generations() {
        for (separator, decimals) in [('.', [3, 4, 4]), ('_', [6, 6, 6])] {
            let name = |what: &str| format!("gen_{number}{separator}{what}");
            list.integer(&name("collections"), generation.collections);
            list.integer(&name("par_collections"), generation.par_collections);
            let suffixes = match separator {
                '.' => ["elapsed_s", "avg_pause_s", "max_pause_s"],
                _ => ["wall_seconds", "avg_pause_seconds", "max_pause_seconds"],
            };
            let times = [
                generation.elapsed_ns,
                generation.avg_pause_ns(),
                generation.max_pause_ns,
            ];
            for ((suffix, decimals), ns) in suffixes.into_iter().zip(decimals).zip(times) {
                list.seconds(&name(suffix), decimals, ns);
            }
        }
        list.integer(&format!("gen_{number}.elapsed_ns"), generation.elapsed_ns);
        list.integer(&format!("gen_{number}.max_pause_ns"), generation.max_pause_ns);
    }
}

fn parallel(list: &mut List, summary: &Summary) {
    if let Some(parallel) = &summary.parallel {
        list.integer("par_copied_bytes", parallel.copied);
        list.integer("cumulative_par_max_copied_bytes", parallel.max_copied);
        list.integer("cumulative_par_balanced_copied_bytes", parallel.balanced);
        if summary.threaded {
            list.decimal("work_balance", 6, parallel.balance());
            list.decimal("work_balance_percent", 2, 100.0 * parallel.balance());
        }
    }
    if let Some(sparks) = &summary.sparks {
        list.integer("sparks", sparks.total());
        list.integer("sparks_count", sparks.total());
        list.integer("sparks_dud ", sparks.dud);
        for (name, count) in [
            ("converted", sparks.converted),
            ("overflowed", sparks.overflowed),
            ("dud", sparks.dud),
            ("gcd", sparks.gcd),
            ("fizzled", sparks.fizzled),
        ] {
            list.integer(&format!("sparks.{name}"), count);
            if name != "dud" {
                list.integer(&format!("sparks_{name}"), count);
            }
        }
    }
}

fn times(list: &mut List, summary: &Summary) {
    for (name, long_name, ns) in [
        ("INIT_elapsed", "init_wall_seconds", summary.init_ns),
        ("GC_elapsed", "GC_wall_seconds", summary.gc_ns),
        ("MUT_elapsed", "mut_wall_seconds", summary.mutator_ns),
        ("EXIT_elapsed", "exit_wall_seconds", summary.exit_ns),
        ("Total_elapsed", "total_wall_seconds", summary.total_ns),
    ] {
        list.seconds(&format!("{name}_s"), 3, ns);
        list.integer(&format!("{name}_ns"), ns);
        list.seconds(long_name, 6, ns);
    }
    for (name, ns) in summary.looks.iter().flat_map(LookTimes::lines) {
        let key = match name {
            "PROF" => "hc".to_owned(),
            other => other.to_lowercase(),
        };
        list.seconds(&format!("{name}_elapsed_s"), 3, ns);
        list.integer(&format!("{name}_elapsed_ns"), ns);
        list.seconds(&format!("{key}_wall_seconds"), 6, ns);
    }
    list.integer("looks_elapsed_ns", summary.looks.map(|looks| looks.total_ns()));
    list.decimal(
        "productivity_elapsed",
        1,
        summary.productivity().map(|share| 100.0 * share),
    );
    list.decimal("productivity_wall_percent", 6, summary.productivity());
    list.integer("alloc_rate_elapsed", summary.allocation_rate());
    if let Some(sync) = &summary.syncs() {
        list.integer("nonmoving_sync.count", sync.count);
        list.integer("nonmoving_sync.pauses", summary.nonmoving_sync.map(|stops| stops.count));
        list.seconds("nonmoving_sync_wall_seconds", 6, sync.total_ns);
        list.seconds("nonmoving_sync_max_pause_seconds", 6, sync.max_ns);
        list.seconds("nonmoving_sync_avg_pause_seconds", 6, sync.avg_ns());
    }
}

fn pauses(list: &mut List, name: &str, pauses: &Pauses) {
    let count = pauses.count();
    if count == 0 {
        return;
    }
    list.integer(&format!("{name}.count"), count);
    list.integer(&format!("{name}.total_ns"), pauses.total_ns());
    list.integer(&format!("{name}.max_ns"), pauses.longest_ns());
    let percentiles = pauses.exceeded_by_one_in(PERCENTILES.map(|(_, rarer)| rarer));
    for ((percentile, _), ns) in PERCENTILES.into_iter().zip(percentiles) {
        list.integer(&format!("{name}.{percentile}_ns"), ns);
    }
}

fn more_times(list: &mut List, summary: &Summary) {
    if let Some(Stops {
        count,
        total_ns,
        max_ns,
    }) = summary.time_to_stop
    {
        list.integer("time_to_stop.count", count);
        list.integer("time_to_stop.total_ns", total_ns);
        list.integer("time_to_stop.max_ns", max_ns);
    }
    for (window, share) in &summary.utilisation {
        list.share(&format!("mmu_{}ms", window / 1_000_000), *share);
    }
    let (mut gc_ns, mut idle_ns) = (0_u64, 0_u64);
    for times in &summary.caps {
        let name = |what: &str| format!("cap_{}.{what}", times.cap);
        list.integer(&name("allocated_bytes"), times.allocated);
        list.integer(&name("ran_ns"), times.ran_ns);
        list.integer(&name("collections"), times.collections);
        list.integer(&name("gc_ns"), times.gc_ns);
        list.integer(&name("gc_idle_ns"), times.idle_ns);
        list.integer(&name("gc_done_ns"), times.done_ns);
        if times.gc_ns > 0 {
            list.share(&name("gc_idle_share"), times.idle_ns as f64 / times.gc_ns as f64);
        }
        gc_ns = gc_ns.saturating_add(times.gc_ns);
        idle_ns = idle_ns.saturating_add(times.idle_ns);
    }
    if let Some(samples) = &summary.time_samples {
        list.integer("time_profile.samples", samples.count);
        list.integer("time_profile.tick_ns", samples.tick_ns);
    }
    if gc_ns > 0 {
        list.integer("gc_idle_ns", idle_ns);
        list.share("gc_idle_share", idle_ns as f64 / gc_ns as f64);
    }
}
