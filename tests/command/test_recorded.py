# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Runs that Tidemark recorded on an H200: every counter at every mark must equal torch.cuda.memory_stats()."""

import json
import lzma
import os
import pathlib
import sqlite3
import unittest

from support import CommandTest

RECORDED = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]) / "recorded"
EXAMPLES = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]).parent.parent / "resources" / "examples"

# Events do not contain the number of synchronizations of all streams.
NOT_REPORTED = {"num_sync_all_streams"}


class Counters(CommandTest):
    def test_all_counters_at_all_marks(self):
        truth = json.loads(lzma.decompress((RECORDED / "counters.json.xz").read_bytes()))
        self.assertEqual(set(truth), {"eager", "amp", "shapes", "streams", "graphs", "expandable"})
        for program, marks in truth.items():
            self.assertEqual(len(marks), 50)
            for mark in marks[::7] + marks[-1:]:
                with self.subTest(program=program, mark=mark["mark"]):
                    seen = self.json_of("stats", RECORDED / f"{program}.tide", "--at", f"mark:{mark['mark']}")
                    expected = {key: value for key, value in mark["stats"].items() if key not in NOT_REPORTED}
                    self.assertEqual({key: seen[key] for key in expected}, expected)


class Breakdowns(CommandTest):
    """The components add up to NVML's figure, and the unknown part is small."""

    def test_examples_add_up(self):
        traces = sorted(EXAMPLES.glob("*.tide")) + sorted(RECORDED.glob("*.tide"))
        self.assertGreaterEqual(len(traces), 13)
        for trace in traces:
            for at in ("peak", "end"):
                with self.subTest(trace=trace.name, at=at):
                    breakdown = self.json_of("breakdown", trace, "--at", at)
                    used = breakdown["device_used_bytes"]
                    if used is None:
                        self.assertEqual(at, "peak", "NVML had not answered yet")
                        continue
                    self.assertEqual(sum(layer["bytes"] for layer in breakdown["components"]), used)
                    # Kernels appear in NVML's figure before their size is known: up to 100 MiB are unknown until the
                    # next sample that is taken while no kernel runs.
                    allowed = max(50 << 20, used // 50) if at == "end" else 100 << 20
                    unknown = sum(row["bytes"] for row in breakdown["components"] if row["component"] == "unknown")
                    self.assertLessEqual(abs(unknown), allowed)

    def test_one_element_takes_hundreds_of_mebibytes(self):
        layers = {
            layer["component"]: layer["bytes"]
            for layer in self.json_of("breakdown", EXAMPLES / "s06_one_element.tide")["components"]
        }
        self.assertEqual(layers["requested"], 4)
        self.assertEqual(layers["rounding"], 508)
        self.assertEqual(layers["free_in_segments"], (2 << 20) - 512)
        self.assertGreater(layers["context"], 300 << 20)


class Attribution(CommandTest):
    def test_every_byte_has_a_line_of_the_program(self):
        for trace in sorted(EXAMPLES.glob("*.tide")):
            with self.subTest(trace=trace.name):
                rows = (
                    sqlite3.connect(trace)
                    .execute(
                        "SELECT count(*), sum(EXISTS(SELECT 1 FROM stacks WHERE stacks.id = allocation.stack AND "
                        "file LIKE '%/demo/%')) FROM allocation"
                    )
                    .fetchone()
                )
                self.assertEqual(rows[0], rows[1])

    def test_large_allocations_have_their_operator(self):
        rows = (
            sqlite3.connect(EXAMPLES / "s04_gigabyte_times_five.tide")
            .execute(
                "SELECT op.text FROM allocation JOIN origin ON origin.id = allocation.origin "
                "JOIN string op ON op.id = origin.op WHERE requested >= 1 << 30 ORDER BY allocation.id"
            )
            .fetchall()
        )
        self.assertEqual(
            [op.split(" ")[0] for (op,) in rows], ["aten::randn", "aten::mul", "MeanBackward0", "MulBackward0"]
        )

    def test_out_of_memory_is_in_the_trace(self):
        trace = sqlite3.connect(EXAMPLES / "s09_list_until_out_of_memory.tide")
        ((asked, free),) = trace.execute("SELECT size, address FROM event WHERE action = 'oom'").fetchall()
        self.assertEqual(asked, 128 << 20)
        self.assertGreater(free, 100 << 30)  # the limit was the process's own
        self.assertEqual(trace.execute("SELECT count(*) FROM sample WHERE source LIKE '%oom%'").fetchone()[0] > 0, True)
        self.assertIn("OutOfMemoryError", trace.execute("SELECT how_ended FROM process").fetchone()[0])

    def test_steps_of_adam(self):
        rows = (
            sqlite3.connect(EXAMPLES / "s13_adam_first_step.tide").execute("SELECT number, source FROM step").fetchall()
        )
        self.assertEqual(rows, [(number, "optimizer") for number in range(10)])


if __name__ == "__main__":
    unittest.main()
