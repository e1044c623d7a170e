# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess
import unittest

from support import FINE, INPUT, STEPS, USAGE, CommandTest, make_graph_trace


class Graph(CommandTest):
    def setUp(self):
        super().setUp()
        self.trace = make_graph_trace(self.folder / "graph.tide")

    def graph(self, *arguments):
        return self.json_of("graph", self.trace, *arguments)

    def text(self, *arguments):
        return self.run_fine("graph", self.trace, *arguments)

    def memory_of_step(self, step):
        saved = self.graph("--node", 2 + 2 * step)["saved"]
        return next(tensor["allocation"]["id"] for tensor in saved if tensor["allocation"]["block_bytes"] == 1024)

    def test_overview(self):
        graph = self.graph()
        self.assertEqual(graph["alive_nodes"], 2 * STEPS + 2)
        self.assertEqual(graph["reachable_bytes"], 1024 * STEPS)
        outputs, loss = graph["root_groups"]
        self.assertEqual(
            (outputs["type"], outputs["state"], outputs["graphs"]), ("SumBackward0", "never_executed", STEPS)
        )
        self.assertEqual((outputs["reachable_bytes"], outputs["nodes"]), (1024 * STEPS, 2 * STEPS + 1))
        # The loss also retains the last step's memory, and the weight is never freed.
        self.assertEqual(outputs["retained_bytes"], 1024 * (STEPS - 1))
        self.assertEqual((outputs["first_step"], outputs["last_step"]), (0, STEPS - 1))
        self.assertIn("outputs", outputs["referrer"]["text"])
        self.assertEqual(outputs["roots"], [3 + 2 * step for step in range(STEPS)])
        self.assertEqual((loss["type"], loss["state"], loss["graphs"]), ("MseLossBackward0", "executed", 1))
        nodes = [one["nodes"] for one in graph["growth"]["slices"]]
        self.assertEqual(nodes, sorted(nodes))
        text = self.text()
        for words in (
            f"{2 * STEPS + 2} nodes alive, in {STEPS + 1} graphs",
            "SumBackward0, s01.py:10 main",
            f"created in steps 0 to {STEPS - 1}; never backpropagated",
            f"elements 0 to {STEPS - 1}",
            "(retain_graph)",
            "Types that grew: ",
            "SumBackward0 from 1 to 12",
        ):
            self.assertIn(words, text)

    def test_earlier_time_points(self):
        graph = self.graph("--at", "time:15us")
        self.assertEqual((graph["alive_nodes"], graph["root_groups"][0]["graphs"]), (5, 2))
        self.assertEqual(self.graph("--at", "event:0")["alive_nodes"], 1)
        self.assertIn("1 more, --limit 0", self.text("--limit", "1"))
        self.assertEqual(self.graph("--limit", "1")["root_groups_left_out"], 1)

    def test_root(self):
        page = self.graph("--root", "3")
        self.assertEqual((page["nodes"], page["reachable_bytes"], page["retained_bytes"]), (3, 1024, 1024))
        self.assertEqual(page["tree"]["rows"][0]["name"], "Net.layers.0.fc")
        self.assertEqual(
            [(link["kind"], link["name"]) for link in page["referrer"]["links"]], [("local", "outputs"), ("index", "0")]
        )
        text = self.text("--root", "3")
        for words in (
            "node 3 SumBackward0 (s01.py:10 main)",
            "Reachable    1.00 KiB in 3 nodes",
            "Retained     1.00 KiB",
            "Retained by  list `outputs`",
            "MmBackward0: saved self",
        ):
            self.assertIn(words, text)
        self.assertIn("it is not a root", self.text("--root", "2"))

    def test_node(self):
        node = self.graph("--node", "2")
        self.assertEqual(
            (node["node"]["type"], node["node"]["module"], node["node"]["op"], node["node"]["step"]),
            ("MmBackward0", "Net.layers.0.fc", "aten::mm", 0),
        )
        self.assertEqual([one["id"] for one in node["inputs"]], [1])
        self.assertEqual([one["id"] for one in node["parents"]], [3])
        self.assertEqual([one["id"] for one in node["path"]], [3, 2])
        self.assertEqual([one["allocation"]["category"] for one in node["saved"]], ["saved for backward", "parameter"])
        text = self.text("--node", "2")
        for words in (
            "never backpropagated",
            "Module       Net.layers.0.fc",
            "node 1 AccumulateGrad of fc.weight",
            "node 3 SumBackward0 (s01.py:10 main) → node 2 MmBackward0",
            "parameter `fc.weight`",
        ):
            self.assertIn(words, text)
        last = 2 * STEPS + 2
        self.assertIn("saved tensors retained (retain_graph)", self.text("--node", last))
        self.assertIn("destroyed at 0.000003 s", self.text("--node", last + 1))

    def test_allocation(self):
        first = self.graph("--alloc", self.memory_of_step(0))
        self.assertEqual([one["node"]["id"] for one in first["saved_by"]], [2])
        self.assertEqual((first["path"], [root["id"] for root in first["roots"]]), ([3, 2], [3]))
        self.assertEqual(first["history"][-1]["category"], "saved for backward")
        text = self.text("--alloc", self.memory_of_step(0))
        for words in (
            "Path         node 3 SumBackward0",
            "→ self → this memory",
            "It is freed when the graph that retains it is released by list `outputs`",
            "or when backward runs through node 2 MmBackward0",
        ):
            self.assertIn(words, text)
        self.assertIn("all 2 graphs that retain it", self.text("--alloc", self.memory_of_step(STEPS - 1)))
        weight = self.graph("--node", "1")["output"]["id"]
        self.assertIn("It is freed when its model is deleted", self.text("--alloc", weight))

    def test_reports_a_missing_heap_scan(self):
        self.trace = make_graph_trace(self.folder / "unscanned.tide", scanned=False)
        self.assertIn("there was no heap scan", self.text())
        self.assertIn("the owner of the result of node 3", self.text("--alloc", self.memory_of_step(0)))
        self.assertIsNone(self.graph("--root", "3")["referrer"])

    @unittest.skipUnless(shutil.which("dot"), "needs Graphviz")
    def test_dot_is_valid(self):
        big = make_graph_trace(self.folder / "big.tide", steps=400)
        memory = self.memory_of_step(0)
        for trace, arguments in (
            (self.trace, ()),
            (self.trace, ("--root", 3)),
            (self.trace, ("--node", 2)),
            (self.trace, ("--alloc", memory)),
            (big, ()),
        ):
            dot = self.run_fine("graph", trace, "--format", "dot", *arguments)
            drawn = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, timeout=120)
            self.assertEqual((drawn.returncode, drawn.stderr), (FINE, ""))
            self.assertLessEqual(drawn.stdout.count('class="node"'), 300)
            self.assertIn("Backward0" if trace == self.trace else "Net.layers", drawn.stdout)

    def test_errors_list_what_exists(self):
        self.assertIn(
            f"ids go from 1 to {2 * STEPS + 3}, the nearest is {2 * STEPS + 3}",
            self.run_failing(USAGE, "graph", self.trace, "--node", "77"),
        )
        self.assertIn(
            "created at 0.000001 s and destroyed at 0.000003 s",
            self.run_failing(USAGE, "graph", self.trace, "--root", 2 * STEPS + 3),
        )
        self.assertIn("the nearest is", self.run_failing(USAGE, "graph", self.trace, "--alloc", "77777"))
        self.assertIn("excludes", self.run_failing(USAGE, "graph", self.trace, "--alloc", "1", "--node", "1"))
        self.run_failing(USAGE, "graph", self.trace, "--at", "noon")
        message = self.run_failing(INPUT, "graph", self.imported("streams"))
        self.assertIn("no autograd graph was recorded", message)
        self.assertIn("tidemark record", message)
