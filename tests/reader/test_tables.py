# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""tidemark.open(): the numbers are those of the command, and other packages take the tables. Needs only the standard
library; what pandas, polars, pyarrow and DuckDB read is tested with those that this Python has."""

import collections
import copy
import gc
import importlib.util
import json
import os
import pickle
import re
import subprocess
import sys
import threading
import traceback
import unittest

import tidemark
from support import EXAMPLES, RECORDED, ROOT, ReaderTest, command, json_of, rows_of

TABLES = ("devices", "events", "allocations", "sites", "steps")
POINTS = ("peak", "end")


def needs(*modules):
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    return unittest.skipIf(missing, f"{sys.executable} has no {', '.join(missing)}")


class Numbers(ReaderTest):
    """The tables have the numbers of the command."""

    def traces(self):
        yield from (EXAMPLES / f"{name}.tide" for name in ("gpt2", "s01_list_of_cpu_outputs"))
        yield from (RECORDED / f"{name}.tide" for name in ("eager", "expandable", "streams"))
        yield ROOT / "tests" / "data" / "traces" / "format-8.tide"
        yield self.imported("adam_steps")
        yield self.imported("cudagraph")

    def test_are_those_of_the_command(self):
        for trace in self.traces():
            run = tidemark.open(trace)
            for device in (row["device"] for row in rows_of(run.devices)):
                with self.subTest(trace=trace.name, device=device):
                    for point in POINTS:
                        self.check_stats(run, trace, point, device)
                        self.check_top(run, trace, point, device)
                        self.check_breakdown(run, trace, point, device)
                    self.check_events(run, trace, device)
                    self.check_findings(run, trace, device)

    def check_stats(self, run, trace, point, device):
        stats = json_of("stats", trace, "--at", point, "--device", device)
        active = rows_of(run.at(point, device).allocations)
        self.assertEqual(sum(row["bytes"] for row in active), stats["active_bytes.all.current"])
        self.assertEqual(len(active), stats["active.all.current"])
        allocated = [row for row in active if not row["pending_free"]]
        self.assertEqual(sum(row["bytes"] for row in allocated), stats["allocated_bytes.all.current"])

    def check_top(self, run, trace, point, device):
        for by in ("stack", "line", "module:1", "category"):
            expected = json_of("top", trace, "--at", point, "--device", device, "--by", by, "--limit", 0)["groups"]
            keys = ("name", "bytes", "allocations", "requested_bytes", "pending_bytes", "largest_allocation")
            found = [[row[key] for key in keys] for row in rows_of(run.top(point, by, device))]
            self.assertEqual(found, [[group[key] for key in keys] for group in expected], by)

    def check_breakdown(self, run, trace, point, device):
        expected = json_of("breakdown", trace, "--at", point, "--device", device)["components"]
        found = [
            (row["component"], row["name"] or "", row["bytes"], row["count"])
            for row in rows_of(run.at(point, device).breakdown)
        ]
        self.assertEqual(found, [(part["component"], part["name"], part["bytes"], part["count"]) for part in expected])
        both = [row for row in rows_of(run.breakdown(device=device)) if row["point"] == point]
        self.assertEqual([row["bytes"] for row in both], [row[2] for row in found])

    def check_events(self, run, trace, device):
        events = [row for row in rows_of(run.events) if row["device"] == device]
        self.assertEqual([row["event"] for row in events], list(range(1, len(events) + 1)))
        about = next(about for about in json_of("info", trace)["devices"] if about["device"] == device)
        self.assertEqual(len(events), about["events"])
        for row in (events[len(events) // 2], events[-1]):
            stats = json_of("stats", trace, "--at", f"event:{row['event']}", "--device", device)
            for name in ("allocated", "active", "reserved"):
                self.assertEqual(row[f"{name}_bytes"], stats[f"{name}_bytes.all.current"], (row, name))
        made = [row for row in events if row["action"] == "alloc"]
        allocations = {row["allocation"]: row for row in rows_of(run.allocations) if row["device"] == device}
        for row in made:
            self.assertEqual(row["bytes"], allocations[row["allocation"]]["bytes"])
            self.assertEqual(row["stack"], allocations[row["allocation"]]["stack"])

    def check_findings(self, run, trace, device):
        expected = json_of("explain", trace, "--device", device)["findings"]
        found = rows_of(run.findings(device))
        self.assertEqual([row["kind"] for row in found], [finding["kind"] for finding in expected])
        self.assertEqual([row["title"] for row in found], [finding["title"] for finding in expected])

    def test_gaps_of_another_device_do_not_count(self):
        run = tidemark.open(ROOT / "tests" / "data" / "traces" / "format-8.tide")
        self.assertEqual({row["device"]: row["data_gaps"] for row in rows_of(run.devices)}, {0: 1, 1: 0})

    def test_explanations_are_those_of_the_command(self):
        trace = EXAMPLES / "s01_list_of_cpu_outputs.tide"
        run = tidemark.open(trace)
        for form in ("text", "markdown", "html"):
            self.assertEqual(run.explain(form), command("explain", trace, "--format", form), form)
        self.assertIn(run.summary.splitlines()[0].split(":")[0], " ".join(run.explain().split()))
        self.assertEqual(json.loads(run.explain("json")), json_of("explain", trace))
        self.assertRaises(ValueError, run.explain, "pdf")

    def test_explanations_of_one_device_are_those_of_the_command(self):
        trace = ROOT / "tests" / "data" / "traces" / "format-8.tide"
        run = tidemark.open(trace)
        self.assertEqual(json.loads(run.explain("json")), json_of("explain", trace))
        self.assertIsInstance(json.loads(run.explain("json")), list)
        for device in (row["device"] for row in rows_of(run.devices)):
            self.assertEqual(
                json.loads(run.explain("json", device=device)), json_of("explain", trace, "--device", device)
            )
            self.assertEqual(run.explain(device=device), command("explain", trace, "--device", device))

    def test_differences_are_those_of_the_command(self):
        a, b = (EXAMPLES / f"{name}.tide" for name in ("s10_no_grad", "s10_validation_without_no_grad"))
        expected = json_of("diff", a, b, "--by", "line", "--limit", 0)["rows"]
        found = rows_of(tidemark.open(a).diff(tidemark.open(b), by="line"))
        self.assertEqual([row["name"] for row in found], [group["name"] for group in expected])
        self.assertEqual(
            [(row["a_bytes"], row["b_bytes"]) for row in found],
            [(group["a"]["bytes"], group["b"]["bytes"]) for group in expected],
        )
        one = tidemark.open(b)
        self.assertEqual(
            sum(row["difference_bytes"] for row in rows_of(one.diff(at="peak", other_at="end"))),
            sum(row["bytes"] for row in rows_of(one.at("end").allocations))
            - sum(row["bytes"] for row in rows_of(one.at("peak").allocations)),
        )

    def test_the_guide_describes_every_column(self):
        guide = (ROOT / "docs" / "PYTHON.md").read_text()
        described = set(re.findall(r"`(\w+)`", guide))
        run = tidemark.open(EXAMPLES / "gpt2.tide")
        for table in (run.events, run.at("peak").allocations, run.top(), run.diff(other_at="end")):
            self.assertLessEqual(set(table.schema), described)


class Packages(ReaderTest):
    """Other packages read the same values, without a copy of ours."""

    def setUp(self):
        super().setUp()
        self.run_ = tidemark.open(EXAMPLES / "gpt2.tide")
        self.rows = rows_of(self.run_.allocations)
        self.bytes_by_op = collections.Counter()
        for row in self.rows:
            self.bytes_by_op[row["op"]] += row["bytes"]

    @needs("pyarrow")
    def test_pyarrow(self):
        import pyarrow

        for table in (getattr(self.run_, name) for name in TABLES):
            arrow = pyarrow.table(table)
            arrow.validate(full=True)
            self.assertEqual(arrow.num_rows, len(table))
            self.assertEqual(arrow.column_names, list(table.schema))
        self.assertEqual(pyarrow.table(self.run_.allocations).to_pylist(), self.rows)

    @needs("pyarrow", "pandas")
    def test_pandas(self):
        frame = self.run_.allocations.to_pandas()
        found = frame.groupby("op", dropna=False, observed=True)["bytes"].sum()
        self.assertEqual(sorted(found), sorted(self.bytes_by_op.values()))

    @needs("pyarrow", "pandas")
    def test_notebooks_show_the_first_rows(self):
        shown = self.run_.events._repr_html_()
        self.assertEqual(shown.count("<tr"), 11)
        self.assertIn("segment_alloc", shown)
        self.assertIn(f"{len(self.run_.events)} rows of device, event", shown)

    @needs("polars")
    def test_polars(self):
        import polars

        frame = polars.DataFrame(self.run_.allocations)
        found = frame.group_by("op").agg(polars.col("bytes").sum())
        self.assertEqual(sorted(found["bytes"]), sorted(self.bytes_by_op.values()))

    @needs("duckdb", "pyarrow")
    def test_duckdb(self):
        import duckdb
        import pyarrow

        allocations = pyarrow.table(self.run_.allocations)
        found = duckdb.sql("SELECT sum(bytes)::BIGINT FROM allocations GROUP BY op").fetchall()
        self.assertEqual(allocations.num_rows, len(self.rows))
        self.assertEqual(sorted(value for (value,) in found), sorted(self.bytes_by_op.values()))


class Objects(ReaderTest):
    def test_the_import_is_light(self):
        script = (
            "import sys; before = set(sys.modules); import tidemark;"
            "print(' '.join({name.split('.')[0] for name in set(sys.modules) - before}))"
        )
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        heavy = "numpy torch pandas polars pyarrow duckdb IPython subprocess asyncio argparse sqlite3"
        self.assertEqual(set(heavy.split()) & set(result.stdout.split()), set())

    def test_rows_outlive_the_table_and_the_run(self):
        run = tidemark.open(RECORDED / "eager.tide")
        expected = rows_of(run.sites)
        capsule_of = run.sites.__arrow_c_stream__

        class Kept:
            @staticmethod
            def __arrow_c_stream__():
                return capsule

        capsule = capsule_of()
        del run, capsule_of
        gc.collect()
        self.assertEqual(rows_of(Kept), expected)

    def test_copies_and_pickles_of_a_run_open_it_again(self):
        run = tidemark.open(os.path.relpath(RECORDED / "eager.tide"))
        expected, bytes_of = run.summary, pickle.dumps(run)
        state = pickle.loads(pickle.dumps(run.at("event:5")))
        copies = [copy.copy(run), copy.deepcopy(run)]
        del run
        gc.collect()
        for copied in copies:
            self.assertEqual(copied.summary, expected)
        self.assertTrue(state.text.startswith("event 5 of "), state.text)
        script = "import pickle, sys; print(pickle.load(sys.stdin.buffer).summary)"
        result = subprocess.run([sys.executable, "-c", script], input=bytes_of, capture_output=True, cwd=self.folder)
        self.assertEqual((result.returncode, result.stdout.decode()), (0, expected + "\n"), result.stderr)

    def test_tables_refuse_copies_and_pickles(self):
        table = tidemark.open(RECORDED / "eager.tide").allocations
        for refused in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.assertRaisesRegex(TypeError, "cannot be copied or pickled"):
                refused(table)

    def test_streams_that_nobody_takes_are_deleted(self):
        table = tidemark.open(RECORDED / "eager.tide").allocations

        def pages():
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1])

        for _ in range(1000):
            table.__arrow_c_stream__()
        before = pages()
        for _ in range(100_000):
            table.__arrow_c_stream__()
        self.assertLess(pages() - before, 1000)  # each has more than 100 bytes

    def test_threads_share_a_run(self):
        run = tidemark.open(EXAMPLES / "gpt2.tide")
        found = []

        def read():
            found.append((run.summary, len(run.findings()), len(run.at("peak").allocations), len(run.events)))

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 8)
        self.assertEqual(len(set(found)), 1)

    def test_schemas_and_lengths(self):
        run = tidemark.open(RECORDED / "eager.tide")
        for table in (getattr(run, name) for name in TABLES):
            rows = rows_of(table)
            self.assertEqual(len(rows), len(table))
            self.assertEqual(list(rows[0]), list(table.schema))
            self.assertLessEqual(set(table.schema.values()), {"bool", "int32", "int64", "timestamp", "string"})
            self.assertIn(f"{len(table)} rows", repr(table))

    def test_states_say_when(self):
        state = tidemark.open(EXAMPLES / "gpt2.tide").at("event:100")
        self.assertTrue(state.text.startswith("event 100 of "), state.text)
        self.assertGreater(len(state.top("line")), 0)

    def test_wrong_types_are_named(self):
        run = tidemark.open(RECORDED / "eager.tide")
        for call, words in (
            (lambda: run.at(5), "5 is not text"),
            (lambda: run.diff(at=5), "5 is not text"),
            (lambda: run.top(at=5), "5 is not text"),
            (lambda: run.diff("before.tide"), r"tidemark\.open\('before\.tide'\)"),
        ):
            self.assertRaisesRegex(TypeError, words, call)

    def test_errors_are_sentences(self):
        text = self.folder / "text.tide"
        text.write_text("no trace")
        run = tidemark.open(RECORDED / "eager.tide")
        for call, words in (
            (lambda: tidemark.open(self.folder / "none.tide"), "cannot be opened"),
            (lambda: tidemark.open(text), "is not a Tidemark trace"),
            (lambda: run.at("mark:none"), "none"),
            (lambda: run.at("peak", device=7), "no device 7"),
            (lambda: run.top(by="color"), '"color" is not a way to group memory'),
            (lambda: run.explain(device=7), "no device 7"),
            (lambda: tidemark.open(self.imported("adam_steps")).at("step:3"), "tidemark diff --steps"),
        ):
            with self.assertRaises(tidemark.TraceError) as raised:
                call()
            self.assertIn(words, str(raised.exception))
        self.assertEqual(traceback.format_exception_only(raised.exception)[0][:20], "tidemark.TraceError:")


if __name__ == "__main__":
    unittest.main()
