#!/usr/bin/env python3
"""GC time and pauses of an OCaml 4.13 or 4.14 program, from the events of its instrumented runtime.

    ocaml_events.py COMMAND...

Runs the command, which was linked with `ocamlopt -runtime-variant i`, with OCAML_EVENTLOG_ENABLED=1.
Then prints the results on standard error, and ends with the command's status. The events are in the
Common Trace Format, described by `eventlog_metadata` in OCaml's library folder.

A pause is a time in which the runtime collects: a sequence of phases without a gap in which a program
could allocate (GAP). It excludes the time that the runtime takes to write the events, and the walk
over the heap in `Gc.stat`.
"""

import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MAGIC, VERSION = 0xC1FC1FC1, 1
HEADER = struct.Struct("<IHH")
EVENT = struct.Struct("<QII")

# The kinds of events, and the bytes after each one's header.
ENTRY, EXIT, COUNTER, ALLOC, FLUSH = range(5)
PAYLOAD = {ENTRY: 2, EXIT: 2, COUNTER: 10, ALLOC: 9, FLUSH: 8}

# Phases, by OCaml's `caml/eventlog.h`. `Gc.set` and `Gc.stat` are not collections.
SET, STAT = 2, 3
SLICE = 8

# Between two pauses a program fills half of a minor heap, or requests a collection. That takes
# longer than this, in nanoseconds; the runtime's work between two phases of one pause is shorter.
GAP = 2000


class Malformed(Exception):
    """The bytes are not an event log of OCaml's."""


def events(data):
    """A log's events: nanoseconds since the start, kind, and phase or nanoseconds of a flush."""
    if len(data) < HEADER.size or HEADER.unpack_from(data)[:2] != (MAGIC, VERSION):
        raise Malformed("the log does not begin as one of OCaml 4.13 or 4.14 does")
    at = HEADER.size
    while at < len(data):
        try:
            time, _, kind = EVENT.unpack_from(data, at)
            payload = data[at + EVENT.size : at + EVENT.size + PAYLOAD[kind]]
            at += EVENT.size + PAYLOAD[kind]
        except (struct.error, KeyError):
            raise Malformed(f"byte {at} of the log begins no event") from None
        if len(payload) < PAYLOAD[kind]:
            raise Malformed("the log ends within an event")
        if kind in (ENTRY, EXIT):
            yield time, kind, int.from_bytes(payload, "little")
        elif kind == FLUSH:
            yield time, kind, int.from_bytes(payload, "little")


def pauses(log):
    """For each pause: its nanoseconds, and whether it included a major slice."""
    found = []
    open_phases, start, flushed, slices, last_end = [], 0, 0, False, None
    for time, kind, value in log:
        if kind == FLUSH:
            flushed += value
        elif kind == ENTRY:
            if not open_phases:
                start, flushed, slices = time, 0, False
            open_phases.append(value)
            slices |= value == SLICE
        else:
            if not open_phases or open_phases.pop() != value:
                raise Malformed(f"phase {value} ends at {time} ns, and had not begun")
            if open_phases or value in (SET, STAT):
                continue
            length = time - start - flushed
            if last_end is not None and start - last_end < GAP:
                before, sliced = found.pop()
                length, slices = length + before, slices or sliced
            found.append((length, slices))
            last_end = time
    return found


def percentile(lengths, one_in):
    """The nearest rank: the length that one pause in so many exceeds."""
    return sorted(lengths)[len(lengths) - 1 - len(lengths) // one_in]


def figures(found):
    """The lines to print."""
    lengths = [length for length, _ in found]
    slices = [length for length, sliced in found if sliced]
    yield f"gc_seconds: {sum(lengths) / 1e9:.6f}"
    yield f"pauses: {len(lengths)}"
    yield f"slices: {len(slices)}"
    yield f"longest_pause_ms: {max(lengths, default=0) / 1e6:.6f}"
    yield f"longest_slice_ms: {max(slices, default=0) / 1e6:.6f}"
    for name, one_in in (("p50", 2), ("p90", 10), ("p99", 100)):
        if len(lengths) >= one_in:
            yield f"{name}_ms: {percentile(lengths, one_in) / 1e6:.6f}"


def main(command):
    if not command:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        variables = {"OCAML_EVENTLOG_ENABLED": "1", "OCAML_EVENTLOG_PREFIX": f"{folder}/log"}
        try:
            status = subprocess.run(command, env=os.environ | variables, check=False).returncode
        except OSError as error:
            print(f"ocaml_events.py: {command[0]}: {error.strerror}", file=sys.stderr)
            return 2
        logs = list(Path(folder).iterdir())
        if status == 0 and len(logs) != 1:
            print(f"ocaml_events.py: {command[0]} wrote no log: link it with `-runtime-variant i`", file=sys.stderr)
            return 2
        if status == 0:
            try:
                print(*figures(pauses(events(logs[0].read_bytes()))), sep="\n", file=sys.stderr)
            except Malformed as error:
                print(f"ocaml_events.py: {error}", file=sys.stderr)
                return 2
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
