#!/usr/bin/env python3
"""Compares gclab with the same programs in other languages, and prints tables in Markdown.

Builds all programs and runs them interleaved.

Each round of a comparison runs every contestant once, in an order that is shuffled from a seed.
Every run is a process of its own. Before each run, memory is touched (see `touch` in programs.py):
in the *cold* series as small pages, in the *warm* series as huge pages after that.
While a process is timed, the script holds a lock on `gclab-measure.lock` in the system's temporary
folder, so that measurements which take the lock do not overlap. Every checksum is checked. Ends
with status 1 if one of gclab's runs failed.
"""

import argparse
import datetime
import json
import platform
import random
import subprocess
import sys
from pathlib import Path

import programs
import tables

PEERS = ("ghc", "mmtk", "ocaml", "java")
SETTINGS = ("-A4m", "-A1m", "-A64m", "-G1", "-c -A4m")
# An area beside which -A4m is a resonance: with it collections come when nearly whole trees live.
BESIDE = {"binary_trees": "-A4200k"}
# Runs until one is warm: see `is_warm` in programs.py.
TRIES = 4
PLANS = ("GenImmix", "StickyImmix")
# GHC's flags with more than one capability: none, a serial collector, a parallel one for old
# generations only.
PARALLEL = ("", "-qg", "-qg1")
BARRIER = "The write barrier's test"
TWO = "Two threads: GHC -N2"
OTHER_LANGUAGES = "OCaml and Java"
LARGE = "GHC, large heaps"
LARGE_FLAGS = "-A16m"
QUARTER = "GHC, small heaps"
QUARTER_FLAGS = "-A4m"
# An area that no workload fills.
NO_COLLECTION = "-A4g"


def comparisons(peers, settings, size):
    """Yields for each comparison: title, description, workloads, and a function from workload and
    arguments to contestants, ours first."""
    # At the size for tests all heaps are small.
    sequential = programs.sizes(programs.SEQUENTIAL)
    heap = lambda workload: 3 * programs.live(workload) if size == "std" else 32 << 20
    if "ghc" in peers:
        for flags in settings:
            yield (
                f"GHC {flags}",
                f"Both with `+RTS {flags}`.",
                sequential,
                lambda workload, args, flags=flags: [programs.gclab(workload, args, flags), programs.ghc(workload, args, flags)],
            )
        if "-A4m" in settings:
            yield (
                "GHC beside -A4m",
                "As with `-A4m`, with an area that is a little larger: "
                + ", ".join(f"{workload} with `{flags}`" for workload, flags in BESIDE.items()) + ".",
                {workload: sequential[workload] for workload in BESIDE},
                lambda workload, args: [programs.gclab(workload, args, BESIDE[workload]), programs.ghc(workload, args, BESIDE[workload])],
            )
        yield (
            QUARTER,
            f"Both with `+RTS {QUARTER_FLAGS}`. Heaps are a quarter as large as above.",
            programs.own_sizes(programs.QUARTER),
            lambda workload, args: [programs.gclab(workload, args, QUARTER_FLAGS), programs.ghc(workload, args, QUARTER_FLAGS)],
        )
        yield (
            LARGE,
            f"Both with `+RTS {LARGE_FLAGS}`. Lists and trees are sixteen times as large as above.",
            programs.own_sizes(programs.LARGE),
            lambda workload, args: [programs.gclab(workload, args, LARGE_FLAGS), programs.ghc(workload, args, LARGE_FLAGS)],
        )
        for flags in (flags for flags in settings if "-G1" not in flags):
            yield (
                f"{TWO} {flags}",
                f"gclab (`parallel`, or `compacting` with `-c`) and GHC, both with `+RTS -N2 {flags}`; GHC as it is, with `-qg` and with `-qg1`. At its best is with the one that makes its GC elapsed time least. "
                "CPU time is of all threads.",
                {**programs.sizes(programs.THREADED), "gcbench": sequential["gcbench"]},
                lambda workload, args, flags=flags: [
                    programs.gclab(workload, args, f"-N2 {flags}"),
                    *(programs.ghc(workload, args, f"-N2 {flags} {more}", f"GHC {more}".strip()) for more in PARALLEL),
                ],
            )
    if "mmtk" in peers:
        yield (
            "MMTk",
            "MMTk with a heap of three times what is live at most, fixed, and one GC thread; gclab with that as its limit, `-M`. "
            "MMTk's peak heap is what it was given.",
            sequential,
            lambda workload, args: [
                programs.gclab(workload, args, f"{OURS_IN_A_FIXED_HEAP} -M{heap(workload) >> 10}k", "copying"),
                *(programs.mmtk(workload, args, plan, heap(workload)) for plan in PLANS),
            ],
        )
    if "ocaml" in peers or "java" in peers:
        yield (
            OTHER_LANGUAGES,
            "OCaml with a minor heap of 4 MiB, as gclab's `-A4m`; Java with its serial collector in a heap of three times what is live at most. "
            "OCaml tells nothing of its pauses, and Java nothing of its heap.",
            sequential,
            lambda workload, args: [
                programs.gclab(workload, args, "-A4m"),
                *([programs.ocaml(workload, args)] if "ocaml" in peers else []),
                *([programs.java(workload, args, heap(workload))] if "java" in peers else []),
            ],
        )
    yield (
        BARRIER,
        f"`copying`, which has a barrier, and `two-space`, which has none, with `{NO_COLLECTION}`: nothing is collected before the end, so every store is to a "
        "young object, and the difference in user CPU is what the barrier's test costs.",
        sequential,
        lambda workload, args: [
            programs.gclab(workload, args, NO_COLLECTION, "copying", "copying"),
            programs.gclab(workload, args, NO_COLLECTION, "two-space", "two-space"),
        ],
    )


# gclab's flags in the comparison with MMTk, whose heap is the limit.
OURS_IN_A_FIXED_HEAP = "-A4m"


def measure(options, peers):
    """Runs all comparisons; returns the data that tables are made from."""
    order = random.Random(options.seed)
    locked = options.size == "std" and not options.no_lock
    done = []
    wanted = [
        (state, *comparison)
        for comparison in comparisons(peers, options.settings, options.size)
        for state in options.states
        if not options.comparison or any(comparison[0].startswith(title) for title in options.comparison)
    ]
    for state, title, about, workloads, contestants in wanted:
        # Runs without collections take far more memory.
        touched = (options.touch or (1200 if options.size == "std" else 1)) * {BARRIER: 3, LARGE: 4}.get(title, 1)
        comparison = {"title": f"{title}, {state}", "about": about, "ours": None, "workloads": {}, "failures": []}
        for workload in [workload for workload in workloads if workload in options.workloads]:
            args, checksum = workloads[workload][options.size == "test"]
            entrants = contestants(workload, args)
            comparison["ours"] = entrants[0].name
            rows = {entrant.name: [] for entrant in entrants}
            for round_number in range(options.rounds):
                print(f"{title}, {state}: {workload}, round {round_number + 1} of {options.rounds}", file=sys.stderr)
                for entrant in order.sample(entrants, len(entrants)):
                    if rows[entrant.name] is None:
                        continue
                    try:
                        rows[entrant.name].append(run_in(state, entrant, checksum, locked, touched))
                    except programs.Failed as failure:
                        print(f"compare.py: {failure}", file=sys.stderr)
                        comparison["failures"].append({"contestant": entrant.name, "workload": workload})
                        rows[entrant.name] = None
            comparison["workloads"][workload] = {name: runs for name, runs in rows.items() if runs}
        if title == BARRIER:
            comparison["figures"] = ["user"]
        if title == OTHER_LANGUAGES:
            comparison["figures"] = ["cpu", "user", "system", "heap", "resident", "pause", "gc_wall"]
        if title.startswith(TWO):
            comparison["figures"] = ["gc_wall", "gc", "wall", "cpu", "heap", "resident", "pause", "copied"]
            comparison["best"] = {"of": "GHC", "by": "gc_wall"}
        if not comparison["workloads"]:
            continue
        done.append(comparison)
    return {"setting": setting(options, peers), "comparisons": done}


def run_in(state, entrant, checksum, locked, touched):
    """A run in a state of huge pages. Other collectors than ours ask for no huge pages, so their
    faults do not show the state."""
    for _ in range(TRIES):
        row = programs.run(entrant, checksum, locked, touched, state)
        if state != "warm" or not locked or programs.GCLAB != Path(entrant.command[0]) or programs.is_warm(row):
            return row
        print(f"compare.py: {entrant.name}: {row['faults']} minor faults: huge pages were not warm", file=sys.stderr)
    raise programs.Failed(f"{' '.join(entrant.command)}\n  was not warm in {TRIES} runs")


def setting(options, peers):
    """The circumstances of the measurement: versions, machine, number of runs."""
    versions = {
        "rustc": ["rustc", "--version"],
        "ghc": ["ghc", "--version"],
        "ocaml": ["ocamlopt", "-version"],
        "java": ["java", "--version"],
    }
    said = {name: first_line(command) for name, command in versions.items() if name == "rustc" or name in peers}
    return {
        "date": datetime.date.today().isoformat(),
        "gclab": first_line(["git", "-C", str(programs.ROOT), "describe", "--always", "--dirty"]),
        "machine": f"{processor()}, {platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        **{name: version for name, version in said.items() if version},
        "runs of each": f"{options.rounds}, interleaved, seed {options.seed}, size {options.size}",
    }


def first_line(command):
    """The first line that a program prints, or `None`."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()


def build(peers):
    """Builds gclab and the peers; returns the peers that can be run."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "--manifest-path", programs.ROOT / "Cargo.toml"], check=True)
    if peers:
        # The script names missing compilers itself; the other peers can be compared.
        subprocess.run([Path(__file__).with_name("build.sh"), *peers], check=False)
    return [peer for peer in peers if programs.is_built(peer)]


def words(legal):
    """A parser of words separated by commas, each of which must be in `legal`."""

    def parse(text):
        given = text.split(",") if text else []
        unknown = [word for word in given if word not in legal]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(legal)}")
        return given

    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--peers", type=words(PEERS), default=list(PEERS), help=f"names separated by commas, of {','.join(PEERS)}; empty for none (default: all)")
    add("--settings", type=lambda text: text.split(","), default=list(SETTINGS), help="flags for gclab and GHC, separated by commas")
    every = [*programs.SEQUENTIAL, *programs.THREADED]
    add("--workloads", type=words(every), default=every, help="names separated by commas (default: all)")
    add("--comparison", action="append", help="only comparisons whose title begins with this text (may be given more than once)")
    add("--states", type=words(programs.STATES), default=list(programs.STATES), help=f"states of huge pages before each run, of {','.join(programs.STATES)} (default: both)")
    add("--size", choices=("std", "test"), default="std", help="test: runs take a moment and no lock, and their times mean nothing")
    add("--rounds", type=int, default=5, help="runs of each contestant (default: 5)")
    add("--seed", type=int, default=1, help="seed of the order within a round (default: 1)")
    add("--touch", type=int, help="MB of memory to touch before each run (default: 1200, at the size for tests 1)")
    add("--no-lock", action="store_true", help="do not take the lock: the caller holds it")
    add("--json", type=Path, help="also write all runs to this file")
    add("--from", type=Path, dest="source", help="run nothing, make the tables from a file that --json wrote")
    add("--page", type=Path, help="write the tables into this page, between its marks, instead of printing them")
    options = parser.parse_args()
    data = json.loads(options.source.read_text()) if options.source else measure(options, build(options.peers))
    if options.json:
        options.json.write_text(json.dumps(data) + "\n")
    document = tables.document(data)
    if options.page:
        options.page.write_text(tables.replaced(options.page.read_text(), document))
    else:
        print(document, end="")
    others = ("GHC", "MMTk", "OCaml", "Java")
    failed = [failure for comparison in data["comparisons"] for failure in comparison["failures"] if not failure["contestant"].startswith(others)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
