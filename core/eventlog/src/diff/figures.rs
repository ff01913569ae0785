//! The figures of one log, for a comparison: their groups, names and units.

use gclab_stats::Pauses;

use super::Side;
use crate::kinds::number::*;
use crate::summary::Summary;

/// A figure with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// A number of things.
    Count(u64),
    /// Bytes.
    Bytes(u64),
    /// Nanoseconds.
    Ns(u64),
    /// A share from 0 to 1.
    Share(f64),
}

impl Amount {
    /// The amount in its unit.
    pub fn number(self) -> f64 {
        match self {
            Amount::Count(number) | Amount::Bytes(number) | Amount::Ns(number) => number as f64,
            Amount::Share(share) => share,
        }
    }

    /// The name of the unit.
    pub fn unit(self) -> &'static str {
        match self {
            Amount::Count(_) => "count",
            Amount::Bytes(_) => "bytes",
            Amount::Ns(_) => "ns",
            Amount::Share(_) => "share",
        }
    }
}

/// Groups, names and amounts.
type List = Vec<(String, String, Amount)>;

fn put(list: &mut List, group: &str, name: &str, amount: Option<Amount>) {
    if let Some(amount) = amount {
        list.push((group.to_owned(), name.to_owned(), amount));
    }
}

/// The settings, always the same ones in the same order.
pub(super) fn settings(side: &Side) -> Vec<(&'static str, Option<String>)> {
    let summary = &side.summary;
    let args = &summary.args;
    let flags = || rts_flags(args).join(" ");
    let program = || {
        let mut words = args.iter().map(String::as_str).collect::<Vec<_>>();
        for flag in rts_words(args) {
            words[flag] = "";
        }
        words.retain(|word| !word.is_empty());
        words.join(" ")
    };
    let heap = |place: usize| side.contents.heap.map(|heap| heap[place].to_string());
    vec![
        ("runtime", summary.rts.clone()),
        ("program and arguments", (!args.is_empty()).then(program)),
        ("RTS flags", (!args.is_empty()).then(flags)),
        ("capabilities", summary.capabilities.map(|caps| caps.to_string())),
        ("generations", heap(0)),
        ("most bytes of heap (0: no limit)", heap(1)),
        ("bytes of an allocation area", heap(2)),
        ("bytes of a megablock", heap(3)),
        ("bytes of a block", heap(4)),
        ("breakdown of the heap profile", side.contents.breakdown()),
    ]
}

/// The places of the words between `+RTS` and `-RTS`, with these.
fn rts_words(args: &[String]) -> Vec<usize> {
    let (mut inside, mut places) = (false, Vec::new());
    for (place, word) in args.iter().enumerate() {
        match &word[..] {
            "--" if !inside => break,
            "--RTS" => break,
            "+RTS" => inside = true,
            "-RTS" if inside => {
                places.push(place);
                inside = false;
            }
            _ => {}
        }
        if inside {
            places.push(place);
        }
    }
    places
}

/// The flags for the runtime, sorted.
fn rts_flags(args: &[String]) -> Vec<&str> {
    let words = rts_words(args).into_iter().map(|place| &args[place][..]);
    let mut flags: Vec<&str> = words.filter(|word| !["+RTS", "-RTS"].contains(word)).collect();
    flags.sort_unstable();
    flags
}

/// The figures that the log determines.
pub(super) fn figures(side: &Side) -> List {
    let mut list = List::new();
    let summary = &side.summary;
    times(&mut list, summary);
    memory(&mut list, summary);
    for (number, generation) in summary.shown_generations() {
        let group = format!("generation {number}");
        for (name, amount) in [
            ("collections", Amount::Count(generation.collections)),
            ("parallel collections", Amount::Count(generation.par_collections)),
            ("elapsed", Amount::Ns(generation.elapsed_ns)),
            ("mean pause", Amount::Ns(generation.avg_pause_ns())),
            ("longest pause", Amount::Ns(generation.max_pause_ns)),
        ] {
            put(&mut list, &group, name, Some(amount));
        }
    }
    pauses(&mut list, "pauses of the program", &summary.pauses);
    pauses(&mut list, "pauses of capabilities", &summary.cap_pauses);
    if let Some(stops) = &summary.time_to_stop {
        put(&mut list, "time to stop", "sum", Some(Amount::Ns(stops.total_ns)));
        put(&mut list, "time to stop", "mean", Some(Amount::Ns(stops.avg_ns())));
        put(&mut list, "time to stop", "longest", Some(Amount::Ns(stops.max_ns)));
    }
    for (window, share) in &summary.utilisation {
        let name = format!("in {} ms", window / 1_000_000);
        put(&mut list, "least utilisation", &name, Some(Amount::Share(*share)));
    }
    parallel(&mut list, summary);
    threads(&mut list, side);
    put(&mut list, "events", "all", Some(Amount::Count(side.contents.counts().map(|(_, count)| count).sum())));
    for (name, count) in side.contents.counts() {
        put(&mut list, "events", &name, Some(Amount::Count(count)));
    }
    list
}

fn times(list: &mut List, summary: &Summary) {
    for (name, ns) in [
        ("total elapsed", summary.total_ns),
        ("start (INIT)", summary.init_ns),
        ("mutator (MUT)", summary.mutator_ns),
        ("collections (GC)", summary.gc_ns),
        ("end (EXIT)", summary.exit_ns),
    ] {
        put(list, "time", name, ns.map(Amount::Ns));
    }
    put(list, "time", "productivity", summary.productivity().map(Amount::Share));
}

fn memory(list: &mut List, summary: &Summary) {
    for (name, bytes) in [
        ("allocated", summary.allocated),
        ("allocated in a second of the mutator", summary.allocation_rate()),
        ("copied", summary.copied),
        ("maximum residency", summary.live.map(|live| live.max)),
        ("mean residency", summary.live.map(|live| live.sum / live.samples)),
        ("maximum slop", summary.max_slop),
        ("largest heap after a collection", summary.peak_heap),
    ] {
        put(list, "memory", name, bytes.map(Amount::Bytes));
    }
}

fn pauses(list: &mut List, group: &str, pauses: &Pauses) {
    if pauses.count() == 0 {
        return;
    }
    put(list, group, "number", Some(Amount::Count(pauses.count())));
    put(list, group, "sum", Some(Amount::Ns(pauses.total_ns())));
    let percentiles = pauses.exceeded_by_one_in([2, 10, 100, 1000]);
    for (name, ns) in ["p50", "p90", "p99", "p999"].into_iter().zip(percentiles) {
        put(list, group, name, ns.map(Amount::Ns));
    }
    put(list, group, "longest", Some(Amount::Ns(pauses.longest_ns())));
}

fn parallel(list: &mut List, summary: &Summary) {
    if let Some(parallel) = summary.parallel.filter(|parallel| parallel.threads > 1) {
        put(list, "parallel collections", "work balance", Some(Amount::Share(parallel.balance())));
        let sum = |part: fn(&crate::summary::CapTimes) -> u64| summary.caps.iter().map(part).fold(0, u64::saturating_add);
        let (gc, idle) = (sum(|cap| cap.gc_ns), sum(|cap| cap.idle_ns));
        let share = (gc > 0).then(|| Amount::Share(idle as f64 / gc as f64));
        put(list, "parallel collections", "idle share", share);
    }
    if let Some(sparks) = &summary.sparks {
        for (name, count) in [
            ("all", sparks.total()),
            ("converted", sparks.converted),
            ("overflowed", sparks.overflowed),
            ("dud", sparks.dud),
            ("GC'd", sparks.gcd),
            ("fizzled", sparks.fizzled),
        ] {
            put(list, "sparks", name, Some(Amount::Count(count)));
        }
    }
    if let Some(sync) = summary.syncs() {
        put(list, "nonmoving sync", "sum", Some(Amount::Ns(sync.total_ns)));
        put(list, "nonmoving sync", "longest", Some(Amount::Ns(sync.max_ns)));
    }
}

fn threads(list: &mut List, side: &Side) {
    let contents = &side.contents;
    if contents.count(CREATE_THREAD) + contents.count(RUN_THREAD) == 0 {
        return;
    }
    for (name, number) in [
        ("created", CREATE_THREAD),
        ("runs", RUN_THREAD),
        ("migrations", MIGRATE_THREAD),
        ("wakeups", THREAD_WAKEUP),
    ] {
        put(list, "threads", name, Some(Amount::Count(contents.count(number))));
    }
    put(list, "threads", "time of runs", Some(Amount::Ns(contents.ran_ns)));
    for (status, count) in &contents.stops {
        let name = format!("stops: {}", contents.stop(*status));
        put(list, "threads", &name, Some(Amount::Count(*count)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_runtime_are_apart_from_arguments() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rts_flags(&words("prog +RTS -s -N2 -RTS 7 +RTS -A1m")), ["-A1m", "-N2", "-s"]);
        assert_eq!(rts_flags(&words("prog 7 -- +RTS -s")), [""; 0]);
        assert_eq!(rts_flags(&words("prog +RTS -s --RTS +RTS -l")), ["-s"]);
    }
}
