#!/usr/bin/env python3
"""GC time, memory and pauses of `ocaml` relative to OCaml, from the runs of `ocaml_speed.toml`:
`ocaml_speed.py DIR` prints a table, as Markdown.

All numbers are for the whole process, even if a workload has a measured phase. The collection after
the end of the program, which only gclab does, does not count. Each number is the median of its runs,
and the geometric mean is over the programs.
"""

import json
import sys
from pathlib import Path
from statistics import geometric_mean, median

OURS, PLAIN, EVENTS = "ocaml", "OCaml", "OCaml events"

# Each metric: its heading, the OCaml program that reports it, and how large it may be.
FIGURES = {
    "gc": ("GC CPU, s", EVENTS, "1, and 0.5 on the mean"),
    "cpu": ("total CPU, s", PLAIN, ""),
    "peak": ("peak heap, MiB", PLAIN, "1.05"),
    "slice": ("longest slice, ms", EVENTS, "1"),
}


def of_gclab(run):
    """The metrics of a gclab run, without its last collection, which OCaml does not do."""
    stats = run["stats"]
    last = stats["phases"]["exit"]["gc_cpu_seconds"]
    return {
        "gc": stats["gc_cpu_seconds"] - last,
        "cpu": run["user_seconds"] + run["system_seconds"] - last,
        "peak": stats["peak_in_use_bytes"] / (1 << 20),
        "slice": 1e3 * stats.get("max_slice_seconds", 0),
    }


def of_ocaml(run):
    """The metrics of an OCaml run. Its heap is the minor and the major heap."""
    stats = run["stats"]
    size = run["flags"]["s"]
    minor = int(size[:-1]) << {"k": 10, "M": 20}[size[-1]]
    return {
        "gc": stats.get("gc_cpu_seconds"),
        "cpu": run["user_seconds"] + run["system_seconds"],
        "peak": (stats["peak_in_use_bytes"] + 8 * minor) / (1 << 20),
        "slice": 1e3 * stats.get("max_slice_seconds", 0),
    }


def medians(lines):
    """For each state of pages and program, the median of each metric on both sides, from the lines
    of a `runs.jsonl`."""
    runs = {}
    for run in map(json.loads, lines):
        if run["outcome"] != {"status": "ok"}:
            sys.exit(f"ocaml_speed.py: {run['id']} did not end well: {run['outcome']}")
        figures = of_ocaml(run) if "runtime" in run else of_gclab(run)
        pages = run["settings"]["env.PAGES"]
        runs.setdefault((pages, run["workload"]), {}).setdefault(run["collector"], []).append(figures)
    found = {}
    for at, sides in sorted(runs.items()):
        if sides.keys() != {OURS, PLAIN, EVENTS}:
            sys.exit(f"ocaml_speed.py: not all runs of {at} are there")
        of = lambda side, figure: median(one[figure] for one in sides[side])
        found[at] = {figure: (of(OURS, figure), of(side, figure)) for figure, (_, side, _) in FIGURES.items()}
    return found


def table(found):
    """The table, as Markdown."""
    heads = [head for head, *_ in FIGURES.values()]
    lines = ["| pages | program | " + " | ".join(heads) + " |", "|:--|:--" + "|--:" * len(heads) + "|"]
    ratios = {}
    for (pages, program), figures in found.items():
        cells = []
        for figure, (ours, theirs) in figures.items():
            ratios.setdefault((pages, figure), []).append(ours / theirs)
            cells.append(f"{ours:.3g} / {theirs:.3g} = {ours / theirs:.2f}")
        lines.append(f"| {pages} | `{program}` | " + " | ".join(cells) + " |")
    for pages in dict.fromkeys(pages for pages, _ in found):
        means = [f"{geometric_mean(ratios[pages, figure]):.2f}" for figure in FIGURES]
        lines.append(f"| {pages} | geometric mean | " + " | ".join(means) + " |")
    lines.append("| | aim, at most | " + " | ".join(aim for *_, aim in FIGURES.values()) + " |")
    return "\n".join(lines)


def main(words):
    if len(words) != 1:
        print("usage: ocaml_speed.py DIR", file=sys.stderr)
        return 2
    print(table(medians((Path(words[0]) / "runs.jsonl").read_text().splitlines())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
