"""The programs that are compared: their sizes, checksums, commands, and the figures they print.

A *contestant* is a program with its settings. One run of it yields a row of figures: seconds,
bytes, and `None` for a figure that it does not print. CPU time and resident memory are the system's
own account of the process; the other figures are printed by the program.
"""

import fcntl
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "target" / "peers"
GCLAB = ROOT / "target" / "release" / "gclab"

# The workloads that the peers have, too: one thread, and threads of their own. The first argument of
# the latter is their number.
SEQUENTIAL = ("binary_trees", "gcbench", "long_list", "mut_array", "hash_churn", "message_window")
THREADED = ("par_trees",)

# Heaps of 1.5 GB and of 0.4 GB: arguments and checksum. A workload's description has no such sizes,
# since nothing but the comparison with GHC needs them.
LARGE = {
    "long_list": ("64000000 10000000", 11969015178792322075),
    "binary_trees": ("22", 1361750702),
}

# The same for heaps of a quarter of the size.
QUARTER = {
    "binary_trees": ("16", 14985902),
    "gcbench": ("16 14 125000", 117667),
    "long_list": ("1000000 6000000", 988552825409897837),
    "mut_array": ("250000 20000000", 11938520195137529938),
    "hash_churn": ("65536 262144 10000000", 17185656203),
    "message_window": ("50000 1000000 1024", 48756345776),
}


@functools.cache
def descriptions():
    """The descriptions of all workloads, by name, as `gclab list` prints them."""
    if not GCLAB.exists():
        sys.exit(f"{GCLAB} is not there, so the sizes of workloads are not known: cargo build --release")
    listed = subprocess.run([GCLAB, "list", "workloads", "--json"], capture_output=True, text=True, check=True).stdout
    return {workload["name"]: workload for workload in json.loads(listed)}


def sizes(names):
    """Arguments and checksum of workloads at full size, and at a size for tests."""

    def both(workload):
        full = " ".join(argument["default"] for argument in workload["arguments"])
        return (full, workload["checksum"]), at_test_size(workload["name"])

    return {name: both(descriptions()[name]) for name in names}


def own_sizes(full):
    """The same for arguments and checksums of another full size."""
    return {name: (size, at_test_size(name)) for name, size in full.items()}


def at_test_size(name):
    workload = descriptions()[name]
    return " ".join(workload["test"]), workload["test_checksum"]


# The most bytes live, from the arguments: objects x their size with a header of one word. gcbench:
# its first tree. hash_churn: half of the keys are present, each an entry of four words and 39.5 bytes
# in the mean; and the table.
LIVE = {
    "binary_trees": lambda depth: (2 ** (depth + 2) - 1) * 24,
    "gcbench": lambda first, depth, array: (2 ** (first + 1) - 1) * 40,
    "long_list": lambda cells, short: cells * 24,
    "mut_array": lambda slots, stores: slots * (8 + 16),
    "hash_churn": lambda buckets, keys, updates: keys // 2 * (32 + 51) + buckets * 8,
    "message_window": lambda window, messages, size: window * (48 + 8 + size),
}


def live(name):
    """The most bytes live at full size."""
    (args, _), _ = sizes([name])[name]
    return LIVE[name](*map(int, args.split()))


# The figures of a row, in the order of the tables.
FIGURES = ("user", "system", "cpu", "gc", "mutator", "heap", "resident", "faults", "pause", "copied", "wall", "gc_wall")


@dataclass(frozen=True)
class Contestant:
    """A program with its settings, ready to be run on one workload."""

    name: str
    command: list
    environment: dict = field(default_factory=dict)
    # A function from standard error to figures.
    says: object = staticmethod(lambda stderr: {})


class Failed(Exception):
    """A run that did not end with the right checksum."""


def runtime_figures(stderr):
    """Figures from GHC's `-t --machine-readable`, which gclab prints as well."""
    pairs = dict(re.findall(r'\("([^"]+)"\s*,\s*"([^"]*)"\)', stderr))
    pauses = [float(value) for key, value in pairs.items() if re.fullmatch(r"gen_\d+_max_pause_seconds", key)]
    return {
        "gc": float(pairs["GC_cpu_seconds"]),
        "mutator": float(pairs["mut_cpu_seconds"]),
        "heap": float(pairs["max_mem_in_use_bytes"]),
        "pause": max(pauses),
        "copied": float(pairs["copied_bytes"]),
        "wall": float(pairs["total_wall_seconds"]),
        "gc_wall": float(pairs["GC_wall_seconds"]),
    }


def mmtk_figures(stderr):
    """Figures from the line that the binding prints under GCSTAT. CPU time outside the GC threads
    is the mutator's."""
    pairs = dict(re.findall(r"(\w+)=([\d.]+)", stderr[stderr.index("GCSTAT") :]))
    gc = float(pairs["gc_cpu"])
    return {
        "gc": gc,
        "mutator": float(pairs["user"]) + float(pairs["sys"]) - gc,
        "pause": float(pairs["max_ms"]) / 1e3,
    }


def ocaml_figures(stderr):
    """Figures from the output of OCAMLRUNPARAM=v=0x400, in words of 8 bytes."""
    return {"heap": 8 * float(re.search(r"top_heap_words: (\d+)", stderr).group(1))}


def java_figures(stderr):
    """Figures from the lines of -Xlog:gc: the world is stopped in its pauses only, by one thread."""
    pauses = [float(ms) / 1e3 for ms in re.findall(r"Pause .* ([\d.]+)ms$", stderr, re.MULTILINE)]
    return {"pause": max(pauses, default=None), "gc_wall": sum(pauses)}


def gclab(workload, args, flags, collector=None, name="gclab"):
    chosen = ["--collector", collector] if collector else []
    command = [str(GCLAB), "exec", workload, *args.split(), *chosen]
    return Contestant(name, [*command, *rts(flags)], says=runtime_figures)


def ghc(workload, args, flags, name="GHC"):
    return Contestant(name, [str(BUILT / "ghc/peers"), workload, *args.split(), *rts(flags)], says=runtime_figures)


def rts(flags):
    return ["+RTS", *flags.split(), "-t", "--machine-readable", "-RTS"]


def mmtk(workload, args, plan, heap):
    environment = {
        "MMTK_PLAN": plan,
        "MMTK_THREADS": "1",
        "MMTK_GC_TRIGGER": f"FixedHeapSize:{heap}",
        "GCSTAT": "1",
    }
    program = str(BUILT / "mmtk/release/mmtk-peer")
    says = lambda stderr: mmtk_figures(stderr) | {"heap": float(heap)}
    return Contestant(f"MMTk {plan}", [program, workload, *args.split()], environment, says)


def ocaml(workload, args):
    # A minor heap of 512 k words is 4 MiB.
    return Contestant(
        "OCaml", [str(BUILT / "ocaml/peers"), workload, *args.split()], {"OCAMLRUNPARAM": "s=512k,v=0x400"}, ocaml_figures
    )


def java(workload, args, heap):
    sizes = ["-Xss512m", f"-Xmx{max(heap >> 20, 16)}m"]
    command = ["java", "-XX:+UseSerialGC", "-Xlog:disable", "-Xlog:gc:stderr", *sizes, "-cp", str(BUILT / "java"), "Peers"]
    return Contestant("Java (serial)", [*command, workload, *args.split()], says=java_figures)


def is_built(peer):
    """Whether a peer can be run."""
    program = {"ghc": "ghc/peers", "mmtk": "mmtk/release/mmtk-peer", "ocaml": "ocaml/peers", "java": "java/Peers.class"}
    return (BUILT / program[peer]).exists()


# Touches memory as pages of one size, in a private mapping: memory that is shared between processes
# never gets huge pages.
TOUCH = """
import mmap, sys
size = int(sys.argv[1]) << 20
memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE if sys.argv[2] == "huge" else mmap.MADV_NOHUGEPAGE)
for page in range(0, size, mmap.PAGESIZE):
    memory[page] = 1
"""

# The pages that are touched before a run, by the state of huge pages that this leads to.
STATES = {"cold": ("small",), "warm": ("small", "huge")}

# A warm run has at most this share of the page faults that it would have with small pages alone, and
# this number of faults in addition: of the program file, libraries and stacks.
WARM_SHARE, WARM_FAULTS = 1 / 8, 2000

PAGE = 4096


def touch(megabytes, state):
    """Writes to memory and frees it. Some virtual machines return free memory to their host, and
    the first process to touch it again pays for that in system time, for small and for huge pages.
    Runs in a process of its own: the system counts the peak memory of this process for its
    children, too."""
    for pages in STATES[state]:
        subprocess.run([sys.executable, "-c", TOUCH, str(megabytes), pages], check=True)


def is_warm(row):
    """Whether the faults of a run of gclab show that its heap was of huge pages."""
    return row["faults"] <= WARM_SHARE * row["resident"] / PAGE + WARM_FAULTS


def run(contestant, checksum, locked, megabytes, state="cold"):
    """Runs a contestant once and returns its row. If `locked`, holds the lock during the run."""
    with open(Path(tempfile.gettempdir()) / "gclab-measure.lock", "a") as lock:
        if locked:
            fcntl.flock(lock, fcntl.LOCK_EX)
        touch(megabytes, state)
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            environment = os.environ | contestant.environment
            child = subprocess.Popen(contestant.command, stdout=out, stderr=err, env=environment)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            stdout, stderr = out.read(), err.read()
    if child.returncode != 0 or not stdout.strip().endswith(f"checksum={checksum}"):
        command = " ".join([f"{key}={value}" for key, value in contestant.environment.items()] + contestant.command)
        raise Failed(
            f"{command}\n  ended with {child.returncode}, expected 0 and checksum={checksum}\n"
            f"  stdout: {stdout.strip()[-200:]}\n  stderr: {stderr.strip()[-300:]}"
        )
    row = dict.fromkeys(FIGURES)
    row.update(user=usage.ru_utime, system=usage.ru_stime, cpu=usage.ru_utime + usage.ru_stime)
    row.update(resident=usage.ru_maxrss * 1024, faults=usage.ru_minflt)
    row.update(contestant.says(stderr))
    return row
