//! The table of event types, one row each, for readers and writers.
//!
//! Numbers, sizes and descriptions are those of GHC 9.0.2, or of newer or older versions for types
//! that GHC 9.0.2 lacks. A log may declare other sizes.
//!
//! Types from 1000 up, far above GHC's numbers, are gclab's own. Readers that do not know them skip
//! them by their declared size.

use crate::kind::{Field, Form::*, Kind, Size};

const FIXED: usize = usize::MAX;

/// A fixed size; older versions of GHC wrote only the first `required` of `fields` fields.
const fn fixed(required: usize, fields: usize) -> Size {
    Size::Fixed {
        required: if required < fields { required } else { fields },
    }
}

macro_rules! fields {
    ($($field:ident $form:ident),*) => { &[$(Field { name: stringify!($field), form: $form }),*] };
}

macro_rules! size {
    (VARIABLE $fields:expr) => {
        Size::Variable {
            required: $fields.len(),
        }
    };
    ((VARIABLE $required:literal) $fields:expr) => {
        Size::Variable { required: $required }
    };
    ($required:ident $fields:expr) => {
        fixed($required, $fields.len())
    };
    ($required:literal $fields:expr) => {
        fixed($required, $fields.len())
    };
}

macro_rules! kinds {
    ($($number:literal $name:ident $size:tt $description:literal [$($field:ident $form:ident),*] $text:literal;)*) => {
        /// The numbers of event types, by name.
        pub mod number {
            $(
                #[doc = concat!("\u{201c}", $description, "\u{201d}: event type ", stringify!($number), ".")]
                pub const $name: u16 = $number;
            )*
        }

        $(
            #[doc = concat!("\u{201c}", $description, "\u{201d}: event type ", stringify!($number), ".")]
            pub static $name: Kind = Kind {
                number: $number,
                name: stringify!($name),
                description: $description,
                size: size!($size { const FIELDS: &[Field] = fields![$($field $form),*]; FIELDS }),
                fields: fields![$($field $form),*],
                text: $text,
            };
        )*

        /// All event types, in the order of their numbers.
        pub static ALL: &[&Kind] = &[$(&$name),*];
    };
}

kinds! {
    0 CREATE_THREAD FIXED "Create thread" [thread U32] "creating thread {thread}";
    1 RUN_THREAD FIXED "Run thread" [thread U32] "running thread {thread}";
    2 STOP_THREAD 2 "Stop thread" [thread U32, status Status, info U32] "stopping thread {thread} ({status})";
    3 THREAD_RUNNABLE FIXED "Thread runnable" [thread U32] "thread {thread} is runnable";
    4 MIGRATE_THREAD FIXED "Migrate thread" [thread U32, new_cap U16] "migrating thread {thread} to cap {new_cap}";
    5 RUN_SPARK FIXED "Run spark" [thread U32] "running a local spark (thread {thread})";
    6 STEAL_SPARK FIXED "Steal spark" [thread U32, victim_cap U16] "thread {thread} stealing a spark from cap {victim_cap}";
    7 SHUTDOWN FIXED "Shutdown" [] "shutting down";
    8 THREAD_WAKEUP FIXED "Wakeup thread" [thread U32, other_cap U16] "waking up thread {thread} on cap {other_cap}";
    9 GC_START FIXED "Starting GC" [] "starting GC";
    10 GC_END FIXED "Finished GC" [] "finished GC";
    11 REQUEST_SEQ_GC FIXED "Request sequential GC" [] "requesting sequential GC";
    12 REQUEST_PAR_GC FIXED "Request parallel GC" [] "requesting parallel GC";
    15 CREATE_SPARK_THREAD FIXED "Create spark thread" [thread U32] "creating spark thread {thread}";
    16 LOG_MSG VARIABLE "Log message" [message Text] "{message}";
    17 STARTUP FIXED "Startup" [caps U16] "startup: {caps} capabilities";
    18 BLOCK_MARKER FIXED "Block marker" [size U32, end_time U64, cap_no U16] "block of {size} bytes of cap {cap_no}, up to {end_time}";
    19 USER_MSG VARIABLE "User message" [message Text] "{message}";
    20 GC_IDLE FIXED "GC idle" [] "GC idle";
    21 GC_WORK FIXED "GC working" [] "GC working";
    22 GC_DONE FIXED "GC done" [] "GC done";
    25 CAPSET_CREATE FIXED "Create capability set" [capset U32, type CapsetType] "created capset {capset} of type {type}";
    26 CAPSET_DELETE FIXED "Delete capability set" [capset U32] "deleted capset {capset}";
    27 CAPSET_ASSIGN_CAP FIXED "Add capability to capability set" [capset U32, cap_no U16] "assigned cap {cap_no} to capset {capset}";
    28 CAPSET_REMOVE_CAP FIXED "Remove capability from capability set" [capset U32, cap_no U16] "removed cap {cap_no} from capset {capset}";
    29 RTS_IDENTIFIER VARIABLE "RTS name and version" [capset U32, rts Text] "capset {capset}: RTS version \"{rts}\"";
    30 PROGRAM_ARGS VARIABLE "Program arguments" [capset U32, args List] "capset {capset}: args: {args}";
    31 PROGRAM_ENV VARIABLE "Program environment variables" [capset U32, env List] "capset {capset}: env: {env}";
    32 OSPROCESS_PID FIXED "Process ID" [capset U32, pid U32] "capset {capset}: pid {pid}";
    33 OSPROCESS_PPID FIXED "Parent process ID" [capset U32, ppid U32] "capset {capset}: parent pid {ppid}";
    34 SPARK_COUNTERS FIXED "Spark counters" [created U64, dud U64, overflowed U64, converted U64, gcd U64, fizzled U64, remaining U64]
        "spark stats: {created} created, {converted} converted, {remaining} remaining ({overflowed} overflowed, {dud} dud, {gcd} GC'd, {fizzled} fizzled)";
    35 SPARK_CREATE FIXED "Spark create" [] "spark created";
    36 SPARK_DUD FIXED "Spark dud" [] "dud spark discarded";
    37 SPARK_OVERFLOW FIXED "Spark overflow" [] "overflowed spark discarded";
    38 SPARK_RUN FIXED "Spark run" [] "running a local spark";
    39 SPARK_STEAL FIXED "Spark steal" [victim_cap U16] "stealing a spark from cap {victim_cap}";
    40 SPARK_FIZZLE FIXED "Spark fizzle" [] "spark fizzled";
    41 SPARK_GC FIXED "Spark GC" [] "spark GCed";
    43 WALL_CLOCK_TIME FIXED "Wall clock time" [capset U32, seconds U64, nanoseconds U32]
        "capset {capset}: wall clock time {seconds}s {nanoseconds}ns (unix epoch)";
    44 THREAD_LABEL VARIABLE "Thread label" [thread U32, label Text] "thread {thread} has label \"{label}\"";
    45 CAP_CREATE FIXED "Create capability" [cap_no U16] "created cap {cap_no}";
    46 CAP_DELETE FIXED "Delete capability" [cap_no U16] "deleted cap {cap_no}";
    47 CAP_DISABLE FIXED "Disable capability" [cap_no U16] "disabled cap {cap_no}";
    48 CAP_ENABLE FIXED "Enable capability" [cap_no U16] "enabled cap {cap_no}";
    49 HEAP_ALLOCATED FIXED "Total heap mem ever allocated" [capset U32, bytes U64] "allocated on heap capset {capset}: {bytes} total bytes till now";
    50 HEAP_SIZE FIXED "Current heap size" [capset U32, bytes U64] "size of heap capset {capset}: {bytes} bytes";
    51 HEAP_LIVE FIXED "Current heap live data" [capset U32, bytes U64] "live data in heap capset {capset}: {bytes} bytes";
    52 HEAP_INFO_GHC FIXED "Heap static parameters" [capset U32, generations U16, max_heap U64, allocation_area U64, megablock U64, block U64]
        "heap stats for heap capset {capset}: generations {generations}, {max_heap} bytes max heap size, {allocation_area} bytes alloc area size, {megablock} bytes mblock size, {block} bytes block size";
    53 GC_STATS_GHC 8 "GC statistics"
        [capset U32, generation U16, copied U64, slop U64, fragmentation U64, par_threads U32, par_max_copied U64, par_total_copied U64, par_balanced_copied U64]
        "GC stats for heap capset {capset}: generation {generation}, {copied} bytes copied, {slop} bytes slop, {fragmentation} bytes fragmentation, {par_threads} par threads, {par_max_copied} bytes max par copied, {par_total_copied} bytes total par copied, {par_balanced_copied} bytes balanced par copied";
    54 GC_GLOBAL_SYNC FIXED "Synchronise stop-the-world GC" [] "all caps stopped for GC";
    55 TASK_CREATE FIXED "Task create" [task Hex, cap_no U16, kernel_thread U64] "task {task} created on cap {cap_no} with OS kernel thread {kernel_thread}";
    56 TASK_MIGRATE FIXED "Task migrate" [task Hex, cap_no U16, new_cap U16] "task {task} migrated from cap {cap_no} to cap {new_cap}";
    57 TASK_DELETE FIXED "Task delete" [task Hex] "task {task} deleted";
    58 USER_MARKER VARIABLE "User marker" [marker Text] "marker: {marker}";
    59 HACK_BUG_T9003 FIXED "Empty event for bug #9003" [] "empty event for bug #9003";
    90 MEM_RETURN FIXED "The RTS attempted to return heap memory to the OS" [capset U32, current U32, needed U32, returned U32]
        "memory returned (mblocks): current({current}) needed({needed}) returned({returned})";
    91 BLOCKS_SIZE FIXED "Report the size of the heap in blocks" [capset U32, bytes U64] "blocks size of heap capset {capset}: {bytes} bytes";
    160 HEAP_PROF_BEGIN VARIABLE "Start of heap profile"
        [profile U8, period_ns U64, breakdown Breakdown, module Zero, closure_descr Zero, type_descr Zero, cost_centre Zero, cost_centre_stack Zero, retainer Zero, biography Zero]
        "start heap profiling {profile} at sampling period {period_ns} broken down by {breakdown}";
    161 HEAP_PROF_COST_CENTRE VARIABLE "Cost center definition" [id U32, label Zero, module Zero, location Zero, flags U8]
        "cost centre {id} {label} in {module} at {location}";
    162 HEAP_PROF_SAMPLE_BEGIN FIXED "Start of heap profile sample" [era U64] "start heap prof sample {era}";
    163 HEAP_PROF_SAMPLE_COST_CENTRE VARIABLE "Heap profile cost-centre sample" [profile U8, bytes U64, stack Ids]
        "heap prof sample {profile}, residency {bytes}, cost centre stack {stack}";
    164 HEAP_PROF_SAMPLE_STRING VARIABLE "Heap profile string sample" [profile U8, bytes U64, label Zero]
        "heap prof sample {profile}, residency {bytes}, label {label}";
    165 HEAP_PROF_SAMPLE_END FIXED "End of heap profile sample" [era U64] "end prof sample {era}";
    166 HEAP_BIO_PROF_SAMPLE_BEGIN FIXED "Start of heap profile (biographical) sample" [era U64, time_ns U64]
        "start heap prof sample {era} at time {time_ns}";
    167 PROF_SAMPLE_COST_CENTRE VARIABLE "Time profile cost-centre stack" [cap_no U32, tick U64, stack Ids]
        "cap no {cap_no}, prof sample {tick}, cost centre stack {stack}";
    168 PROF_BEGIN FIXED "Start of a time profile" [interval_ns U64] "start time profiling, tick interval {interval_ns} (ns)";
    169 IPE VARIABLE "Info Table Source Position"
        [info Hex, name Zero, closure_type Zero, type Zero, label Zero, module Zero, location Zero]
        "info table {info}: {name}, {closure_type}, {type}, {label}, {module}, {location}";
    181 USER_BINARY_MSG VARIABLE "User binary message" [bytes Bytes] "binary message: {bytes}";
    200 CONC_MARK_BEGIN FIXED "Begin concurrent mark phase" [] "concurrent mark began";
    201 CONC_MARK_END FIXED "End concurrent mark phase" [objects U32] "concurrent mark ended: marked {objects} objects";
    202 CONC_SYNC_BEGIN FIXED "Begin concurrent GC synchronisation" [] "post-mark synchronization began";
    203 CONC_SYNC_END FIXED "End concurrent GC synchronisation" [] "post-mark synchronization ended";
    204 CONC_SWEEP_BEGIN FIXED "Begin concurrent sweep" [] "concurrent sweep began";
    205 CONC_SWEEP_END FIXED "End concurrent sweep" [] "concurrent sweep ended";
    206 CONC_UPD_REM_SET_FLUSH FIXED "Update remembered set flushed" [cap_no U16] "update remembered set flushed by {cap_no}";
    207 NONMOVING_HEAP_CENSUS FIXED "Nonmoving heap census" [log2_cell_bytes U8, active_segments U32, filled_segments U32, live_blocks U32]
        "nonmoving heap census: cells of 2^{log2_cell_bytes} bytes: {active_segments} active segments, {filled_segments} filled segments, {live_blocks} live blocks";
    208 NONMOVING_PRUNED_SEGMENTS FIXED "Report the amount of segments pruned and remaining on the free list." [pruned U32, free U32]
        "nonmoving segments: {pruned} pruned, {free} free";
    210 TICKY_COUNTER_DEF (VARIABLE 4) "Ticky-ticky entry counter definition" [id Hex, arity U16, kinds Zero, name Zero, info Hex, json Zero]
        "ticky counter {id}: {name}, arity {arity}, kinds {kinds}, info table {info}, {json}";
    211 TICKY_COUNTER_SAMPLE FIXED "Ticky-ticky entry counter sample" [id Hex, entries U64, allocs U64, allocd U64]
        "ticky counter {id}: {entries} entries, {allocs} allocations, {allocd} bytes";
    212 TICKY_COUNTER_BEGIN_SAMPLE FIXED "Ticky-ticky entry counter begin sample" [] "begin ticky sample";
    1000 LOOK_BEGIN FIXED "gclab: a look at the stopped heap begins" [purpose Purpose] "a look at the stopped heap begins ({purpose})";
    1001 LOOK_END FIXED "gclab: a look at the stopped heap ends" [purpose Purpose] "the look at the stopped heap ends ({purpose})";
}

/// The census of GHC 9.10 and later, which gives the size of cells rather than its logarithm.
pub(crate) static CENSUS_OF_9_10: Kind = Kind {
    number: number::NONMOVING_HEAP_CENSUS,
    name: "NONMOVING_HEAP_CENSUS",
    description: "Nonmoving heap census",
    size: fixed(FIXED, 4),
    fields: fields![cell_bytes U16, active_segments U32, filled_segments U32, live_blocks U32],
    text: "nonmoving heap census: cells of {cell_bytes} bytes: {active_segments} active segments, {filled_segments} filled segments, {live_blocks} live blocks",
};

/// Types that no current version of GHC writes.
const DEPRECATED: [u16; 4] = [
    number::RUN_SPARK,
    number::STEAL_SPARK,
    number::SHUTDOWN,
    number::STARTUP,
];

/// The types that current versions of GHC write, and gclab's own.
pub fn current() -> impl Iterator<Item = &'static Kind> {
    let all = ALL.iter().copied().filter(|kind| !DEPRECATED.contains(&kind.number));
    all.map(|kind| {
        if kind.number == CENSUS_OF_9_10.number {
            &CENSUS_OF_9_10
        } else {
            kind
        }
    })
}

/// The type with this number in the table.
pub fn numbered(number: u16) -> Option<&'static Kind> {
    let place = ALL.binary_search_by_key(&number, |kind| kind.number).ok()?;
    Some(ALL[place])
}

/// The type with this name in the table, in any case.
pub fn named(name: &str) -> Option<&'static Kind> {
    ALL.iter().copied().find(|kind| kind.name.eq_ignore_ascii_case(name))
}

/// The type and the number of fields of events declared with `number` and `size`; `None` if they
/// must be skipped.
pub(crate) fn resolve(number: u16, size: Option<u16>) -> Option<(&'static Kind, usize)> {
    if number == CENSUS_OF_9_10.number && size == CENSUS_OF_9_10.payload_size() {
        return Some((&CENSUS_OF_9_10, CENSUS_OF_9_10.fields.len()));
    }
    let kind = numbered(number)?;
    Some((kind, kind.fields_in(size)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_their_numbers() {
        assert!(ALL.windows(2).all(|two| two[0].number < two[1].number));
        assert!(
            ALL.iter()
                .all(|kind| numbered(kind.number).is_some_and(|found| std::ptr::eq(found, *kind)))
        );
    }

    #[test]
    fn every_sentence_names_existing_fields() {
        for kind in ALL.iter().copied().chain([&CENSUS_OF_9_10]) {
            for name in kind.text.split('{').skip(1).map(|part| part.split('}').next().unwrap()) {
                let known = kind.fields.iter().any(|field| field.name == name);
                assert!(known, "{}: {name}", kind.name);
            }
        }
    }

    /// These are the names of an event's own properties in JSON.
    #[test]
    fn no_field_has_the_name_of_another_property() {
        let fields = ALL.iter().flat_map(|kind| kind.fields);
        for field in fields {
            assert!(
                !["time", "cap", "event", "number", "description"].contains(&field.name),
                "{}",
                field.name
            );
        }
    }

    #[test]
    fn only_the_last_fields_of_a_variable_size_have_no_end() {
        for kind in ALL {
            let open = |field: &Field| matches!(field.form, Text | List | Bytes);
            let before = kind.fields.iter().rev().skip(1);
            assert!(!before.into_iter().any(open), "{}", kind.name);
            let fixed = kind.fields.iter().all(|field| field.form.width().is_some());
            assert_eq!(fixed, !matches!(kind.size, Size::Variable { .. }), "{}", kind.name);
        }
    }

    #[test]
    fn sizes_of_older_and_newer_versions_are_known() {
        let fields = |number, size| resolve(number, size).map(|(_, fields)| fields);
        assert_eq!(fields(number::GC_STATS_GHC, Some(58)), Some(9));
        assert_eq!(fields(number::GC_STATS_GHC, Some(50)), Some(8));
        assert_eq!(fields(number::GC_STATS_GHC, Some(66)), Some(9));
        assert_eq!(fields(number::GC_STATS_GHC, Some(54)), None);
        assert_eq!(fields(number::GC_STATS_GHC, None), None);
        assert_eq!(fields(number::USER_MSG, Some(4)), None);
        assert_eq!(fields(number::STOP_THREAD, Some(6)), Some(2));
        assert_eq!(fields(209, Some(3)), None);
        let first = |size| resolve(number::NONMOVING_HEAP_CENSUS, Some(size)).map(|(kind, _)| kind.fields[0].name);
        assert_eq!(first(13), Some("log2_cell_bytes"));
        assert_eq!(first(14), Some("cell_bytes"));
        assert_eq!(first(12), None);
    }
}
