# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Graphs of programs that Tidemark recorded on an H200: retained memory and referrers must match the program.

The programs: tests/scenarios, tests/gpu/training_kinds.py.
"""

import json
import os
import pathlib
import sqlite3
import unittest

from support import CommandTest

RECORDED = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]) / "recorded"
EXAMPLES = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]).parent.parent / "resources" / "examples"

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class RecordedTest(CommandTest):
    def example(self, command, name, *arguments):
        return self.json_of(command, EXAMPLES / f"{name}.tide", *arguments)

    def groups(self, name, way, at):
        """Returns bytes by group. Checks that they add up to the total."""
        page = self.example("top", name, "--by", way, "--at", at, "--limit", "0")
        groups = {group["name"]: group["bytes"] for group in page["groups"]}
        self.assertEqual(sum(groups.values()), page["total"]["bytes"])
        return groups

    def rows(self, name, query):
        return sqlite3.connect(EXAMPLES / f"{name}.tide").execute(query).fetchall()

    def assert_links(self, referrer, *links):
        self.assertEqual([(link["kind"], link["name"]) for link in referrer["links"]], list(links))


class OutputsInAList(RecordedTest):
    """60 outputs moved to the CPU, in a list. Each iteration saves two vectors of 4,000 B in blocks of 4 KiB."""

    name, outputs, of_an_iteration = "s01_list_of_cpu_outputs", 60, 8 * KIB

    def test_the_list_retains_all_graphs(self):
        graph = self.example("graph", self.name)
        (group,) = graph["root_groups"]
        self.assertEqual(
            (group["type"], group["state"], group["graphs"]), ("ToCopyBackward0", "never_executed", self.outputs)
        )
        self.assertTrue(group["line"]["file"].endswith("/s01_list_of_cpu_outputs.py"))
        self.assertEqual(group["line"]["line"], 28)
        # The copy and seven nodes of two linears each. All graphs share the AccumulateGrad nodes of four parameters.
        self.assertEqual((group["nodes"], graph["alive_nodes"]), (8 * self.outputs + 4, 8 * self.outputs + 4))
        for amount in (graph["reachable_bytes"], group["reachable_bytes"], group["retained_bytes"]):
            self.assertEqual(amount, 480 * KIB)
        self.assert_links(group["referrer"], ("global", "results"), ("index", "59"))
        self.assertIn("elements 0 to 59", group["referrer"]["text"])

    def test_every_root_retains_its_iteration(self):
        roots = self.example("graph", self.name)["root_groups"][0]["roots"]
        self.assertEqual(len(roots), self.outputs)
        for index, root in list(enumerate(roots))[::10] + [(self.outputs - 1, roots[-1])]:
            with self.subTest(root=root):
                page = self.example("graph", self.name, "--root", root)
                self.assertEqual((page["nodes"], page["retained_bytes"]), (12, self.of_an_iteration))
                self.assert_links(page["referrer"], ("global", "results"), ("index", str(index)))
                linear = next(row for row in page["tree"]["rows"] if row["name"] == "Linear")
                for node in next(row for row in linear["rows"] if row["name"] == "AddmmBackward0")["ids"]:
                    seen = self.example("graph", self.name, "--node", node)
                    self.assertEqual((seen["node"]["state"], seen["node"]["released_ns"]), ("executed", None))
                    self.assertTrue(all(tensor["is_retained"] for tensor in seen["saved"]))
                    self.assertIn(4 * KIB, [tensor["allocation"]["block_bytes"] for tensor in seen["saved"]])

    def test_no_node_is_released(self):
        # The view of a format 2 file, with the state names of that format.
        states = self.rows(self.name, "SELECT type, state, count(*) FROM nodes WHERE state <> 'dead' GROUP BY 1, 2")
        self.assertEqual(
            states,
            [
                ("AccumulateGrad", "kept", 4),
                ("AddmmBackward0", "kept", 2 * self.outputs),
                ("TBackward0", "kept", 2 * self.outputs),
                ("ToCopyBackward0", "waiting", self.outputs),
                ("ViewBackward0", "kept", 3 * self.outputs),
            ],
        )

    def test_the_graph_grows_with_the_iterations(self):
        slices = self.example("graph", self.name)["growth"]["slices"]
        self.assertEqual((slices[0]["reachable_bytes"], slices[-1]["reachable_bytes"]), (0, 480 * KIB))
        self.assertEqual(self.groups(self.name, "category", "end")["saved for backward"], 480 * KIB)
        roots = self.rows(self.name, "SELECT created_time FROM nodes WHERE type = 'ToCopyBackward0' ORDER BY 1")
        for count in (10, 30, 50):
            page = self.example("graph", self.name, "--at", f"time:{roots[count - 1][0]}ns")
            outputs = next(group for group in page["root_groups"] if group["type"] == "ToCopyBackward0")
            self.assertEqual((outputs["graphs"], outputs["reachable_bytes"]), (count, count * self.of_an_iteration))


class OutputsThatRetainNothing(RecordedTest):
    def test_detached(self):
        """Only the last iteration's graph remains, because a variable still refers to it."""
        graph = self.example("graph", "s02_detached")
        (group,) = graph["root_groups"]
        self.assertEqual((group["graphs"], group["type"], group["state"]), (1, "ViewBackward0", "executed"))
        self.assertEqual((graph["alive_nodes"], graph["reachable_bytes"]), (11, 8 * KIB))
        self.assert_links(group["referrer"], ("global", "output"))
        ((made,),) = self.rows("s02_detached", "SELECT count(*) FROM nodes WHERE type = 'AddmmBackward0'")
        self.assertEqual(made, 120)

    def test_without_retain_graph(self):
        """The list retains 60 graphs, which retain no memory."""
        graph = self.example("graph", "s02_no_retain_graph")
        (group,) = graph["root_groups"]
        self.assertEqual((group["graphs"], group["nodes"]), (60, 484))
        self.assert_links(group["referrer"], ("global", "results"), ("index", "59"))
        self.assertEqual((graph["reachable_bytes"], group["reachable_bytes"], group["retained_bytes"]), (0, 0, 0))
        states = self.rows("s02_no_retain_graph", "SELECT DISTINCT state FROM nodes WHERE type = 'AddmmBackward0'")
        self.assertEqual(states, [("released",)])

    def test_at_most_two_iterations_are_retained(self):
        for name in ("s02_detached", "s02_no_retain_graph"):
            slices = self.example("graph", name)["growth"]["slices"]
            self.assertGreater(len(slices), 5)
            self.assertTrue(any(slice["reachable_bytes"] for slice in slices))
            for slice in slices:
                self.assertLessEqual(slice["reachable_bytes"], 16 * KIB)
            self.assertLessEqual(self.groups(name, "category", "end").get("saved for backward", 0), 8 * KIB)


class SecondBackward(RecordedTest):
    """y = (x + 1).sum() saves no tensor, so a second backward succeeds. z = (2 * (x * x)).sum() does, so it raises."""

    name = "s03_second_backward"

    def nodes_of(self, variable):
        """Returns the nodes of the graph that this variable retains, as printed by the command."""
        (group,) = (
            group
            for group in self.example("graph", self.name)["root_groups"]
            if group["referrer"]["links"][-1]["name"] == variable
        )
        (root,), found, open_ = group["roots"], {}, list(group["roots"])
        while open_:
            page = self.example("graph", self.name, "--node", open_.pop())
            found[page["node"]["id"]] = page
            open_ += [one["id"] for one in page["inputs"] if one["id"] not in found]
        self.assertEqual((found[root]["node"]["type"], group["reachable_bytes"]), ("SumBackward0", 0))
        self.assertEqual(len(found), group["nodes"])
        return list(found.values())

    def test_released_nodes(self):
        for variable, types, saved_by in (
            ("y", ["AccumulateGrad", "AddBackward0", "SumBackward0"], []),
            ("z", ["AccumulateGrad", "MulBackward0", "MulBackward0", "SumBackward0"], ["MulBackward0", "MulBackward0"]),
        ):
            with self.subTest(variable=variable):
                pages = self.nodes_of(variable)
                self.assertEqual(sorted(page["node"]["type"] for page in pages), types)
                self.assertEqual({page["node"]["state"] for page in pages}, {"released"})
                self.assertEqual([page["node"]["type"] for page in pages if page["saved"]], saved_by)
                self.assertFalse(any(tensor["is_retained"] for page in pages for tensor in page["saved"]))

    def test_saved_tensors(self):
        saved = sorted(
            (tensor["name"], tensor["bytes"], tensor["allocation"] and tensor["allocation"]["block_bytes"])
            for page in self.nodes_of("z")
            for tensor in page["saved"]
        )
        # x twice, and the number 2, which is in host memory.
        self.assertEqual(saved, [("other", 8, None), ("other", 16 * MIB, 16 * MIB), ("self", 16 * MIB, 16 * MIB)])

    def test_saved_tensors_are_retained_before_backward(self):
        (square, ran), _ = self.rows(
            self.name, "SELECT id, executed_time FROM nodes WHERE type = 'MulBackward0' ORDER BY id"
        )
        before = ("--at", f"time:{ran - 1}ns")
        self.assertEqual(self.example("graph", self.name, *before)["reachable_bytes"], 16 * MIB)
        page = self.example("graph", self.name, "--node", square, *before)
        self.assertEqual(page["node"]["state"], "never_executed")
        self.assertEqual([tensor["is_retained"] for tensor in page["saved"]], [True, True])

    def test_only_the_memory_of_grad_is_gradient(self):
        """AccumulateGrad copied its gradient, because an expanded tensor cannot become .grad."""
        self.assertEqual(self.groups(self.name, "category", "end")["gradient"], 16 * MIB)


class GigabyteTimesFive(RecordedTest):
    """x, y = 5 * x, and the gradients of both. The mean and the initial gradient of backward take 512 B each."""

    def test_two_gibibytes_are_temporary(self):
        self.assertEqual(
            self.groups("s04_gigabyte_times_five", "category", "peak"),
            {"input": GIB + 512, "output": GIB + 512, "temporary": 2 * GIB},
        )
        self.assertEqual(
            self.groups("s04_gigabyte_times_five", "category", "end"), {"input": GIB, "output": GIB, "gradient": GIB}
        )

    def test_operators_of_temporaries(self):
        for name in ("s04_gigabyte_times_five", "s04_retain_grad"):
            of_backward = {op: amount for op, amount in self.groups(name, "op", "peak").items() if "Backward0 > " in op}
            expected = {"MeanBackward0 > aten::div": GIB, "MulBackward0 > aten::mul": GIB}
            if name == "s04_retain_grad":
                expected["MulBackward0 > aten::clone"] = GIB
            self.assertEqual(of_backward, expected)
            page = self.example("top", name, "--by", "op", "--at", "peak")
            largest = {group["name"]: group["largest_allocation"] for group in page["groups"]}
            # The gradient of y is freed; the result of MulBackward0 becomes the gradient of x.
            mean = self.example("graph", name, "--alloc", largest["MeanBackward0 > aten::div"])
            self.assertIsNotNone(mean["free_time_ns"])
            self.assertEqual([one["category"] for one in mean["history"]], ["temporary"])
            mul = self.example("graph", name, "--alloc", largest["MulBackward0 > aten::mul"])
            self.assertIsNone(mul["free_time_ns"])
            self.assertEqual([one["category"] for one in mul["history"]], ["temporary", "gradient"])

    def test_the_retained_gradient(self):
        self.assertEqual(
            self.groups("s04_retain_grad", "category", "peak"),
            {"input": GIB + 512, "output": GIB + 512, "temporary": 2 * GIB, "gradient": GIB},
        )
        self.assertEqual(
            self.groups("s04_retain_grad", "category", "end"), {"input": GIB, "output": GIB, "gradient": 2 * GIB}
        )


class SixNames(RecordedTest):
    def referrers(self, name):
        """Returns the referrer groups of all tensors by retention path."""
        page = self.example("referrers", name, "--all", "--limit", "0")
        self.assertEqual({group["graph_nodes"] for group in page["groups"]}, {0})
        return {tuple((link["kind"], link["name"]) for link in group["links"]): group for group in page["groups"]}

    def test_six_variables_retain_six_tensors(self):
        live = self.rows("s07_six_names", "SELECT id, block_bytes FROM allocations WHERE free_event IS NULL")
        self.assertEqual([size for _, size in live], 6 * [64 * MIB])
        referrers = self.referrers("s07_six_names")
        self.assertEqual(set(referrers), {(("global", name),) for name in "abcdef"})
        for group in referrers.values():
            self.assertEqual(
                (group["tensors"], group["reachable_bytes"], group["retained_bytes"]), (1, 64 * MIB, 64 * MIB)
            )
        retained = sorted(allocation for group in referrers.values() for allocation in group["allocations"])
        self.assertEqual(retained, [allocation for allocation, _ in live])

    def test_one_variable_retains_one_tensor(self):
        live = self.rows("s07_one_name", "SELECT id, block_bytes FROM allocations WHERE free_event IS NULL")
        self.assertEqual([size for _, size in live], [64 * MIB])
        self.assertEqual(self.rows("s07_one_name", "SELECT count(*) FROM allocations"), [(6,)])
        ((links, group),) = self.referrers("s07_one_name").items()
        self.assertEqual((links, group["allocations"]), ((("global", "a"),), [live[0][0]]))


class OutOfMemory(RecordedTest):
    def test_the_list_is_the_referrer_at_the_error(self):
        page = self.example("referrers", "s09_list_until_out_of_memory", "--all", "--at", "scan:1")
        self.assertEqual([scan["reason"] for scan in page["scans"]], ["out of memory", "end"])
        (group,) = page["groups"]
        self.assertEqual((group["tensors"], group["reachable_bytes"]), (48, 6 * GIB))
        self.assert_links(group, ("global", "kept"), ("index", "47"))
        self.assertEqual((group["varying_link"], group["first_index"], group["last_index"]), (1, 0, 47))


class Validation(RecordedTest):
    def test_predictions_retain_their_graphs(self):
        graph = self.example("graph", "s10_validation_without_no_grad")
        (group,) = graph["root_groups"]
        self.assertEqual((group["type"], group["text"]), ("AddmmBackward0", "never backpropagated"))
        self.assertEqual((group["graphs"], len(group["roots"])), (20, 20))
        self.assert_links(group["referrer"], ("global", "predictions"), ("index", "19"))
        self.assertIn("list `predictions`", group["referrer"]["text"])
        # The images and two activations of each, 1 MiB; the weights of the second linear and of the head, once, because
        # nothing else retains the model. The first linear's weight is not saved because images need no gradient.
        expected = 20 * 3 * MIB + 4 * MIB + 40 * KIB
        self.assertEqual((graph["reachable_bytes"], group["retained_bytes"]), (expected, expected))
        states = self.rows("s10_validation_without_no_grad", "SELECT DISTINCT state, executed_time FROM nodes")
        self.assertEqual(states, [("waiting", None)])

    def test_no_grad_retains_only_the_outputs(self):
        graph = self.example("graph", "s10_no_grad")
        self.assertEqual((graph["alive_nodes"], graph["root_groups"], graph["reachable_bytes"]), (0, [], 0))
        self.assertEqual(self.rows("s10_no_grad", "SELECT count(*) FROM autograd_node"), [(0,)])
        (group,) = self.example("referrers", "s10_no_grad", "--all")["groups"]
        self.assertEqual((group["tensors"], group["graph_nodes"], group["reachable_bytes"]), (20, 0, 20 * 10 * KIB))
        self.assertEqual(self.groups("s10_no_grad", "category", "end")["output"], 20 * 10 * KIB)


class ThreeLinears(RecordedTest):
    """Weights of 4 MiB, 4 MiB and 4 KiB. From the second iteration on, their gradients exist as well."""

    name, weights = "s12_three_linears", 8 * MIB + 4 * KIB

    def test_composition_at_the_peak(self):
        # Saved: the input and the first output; the second output is already released. Temporary: the gradients of both
        # outputs, and the tensor that is about to be added to the second weight's gradient. Outputs: the loss, and
        # the 1 that backward() begins with.
        self.assertEqual(
            self.groups(self.name, "category", "peak"),
            {
                "workspace": 64 * MIB,
                "parameter": self.weights,
                "gradient": self.weights,
                "saved for backward": 8 * MIB,
                "temporary": 12 * MIB,
                "output": 1024,
            },
        )

    def test_the_second_iteration_begins_with_gradients(self):
        sums = self.rows(self.name, "SELECT created_time FROM nodes WHERE type = 'SumBackward0' ORDER BY 1")
        first, second = (self.groups(self.name, "category", f"time:{time}ns") for (time,) in sums[:2])
        self.assertNotIn("gradient", first)
        self.assertEqual(second["gradient"], self.weights)
        for same in ("parameter", "saved for backward"):
            self.assertEqual(first[same], second[same])
        self.assertEqual(second["saved for backward"], 12 * MIB)
        peak = self.example("top", self.name, "--at", "peak")["time_point"]["time_ns"]
        self.assertTrue(sums[1][0] < peak < sums[2][0])


class AdamsFirstStep(RecordedTest):
    name = "s13_adam_first_step"

    def test_state_is_twice_the_parameters(self):
        for at in ("peak", "end"):
            groups = self.groups(self.name, "category", at)
            self.assertEqual(groups["parameter"], 8 * MIB + 10 * KIB)
            self.assertEqual(groups["gradient"], groups["parameter"])
            self.assertEqual(groups["optimizer state"], 2 * groups["parameter"])

    def test_state_is_allocated_in_the_first_step(self):
        ((first,),) = self.rows(
            self.name,
            "SELECT min(alloc_event) FROM allocations JOIN allocation_category "
            "ON allocation = allocations.id WHERE category = 'optimizer state'",
        )
        before = self.groups(self.name, "category", f"event:{first}")
        self.assertNotIn("optimizer state", before)
        self.assertEqual(before["gradient"], 8 * MIB + 10 * KIB)
        ends = self.rows(self.name, "SELECT end_time FROM step WHERE end_time > 0 ORDER BY number")
        self.assertEqual(len(ends), 10)
        for (time,) in ends:
            state = self.groups(self.name, "category", f"time:{time}ns")["optimizer state"]
            self.assertEqual(state, 2 * (8 * MIB + 10 * KIB))

    def test_state_has_the_parameters_names(self):
        names = self.rows(
            self.name,
            "SELECT DISTINCT text FROM allocation_category JOIN string ON string.id = name "
            "WHERE category = 'optimizer state' ORDER BY 1",
        )
        parameters = ("0.bias", "0.weight", "2.bias", "2.weight")
        self.assertEqual(len(names), 8)
        for (text,), (state, parameter) in zip(names, ((s, p) for s in ("exp_avg", "exp_avg_sq") for p in parameters)):
            self.assertTrue(text.startswith(f"{state} of ") and text.endswith(parameter), text)


class LossBesideMemory(RecordedTest):
    name = "s14_loss_beside_memory"

    def test_marks_have_the_losses(self):
        losses = [value for (value,) in self.rows(self.name, "SELECT value FROM mark WHERE name = 'loss' ORDER BY id")]
        self.assertEqual(len(losses), 12)
        self.assertAlmostEqual(losses[0], 43430.629, places=2)
        # The loss is a sum, not a mean, so each step makes it at least 100 times larger.
        for before, after in zip(losses, losses[1:]):
            self.assertGreater(after, 100 * before)
        marks = self.rows(self.name, "SELECT name, value FROM mark WHERE name <> 'loss' ORDER BY id")
        self.assertEqual(marks, [("expanded", None), ("added", None), ("materialised", None)])

    def test_operators_of_broadcast_memory(self):
        full = 3 * KIB * 4 * KIB * 5 * 4
        at = {mark: self.groups(self.name, "op", f"mark:{mark}") for mark in ("expanded", "added", "materialised")}
        self.assertNotIn("aten::expand", at["materialised"])
        self.assertNotIn("aten::add", at["expanded"])
        self.assertNotIn("aten::contiguous", at["added"])
        self.assertEqual(at["added"], at["expanded"] | {"aten::add": full})
        self.assertEqual(at["materialised"], at["added"] | {"aten::contiguous": full})

    def test_expand_takes_no_memory(self):
        def referrer(name):
            groups = self.example("referrers", self.name, "--all")["groups"]
            return next(group for group in groups if group["links"][-1]["name"] == name)

        self.assertEqual(referrer("view")["allocations"], referrer("wide")["allocations"])
        self.assertEqual((referrer("view")["reachable_bytes"], referrer("view")["retained_bytes"]), (60 * KIB, 0))
        self.assertEqual(referrer("copy")["retained_bytes"], 240 * MIB)


class KindsOfTraining(RecordedTest):
    TRACES = {"gpt2": EXAMPLES / "gpt2.tide"} | {kind: RECORDED / f"{kind}.tide" for kind in ("resnet", "lstm", "gan")}

    def test_saved_bytes_match_the_counter(self):
        """The bytes must equal those that saved_tensors_hooks counted in a run with the same seed."""
        counted = json.loads((RECORDED / "saved_bytes.json").read_text())
        self.assertEqual(set(counted), set(self.TRACES))
        for kind, trace in self.TRACES.items():
            with self.subTest(kind=kind):
                ((saved,),) = sqlite3.connect(trace).execute("SELECT sum(bytes) FROM saved_tensor")
                self.assertEqual(saved, counted[kind])
                self.assertEqual(self.json_of("graph", trace)["nodes_left_out"], 0)

    def test_categories_at_the_peak(self):
        expected = {"parameter", "optimizer state", "saved for backward", "workspace"}
        for kind, trace in self.TRACES.items():
            with self.subTest(kind=kind):
                page = self.json_of("top", trace, "--by", "category", "--at", "peak", "--limit", "0")
                groups = {group["name"]: group["bytes"] for group in page["groups"]}
                self.assertEqual(sum(groups.values()), page["total"]["bytes"])
                self.assertLessEqual(expected, set(groups))
                self.assertNotIn("no graph recorded", groups)
                self.assertGreaterEqual(1 - groups.get("unknown", 0) / page["total"]["bytes"], 0.98)

    def test_nothing_is_retained_at_the_end(self):
        for kind, trace in self.TRACES.items():
            with self.subTest(kind=kind):
                graph = self.json_of("graph", trace)
                self.assertEqual((graph["alive_nodes"], graph["reachable_bytes"]), (0, 0))
                ((nodes,),) = sqlite3.connect(trace).execute("SELECT count(*) FROM autograd_node")
                self.assertGreater(nodes, 100)


if __name__ == "__main__":
    unittest.main()
