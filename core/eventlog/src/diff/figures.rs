//! The figures of one log, for a comparison: their groups, names and units.

use std::collections::{BTreeMap, BTreeSet};

use gclab_core::stats::Pauses;

use super::side::Side;
use crate::kinds::number::*;
use crate::summary::{CapTimes, Generation, LookTimes, PERCENTILES, Sparks, Stops, Summary, WINDOWS};

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

/// Groups, names and amounts; `None` if the log lacks the figure.
type List = Vec<(String, String, Option<Amount>)>;

fn put(list: &mut List, group: &str, name: &str, amount: Option<Amount>) {
    list.push((group.to_owned(), name.to_owned(), amount));
}

/// What at least one of the two logs has, so that both lists have the same names in the same order.
#[derive(Debug)]
pub(super) struct Both {
    generations: BTreeSet<usize>,
    /// Event types by number, with their names.
    types: BTreeMap<u16, String>,
    /// Reasons for stops, with their names.
    stops: BTreeMap<u64, String>,
}

impl Both {
    pub(super) fn of(sides: [&Side; 2]) -> Self {
        let mut both = Both {
            generations: BTreeSet::new(),
            types: BTreeMap::new(),
            stops: BTreeMap::new(),
        };
        for Side { summary, contents } in sides {
            both.generations
                .extend(summary.shown_generations().map(|(number, _)| number));
            both.types.extend(contents.types());
            let stops = contents.stops.keys();
            both.stops.extend(stops.map(|status| (*status, contents.stop(*status))));
        }
        both
    }
}

/// The settings, always the same ones in the same order.
pub(super) fn settings(side: &Side) -> Vec<(&'static str, Option<String>)> {
    let summary = &side.summary;
    let args = &summary.args;
    let flags = || command_line(rts_flags(args));
    let program = || {
        let flags = rts_words(args);
        let words = args.iter().enumerate().filter(|(place, _)| !flags.contains(place));
        command_line(words.map(|(_, word)| &word[..]))
    };
    let heap = |place: usize| side.contents.heap.map(|heap| heap[place].to_string());
    vec![
        ("runtime", summary.rts.clone()),
        ("program and arguments", (!args.is_empty()).then(program)),
        ("RTS flags", (!args.is_empty()).then(flags)),
        ("capabilities", summary.capabilities.map(|caps| caps.to_string())),
        ("generations", heap(0)),
        ("maximum heap in bytes (0: no limit)", heap(1)),
        ("allocation area in bytes", heap(2)),
        ("megablock in bytes", heap(3)),
        ("block in bytes", heap(4)),
        ("breakdown of the heap profile", side.contents.breakdown()),
    ]
}

/// Words quoted for a shell.
fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./,:=@%+^~#".contains(char);
    let words = words.into_iter().map(|word| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The positions of the words from `+RTS` to `-RTS`, inclusive.
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

/// The runtime's flags, sorted.
fn rts_flags(args: &[String]) -> Vec<&str> {
    let words = rts_words(args).into_iter().map(|place| &args[place][..]);
    let mut flags: Vec<&str> = words.filter(|word| !["+RTS", "-RTS"].contains(word)).collect();
    flags.sort_unstable();
    flags
}

/// The figures of one log, and the names of those that only the other one has.
pub(super) fn figures(side: &Side, both: &Both) -> List {
    let mut list = List::new();
    let summary = &side.summary;
    times(&mut list, summary);
    memory(&mut list, summary);
    for number in &both.generations {
        let generation = summary.generations.get(*number);
        let group = format!("generation {number}");
        let mut put = |name: &str, amount: fn(&Generation) -> Amount| {
            put(&mut list, &group, name, generation.map(amount));
        };
        put("collections", |generation| Amount::Count(generation.collections));
        put("parallel collections", |generation| {
            Amount::Count(generation.par_collections)
        });
        put("elapsed", |generation| Amount::Ns(generation.elapsed_ns));
        put("mean pause", |generation| Amount::Ns(generation.avg_pause_ns()));
        put("longest pause", |generation| Amount::Ns(generation.max_pause_ns));
    }
    let known = summary.collections.is_some();
    pauses(&mut list, "pauses of the program", &summary.pauses, known);
    pauses(&mut list, "pauses of capabilities", &summary.cap_pauses, known);
    stops(&mut list, "time to stop", summary.time_to_stop);
    stops(&mut list, "nonmoving sync", summary.syncs());
    for window in WINDOWS {
        let name = format!("in {} ms", window / 1_000_000);
        let share = summary.utilisation.iter().find(|(known, _)| *known == window);
        let share = share.map(|(_, share)| Amount::Share(*share));
        put(&mut list, "least utilisation", &name, share);
    }
    parallel(&mut list, summary);
    threads(&mut list, side, both);
    let all = side.contents.events();
    put(&mut list, "events", "all", Some(Amount::Count(all)));
    for (number, name) in &both.types {
        let count = side.contents.count(*number);
        put(&mut list, "events", name, Some(Amount::Count(count)));
    }
    list
}

/// Whether a figure of a damaged log is approximate rather than a lower bound. Shares are, too.
pub(super) fn is_near(name: &str) -> bool {
    let of_parts = [
        "start (INIT)",
        "mutator (MUT)",
        "end (EXIT)",
        "allocated in a mutator second",
    ];
    name.starts_with("mean")
        || of_parts.contains(&name)
        || PERCENTILES.iter().any(|(percentile, _)| *percentile == name)
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
    // Logs written by GHC do not record them.
    let of = |part: fn(LookTimes) -> u64| summary.looks.map(part);
    for (name, ns) in [
        ("censuses by retainers (RP)", of(|looks| looks.retainers_ns)),
        ("censuses (PROF)", of(|looks| looks.census_ns)),
        ("checks (CHECK)", of(|looks| looks.check_ns)),
        ("other looks at the heap (INSPECT)", of(|looks| looks.inspect_ns)),
    ] {
        put(list, "time", name, ns.map(Amount::Ns));
    }
    put(list, "time", "productivity", summary.productivity().map(Amount::Share));
}

fn memory(list: &mut List, summary: &Summary) {
    for (name, bytes) in [
        ("allocated", summary.allocated),
        ("allocated in a mutator second", summary.allocation_rate()),
        ("copied", summary.copied),
        ("maximum residency", summary.live.map(|live| live.max)),
        ("mean residency", summary.live.map(|live| live.sum / live.samples)),
        ("maximum slop", summary.max_slop),
        ("largest heap after a collection", summary.peak_heap),
    ] {
        put(list, "memory", name, bytes.map(Amount::Bytes));
    }
}

/// `known`: the log reports collections, so the number of pauses is 0 if it has none.
fn pauses(list: &mut List, group: &str, pauses: &Pauses, known: bool) {
    let some = |amount| (pauses.count() > 0).then_some(amount);
    let sum = |amount| (known || pauses.count() > 0).then_some(amount);
    put(list, group, "number", sum(Amount::Count(pauses.count())));
    put(list, group, "sum", sum(Amount::Ns(pauses.total_ns())));
    let percentiles = pauses.exceeded_by_one_in(PERCENTILES.map(|(_, rarer)| rarer));
    for ((name, _), ns) in PERCENTILES.into_iter().zip(percentiles) {
        put(list, group, name, ns.map(Amount::Ns));
    }
    put(list, group, "longest", some(Amount::Ns(pauses.longest_ns())));
}

fn stops(list: &mut List, group: &str, stops: Option<Stops>) {
    put(list, group, "sum", stops.map(|stops| Amount::Ns(stops.total_ns)));
    put(list, group, "mean", stops.map(|stops| Amount::Ns(stops.avg_ns())));
    put(list, group, "longest", stops.map(|stops| Amount::Ns(stops.max_ns)));
}

fn parallel(list: &mut List, summary: &Summary) {
    let parallel = summary.parallel.filter(|parallel| parallel.threads > 1);
    let balance = parallel.map(|parallel| Amount::Share(parallel.balance()));
    put(list, "parallel collections", "work balance", balance);
    let sum = |part: fn(&CapTimes) -> u64| summary.caps.iter().map(part).fold(0, u64::saturating_add);
    let (gc, idle) = (sum(|cap| cap.gc_ns), sum(|cap| cap.idle_ns));
    let share = parallel
        .filter(|_| gc > 0)
        .map(|_| Amount::Share(idle as f64 / gc as f64));
    put(list, "parallel collections", "idle share", share);
    let mut sparks = |name: &str, part: fn(&Sparks) -> u64| {
        let count = summary.sparks.as_ref().map(|sparks| Amount::Count(part(sparks)));
        put(list, "sparks", name, count);
    };
    sparks("all", Sparks::total);
    sparks("converted", |sparks| sparks.converted);
    sparks("overflowed", |sparks| sparks.overflowed);
    sparks("dud", |sparks| sparks.dud);
    sparks("GC'd", |sparks| sparks.gcd);
    sparks("fizzled", |sparks| sparks.fizzled);
}

fn threads(list: &mut List, side: &Side, both: &Both) {
    let contents = &side.contents;
    let mut put = |name: &str, amount| put(list, "threads", name, contents.has_threads.then_some(amount));
    for (name, number) in [
        ("created", CREATE_THREAD),
        ("runs", RUN_THREAD),
        ("migrations", MIGRATE_THREAD),
        ("wakeups", THREAD_WAKEUP),
    ] {
        put(name, Amount::Count(contents.count(number)));
    }
    put("time of runs", Amount::Ns(contents.ran_ns));
    for (status, name) in &both.stops {
        let count = contents.stops.get(status).copied().unwrap_or(0);
        put(&format!("stops: {name}"), Amount::Count(count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_flags_are_separate_from_arguments() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            rts_flags(&words("prog +RTS -s -N2 -RTS 7 +RTS -A1m")),
            ["-A1m", "-N2", "-s"]
        );
        assert_eq!(rts_flags(&words("prog 7 -- +RTS -s")), [""; 0]);
        assert_eq!(rts_flags(&words("prog +RTS -s --RTS +RTS -l")), ["-s"]);
    }

    #[test]
    fn words_are_quoted_if_a_shell_would_split_them() {
        assert_eq!(
            command_line(["prog", "", "a b", "it's", "-N2", "x=1"]),
            r"prog '' 'a b' 'it'\''s' -N2 x=1"
        );
    }
}
