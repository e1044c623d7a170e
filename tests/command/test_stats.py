# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
from support import INPUT, USAGE, CommandTest, run, snapshot, truth

COMPLETE = ("s0_graph_leak", "s1_plain", "s1_retain_empty", "s2_oom_list", "s3_linear", "s3_varlen")
WITH_MARKS = ("adam_steps", "streams", "cudagraph", "varlen_expandable", "frag_oom")
UNKNOWABLE = ("num_sync_all_streams",)


class Stats(CommandTest):
    def test_the_table_equals_that_of_pytorch(self):
        for name in COMPLETE:
            text = self.run_fine("stats", self.imported(name))
            head, table = text.split("\n", 1)
            self.assertTrue(head.startswith("State at event "), head)
            self.assertEqual(table, truth(name)["summary"], name)

    def test_every_counter_of_a_complete_history(self):
        for name in COMPLETE:
            expected = truth(name)["stats"]
            stats = self.json_of("stats", self.imported(name))
            self.assertEqual(list(stats), sorted(expected), name)
            for key in UNKNOWABLE:
                self.assertIsNone(stats.pop(key))
                expected.pop(key)
            self.assertEqual(stats, expected, name)

    def assert_current(self, trace, time_point, expected):
        stats = self.json_of("stats", trace, "--at", time_point)
        for key, value in expected.items():
            if key.endswith(".current"):
                self.assertEqual(stats[key], value, f"{trace.name} {time_point} {key}")

    def test_current_values_at_every_mark(self):
        for name in WITH_MARKS:
            trace = self.imported(name)
            for _, (events, *_), _, expected in truth(name)["marks"]:
                self.assert_current(trace, f"event:{events}", expected)

    def test_current_values_at_a_time_of_a_ring_buffer(self):
        trace = self.imported("gpt_ring")
        start_us = self.json_of("info", trace)["start_utc_ns"] // 1000
        marks = [mark for mark in truth("gpt_ring")["marks"] if mark[2] >= start_us]
        self.assertGreater(len(marks), 0)
        for _, _, time_us, expected in marks:
            self.assert_current(trace, f"time:{time_us - start_us}us", expected)

    def test_time_points(self):
        trace = self.imported("adam_steps")
        at = lambda time_point: self.json_of("stats", trace, "--at", time_point)
        self.assertEqual(at("event:0")["allocation.all.allocated"], 0)
        self.assertEqual(at("end"), at("event:351"))
        peak = at("peak")
        self.assertEqual(peak["allocated_bytes.all.current"], at("end")["allocated_bytes.all.peak"])
        at("mark:Optimizer.step#Adam.step")
        at("mark:Optimizer.step#Adam.step#2")
        at("time:0")

    def test_errors_list_existing_time_points(self):
        trace = self.imported("adam_steps")
        wrong = lambda time_point: self.run_failing(USAGE, "stats", trace, "--at", time_point)
        self.assertIn("351 events", wrong("event:352"))
        self.assertIn("Optimizer.step#Adam.step", wrong("mark:epoch"))
        self.assertIn("the trace goes from 0", wrong("time:1000s"))
        self.assertIn("event:N, time:T", wrong("now"))
        self.assertIn("it has 0", self.run_failing(USAGE, "stats", trace, "--device", "3"))
        self.assertIn("table,json", self.run_failing(USAGE, "stats", trace, "--format", "xml"))

    def test_uncertain_numbers_are_reported(self):
        trace = self.imported("gpt_ring")
        self.assertIn("\nNote: ", self.run_fine("stats", trace))
        result = run("stats", trace, "--format", "json")
        self.assertTrue(result.stderr.startswith("note: "), result.stderr)
        self.assertEqual(run("stats", self.imported("s3_linear"), "--format", "json").stderr, "")

    def test_a_snapshot_must_be_imported_first(self):
        path = snapshot("adam_steps")
        for command in ("stats", "info", "top"):
            self.assertIn(f"tidemark import {path}", self.run_failing(INPUT, command, path))
