# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib

from support import INPUT, USAGE, CommandTest, run, snapshot

EXAMPLES = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]).parent.parent / "resources" / "examples"
LEAK = EXAMPLES / "s01_list_of_cpu_outputs.tide"
CLEAN = EXAMPLES / "s02_detached.tide"
BROKEN = 5


class Check(CommandTest):
    def broken(self, *arguments):
        result = run("check", *arguments)
        self.assertEqual(result.returncode, BROKEN, result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def test_a_clean_run_passes(self):
        text = self.run_fine(
            "check",
            CLEAN,
            "--max-peak",
            "1GiB",
            "--max-reserved",
            "1GiB",
            "--max-growth-per-step",
            "0",
            "--no-finding",
            "leak",
        )
        self.assertEqual(text.count("ok "), 4)
        self.assertIn("All limits hold.", text)

    def test_growth_names_value_limit_line_and_referrer(self):
        text = self.broken(LEAK, "--max-growth-per-step", "0", "--max-peak", "1GiB")
        for part in (
            "BROKEN",
            "8.00 KiB",
            "--max-growth-per-step 0",
            "s01_list_of_cpu_outputs.py:",
            "`results`",
            "1 limit is exceeded or cannot be decided.",
        ):
            self.assertIn(part, text)
        self.run_fine("check", LEAK, "--max-growth-per-step", "8KiB")

    def test_peaks_are_those_of_torch(self):
        stats = self.json_of("stats", CLEAN, "--at", "end")
        for option, key in (("--max-peak", "allocated_bytes.all.peak"), ("--max-reserved", "reserved_bytes.all.peak")):
            self.run_fine("check", CLEAN, option, stats[key])
            text = self.broken(CLEAN, option, stats[key] - 1)
            self.assertIn("1 B more than", text)
            self.assertRegex(text, r"event:\d+ .*the largest part, [\d.]+ \w+, is from s01_list_of_cpu_outputs\.py:\d+")

    def test_findings_by_severity_and_by_kind(self):
        for words in ("leak", "retained-graph", "fragmentation,leak"):
            self.assertIn("retained-graph", self.broken(LEAK, "--no-finding", words))
        self.run_fine("check", LEAK, "--no-finding", "fragmentation,out-of-memory")

    def test_json(self):
        result = run("check", LEAK, "--no-finding", "leak", "--max-peak", "1GiB", "--format", "json")
        self.assertEqual(result.returncode, BROKEN)
        found = self.json_of("check", CLEAN, "--no-finding", "leak", "--max-peak", "1GiB")
        self.assertTrue(found["holds"])
        self.assertEqual([limit["outcome"] for limit in found["devices"][0]["limits"]], ["holds", "holds"])
        self.assertEqual(found["devices"][0]["limits"][0]["limit_bytes"], 1 << 30)
        self.assertIn('"holds": false', result.stdout)
        self.assertIn('"line": "s01_list_of_cpu_outputs.py:', result.stdout)

    def test_a_limit_that_cannot_be_decided_does_not_pass(self):
        short = EXAMPLES / "s06_one_element.tide"
        self.assertIn("cannot be decided", self.broken(short, "--max-growth-per-step", "1GiB"))
        self.assertIn("repeats", self.broken(short, "--no-finding", "leak"))
        late = self.imported("gpt_ring")
        text = self.broken(late, "--max-peak", "1TiB")
        self.assertIn("UNKNOWN", text)
        self.assertIn("the history does not begin with the program", text)
        self.assertIn("BROKEN", self.broken(late, "--max-peak", "1KiB"))
        self.assertIn(
            "graph was not recorded",
            self.broken(self.imported("s0_graph_leak"), "--no-finding", "hook-retains-activations"),
        )

    def test_wrong_usage(self):
        self.assertIn("--max-peak", self.run_failing(USAGE, "check", LEAK))
        self.assertIn("10GiB", self.run_failing(USAGE, "check", LEAK, "--max-peak", "much"))
        self.run_failing(USAGE, "check", LEAK, "--max-reserved", "-5")
        self.assertIn("leak, failure", self.run_failing(USAGE, "check", LEAK, "--no-finding", "leek"))
        self.run_failing(INPUT, "check", snapshot("s1_plain"), "--max-peak", "1GiB")
