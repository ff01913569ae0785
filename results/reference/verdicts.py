#!/usr/bin/env python3
"""How often is a verdict of `gclab compare` right? Compares a loop of known length with itself and with longer ones,
twenty times each, and prints the verdicts, and how often an interval contains the truth, as CSV.
Takes about six minutes on two quiet cores.

    results/reference/verdicts.py [GCLAB]
"""

import csv
import itertools
import json
import os
import subprocess
import sys
import tempfile

GCLAB = sys.argv[1] if len(sys.argv) > 1 else "gclab"
PAIRS = 20
RUNS = 15
STEPS = 2_000_000
SLOWER = [0, 2, 5]
HISTORY = 6

scratch = tempfile.TemporaryDirectory()
numbers = itertools.count()


def measure(**percents):
    """A results folder with a program for each name, slower by that many percent."""
    file = os.path.join(scratch.name, "loops.toml")
    with open(file, "w") as out:
        out.write(f"repeat = {RUNS}\n")
        for name, percent in percents.items():
            # The command is the same for each build of a program.
            program = os.path.join(scratch.name, name)
            steps = STEPS * (100 + percent) // 100
            with open(program, "w") as script:
                script.write(f"#!/bin/sh\nexec awk 'BEGIN {{ for (i = 0; i < {steps}; i++) x += i % 7; print x }}'\n")
            os.chmod(program, 0o755)
            out.write(f'[[program]]\nname = "{name}"\ncommand = ["{program}"]\n')
    folder = os.path.join(scratch.name, f"folder-{next(numbers)}")
    subprocess.run([GCLAB, "run", file, "--out", folder], check=True, capture_output=True)
    return folder


def compare(*words):
    done = subprocess.run([GCLAB, "compare", *words, "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    (one,) = json.loads(done.stdout)["configurations"]
    return one["figures"]


def row(kind, percent, comparisons):
    """A row for each metric of some comparisons."""
    truth = 1 + percent / 100
    for figure in ["total_elapsed_seconds", "total_cpu_seconds"]:
        found = [one for figures in comparisons for one in figures if one["figure"] == figure]
        inside = sum(one["low"] <= truth <= one["high"] for one in found)
        width = sorted(one["high"] / one["low"] - 1 for one in found)[len(found) // 2]
        verdicts = [one["verdict"] for one in found]
        counts = [verdicts.count(verdict) for verdict in ["worse", "better", "same", "disturbed"]]
        yield [kind, percent, figure, len(found), inside, f"{100 * width:.1f}", *counts, len(found) - sum(counts)]


def interleaved(percent):
    folder = measure(base=0, new=percent)
    return compare(folder, "--collector", "new", "--against", "base")


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("kind,percent slower,figure,pairs,truth inside,interval %,worse,better,same,disturbed,open".split(","))
    for percent in SLOWER:
        out.writerows(row("interleaved", percent, [interleaved(percent) for _ in range(PAIRS)]))
    past = [measure(loop=0) for _ in range(HISTORY)]
    for percent in SLOWER:
        pairs = [(measure(loop=0), measure(loop=percent)) for _ in range(PAIRS)]
        out.writerows(row("folders", percent, [compare(*pair) for pair in pairs]))
        out.writerows(row("folders with a history", percent, [compare(*pair, "--history", *past) for pair in pairs]))


main()
