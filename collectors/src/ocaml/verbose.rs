//! The messages of the collector at its events (`v`), in the words of OCaml's runtime.
//!
//! Each kind of event has a bit, and each event has a method of [`Messages`].

use super::gc::{Control, Stat};
use super::pace::Slice;
use gclab_core::words::{Bytes, Words};
use std::fmt::{self, Arguments};
use std::io::{self, Write};

/// Cycles of the major heap begin and end.
const CYCLE: u64 = 0x001;
/// Minor collections and slices.
const WORK: u64 = 0x002;
/// The major heap grows and shrinks.
const HEAP: u64 = 0x004;
/// Tables of the collector grow and shrink.
const TABLES: u64 = 0x008;
/// Compactions.
const COMPACTION: u64 = 0x010;
/// Initial parameters, and changes.
const PARAMETERS: u64 = 0x020;
/// The size of a slice.
const SLICE: u64 = 0x040;
/// Finalisers run.
const FINALISERS: u64 = 0x080;
/// Whether a compaction is due.
const TRIGGER: u64 = 0x200;
/// The counters at the end of the run.
const EXIT: u64 = 0x400;

/// OCaml's number for the part of marking before finalisers.
const SUBPHASE: u32 = 10;

/// The initial memory of a mark stack.
const STACK: Bytes = Bytes::kib(1);

/// The messages of a heap.
pub(super) struct Messages {
    /// The kinds that are printed, a bit for each.
    kinds: u64,
    out: Box<dyn Write + Send>,
    /// The words of the major heap, as last printed.
    heap: Words,
    /// The memory of the mark stack.
    stack: Bytes,
    /// The work of the slice under way.
    work: Option<f64>,
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Messages({:#x})", self.kinds)
    }
}

impl Messages {
    /// Messages of these kinds on standard error, about a major heap of `heap` words.
    pub(super) fn new(kinds: u64, heap: Words) -> Messages {
        Messages {
            kinds,
            out: Box::new(io::stderr()),
            heap,
            stack: STACK,
            work: None,
        }
    }

    /// Changes the kinds.
    pub(super) fn set(&mut self, kinds: u64) {
        self.kinds = kinds;
    }

    /// Changes where messages go.
    pub(super) fn print_to(&mut self, out: Box<dyn Write + Send>) {
        self.out = out;
    }

    /// Prints a text in one piece, if its kind is printed. An error is ignored, as OCaml does.
    fn say(&mut self, kind: u64, text: Arguments<'_>) {
        if self.kinds & kind != 0 {
            let _ = self
                .out
                .write_all(text.to_string().as_bytes())
                .and_then(|()| self.out.flush());
        }
    }

    /// A cycle begins.
    pub(super) fn cycle_begins(&mut self) {
        self.say(CYCLE, format_args!("Starting new major GC cycle\n"));
    }

    /// The rest of a cycle is to be done at once, for this reason.
    pub(super) fn cycle_finishes(&mut self, reason: &str) {
        self.say(CYCLE, format_args!("Finishing major GC cycle ({reason})\n"));
    }

    /// A whole cycle is to be done at once, for this reason.
    pub(super) fn full_cycle(&mut self, reason: &str) {
        self.say(CYCLE, format_args!("Full major GC cycle ({reason})\n"));
    }

    /// A minor collection begins.
    pub(super) fn minor_begins(&mut self) {
        self.say(WORK, format_args!("<"));
    }

    /// A minor collection is over.
    pub(super) fn minor_is_over(&mut self) {
        self.say(WORK, format_args!(">"));
    }

    /// The major heap has `heap` words now.
    pub(super) fn heap(&mut self, heap: Words) {
        if heap > self.heap {
            self.say(
                HEAP,
                format_args!("Growing heap to {}k bytes\n", heap.to_bytes().0 / 1024),
            );
        } else if heap < self.heap {
            self.say(HEAP, format_args!("Shrinking heap to {}k words\n", heap.0 / 1024));
        }
        self.heap = heap;
    }

    /// The major heap has `heap` words now, about which OCaml prints nothing.
    pub(super) fn set_heap(&mut self, heap: Words) {
        self.heap = heap;
    }

    /// The heap cannot grow.
    pub(super) fn no_room(&mut self) {
        self.say(HEAP, format_args!("No room for growing heap\n"));
    }

    /// A part of a cycle needed a mark stack of `stack` beyond its initial size.
    pub(super) fn mark_stack(&mut self, stack: Bytes) {
        if STACK + stack > self.stack {
            self.stack = STACK + stack;
            let kib = self.stack.0 / 1024;
            self.say(TABLES, format_args!("Growing mark stack to {kib}k bytes\n"));
        }
    }

    /// Marking is over, and the mark stack gives its memory back.
    pub(super) fn marking_is_over(&mut self) {
        if self.stack > STACK {
            self.stack = STACK;
            let kib = STACK.0 / 1024;
            self.say(TABLES, format_args!("Shrinking mark stack to {kib}k bytes\n"));
        }
    }

    /// The program asks for a compaction.
    pub(super) fn compaction_is_asked(&mut self) {
        self.say(COMPACTION, format_args!("Heap compaction requested\n"));
    }

    /// A compaction begins.
    pub(super) fn compaction_begins(&mut self) {
        self.say(COMPACTION, format_args!("Compacting heap...\n"));
    }

    /// A compaction is over.
    pub(super) fn compaction_is_over(&mut self) {
        self.say(COMPACTION, format_args!("done.\n"));
    }

    /// Another compaction follows, into a chunk of `target` words.
    pub(super) fn second_compaction(&mut self, target: Words) {
        let target = target.0 / 1024;
        self.say(COMPACTION, format_args!("Recompacting heap (target={target}k words)\n"));
    }

    /// Finalisers begin to run, or have run: `are_over`.
    pub(super) fn finalisers(&mut self, are_over: bool) {
        let text = if are_over { "Done calling" } else { "Calling" };
        self.say(FINALISERS, format_args!("{text} finalisation functions.\n"));
    }
}

/// The size of a slice (0x040).
impl Messages {
    /// A slice starts, and this much was allocated since the last one: words in the major heap, and
    /// a fraction of the bound on memory outside the heap.
    pub(super) fn slice_begins(&mut self, slice: Slice, allocated: Words, extra_resources: f64) {
        let ordered = match slice {
            Slice::Automatic => -1,
            Slice::Next => 0,
            Slice::Words(words) => words.0 as i64,
        };
        self.say(SLICE, format_args!("ordered work = {ordered} words\n"));
        self.say(SLICE, format_args!("allocated_words = {}\n", allocated.0));
        let extra = millionths(extra_resources);
        self.say(SLICE, format_args!("extra_heap_resources = {extra}u\n"));
    }

    /// The shares of a cycle that are owed: by this slice, by later ones, and what is left of the
    /// former when spread over the window.
    pub(super) fn shares(&mut self, raw: f64, backlog: f64, filtered: f64) {
        self.say(SLICE, format_args!("raw work-to-do = {}u\n", millionths(raw)));
        self.say(SLICE, format_args!("work backlog = {}u\n", millionths(backlog)));
        self.say(SLICE, format_args!("filtered work-to-do = {}u\n", millionths(filtered)));
    }

    /// The slice is to mark or to sweep `words` words.
    pub(super) fn computed(&mut self, words: Words) {
        self.say(SLICE, format_args!("computed work = {} words\n", number(words)));
    }

    /// Up to `words` words are to be marked.
    pub(super) fn marks(&mut self, words: Words) {
        self.say(SLICE, format_args!("Marking {} words\n", number(words)));
        self.say(SLICE, format_args!("Subphase = {SUBPHASE}\n"));
    }

    /// Up to `words` words are to be swept.
    pub(super) fn sweeps(&mut self, words: Words) {
        self.say(SLICE, format_args!("Sweeping {} words\n", number(words)));
    }

    /// The slice has marked, or it has swept.
    pub(super) fn slice_worked(&mut self, was_marking: bool) {
        self.say(WORK, format_args!("{}", if was_marking { '!' } else { '$' }));
    }

    /// The slice does the share `work` of a cycle, which is printed when the slice is over.
    pub(super) fn does(&mut self, work: f64) {
        self.work = Some(work);
    }

    /// The current slice, if there is one, is over, including the compaction after its cycle.
    pub(super) fn slice_is_over(&mut self) {
        if let Some(work) = self.work.take() {
            self.say(SLICE, format_args!("work-done = {}u\n", millionths(work)));
        }
    }
}

/// Whether a compaction is due (0x200).
impl Messages {
    /// A slice has ended a cycle that marked `marked` words of a heap that had `heap` words.
    pub(super) fn cycle_shows(&mut self, heap: Words, marked: Words, overhead: f64) {
        self.say(TRIGGER, format_args!("marked words = {} words\n", marked.0));
        self.say(
            TRIGGER,
            format_args!("heap size at start of cycle = {} words\n", heap.0),
        );
        if marked == Words::ZERO {
            self.say(TRIGGER, format_args!("overhead at start of cycle = +inf\n"));
        } else {
            self.say(TRIGGER, format_args!("overhead at start of cycle = {overhead:.0}%\n"));
        }
    }

    /// A compaction is due, or seems to be.
    pub(super) fn triggered(&mut self) {
        self.say(TRIGGER, format_args!("Automatic compaction triggered.\n"));
    }

    /// The overhead of free blocks after the cycle that measured it.
    pub(super) fn current_overhead(&mut self, overhead: f64) {
        self.say(TRIGGER, format_args!("Current overhead: {}%\n", overhead as u64));
    }

    /// The overhead of free blocks after a cycle that the program asked for.
    pub(super) fn estimated_overhead(&mut self, overhead: f64) {
        let overhead = overhead as u64;
        self.say(
            TRIGGER,
            format_args!("Estimated overhead (lower bound) = {overhead}%\n"),
        );
    }

    /// The compaction that seemed to be due is not.
    pub(super) fn aborted(&mut self) {
        self.say(TRIGGER, format_args!("Automatic compaction aborted.\n"));
    }
}

/// Parameters (0x020) and counters (0x400).
impl Messages {
    /// The parameters at first, with a major heap of `heap`.
    pub(super) fn initial(&mut self, control: &Control, heap: Bytes) {
        let minor = control.minor_heap_size / 1024;
        let (increment, unit) = increment(control);
        let lines = [
            format!("Initial minor heap size: {minor}k words"),
            format!("Initial major heap size: {}k bytes", heap.0 / 1024),
            format!("Initial space overhead: {}%", control.space_overhead),
            format!("Initial max overhead: {}%", control.max_overhead),
            format!("Initial heap increment: {increment}{unit}"),
            format!("Initial allocation policy: {}", control.allocation_policy),
            format!("Initial smoothing window: {}", control.window_size),
        ];
        for line in lines {
            self.say(PARAMETERS, format_args!("{line}\n"));
        }
    }

    fn changed(&mut self, name: &str, [old, new]: [u64; 2], unit: &str) {
        if old != new {
            self.say(PARAMETERS, format_args!("New {name}: {new}{unit}\n"));
        }
    }

    /// Parameters change. (Policy and minor heap change later.)
    pub(super) fn parameters(&mut self, old: &Control, new: &Control) {
        let of = |field: fn(&Control) -> u64| [field(old), field(new)];
        self.changed("space overhead", of(|c| c.space_overhead), "%");
        self.changed("max overhead", of(|c| c.max_overhead), "%");
        if old.major_heap_increment != new.major_heap_increment {
            let (increment, unit) = increment(new);
            self.say(PARAMETERS, format_args!("New heap increment size: {increment}{unit}\n"));
        }
        self.changed("smoothing window size", of(|c| c.window_size), "");
        self.changed("custom major ratio", of(|c| c.custom_major_ratio), "%");
        self.changed("custom minor ratio", of(|c| c.custom_minor_ratio), "%");
        // OCaml prints a percent sign behind these bytes.
        self.changed("custom minor size limit", of(|c| c.custom_minor_max_size), "%");
    }

    /// The policy has changed.
    pub(super) fn new_policy(&mut self, policy: u64) {
        self.say(PARAMETERS, format_args!("New allocation policy: {policy}\n"));
    }

    /// The size of the minor heap changes to `words` words.
    pub(super) fn new_minor_heap(&mut self, words: u64) {
        self.say(
            PARAMETERS,
            format_args!("New minor heap size: {}k words\n", words / 1024),
        );
    }

    /// The run ends with these counters. Nothing is printed from now on.
    pub(super) fn exit(&mut self, stat: &Stat) {
        let allocated = stat.minor_words + stat.major_words - stat.promoted_words;
        let words = [
            ("allocated_words", allocated),
            ("minor_words", stat.minor_words),
            ("promoted_words", stat.promoted_words),
            ("major_words", stat.major_words),
        ];
        for (name, words) in words {
            self.say(EXIT, format_args!("{name}: {words:.0}\n"));
        }
        let counts = [
            ("minor_collections", stat.minor_collections),
            ("major_collections", stat.major_collections),
            ("heap_words", stat.heap_words),
            ("heap_chunks", stat.heap_chunks),
            ("top_heap_words", stat.top_heap_words),
            ("compactions", stat.compactions),
            ("forced_major_collections", stat.forced_major_collections),
        ];
        for (name, count) in counts {
            self.say(EXIT, format_args!("{name}: {count}\n"));
        }
        self.set(0);
    }
}

/// An increment and its unit, as OCaml prints them.
fn increment(control: &Control) -> (u64, &'static str) {
    match control.major_heap_increment {
        percent @ ..=1000 => (percent, "%"),
        words => (words / 1024, "k words"),
    }
}

/// A share of a cycle, as OCaml prints it.
fn millionths(share: f64) -> i64 {
    (share * 1e6) as i64
}

/// Words as a signed number: OCaml's largest stands for everything left.
fn number(words: Words) -> i64 {
    i64::try_from(words.0).unwrap_or(i64::MAX)
}
