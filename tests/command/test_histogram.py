# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib

from support import USAGE, CommandTest

EXAMPLES = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]).parent.parent / "resources" / "examples"
LEAK = EXAMPLES / "s01_list_of_cpu_outputs.tide"


class Histogram(CommandTest):
    def test_adds_up_to_the_active_bytes(self):
        for time_point in ("peak", "end", "event:200"):
            active = self.json_of("stats", LEAK, "--at", time_point)["active_bytes.all.current"]
            for way in ("size", "lifetime", "iterations"):
                found = self.json_of("histogram", LEAK, "--at", time_point, "--by", way)
                self.assertEqual(found["total"]["bytes"], active, way)
                self.assertEqual(sum(each["bytes"] for each in found["bins"]), active, way)
                self.assertEqual(sum(each["allocations"] for each in found["bins"]), found["total"]["allocations"])
                self.assertEqual(found["bins"][-1]["never_freed"], way != "size")

    def test_bins_follow_each_other(self):
        bins = self.json_of("histogram", LEAK, "--from", "event:0", "--at", "end")["bins"]
        for one, next_one in zip(bins, bins[1:]):
            self.assertEqual(one["to"], next_one["from"])
        self.assertTrue(bins[0]["allocations"] and bins[-1]["allocations"], "unused bins at the ends are left out")

    def test_a_range_has_what_is_freed_within_it(self):
        whole = self.json_of("histogram", LEAK, "--from", "event:0", "--at", "end", "--by", "lifetime")
        end = self.json_of("histogram", LEAK, "--at", "end", "--by", "lifetime")
        self.assertGreater(whole["total"]["allocations"], end["total"]["allocations"])
        self.assertEqual(whole["bins"][-1], end["bins"][-1], "what is never freed is there at the end")

    def test_text(self):
        text = self.run_fine("histogram", LEAK, "--at", "end", "--by", "lifetime")
        self.assertIn("never freed", text)
        self.assertEqual(text.splitlines()[-1].split()[-1], "total")
        self.assertIn("#", text)

    def test_wrong_usage(self):
        self.run_failing(USAGE, "histogram", LEAK, "--by", "color")
        self.run_failing(USAGE, "histogram", LEAK, "--from", "nothing")
        refusal = self.run_failing(USAGE, "histogram", LEAK, "--from", "end", "--at", "event:0")
        self.assertIn("--from end is later than --at event:0", refusal)
