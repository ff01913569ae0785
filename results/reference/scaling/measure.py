#!/usr/bin/env python3
"""Measures the gain of a second GC thread, by interleaved runs of `gclab exec`.

Prints the tables of two-threads-collections.csv and two-threads-runs.csv.

    results/reference/scaling/measure.py [--gclab target/release/gclab] [--rounds 5] [--json FILE]

Each round runs every workload under each setting once, each run a process of its own; figures are
medians over the rounds. `-qb1` is GHC's default, -qb=auto ours. The first table is of collections that copy 4 MB or more (of some workloads
only of the major ones), the second of whole runs. While a process runs, the script holds a lock on
`gclab-measure.lock` in the system's temporary folder, so that measurements which take the lock do
not overlap.
"""

import argparse
import fcntl
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

SETTINGS = {
    "copying": ["copying"],
    "one thread": ["parallel", "-qn1"],
    "two": ["parallel", "-qn2"],
    "two, -qb1": ["parallel", "-qn2", "-qb1"],
}
# Whether only major collections count. All run at their default sizes, but for `REPEATED`.
WORKLOADS = {
    "binary_trees": True,
    "gcbench": True,
    "hash_churn": False,
    "message_window": False,
    "heap_snapshot": False,
    "mut_array": False,
    "long_list": False,
    "word_index": False,
}
# Factors of last arguments, where the default is too few: heap_snapshot has 7 large collections at
# its default number of rounds, and 13 at twice that.
REPEATED = {"heap_snapshot": 2}
LARGE = 4 << 20
ROOT = Path(__file__).resolve().parents[2]


def sizes(gclab):
    """The arguments of each workload: its defaults, as `gclab list` prints them."""
    listed = json.loads(subprocess.run([gclab, "list", "workloads", "--json"], capture_output=True, check=True).stdout)
    arguments = {workload["name"]: workload["arguments"] for workload in listed}

    def args(workload):
        if workload not in REPEATED:
            return []
        *first, last = arguments[workload]
        return ["-" for _ in first] + [str(REPEATED[workload] * int(last["default"]))]

    return {workload: args(workload) for workload in WORKLOADS}


def run(gclab, workload, args, setting, lock):
    collector, *flags = SETTINGS[setting]
    major = WORKLOADS[workload]
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record"
        command = [gclab, "exec", workload, *args, "--collector", collector, "--record", record, "+RTS", *flags]
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)
        stats = json.loads(record.read_text())["stats"]
    large = [c for c in stats["collections"] if c["copied_bytes"] >= LARGE and (c["major"] or not major)]
    return {
        "large": len(large),
        "shared": sum(c["threads"] > 1 for c in large),
        "wall": sum(c["elapsed_ns"] for c in large) / 1e6,
        "cpu": sum(c["cpu_ns"] for c in large) / 1e6,
        "gc": stats["gc_elapsed_seconds"] * 1e3,
        "total": stats["total_elapsed_seconds"] * 1e3,
        "total_cpu": stats["total_cpu_seconds"] * 1e3,
        "peak": stats["peak_in_use_bytes"] / 1e6,
        "balance": stats.get("work_balance") or 0.0,
    }


def median(runs, workload, setting, key):
    return statistics.median(run[key] for run in runs[workload][setting])


def ratio(runs, workload, setting, base, key):
    """The ratio of medians, with the least and the greatest ratio of one round."""
    pairs = list(zip(runs[workload][setting], runs[workload][base]))
    each = [a[key] / b[key] for a, b in pairs if b[key]]
    below = median(runs, workload, base, key)
    if not each or not below:
        return "-"
    middle = median(runs, workload, setting, key) / below
    return f"{middle:.2f} ({min(each):.2f}–{max(each):.2f})"


def tables(runs):
    yield "| workload | large collections | one thread, ms | two threads, time | CPU time | `-qb1`, time | CPU time | balance |"
    yield "|---|---|---|---|---|---|---|---|"
    for workload in runs:
        wall = lambda setting, key: ratio(runs, workload, setting, "one thread", key)
        name = workload + (", major" if WORKLOADS[workload] else "")
        yield (
            f"| {name} | {median(runs, workload, 'two', 'large'):.0f} | {median(runs, workload, 'one thread', 'wall'):.1f} "
            f"| {wall('two', 'wall')} | {wall('two', 'cpu')} | {wall('two, -qb1', 'wall')} | {wall('two, -qb1', 'cpu')} "
            f"| {100 * median(runs, workload, 'two', 'balance'):.0f} % |"
        )
    yield ""
    yield "| workload | `copying`, ms | one thread | two threads | two, `-qb1` | collections, two over one | the same, `-qb1` | CPU time, two | peak memory, two |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for workload in runs:
        of = lambda setting, key: ratio(runs, workload, setting, "copying", key)
        yield (
            f"| {workload} | {median(runs, workload, 'copying', 'total'):.0f} | {of('one thread', 'total')} | {of('two', 'total')} "
            f"| {of('two, -qb1', 'total')} | {ratio(runs, workload, 'two', 'one thread', 'gc')} "
            f"| {ratio(runs, workload, 'two, -qb1', 'one thread', 'gc')} | {of('two', 'total_cpu')} | {of('two', 'peak')} |"
        )


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gclab", default=ROOT / "target/release/gclab")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", type=Path)
    options.add_argument("--no-lock", action="store_true", help="do not take the lock: the caller holds it")
    options = options.parse_args()
    args = sizes(options.gclab)
    runs = {workload: {setting: [] for setting in SETTINGS} for workload in WORKLOADS}
    path = os.devnull if options.no_lock else Path(tempfile.gettempdir()) / "gclab-measure.lock"
    with open(path, "w") as lock:
        for _ in range(options.rounds):
            for workload, settings in runs.items():
                for setting, results in settings.items():
                    results.append(run(options.gclab, workload, args[workload], setting, lock))
    if options.json:
        options.json.write_text(json.dumps(runs))
    print("\n".join(tables(runs)))


if __name__ == "__main__":
    main()
