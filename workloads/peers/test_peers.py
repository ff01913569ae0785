"""Tests what the experiment files in this folder rely on: `python3 -m unittest discover
workloads/peers` from the root."""

import json
import os
import re
import struct
import subprocess
import unittest
from pathlib import Path

import ocaml_counts
import ocaml_events
import oracle
import pages

HERE = Path(__file__).parent
# Without the one that measures readers of heap files.
WORKLOADS = sorted(file for file in HERE.glob("*.toml") if file.name != "heap.toml")
GCLAB = Path(os.environ.get("GCLAB", HERE.parents[1] / "target/release/gclab"))

# A program's answer: the workload, its arguments, the checksum.
PROGRAM = re.compile(r'workload = \{ name = "(\w+)", args = \[([^]]*)\] \}\ncommand  = \[([^]]*)\]\nexpect   = \{ pattern = \'\^(\w+) checksum=\((\d+)\)')


def programs(file):
    """For each program: workload, arguments, command, checksum, and other lines."""
    for table in file.read_text().split("[[program]]")[1:]:
        workload, args, command, printed, checksum = PROGRAM.search(table).groups()
        assert printed == workload
        yield workload, numbers(args), command, int(checksum), table


def numbers(text):
    return [int(word.replace("_", "")) for word in text.split(",")]


def quick(workload, args):
    """Whether the oracle is fast: formulas, or few random numbers."""
    draws = {"long_list": args[0], "mut_array": args[-1], "hash_churn": args[-1], "ocaml_gc": 8 * args[-1], "hash_cons": 4 * args[-1], "server": 500 * args[:2][-1]}
    return draws.get(workload, 0) <= 1_000_000


class Files(unittest.TestCase):
    def test_checksums_are_the_oracles(self):
        seen = 0
        for file in WORKLOADS:
            for workload, args, _, checksum, _ in programs(file):
                if quick(workload, args):
                    self.assertEqual(oracle.checksum(workload, args), checksum, f"{file.name}: {workload}")
                    seen += 1
        self.assertGreater(seen, 20)

    def test_a_program_does_the_work_that_it_names(self):
        for file in WORKLOADS:
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
        text = (HERE / "server_latency.toml").read_text()
        heap = 3 * oracle.live("server", [2, 300_000, 1_000_000, 110_000])
        limits = re.findall(r'(?:M|Xms|Xmx) += "(\d+)m"|FixedHeapSize:(\d+)', text)
        self.assertEqual({int(bytes or int(mib) << 20) >> 20 for mib, bytes in limits}, {heap >> 20})

    def test_live_bytes_follow_from_the_arguments(self):
        self.assertEqual(oracle.live("binary_trees", [18]), (2**20 - 1) * 24)
        self.assertEqual(oracle.live("gcbench", [18, 16, 500_000]), (2**19 - 1) * 40)
        self.assertEqual(oracle.live("hash_churn", [2**18, 2**20, 1]), 2**19 * (32 + 51) + 2**18 * 8)
        self.assertEqual(oracle.live("message_window", [200_000, 1, 1024]), 200_000 * (48 + 1032))


class Server(unittest.TestCase):
    def test_peers_answer_as_the_oracle_and_print_what_the_experiment_reads(self):
        args, root = [3, 1000, 50, 20_000], HERE.parents[1]
        printed = f"server checksum={oracle.checksum('server', args)}\n"
        tables = {re.search(r'name     = "(.*)"', table)[1]: (command, table) for _, _, command, _, table in programs(HERE / "server_latency.toml")}
        path = {name: root / re.search(r"target/peers/[^\"]*", of[0])[0] for name, of in tables.items()}
        built = {name: of for name, of in tables.items() if path[name].is_file() or any(path[name].glob("*.class"))}
        if not built:
            self.skipTest("no peer is built")
        for command, table in built.values():
            words = [word.strip(' "') for word in command.split(",")]
            stats = re.search(r"^stats    = (.*)$", table, re.MULTILINE)[1]
            patterns = dict(re.findall(r"(\w+) = (?:\{ pattern = )?'([^']*)'", stats))
            env = os.environ | dict(re.findall(r'(MMTK_\w+) = "?([\w:]+)', table))
            run = [*words[: words.index("server") + 1], *map(str, args)]
            done = subprocess.run(run, cwd=root, env=env, capture_output=True, text=True)
            self.assertEqual(done.stdout, printed, done.stderr)
            figures = {name: int(found[1]) for name, pattern in patterns.items() if (found := re.search(pattern, done.stderr))}
            # 10,000 requests would be needed for another nine.
            self.assertEqual(patterns.keys() - figures.keys(), {"latency_p99_99_ns"}, done.stderr)
            in_order = [figures[f"latency_{name}_ns"] for name in ("p50", "p90", "p99", "p99_9", "max")]
            self.assertEqual(in_order, sorted(in_order))
            self.assertEqual(figures["latency_requests"], 1000)
            # The first is due after 20 ms, and the last 50 ms later.
            self.assertLess(figures["requests_per_second"], 1000 / 0.069)


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


class Counts(unittest.TestCase):
    def setUp(self):
        near = {
            "minor_words": 1_000_000,
            "minor_collections": 1000,
            "promoted_words": 100_000,
            "major_collections": 10,
            "top_heap_words": 1000,
        }
        self.rows = [(("binary_trees", "32k", 80, 2), near, dict(near))]

    def test_each_count_of_ours_that_changed_is_named(self):
        before, ours = ocaml_counts.as_csv(self.rows), self.rows[0][1]
        changed = lambda: ocaml_counts.changed(before, ocaml_counts.as_csv(self.rows))
        self.assertEqual(changed(), ([], 0))
        for count, (head, *_) in ocaml_counts.AIMS.items():
            ours[count] += 1
            now = f"{ours[count]}, and were {ours[count] - 1}"
            self.assertEqual(changed(), ([f"binary_trees 32k 80 2: gclab's {head} are {now}"], 0))
            ours[count] -= 1

    def test_counts_of_ocaml_may_differ_on_another_machine(self):
        before, theirs = ocaml_counts.as_csv(self.rows), self.rows[0][2]
        theirs["major_collections"] = 11
        self.assertEqual(ocaml_counts.changed(before, ocaml_counts.as_csv(self.rows)), ([], 1))

    def test_both_files_have_the_same_settings(self):
        one = ocaml_counts.as_csv(self.rows)
        two = ocaml_counts.as_csv(self.rows + [(("long_list", "32k", 80, 2), *self.rows[0][1:])])
        self.assertEqual(ocaml_counts.changed(two, one), (["long_list 32k 80 2: the setting no longer exists"], 0))
        self.assertEqual(len(ocaml_counts.changed(one, two)[0]), len(ocaml_counts.AIMS))

    def test_the_counts_of_gclab_are_its_figures(self):
        near = self.rows[0][1]
        run = {"stats": {"figures": near | {"compactions": 3}}}
        self.assertEqual(ocaml_counts.of_gclab(run), near)

    def test_the_first_minor_collection_of_ocaml_does_not_count(self):
        near = self.rows[0][1]
        figures = {count: str(number) for count, number in near.items()}
        self.assertEqual(ocaml_counts.of_ocaml({"figures": figures}), near | {"minor_collections": 999})

    def test_both_sides_have_the_same_settings(self):
        file = (HERE / "ocaml.toml").read_text()
        swept = [re.search(rf"ocaml\.{letter} = (.*)", file)[1] for letter in "soa"]
        both = "s = {}, o = {}, a = {} }}".format(*swept)
        self.assertEqual(file.count(both), len(list(programs(HERE / "ocaml.toml"))))


class Events(unittest.TestCase):
    """A log as OCaml's runtime writes it, with phases 24 (minor), 8 (slice), 25 (roots) and 3 (`Gc.stat`)."""

    def log(self, *records):
        data = ocaml_events.HEADER.pack(ocaml_events.MAGIC, ocaml_events.VERSION, 0)
        for time, kind, value in records:
            payload = value.to_bytes(ocaml_events.PAYLOAD[kind], "little")
            data += struct.pack("<QII", time, 77, kind) + payload
        return data

    def pauses(self, *records):
        return ocaml_events.pauses(ocaml_events.events(self.log(*records)))

    def test_phases_without_a_gap_are_one_pause(self):
        minor = [(1000, 0, 24), (1500, 0, 25), (2000, 1, 25), (3000, 2, 7), (5000, 1, 24)]
        near, far = [(6000, 0, 8), (9000, 1, 8)], [(60_000, 0, 8), (63_000, 1, 8)]
        self.assertEqual(self.pauses(*minor, *near), [(7000, True)])
        self.assertEqual(self.pauses(*minor, *far), [(4000, False), (3000, True)])

    def test_writing_out_and_counting_are_no_pause(self):
        self.assertEqual(self.pauses((1000, 0, 24), (2000, 4, 700), (5000, 1, 24)), [(3300, False)])
        self.assertEqual(self.pauses((1000, 4, 700), (2000, 0, 24), (5000, 1, 24)), [(3000, False)])
        self.assertEqual(self.pauses((1000, 0, 3), (5000, 1, 3)), [])

    def test_figures_are_of_all_pauses(self):
        found = [(1_000_000 * n, n == 7) for n in range(1, 11)]
        lines = dict(line.split(": ") for line in ocaml_events.figures(found))
        self.assertEqual(lines["gc_seconds"], "0.055000")
        self.assertEqual((lines["pauses"], lines["slices"]), ("10", "1"))
        self.assertEqual((lines["longest_pause_ms"], lines["longest_slice_ms"]), ("10.000000", "7.000000"))
        self.assertEqual((lines["p50_ms"], lines["p90_ms"]), ("5.000000", "9.000000"))
        self.assertNotIn("p99_ms", lines)

    def test_bytes_that_are_no_log_are_refused(self):
        whole = self.log((1000, 0, 24), (5000, 1, 24))
        for bytes_, reason in ((b"", "begin"), (b"x" * 50, "begin"), (whole[:-1], "ends within"), (self.log((1000, 1, 24)), "had not begun")):
            with self.assertRaisesRegex(ocaml_events.Malformed, reason):
                ocaml_events.pauses(ocaml_events.events(bytes_))


if __name__ == "__main__":
    unittest.main()
