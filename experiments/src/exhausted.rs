//! The message of an exhausted heap: the limit that was met, and the remedies. GHC's words where
//! it has them.

use gclab_core::block::{MEGABLOCK, OutOfMemory, Shortage};
use gclab_core::collector::Description;
use gclab_core::config::Parameter;
use gclab_core::heap::default_limit;
use gclab_core::words::Bytes;
use gclab_flags::Flags;

/// The limit that the heap met.
#[derive(Debug, PartialEq, Eq)]
enum Bound<'e> {
    /// `-M`.
    Flag(Bytes),
    /// `-M`, in whose last few bytes the run thrashes.
    Thrashing(&'e Shortage),
    /// Without `-M`: the memory of the machine.
    Machine(Bytes),
    /// The reserved address space.
    Reservation,
    /// The system refused, with this message.
    System(&'e Shortage),
}

/// The limit that `error` met. A heap's limit is `-M`, or `machine` without `-M`, but at most the
/// reservation; in whole megablocks.
fn bound<'e>(error: &'e OutOfMemory, flags: &Flags, machine: Bytes) -> Bound<'e> {
    let wanted = flags.config.max_heap.unwrap_or(machine);
    match (&error.cause, error.limit) {
        (Shortage::System(_), _) => Bound::System(&error.cause),
        (Shortage::Thrashing(_), _) => Bound::Thrashing(&error.cause),
        (Shortage::Limit, Some(limit)) if limit.0.saturating_add(MEGABLOCK.0) > wanted.0 => {
            match flags.config.max_heap {
                Some(_) => Bound::Flag(limit),
                None => Bound::Machine(limit),
            }
        }
        (Shortage::Limit | Shortage::Reservation, _) => Bound::Reservation,
    }
}

/// The message: several lines, without a trailing newline. A collector that moves all closures but
/// cannot compact (`-c`) needs room for copies of them.
pub(crate) fn exhausted(error: &OutOfMemory, flags: &Flags, collector: &Description) -> String {
    let copies = collector.moves && !collector.honours(Parameter::Compact);
    text(error, flags, copies, default_limit())
}

fn text(error: &OutOfMemory, flags: &Flags, copies: bool, machine: Bytes) -> String {
    let size = |bytes: Bytes| format!("{} bytes ({} MB)", bytes.0, bytes.0 >> 20);
    let of_copying = copies.then(|| {
        "A collector that copies needs room for the copies; `--collector compacting` would go on for longer.".to_owned()
    });
    let mut lines = match bound(error, flags, machine) {
        Bound::Flag(limit) => vec![
            format!("Current maximum heap size is {}.", size(limit)),
            "Use `+RTS -M<size>' to increase it.".to_owned(),
        ],
        Bound::Thrashing(cause) => vec![
            format!("{cause}."),
            "Use `+RTS -M<size>' to allow more memory, or `--gc-overhead-limit=0' to go on regardless.".to_owned(),
        ],
        Bound::Machine(limit) => vec![
            format!(
                "Without -M the heap may take the memory that this machine, or its control group, has: {}.",
                size(limit)
            ),
            "Use a machine (or group) with more, or `+RTS -M<size>' to have the system swap.".to_owned(),
        ],
        Bound::Reservation => {
            let limit = error
                .limit
                .unwrap_or(flags.config.reserve)
                .0
                .min(flags.config.reserve.0);
            let mut lines = vec![format!(
                "The address space reserved for the heap is used up: {}.",
                size(Bytes(limit))
            )];
            lines.push(if limit.saturating_add(MEGABLOCK.0) > flags.config.reserve.0 {
                "Use `+RTS -xr<size>' to reserve more.".to_owned()
            } else {
                format!(
                    "The system refused the {} of -xr: a larger `ulimit -v' would help.",
                    size(flags.config.reserve)
                )
            });
            lines
        }
        Bound::System(cause) => vec![
            format!("The system refused more memory: {cause}."),
            format!(
                "{} are in use. A larger `ulimit -v', fewer other programs, or `+RTS -M<size>' below that would help.",
                size(error.in_use)
            ),
        ],
    };
    // If the system refuses memory, another collector gets none either.
    lines.extend(of_copying.filter(|_| !matches!(error.cause, Shortage::System(_))));
    let almost = if matches!(error.cause, Shortage::Thrashing(_)) {
        "almost "
    } else {
        ""
    };
    let lines = lines.into_iter().map(|line| format!("\ngclab: {line}"));
    format!("gclab: Heap {almost}exhausted;{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use gclab_collectors::All;
    use gclab_core::collector::CollectorList;
    use gclab_core::memory::MemoryError;
    use gclab_core::stats::Thrashing;

    use super::*;

    const MACHINE: Bytes = Bytes::mib(4096);

    fn error(limit: Option<Bytes>, cause: Shortage) -> OutOfMemory {
        OutOfMemory {
            requested: Bytes(4096),
            in_use: Bytes::mib(7),
            limit,
            cause,
        }
    }

    fn flags(words: &str) -> Flags {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        Flags::parse(None, &words).unwrap()
    }

    #[test]
    fn the_message_names_what_is_used_up_and_what_would_help() {
        let refused = Shortage::System(MemoryError::Reserve {
            size: Bytes::mib(1),
            reason: "Cannot allocate memory".into(),
        });
        let thrashing = Shortage::Thrashing(Thrashing {
            major_gcs: 5,
            elapsed_ns: 1_234_000_000,
            collecting_ns: 1_220_000_000,
            cpu_ns: 1_234_000_000,
            collecting_cpu_ns: 1_220_000_000,
            freed: Bytes(5 << 18),
        });
        let cases = [
            ("-M8m", error(Some(Bytes::mib(8)), Shortage::Limit)),
            // A limit is whole megablocks.
            ("-M8500k", error(Some(Bytes::mib(8)), Shortage::Limit)),
            ("", error(Some(MACHINE), Shortage::Limit)),
            // The collector's own sizing knows one limit: this one is the reservation.
            ("-xr16m", error(Some(Bytes::mib(16)), Shortage::Limit)),
            ("-M64m -xr16m", error(Some(Bytes::mib(16)), Shortage::Limit)),
            ("-M64m -xr64m", error(Some(Bytes::mib(64)), Shortage::Reservation)),
            ("-xr64m", error(Some(MACHINE), Shortage::Reservation)),
            // The default is 1 TiB, of which the system reserved less.
            ("", error(Some(Bytes::mib(512)), Shortage::Limit)),
            ("-M64m", error(Some(Bytes::mib(64)), refused)),
            ("-M64m", error(Some(Bytes::mib(64)), thrashing)),
        ];
        let texts =
            cases.map(|(words, error)| format!("== {words} {error:?}\n{}", text(&error, &flags(words), true, MACHINE)));
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn collectors_that_copy_everything_are_told_of_compaction() {
        let error = error(Some(Bytes::mib(8)), Shortage::Limit);
        let told = |collector: &&Description| exhausted(&error, &flags("-M8m"), collector).contains("--collector");
        let told = All::descriptions()
            .into_iter()
            .filter(told)
            .map(|collector| collector.name);
        assert_eq!(told.collect::<Vec<_>>(), ["two-space", "copying", "parallel"]);
    }

    #[test]
    fn a_collector_that_moves_nothing_is_not_told_of_copies() {
        let error = error(Some(Bytes::mib(8)), Shortage::Limit);
        assert_eq!(
            text(&error, &flags("-M8m"), false, MACHINE),
            "gclab: Heap exhausted;\ngclab: Current maximum heap size is 8388608 bytes (8 MB).\ngclab: Use `+RTS -M<size>' to increase it."
        );
    }
}
