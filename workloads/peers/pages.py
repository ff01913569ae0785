#!/usr/bin/env python3
"""Brings free memory into a known state of huge pages before a run: `pages.py [MEGABYTES]`.

Some virtual machines return free memory to their host, and the first process that touches it again
pays for that in system time. So a separate process writes to as much memory as the largest run
needs, and frees it. The variable PAGES names the state:

  cold  small pages are touched: the huge pages that a run asks for are mostly new to the host
  warm  small pages are touched, then huge pages

`pages.py --check DIR` looks at the gclab runs in a results folder. It lists the ones with PAGES=warm
whose page faults reveal small pages, and ends with status 1 if there are any.
"""

import json
import mmap
import os
import resource
import sys
from pathlib import Path

# The pages to touch, by the state that this leads to.
STATES = {"cold": ("small",), "warm": ("small", "huge")}

# Attempts until huge pages are warm.
TRIES = 4

# Memory in huge pages takes at most this share of the faults of small pages, plus this number of
# faults for the program file, libraries and stacks.
WARM_SHARE, WARM_FAULTS = 1 / 8, 2000

PAGE = 4096


def is_warm(faults, size):
    """Whether so few faults for memory of this size, in bytes, show that its pages were huge."""
    return faults <= WARM_SHARE * size / PAGE + WARM_FAULTS


def touch(megabytes, pages):
    """Writes to memory of small or of huge pages, and frees it. Returns the number of faults.

    The mapping is private: memory that processes share never gets huge pages.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    size = megabytes << 20
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE if pages == "huge" else mmap.MADV_NOHUGEPAGE)
        for page in range(0, size, PAGE):
            memory[page] = 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def prepare(megabytes, state):
    """Brings about the state. Returns a message if no huge pages are to be had."""
    for _ in range(TRIES):
        faults = [touch(megabytes, pages) for pages in STATES[state]][-1]
        if state != "warm" or is_warm(faults, megabytes << 20):
            return None
    return f"{megabytes} MB took {faults} page faults in each of {TRIES} attempts: the machine gives no huge pages"


def not_warm(lines):
    """The gclab runs with PAGES=warm in the lines of a `runs.jsonl` that had small pages. Other
    runtimes do not ask for huge pages, so their faults do not reveal the state."""
    for line in lines:
        run = json.loads(line)
        warm = run.get("settings", {}).get("env.PAGES") == "warm"
        if warm and "runtime" not in run and run.get("outcome") == {"status": "ok"}:
            if not is_warm(run["minor_page_faults"], run["max_rss_bytes"]):
                yield run


def check(folder):
    """Lists the runs that were not warm."""
    found = list(not_warm((folder / "runs.jsonl").read_text().splitlines()))
    for run in found:
        print(f"{run['id']}: {run['minor_page_faults']} page faults: its huge pages were not warm")
    return 1 if found else 0


def main(words):
    if words[:1] == ["--check"] and len(words) == 2:
        return check(Path(words[1]))
    state = os.environ.get("PAGES", "cold")
    if state not in STATES or len(words) > 1 or not all(word.isdecimal() for word in words):
        print(f"pages.py: PAGES={state}, arguments {words}: PAGES is one of {', '.join(STATES)}, the argument is a number of megabytes", file=sys.stderr)
        return 2
    message = prepare(int(words[0]) if words else 1200, state)
    if message:
        print(f"pages.py: {message}", file=sys.stderr)
    return 1 if message else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
