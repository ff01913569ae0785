"""Tests of the comparison: `python3 -m unittest discover workloads/peers` from the root."""

import json
import sys
import unittest

import compare
import oracle
import programs
import tables

RUNTIME = """ [("bytes allocated", "3341880")
 ,("mut_cpu_seconds", "0.5")
 ,("GC_cpu_seconds", "0.25")
 ,("max_mem_in_use_bytes", "2097152")
 ,("copied_bytes", "243936")
 ,("total_wall_seconds", "0.875")
 ,("GC_wall_seconds", "0.125")
 ,("gen_0_max_pause_seconds", "0.001")
 ,("gen_1_max_pause_seconds", "0.004")
 ]
"""


def row(**figures):
    return dict.fromkeys(programs.FIGURES) | figures


def printing(text, status=0):
    return programs.Contestant("it", [sys.executable, "-c", f"print({text!r}); exit({status})"])


class Programs(unittest.TestCase):
    def test_checksums_are_the_oracles(self):
        for workload, (_, (args, checksum)) in programs.sizes(programs.SEQUENTIAL + programs.THREADED).items():
            self.assertEqual(oracle.checksum(workload, args.split()), checksum, workload)

    def test_full_size_checksums_that_are_formulas(self):
        for workload in ("binary_trees", "gcbench", "long_list", "message_window", "par_trees"):
            args, checksum = programs.sizes([workload])[workload][0]
            self.assertEqual(oracle.checksum(workload, args.split()), checksum, workload)
        for sizes in (programs.LARGE, programs.QUARTER):
            for workload, (args, checksum) in sizes.items():
                if workload not in ("mut_array", "hash_churn"):
                    self.assertEqual(oracle.checksum(workload, args.split()), checksum, workload)

    def test_live_bytes_follow_from_the_arguments(self):
        live = {workload: programs.live(workload) for workload in programs.SEQUENTIAL}
        self.assertEqual(live["binary_trees"], (2**20 - 1) * 24)
        self.assertEqual(live["gcbench"], (2**19 - 1) * 40)
        self.assertEqual(live["long_list"], 96_000_000)
        self.assertEqual(live["mut_array"], 24_000_000)
        self.assertEqual(live["hash_churn"], 2**19 * (32 + 51) + 2**18 * 8)
        self.assertEqual(live["message_window"], 200_000 * (48 + 1032))

    def test_figures_are_read_from_the_programs_output(self):
        figures = programs.runtime_figures(RUNTIME)
        walls = {"wall": 0.875, "gc_wall": 0.125}
        self.assertEqual(figures, {"gc": 0.25, "mutator": 0.5, "heap": 2097152.0, "pause": 0.004, "copied": 243936.0, **walls})
        figures = programs.mmtk_figures("GCSTAT wall=0.6 user=0.5 sys=0.25 gcs=58 max_ms=43.4 gc_cpu=0.25 rss_mb=98.3\n")
        self.assertEqual(figures, {"gc": 0.25, "mutator": 0.5, "pause": 0.0434})
        pauses = "[0.1s][info][gc] GC(0) Pause Young (Allocation Failure) 17M->0M(61M) 1.5ms\n[0.2s][info][gc] GC(1) Pause Full (Ergonomics) 9M->5M(61M) 2.5ms\n"
        self.assertEqual(programs.java_figures("[0.0s][info][gc] Using Serial\n" + pauses), {"pause": 0.0025, "gc_wall": 0.004})
        self.assertEqual(programs.java_figures(""), {"pause": None, "gc_wall": 0})
        self.assertEqual(programs.ocaml_figures("heap_words: 1\ntop_heap_words: 126976\n"), {"heap": 1015808.0})

    def test_a_wrong_checksum_and_a_crash_are_failures(self):
        self.assertGreaterEqual(programs.run(printing("x checksum=12"), 12, False, 1)["cpu"], 0)
        for contestant in (printing("x checksum=112"), printing("x checksum=12", status=3), printing("")):
            with self.assertRaises(programs.Failed):
                programs.run(contestant, 12, False, 1)

    def test_resident_memory_is_the_programs_own(self):
        # The system also counts the memory of the process before it became the program: a copy of
        # this process.
        resident = programs.run(printing("x checksum=12"), 12, False, 300, "warm")["resident"]
        self.assertLess(resident, 100 << 20)


    def test_faults_show_whether_a_run_was_warm(self):
        # A heap of 640 MiB has 163,840 small pages.
        self.assertTrue(programs.is_warm(row(faults=2898, resident=640 << 20)))
        self.assertFalse(programs.is_warm(row(faults=96400, resident=640 << 20)))
        self.assertTrue(programs.is_warm(row(faults=470, resident=34 << 20)))
        self.assertFalse(programs.is_warm(row(faults=7600, resident=34 << 20)))


class Tables(unittest.TestCase):
    def test_medians_spread_and_ratios(self):
        ours = [row(gc=value) for value in (0.1, 0.4, 0.2)]
        theirs = [row(gc=value) for value in (0.8, 0.4, 0.3)]
        self.assertEqual(tables.cell(ours, "gc", 1, 3), "0.200 (0.100–0.400)")
        self.assertEqual(tables.cell([row(gc=1.0)], "gc", 1e3, 0), "1000")
        self.assertEqual(tables.cell(ours, "pause", 1, 3), "")
        self.assertAlmostEqual(tables.ratio(ours, theirs, "gc"), 0.5)
        self.assertIsNone(tables.ratio(ours, theirs, "heap"))
        self.assertAlmostEqual(tables.geometric_mean([0.25, 4.0, 8.0]), 2.0)

    def test_the_document(self):
        workloads = {
            "a": {"gclab": [row(gc=1.0, cpu=2.0)], "GHC": [row(gc=4.0, cpu=4.0)]},
            "b": {"gclab": [row(gc=1.0, cpu=2.0)], "GHC": [row(gc=1.0, cpu=4.0)]},
            "c": {"gclab": [row(gc=1.0, cpu=2.0)]},
        }
        failures = [{"contestant": "GHC", "workload": "c"}]
        comparison = {"title": "T", "about": "A.", "ours": "gclab", "workloads": workloads, "failures": failures}
        text = tables.document(json.loads(json.dumps({"setting": {"date": "today"}, "comparisons": [comparison]})))
        self.assertIn("| T | gclab / GHC | 0.50 (1.00 b) |", text)
        self.assertIn("| a | gclab / GHC | 0.25 |", text)
        self.assertIn("GHC did not finish c.", text)
        widths = {line.count("|") for line in text.splitlines() if line.startswith("| a") or line.startswith("| workload")}
        self.assertEqual(len(widths), 1, text)


    def test_only_the_named_figures_are_shown(self):
        workloads = {"a": {"x": [row(gc=1.0, user=3.0)], "y": [row(gc=4.0, user=4.0)]}}
        comparison = {"title": "T", "about": "A.", "ours": "x", "workloads": workloads, "failures": [], "figures": ["user"]}
        self.assertEqual(tables.details(comparison).splitlines()[-1], "| a | x / y | 0.75 |")
        self.assertIn("| T | x / y |  |  | 0.75 (0.75 a) |  |", tables.summary([comparison]))

    def test_the_best_of_several_is_chosen_for_each_workload(self):
        times = {"a": {"gclab": 1.0, "GHC": 2.0, "GHC -qg": 4.0}, "b": {"gclab": 1.0, "GHC": 16.0, "GHC -qg": 8.0}, "c": {"gclab": 1.0}}
        workloads = {name: {contestant: [row(gc_wall=time)] for contestant, time in by.items()} for name, by in times.items()}
        best = {"of": "GHC", "by": "gc_wall"}
        comparison = {"title": "T", "about": "A.", "ours": "gclab", "workloads": workloads, "failures": [], "figures": ["gc_wall"], "best": best}
        lines = tables.details(comparison).splitlines()
        self.assertIn("| a | gclab / GHC at its best (GHC) | 0.50 |", lines)
        self.assertIn("| b | gclab / GHC at its best (GHC -qg) | 0.12 |", lines)
        self.assertIn("| T | gclab / GHC at its best |  |  |  |  |  |  | 0.25 (0.50 a) |", tables.summary([comparison]))
        # Without a rule none is chosen, and rows of old files have no such figure.
        del comparison["best"], comparison["figures"]
        self.assertNotIn("best", tables.document({"setting": {}, "comparisons": [comparison]}))
        self.assertIsNone(tables.median([{"gc": 1.0}], "gc_wall"))

    def test_tables_go_between_the_marks_of_a_page(self):
        page = f"a\n{tables.BEGIN}old\n{tables.END}b\n"
        again = tables.replaced(tables.replaced(page, "x\n"), "new\n")
        self.assertEqual(again, f"a\n{tables.BEGIN}\nnew\n\n{tables.END}b\n")
        with self.assertRaises(SystemExit):
            tables.replaced("a\n" + tables.BEGIN, "new")


class Comparisons(unittest.TestCase):
    def test_ours_is_first_and_names_differ(self):
        for title, about, workloads, contestants in compare.comparisons(compare.PEERS, compare.SETTINGS, "std"):
            self.assertTrue(about.endswith("."), title)
            for workload in workloads:
                names = [contestant.name for contestant in contestants(workload, "1")]
                self.assertIn(names[0], ("gclab", "copying"))
                self.assertEqual(len(names), len(set(names)))

    def test_words_are_checked(self):
        with self.assertRaisesRegex(Exception, "'ghx' is none of ghc, mmtk"):
            compare.words(compare.PEERS)("ghc,ghx")


if __name__ == "__main__":
    unittest.main()
