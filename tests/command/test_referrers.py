# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
from support import INPUT, STEPS, USAGE, CommandTest, make_graph_trace


class Referrers(CommandTest):
    def setUp(self):
        super().setUp()
        self.trace = make_graph_trace(self.folder / "graph.tide")

    def test_groups(self):
        page = self.json_of("referrers", self.trace)
        (scan,) = page["scans"]
        self.assertEqual((scan["reason"], scan["objects"], scan["duration_ns"]), ("end", 1000, 5_000_000))
        outputs, loss = page["groups"]
        self.assertEqual((outputs["tensors"], outputs["first_index"], outputs["last_index"]), (STEPS, 0, STEPS - 1))
        self.assertEqual(outputs["created_by"], [{"type": "SumBackward0", "is_root": True, "count": STEPS}])
        self.assertEqual(outputs["reachable_bytes"], 1024 * STEPS)
        self.assertEqual([link["name"] for link in loss["links"]], ["trainer", "loss"])
        self.assertEqual(page["groups_without_graph"], 1)
        text = self.run_fine("referrers", self.trace)
        for words in (
            "scan 1 of 1, at 0.000130 s (end): 1,000 objects in 5.00 ms",
            f"list `outputs` (variable of main, s01.py:31), elements 0 to {STEPS - 1}",
            f"{STEPS} tensors, {STEPS} graph roots SumBackward0",
            "`trainer.loss`",
            "1 referrer of tensors without an autograd graph is not shown; --all shows it.",
        ):
            self.assertIn(words, text)

    def test_all_and_limit(self):
        groups = self.json_of("referrers", self.trace, "--all")["groups"]
        self.assertIn("`net.weight`", groups[1]["text"])
        page = self.json_of("referrers", self.trace, "--limit", "1", "--at", "scan:1")
        self.assertEqual((len(page["groups"]), page["groups_left_out"]), (1, 1))

    def test_reports_what_is_missing(self):
        self.assertIn("scan:1 to scan:1", self.run_failing(USAGE, "referrers", self.trace, "--at", "scan:2"))
        self.assertIn(
            "tidemark.referrers()",
            self.run_failing(INPUT, "referrers", make_graph_trace(self.folder / "unscanned.tide", scanned=False)),
        )
        self.assertIn("no autograd graph", self.run_failing(INPUT, "referrers", self.imported("streams")))
