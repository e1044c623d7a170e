# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3

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

    def test_the_retention_path_is_one_line(self):
        path = "Retention path: global variable results (__main__): 484 KiB → element 35: 8.00 KiB → autograd node "
        self.assertIn(f"\n{'':9}{path}", self.broken(LEAK, "--no-finding", "leak"))
        self.assertIn(path, self.broken(LEAK, "--max-growth-per-step", "1KB"))

    def test_json(self):
        result = run("check", LEAK, "--no-finding", "leak", "--max-peak", "1GiB", "--format", "json")
        self.assertEqual(result.returncode, BROKEN)
        found = self.json_of("check", CLEAN, "--no-finding", "leak", "--max-peak", "1GiB")
        self.assertTrue(found["holds"])
        self.assertEqual([limit["outcome"] for limit in found["devices"][0]["limits"]], ["holds", "holds"])
        self.assertEqual(found["devices"][0]["limits"][0]["limit_bytes"], 1 << 30)
        self.assertIn('"holds": false', result.stdout)
        self.assertIn('"line": "s01_list_of_cpu_outputs.py:', result.stdout)
        (leak,) = (limit for limit in json.loads(result.stdout)["devices"][0]["limits"] if limit["findings"])
        self.assertEqual(leak["path"][0], "global variable results (__main__): 484 KiB")

    def test_a_run_is_compared_with_its_baseline(self):
        for baseline in (LEAK, CLEAN):
            self.assertEqual(self.run_fine("check", CLEAN, "--baseline", baseline).count("ok "), 4)
        self.assertIn(
            "within the 85.5 MiB of the baseline and --max-increase 1%",
            self.run_fine("check", LEAK, "--baseline", LEAK),
        )
        text = self.broken(LEAK, "--baseline", CLEAN)
        for part in (
            "allocated memory grows by 8.00 KiB per iteration, 8.00 KiB more than the 0 B of the baseline",
            "1 finding is not in the baseline",
            "`results`",
            "s01_list_of_cpu_outputs.py:25",
            "2 limits are exceeded",
        ):
            self.assertIn(part, text)

    def test_the_tolerance_is_a_percentage_or_a_size(self):
        peaks = [self.json_of("stats", trace, "--at", "end")["allocated_bytes.all.peak"] for trace in (LEAK, CLEAN)]
        self.assertGreater(peaks[0], peaks[1])
        for increase, excess in (("0", peaks[0] - peaks[1]), (peaks[0] - peaks[1] - 1, 1), (peaks[0] - peaks[1], 0)):
            limits = self.limits_of("check", LEAK, "--baseline", CLEAN, "--max-increase", increase)
            peak = limits["baseline-peak"]
            self.assertEqual(peak["outcome"], "broken" if excess else "holds")
            self.assertEqual((peak["value_bytes"], peak["baseline_bytes"]), tuple(peaks))
            self.assertEqual(peak["limit_bytes"], peaks[0] - excess)
            self.assertEqual(limits["baseline-growth-per-step"]["limit_bytes"], 0, "a size is for peaks")
        text = self.broken(LEAK, "--baseline", CLEAN, "--max-increase", "0.1%")
        self.assertRegex(
            text, r"event:\d+ .*the largest difference, \+[\d.]+ \w+, is from s01_list_of_cpu_outputs\.py:\d+"
        )
        for wrong in ("much", "-1%", "nan%", "1 %"):
            self.assertIn(
                "neither a percentage nor a size",
                self.run_failing(USAGE, "check", LEAK, "--baseline", CLEAN, f"--max-increase={wrong}"),
            )
        self.assertIn("--baseline", self.run_failing(USAGE, "check", LEAK, "--max-increase", "1%"))

    def limits_of(self, *arguments):
        result = run(*arguments, "--format", "json")
        self.assertIn(result.returncode, (0, BROKEN), result.stderr)
        return {limit["limit"]: limit for limit in json.loads(result.stdout)["devices"][0]["limits"]}

    def test_a_baseline_that_lacks_data_decides_nothing(self):
        short = EXAMPLES / "s06_one_element.tide"
        limits = self.limits_of("check", LEAK, "--baseline", short, "--max-increase", "10GiB")
        self.assertEqual(limits["baseline-growth-per-step"]["outcome"], "unknown")
        self.assertEqual(limits["baseline-findings"]["outcome"], "broken", "the leak is there, in any case")
        limits = self.limits_of("check", short, "--baseline", LEAK)
        self.assertEqual(limits["baseline-growth-per-step"]["outcome"], "unknown")
        self.assertEqual(limits["baseline-findings"]["outcome"], "unknown")
        limits = self.limits_of("check", short, "--baseline", short)
        self.assertEqual({limit["outcome"] for limit in limits.values()}, {"holds"})
        self.assertNotIn("baseline-growth-per-step", limits)

    def test_a_limit_of_an_uncertain_baseline_is_uncertain(self):
        cut_off = self.folder / "cut-off.tide"
        shutil.copy(CLEAN, cut_off)
        with contextlib.closing(sqlite3.connect(cut_off)) as trace, trace:
            trace.execute("UPDATE meta SET value = '0' WHERE key = 'clean_end'")
        peak = self.limits_of("check", EXAMPLES / "gpt2.tide", "--baseline", cut_off)["baseline-peak"]
        self.assertEqual(peak["outcome"], "unknown")
        self.assertIn("which is uncertain: the recording did not end cleanly", peak["reason"])
        peak = self.limits_of("check", CLEAN, "--baseline", cut_off)["baseline-peak"]
        self.assertEqual(peak["outcome"], "holds")

    def test_markdown_for_pull_requests(self):
        result = run("check", LEAK, "--baseline", CLEAN, "--max-peak", "1GiB", "--format", "markdown")
        self.assertEqual(result.returncode, BROKEN)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "### GPU memory: 2 limits are exceeded or cannot be decided.")
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        self.assertEqual({len(row) for row in rows}, {6})
        self.assertIn(["✅ ok", "max-peak", "0", "85.5 MiB", "1.00 GiB", ""], rows)
        self.assertIn(["❌ BROKEN", "baseline-growth-per-step", "0", "8.00 KiB", "0 B", "0 B"], rows)
        self.assertIn("- device 0: 1 finding is not in the baseline", lines)
        self.assertIn("&lt;module&gt;", result.stdout, "names are escaped")
        text = self.run_fine("check", CLEAN, "--no-finding", "leak", "--format", "markdown")
        self.assertTrue(text.startswith("### GPU memory: All limits hold."), text)

    def test_a_limit_that_cannot_be_decided_does_not_pass(self):
        short = EXAMPLES / "s06_one_element.tide"
        self.assertIn("cannot be decided", self.broken(short, "--max-growth-per-step", "1GiB"))
        self.assertIn("repeats", self.broken(short, "--no-finding", "leak"))
        few = self.broken(EXAMPLES / "s12_three_linears.tide", "--max-growth-per-step", "0")
        self.assertIn("the run has 3 iterations, 5 are needed", few)
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
        self.run_failing(INPUT, "check", LEAK, "--baseline", snapshot("s1_plain"))
        self.assertIn("a job", self.run_failing(USAGE, "check", LEAK, "--baseline", self.folder_of_traces()))

    def folder_of_traces(self):
        folder = self.folder / "run.tidejob"
        folder.mkdir()
        shutil.copy(LEAK, folder / "rank0-node1-1.tide")
        return folder
