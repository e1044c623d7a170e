# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib

from support import ENVIRONMENT, USAGE, CommandTest, generated_snapshot, make_graph_trace

EXAMPLES = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]).parent.parent / "resources" / "examples"
LEAK = EXAMPLES / "s01_list_of_cpu_outputs.tide"
CLEAN = EXAMPLES / "s02_detached.tide"
WAYS = ("stack", "line", "file", "size", "stream", "pool", "module:2", "op", "phase", "category", "node-type")


class Diff(CommandTest):
    def test_two_time_points_of_one_trace(self):
        for way in WAYS:
            found = self.json_of("diff", LEAK, "--at-a", "event:200", "--at-b", "end", "--by", way, "--limit", "0")
            totals = []
            for side, time_point in (("a", "event:200"), ("b", "end")):
                top = self.json_of("top", LEAK, "--at", time_point, "--by", way)["total"]
                self.assertEqual(found[side]["total"]["bytes"], top["bytes"])
                self.assertEqual(sum(row[side]["bytes"] for row in found["rows"]), top["bytes"], way)
                self.assertEqual(sum(row[side]["allocations"] for row in found["rows"]), top["allocations"])
                totals.append(top["bytes"])
            self.assertEqual(found["difference_bytes"], totals[1] - totals[0])
            self.assertEqual(found["new"]["bytes"] - found["freed"]["bytes"], found["difference_bytes"])
            self.assertGreater(found["new"]["allocations"], 0)
            sizes = [abs(row["difference_bytes"]) for row in found["rows"]]
            self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_a_trace_does_not_differ_from_itself(self):
        found = self.json_of("diff", LEAK, LEAK, "--limit", "0")
        self.assertEqual({row["change"] for row in found["rows"]}, {"same"})
        self.assertIn("A and B have the same", self.run_fine("diff", LEAK, LEAK))

    def test_two_runs_are_matched_by_names(self):
        old = self.imported_bytes(generated_snapshot(function="step", steps=10)).rename(self.folder / "old.tide")
        new = self.imported_bytes(generated_snapshot(function="step", steps=30)).rename(self.folder / "new.tide")
        found = self.json_of("diff", old, new, "--at-a", "end", "--at-b", "end")
        self.assertEqual([row["change"] for row in found["rows"]], ["grown"])
        self.assertEqual(found["difference_bytes"], 10 * 512)
        text = self.run_fine("diff", old, new, "--at-a", "end", "--at-b", "end")
        sentence = "B has 5.00 KiB more than A, each at its end: 7.50 KiB instead of 2.50 KiB."
        self.assertTrue(text.startswith(sentence), text)
        self.assertIn("train.py:7 step", text)
        other = self.imported_bytes(generated_snapshot(function="other", steps=30))
        changes = [row["change"] for row in self.json_of("diff", old, other)["rows"]]
        self.assertEqual(sorted(changes), ["only in A", "only in B"])

    def test_the_device_of_the_same_number_is_compared(self):
        one = self.imported_bytes(generated_snapshot()).rename(self.folder / "one.tide")
        three = self.imported_bytes(generated_snapshot(devices=3))
        self.assertEqual(self.json_of("diff", three, one)["a"]["device"], 2, "the one with the most events")
        found = self.json_of("diff", one, three)
        self.assertEqual((found["a"]["device"], found["b"]["device"]), (0, 0))
        self.assertEqual(self.json_of("diff", three, one)["b"]["device"], 0, "the only one")

    def test_steps(self):
        trace = make_graph_trace(self.folder / "graph.tide")
        found = self.json_of("diff", trace, "--steps", "2:7", "--by", "node-type")
        self.assertEqual(found["difference_bytes"], 5 * 1024)
        self.assertIn("at the end of step 7", self.run_fine("diff", trace, "--steps", "2:7"))
        self.assertIn("0 to 11", self.run_failing(USAGE, "diff", trace, "--steps", "2:70"))
        for wrong in ("2", "a:b", "2:", "2:3x"):
            self.assertIn("3:20", self.run_failing(USAGE, "diff", trace, "--steps", wrong))

    def test_without_recorded_steps_iterations_are_compared(self):
        self.assertEqual(self.json_of("info", LEAK)["steps"], 0)
        text = self.run_fine("diff", LEAK, "--steps", "2:7")
        self.assertIn("B at the end of iteration 7 has", text)
        self.assertNotIn("step", text)
        missing = self.run_failing(USAGE, "diff", LEAK, "--steps", "2:70")
        self.assertIn("no iteration 70; the run has no recorded steps, and its iterations are 0 to 59", missing)
        self.assertIn("no training steps", self.run_failing(USAGE, "top", LEAK, "--at", "step:2"))

    def test_limit_reports_omitted_rows(self):
        every = self.json_of("diff", CLEAN, LEAK, "--limit", "0")
        some = self.json_of("diff", CLEAN, LEAK, "--limit", "1")
        self.assertEqual(some["rows"], every["rows"][:1])
        self.assertEqual(some["rows_left_out"], len(every["rows"]) - 1)

    def test_wrong_usage(self):
        self.assertIn("--steps", self.run_failing(USAGE, "diff", LEAK))
        self.assertIn("--at-a", self.run_failing(USAGE, "diff", LEAK, "--at-b", "end"))
        self.run_failing(USAGE, "diff", LEAK, "--steps", "1:2", "--at-a", "end")
        self.run_failing(USAGE, "diff", LEAK, CLEAN, "--by", "color")
        self.run_failing(ENVIRONMENT, "diff", LEAK, self.folder / "none.tide")
