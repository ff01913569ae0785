#!/usr/bin/env python3
"""The counts of `ocaml` beside OCaml's, from the runs of `ocaml.toml`.

    ocaml_counts.py DIR                   the largest distances, as Markdown (for docs/ocaml.md)
    ocaml_counts.py DIR --check FILE      compares gclab's counts with those in FILE, a CSV; lists the
                                          differences and exits with status 1 if there are any
    ocaml_counts.py DIR --renew FILE      writes the counts to FILE

OCaml's counts are what its runtime prints at exit (`v=0x400`), without the minor collection at the start
of the program, which empties the minor heap: gclab's is empty from the start. Neither side counts the
collection after the end of the program, which only gclab does.

gclab's counts are the same on every machine. OCaml's are not, because it sweeps its heap by address, and
the system chooses the addresses. So a check says how many of OCaml's differ, and does not fail.
"""

import csv
import json
import sys
from pathlib import Path

# Each count: its heading, and how far it may be from OCaml's, as a share and as a number.
AIMS = {
    "minor_words": ("minor words", 0.001, 0),
    "minor_collections": ("minor collections", 0.01, 0),
    "promoted_words": ("promoted words", 0.03, 0),
    "major_collections": ("major collections", 0.10, 2),
    "top_heap_words": ("top heap words", 0.15, 0),
}

COMMENT = "# .ci/ocaml renew"


def of_ocaml(run):
    """The counts of an OCaml run, without its first minor collection."""
    counts = {count: int(run["figures"][count]) for count in AIMS}
    return counts | {"minor_collections": counts["minor_collections"] - 1}


def of_gclab(run):
    """The counts of a gclab run, which the collector reports under OCaml's names."""
    return {count: run["stats"]["figures"][count] for count in AIMS}


def setting(run):
    """A run's program and letters, the same on both sides."""
    letters = {key.removeprefix("ocaml."): value for key, value in run["flags"].items()}
    return run["workload"], letters["s"], int(letters["o"]), int(letters["a"])


def words(size):
    """The number of words in a size such as 32k."""
    return int(size[:-1]) << {"k": 10, "M": 20}[size[-1]]


def pairs(lines):
    """For each setting, in order: our counts and OCaml's, from the lines of a `runs.jsonl`."""
    ours, theirs = {}, {}
    for run in map(json.loads, lines):
        if run["outcome"] != {"status": "ok"}:
            sys.exit(f"ocaml_counts.py: {run['id']} did not end well: {run['outcome']}")
        if "runtime" in run:
            theirs[setting(run)] = of_ocaml(run)
        else:
            ours[setting(run)] = of_gclab(run)
    if not ours or ours.keys() != theirs.keys():
        sys.exit("ocaml_counts.py: the runs of gclab and of OCaml are not of the same settings")
    order = sorted(ours, key=lambda at: (at[0], words(at[1]), *at[2:]))
    return [(at, ours[at], theirs[at]) for at in order]


def distance(count, ours, theirs):
    """The distance of two numbers as a share of OCaml's; 0 if only a few collections apart."""
    apart = abs(ours - theirs)
    return 0.0 if apart <= AIMS[count][2] else apart / max(theirs, 1)


def worst(rows):
    """For each program and count: largest distance, number of settings within the aim, and in all."""
    found = {}
    for (program, *_), ours, theirs in rows:
        for count, (_, aim, _) in AIMS.items():
            apart = distance(count, ours[count], theirs[count])
            greatest, within, settings = found.get((program, count), (0.0, 0, 0))
            found[program, count] = max(greatest, apart), within + (apart <= aim), settings + 1
    return found


def percent(share):
    return f"{100 * share:.3g} %"


def table(rows):
    """The largest distances, as Markdown."""
    heads = [f"{head}, {percent(aim)}" + (f" or {few}" if few else "") for head, aim, few in AIMS.values()]
    lines = [" | ".join(["| program", *heads]) + " |", "|:--" + "|--:" * len(AIMS) + "|"]
    found = worst(rows)
    for program in dict.fromkeys(program for program, _ in found):
        cells = [found[program, count] for count in AIMS]
        texts = [f"{percent(greatest)} ({within} of {settings})" for greatest, within, settings in cells]
        lines.append(" | ".join([f"| `{program}`", *texts]) + " |")
    return "\n".join(lines)


def as_csv(rows):
    """All counts as CSV: for each count ours, then OCaml's."""
    heads = [name for count in AIMS for name in (count, f"{count}_ocaml")]
    lines = [COMMENT, ",".join(["program", "s", "o", "a", *heads])]
    for setting, ours, theirs in rows:
        counts = [side[count] for count in AIMS for side in (ours, theirs)]
        lines.append(",".join(map(str, [*setting, *counts])))
    return "\n".join(lines) + "\n"


def by_setting(text):
    """For each setting in the CSV, its counts by name."""
    rows = csv.DictReader(text.splitlines()[1:])
    return {" ".join(row[key] for key in ("program", "s", "o", "a")): row for row in rows}


def changed(before, now):
    """Messages about gclab's counts that differ, and how many of OCaml's differ."""
    known, messages, theirs = by_setting(before), [], 0
    for setting, row in by_setting(now).items():
        last = known.pop(setting, {})
        for count, (head, *_) in AIMS.items():
            if row[count] != last.get(count):
                messages.append(f"{setting}: gclab's {head} are {row[count]}, and were {last.get(count)}")
            theirs += row[f"{count}_ocaml"] != last.get(f"{count}_ocaml")
    return messages + [f"{setting}: the setting no longer exists" for setting in known], theirs


def main(words):
    match words:
        case [folder] | [folder, "--check" | "--renew", _]:
            rows = pairs((Path(folder) / "runs.jsonl").read_text().splitlines())
        case _:
            print(__doc__.split("\n\n")[1], file=sys.stderr)
            return 2
    if len(words) == 1:
        print(table(rows))
        return 0
    file, text = Path(words[2]), as_csv(rows)
    if words[1] == "--renew":
        file.write_text(text)
        return 0
    messages, theirs = changed(file.read_text(), text)
    if theirs:
        print(f"ocaml_counts.py: OCaml counts otherwise here, {theirs} times")
    if messages:
        messages.append(f"{file} is out of date: .ci/ocaml renew")
    for message in messages:
        print(f"ocaml_counts.py: {message}", file=sys.stderr)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
