# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""What is said about recorded snapshots is true: their programs are known, and each test names what they did."""

import json

from support import CommandTest, run

LIMIT = 5  # exit_limit of storage/base/exit_status.h


class ExplainSnapshots(CommandTest):
    def explained(self, name, *options):
        trace = self.imported(name)
        return json.loads(self.run_fine("explain", trace, "--format", "json", *options))

    def kinds(self, explanation):
        return [finding["kind"] for finding in explanation["findings"]]

    def test_steps_before_the_history_are_no_iterations(self):
        """gpt_ring: 20 training steps, of which the ring buffer of the history kept one."""
        explanation = self.explained("gpt_ring")
        summary = " ".join(explanation["summary"])
        self.assertIn("too few iterations to tell whether memory grows", summary)
        self.assertNotIn("No fix is needed", summary)
        self.assertNotIn("steady", self.kinds(explanation))
        trace = self.folder / "gpt_ring.tide"
        answer = run("check", trace, "--max-growth-per-step", "0", "--no-finding", "leak")
        self.assertEqual(answer.returncode, LIMIT, answer.stdout)
        self.assertEqual(answer.stdout.count("UNKNOWN"), 2, answer.stdout)

    def test_a_list_that_grew_and_was_cut_did_not_rise_once(self):
        """frag_oom: a loop keeps 24 MiB each time, 150 times; then every second tensor is freed."""
        explanation = self.explained("frag_oom")
        self.assertEqual(self.kinds(explanation), ["allocation-retries"])
        text = self.run_fine("explain", self.folder / "frag_oom.tide", "--at", "event:300")
        self.assertIn("Grows  +24.0 MiB per iteration", text)
        self.assertNotIn("succeeded only after", text, "the retry comes later")

    def test_tensors_of_the_last_iteration_did_not_rise_once(self):
        """streams: each iteration replaces the tensors of the one before by larger ones; the last ones exist."""
        kinds = self.kinds(self.explained("streams"))
        self.assertNotIn("late-memory", kinds)
        self.assertNotIn("steady", kinds)

    def test_the_levels_to_which_memory_falls_back_are_named(self):
        """s3_linear: 2,047 iterations end at 92 MiB. What the loop frees at its end is no iteration."""
        for name, low, high in (("s3_linear", "84.0 MiB", "92.0 MiB"), ("adam_steps", "261 MiB", "281 MiB")):
            with self.subTest(name):
                [steady] = [f for f in self.explained(name)["findings"] if f["kind"] == "steady"]
                self.assertIn(f"falls back to between {low} and {high}", steady["title"])
                self.assertEqual(steady["confidence"], "likely", "the loop was found from stacks")

    def test_a_leak_has_one_size(self):
        """s0_graph_leak: 300 iterations retain two blocks of 4 KiB each, one of which has no stack."""
        leak = self.explained("s0_graph_leak")["findings"][0]
        self.assertEqual((leak["bytes"], leak["count"]), (300 * 8192, 600))
        self.assertEqual((leak["memory"]["bytes"], leak["memory"]["allocations"]), (300 * 8192, 600))

    def test_requests_without_a_stack_are_said_to_be(self):
        text = self.run_fine("explain", self.imported("adam_steps"), "--all")
        self.assertIn("requested by code without a Python frame", text)
        self.assertNotIn("requested by .", text)
        self.assertNotIn("requested by  ", text)

    def test_one_name_has_one_size(self):
        """adam_steps: of 261 MiB of requested memory, 128 MiB are known to be optimizer state."""
        text = self.run_fine("explain", self.imported("adam_steps"))
        self.assertRegex(text, r"133 MiB .* other requested memory")
        self.assertRegex(self.run_fine("breakdown", self.folder / "adam_steps.tide"), r"261 MiB .*requested memory")

    def test_an_error_is_dated_by_itself(self):
        """s2_oom_list: the request that fails is 1 ms younger than the one before."""
        explanation = self.explained("s2_oom_list")
        self.assertEqual(explanation["findings"][0]["kind"], "out-of-memory")
        self.assertEqual(explanation["findings"][0]["since_ns"], explanation["time_point"]["time_ns"])

    def test_the_last_iteration_that_fit_ends_before_the_error(self):
        """s2_oom_list: the loop begins with the request that fails, so its last iteration contains the error."""
        evidence = {item["text"]: item for item in self.explained("s2_oom_list")["findings"][0]["evidence"]}
        last, before = (
            evidence["The end of iteration 5, the last that fit"],
            evidence["The state right before the error"],
        )
        self.assertEqual(last["event"], before["event"])
        self.assertEqual(last["until_ns"], before["time_ns"])
