"""Tests of what the experiment files of this folder rest on: `python3 -m unittest discover
workloads/peers` from the root."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

import oracle
import pages

HERE = Path(__file__).parent
GCLAB = Path(os.environ.get("GCLAB", HERE.parents[1] / "target/release/gclab"))

# An answer of a program: the workload, its arguments, the checksum.
PROGRAM = re.compile(r'workload = \{ name = "(\w+)", args = \[([^]]*)\] \}\ncommand  = \[([^]]*)\]\nexpect   = \{ pattern = \'\^(\w+) checksum=\((\d+)\)')


def programs(file):
    """Of each program: the workload, its arguments, its command, the checksum, and its other lines."""
    for table in file.read_text().split("[[program]]")[1:]:
        workload, args, command, printed, checksum = PROGRAM.search(table).groups()
        assert printed == workload
        yield workload, numbers(args), command, int(checksum), table


def numbers(text):
    return [int(word.replace("_", "")) for word in text.split(",")]


def quick(workload, args):
    """Whether the oracle takes but a moment: formulas, or few draws."""
    draws = {"long_list": args[0], "mut_array": args[-1], "hash_churn": args[-1]}
    return draws.get(workload, 0) <= 1_000_000


class Files(unittest.TestCase):
    def test_checksums_are_the_oracles(self):
        seen = 0
        for file in sorted(HERE.glob("*.toml")):
            for workload, args, _, checksum, _ in programs(file):
                if quick(workload, args):
                    self.assertEqual(oracle.checksum(workload, args), checksum, f"{file.name}: {workload}")
                    seen += 1
        self.assertGreater(seen, 20)

    def test_a_program_does_the_work_that_it_names(self):
        for file in sorted(HERE.glob("*.toml")):
            works = re.findall(r'^    \{ name = "(\w+)", args = \[([^]]*)\] \},$', file.read_text(), re.MULTILINE)
            works = [(name, numbers(args)) for name, args in works]
            for workload, args, command, _, _ in programs(file):
                self.assertIn((workload, args), works, file.name)
                plain = re.sub(r"(?<=\d)_(?=\d)|[\",]", "", command)
                self.assertIn(" ".join([workload, *map(str, args)]), plain, file.name)

    def test_heaps_are_three_times_what_is_live(self):
        text = (HERE / "mmtk.toml").read_text()
        limits = dict(re.findall(r'workload = \["(\w+)"\]\nM        = \["(\d+)k"\]', text))
        for workload, args, _, _, table in programs(HERE / "mmtk.toml"):
            heap = 3 * oracle.live(workload, args)
            self.assertIn(f'"FixedHeapSize:{heap}"', table)
            self.assertEqual(int(limits[workload]), heap >> 10)
        java = [program for program in programs(HERE / "languages.toml") if 'runtime  = "jvm"' in program[4]]
        self.assertEqual(len(java), 6)
        for workload, args, _, _, table in java:
            self.assertIn(f'Xmx = "{3 * oracle.live(workload, args) >> 20}m"', table)

    def test_live_bytes_follow_from_the_arguments(self):
        self.assertEqual(oracle.live("binary_trees", [18]), (2**20 - 1) * 24)
        self.assertEqual(oracle.live("gcbench", [18, 16, 500_000]), (2**19 - 1) * 40)
        self.assertEqual(oracle.live("hash_churn", [2**18, 2**20, 1]), 2**19 * (32 + 51) + 2**18 * 8)
        self.assertEqual(oracle.live("message_window", [200_000, 1, 1024]), 200_000 * (48 + 1032))


@unittest.skipUnless(GCLAB.exists(), f"{GCLAB} is not built")
class Workloads(unittest.TestCase):
    def test_checksums_of_gclab_are_the_oracles(self):
        listed = subprocess.run([GCLAB, "list", "workloads", "--json"], capture_output=True, check=True).stdout
        seen = 0
        for workload in json.loads(listed):
            name = workload["name"]
            if not hasattr(oracle, name) or workload["test_checksum"] is None:
                continue
            args = list(map(int, workload["test"]))
            self.assertEqual(oracle.checksum(name, args), workload["test_checksum"], name)
            seen += 1
        self.assertGreaterEqual(seen, 7)


class Pages(unittest.TestCase):
    def test_faults_show_whether_memory_was_of_huge_pages(self):
        # A heap of 640 MiB has 163,840 small pages.
        self.assertTrue(pages.is_warm(2898, 640 << 20))
        self.assertFalse(pages.is_warm(96400, 640 << 20))
        self.assertTrue(pages.is_warm(470, 34 << 20))
        self.assertFalse(pages.is_warm(7600, 34 << 20))

    def test_small_pages_are_touched_one_by_one(self):
        self.assertGreaterEqual(pages.touch(4, "small"), 1024)

    def test_runs_that_were_not_warm_are_found(self):
        run = {"id": "a", "settings": {"env.PAGES": "warm"}, "outcome": {"status": "ok"}, "minor_page_faults": 96400, "max_rss_bytes": 640 << 20}
        others = [
            run | {"id": "b", "minor_page_faults": 2898},
            run | {"id": "c", "settings": {"env.PAGES": "cold"}},
            run | {"id": "d", "runtime": "ghc"},
            run | {"id": "e", "outcome": {"status": "timeout"}},
        ]
        self.assertEqual([found["id"] for found in pages.not_warm(map(json.dumps, [run, *others]))], ["a"])

    def test_a_wrong_state_is_refused(self):
        done = subprocess.run([HERE / "pages.py"], env={**os.environ, "PAGES": "hot"}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("PAGES is one of cold, warm", done.stderr)


if __name__ == "__main__":
    unittest.main()
