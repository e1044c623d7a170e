# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""`tidemark export --format parquet`. Needs pyarrow, and DuckDB for queries: TIDEMARK_TEST_PYTHON names a Python that
has them; without it, this Python is tried. TIDEMARK_UPDATE_DOCS=1 writes the results of queries into docs/FLEET.md."""

import collections
import fcntl
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest

from support import ENVIRONMENT, FINE, INPUT, USAGE, CommandTest, generated_snapshot, make_graph_trace, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "resources" / "examples"
RECORDED = ROOT / "tests" / "data" / "recorded"
FLEET = ROOT / "docs" / "FLEET.md"
PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
TABLES = ("runs", "sites", "steps", "findings", "breakdown", "allocations")

# Reads {"setup": SQL, "queries": [SQL...]}, prints a list of rows per query.
QUERIES = """
import duckdb, json, sys
asked = json.load(sys.stdin)
connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
for statement in asked["setup"]:
    connection.execute(statement)
def rows(sql):
    result = connection.execute(sql)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row)) for row in result.fetchall()]
print(json.dumps([rows(sql) for sql in asked["queries"]], default=str))
"""


def has(*modules):
    script = "import " + ", ".join(modules)
    return subprocess.run([PYTHON, "-c", script], capture_output=True).returncode == 0


HAS_PYARROW = has("pyarrow.parquet", "pyarrow.dataset")
needs_pyarrow = unittest.skipUnless(HAS_PYARROW, f"{PYTHON} has no pyarrow")
needs_duckdb = unittest.skipUnless(HAS_PYARROW and has("duckdb"), f"{PYTHON} has no pyarrow or no duckdb")


class ExportTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.fleet = self.folder / "fleet"
        self.use_python(f'exec "{PYTHON}" "$@"')

    def use_python(self, line):
        """Makes a script the python3 in PATH."""
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        script = programs / "python3"
        script.write_text(f"#!/bin/sh\n{line}\n")
        script.chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}")

    def export(self, *arguments, status=FINE, folder=None):
        result = run("export", "--format", "parquet", "-o", folder or self.fleet, *arguments, env=self.environment)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def export_failing(self, status, *arguments):
        return self.run_failing(
            status, "export", "--format", "parquet", "-o", self.fleet, *arguments, env=self.environment
        )

    def query(self, *queries, setup=()):
        views = [
            f"CREATE VIEW {table} AS FROM read_parquet('{self.fleet}/{table}/*/*.parquet', hive_partitioning = true)"
            for table in TABLES
        ]
        asked = json.dumps({"setup": list(setup) or views, "queries": queries})
        result = subprocess.run([PYTHON, "-c", QUERIES], input=asked, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def written(self):
        return sorted(path for path in self.fleet.rglob("*") if not path.is_dir())


@needs_duckdb
class Numbers(ExportTest):
    """The tables have the numbers of the other commands."""

    def traces(self):
        yield from (EXAMPLES / f"{name}.tide" for name in ("gpt2", "s01_list_of_cpu_outputs", "s13_adam_first_step"))
        yield from (RECORDED / f"{name}.tide" for name in ("eager", "expandable", "streams"))
        yield self.imported("adam_steps")
        yield make_graph_trace(self.folder / "graph.tide")
        yield self.imported_bytes(generated_snapshot(devices=2))

    def test_are_those_of_the_other_commands(self):
        traces = list(self.traces())
        self.export(*traces)
        rows = self.rows_by_trace_and_device()
        self.assertEqual({trace for trace, _ in rows}, {str(trace) for trace in traces})
        self.assertEqual(len(rows), len(traces) + 1)
        for (trace, device), tables in rows.items():
            with self.subTest(trace=trace, device=device):
                self.check_run(trace, device, tables)
                self.check_sums(trace, device, tables)
                self.check_breakdown(trace, device, tables)
                self.check_findings(trace, device, tables)
                self.check_steps(trace, device, tables)

    def rows_by_trace_and_device(self):
        found = self.query(*(f"FROM {table}" for table in TABLES))
        trace_of = {row["run"]: row["trace"] for row in found[0]}
        rows = collections.defaultdict(lambda: {table: [] for table in TABLES})
        for table, listed in zip(TABLES, found):
            for row in listed:
                rows[trace_of[row["run"]], row["device"]][table].append(row)
        return rows

    def check_run(self, trace, device, tables):
        (row,) = tables["runs"]
        stats = self.json_of("stats", trace, "--device", device)
        for column, key in (
            ("allocated", "allocated_bytes"),
            ("active", "active_bytes"),
            ("reserved", "reserved_bytes"),
        ):
            self.assertEqual(row[f"end_{column}_bytes"], stats[f"{key}.all.current"])
            self.assertEqual(row[f"peak_{column}_bytes"], stats[f"{key}.all.peak"], column)
        info = self.json_of("info", trace)
        about = next(about for about in info["devices"] if about["device"] == device)
        for column, value in (
            ("device_name", about["name"] or None),
            ("device_total_bytes", about["total_bytes"]),
            ("events", about["events"]),
            ("allocations", about["allocations"]),
            ("duration_ns", info["duration_ns"]),
            ("steps", info["steps"]),
            ("data_gaps", len([gap for gap in info["data_gaps"] if gap["device"] in (None, -1, device)])),
            ("clean_end", info["clean_end"]),
            ("process_id", info["processes"][0]["pid"] if info["processes"] else None),
        ):
            self.assertEqual(row[column], value, column)
        self.assertEqual(row["trend"], self.json_of("explain", trace, "--device", device)["run_trend"])

    def check_sums(self, trace, device, tables):
        def top(way, point):
            groups = self.json_of("top", trace, "--device", device, "--at", point, "--by", way, "--limit", 0)["groups"]
            return {group["name"]: (group["bytes"], group["allocations"]) for group in groups}

        def sums(rows, name, size, count=None):
            found = collections.defaultdict(lambda: (0, 0))
            for row in rows:
                total, number = found[name(row)]
                found[name(row)] = total + row[size], number + (row[count] if count else 1)
            return {name: sum for name, sum in found.items() if sum != (0, 0)}

        for point in ("peak", "end"):
            sites = (tables["sites"],), (f"{point}_bytes", f"{point}_allocations")
            active = [row for row in tables["allocations"] if row[f"at_{point}"]]
            self.assertEqual(sums(*sites[0], lambda row: row["site"], *sites[1]), top("line", point))
            self.assertEqual(sums(*sites[0], lambda row: row["module"] or "no module", *sites[1]), top("module", point))
            self.assertEqual(sums(active, lambda row: row["site"], "bytes"), top("line", point))
            self.assertEqual(sums(active, lambda row: row["op"] or "no operator", "bytes"), top("op", point))
            for row in active:
                row["category"] = row[f"category_at_{point}"] or "no graph recorded"
            self.assertEqual(sums(active, lambda row: row["category"], "bytes"), top("category", point))
        self.assertEqual(sum(row["allocations"] for row in tables["sites"]), tables["runs"][0]["allocations"])

    def check_breakdown(self, trace, device, tables):
        for point in ("peak", "end"):
            expected = self.json_of("breakdown", trace, "--device", device, "--at", point)
            self.assertEqual(
                [
                    (row["component"], row["name"] or "", row["bytes"], row["count"])
                    for row in tables["breakdown"]
                    if row["point"] == point
                ],
                [(part["component"], part["name"], part["bytes"], part["count"]) for part in expected["components"]],
            )

    def check_findings(self, trace, device, tables):
        expected = self.json_of("explain", trace, "--device", device)
        keys = "kind severity confidence title bytes per_iteration_bytes count since_ns since_iteration line referrer"
        for row, finding in zip(tables["findings"], expected["findings"]):
            for key in keys.split():
                self.assertEqual(row[key] or "", finding[key] or "", key)
            self.assertEqual(row["fix"], finding["fixes"][0]["text"] if finding["fixes"] else None)
            self.assertEqual(row["time_ns"], expected["time_point"]["time_ns"])
        self.assertEqual(len(tables["findings"]), len(expected["findings"]))

    def check_steps(self, trace, device, tables):
        before = None
        for row in tables["steps"][:8]:
            self.assertEqual(row["growth_bytes"], before and row["end_allocated_bytes"] - before)
            before = row["end_allocated_bytes"]
            if row["unit"] == "step":
                for point, column in (("", "end_allocated_bytes"), (":peak", "peak_allocated_bytes")):
                    stats = self.json_of("stats", trace, "--device", device, "--at", f"step:{row['step']}{point}")
                    self.assertEqual(row[column], stats["allocated_bytes.all.current"], (row["step"], column))

    def test_no_column_needs_quotes_in_sql(self):
        self.export(EXAMPLES / "s06_one_element.tide", "--label=commit=a")
        described = self.query(*(f"DESCRIBE {table}" for table in TABLES))
        names = [[column["column_name"] for column in columns] for columns in described]
        self.query(*(f"SELECT {', '.join(columns)} FROM {table}" for table, columns in zip(TABLES, names)))

    def test_all_allocations(self):
        self.export(EXAMPLES / "gpt2.tide", "--allocations", "all")
        (counted,), (run,) = self.query(
            "SELECT count(*) AS rows, count(DISTINCT allocation) AS ids, sum(at_peak::INT) AS at_peak FROM allocations",
            "SELECT allocations FROM runs",
        )
        self.assertEqual((counted["rows"], counted["ids"]), (run["allocations"], run["allocations"]))
        self.export(EXAMPLES / "gpt2.tide", "--force")
        ((alive,),) = self.query("SELECT count(*) AS rows, sum(at_peak::INT) AS at_peak FROM allocations")
        self.assertEqual(alive["at_peak"], counted["at_peak"])
        self.assertLess(alive["rows"], counted["rows"])


class Fleet(ExportTest):
    """Hundreds of traces, and the questions of docs/FLEET.md."""

    @staticmethod
    def program(job, build):
        if job == "evaluate":
            return "s10_no_grad" if build < 1046 else "s10_validation_without_no_grad"
        return {"finetune": "s01_list_of_cpu_outputs", "pretrain": "s14_loss_beside_memory"}[job]

    def export_fleet(self):
        for build in range(1041, 1051):
            for job in ("evaluate", "finetune", "pretrain"):
                traces = self.folder / "traces" / f"{job}-{build}"
                traces.mkdir(parents=True)
                for rank in range(10):
                    shutil.copy(EXAMPLES / f"{self.program(job, build)}.tide", traces / f"{job}{build}.rank{rank}.tide")
                labels = {"build": build, "commit": f"{build * 0x2F1A3:07x}", "job": job}
                self.export(*(f"--label={name}={value}" for name, value in labels.items()), traces)

    @needs_duckdb
    def test_answers_the_questions_of_a_platform_team(self):
        self.export_fleet()
        text = FLEET.read_text()
        setup, *queries = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
        results = self.query(*queries, setup=[part for part in setup.split(";") if part.strip()])
        tables = [markdown(rows) for rows in results]
        if os.environ.get("TIDEMARK_UPDATE_DOCS"):
            parts = iter(tables)
            text = re.sub(
                r"(```sql\n(?:WITH|SELECT)[^`]*```\n\n)(?:RESULT\n|(?:\|.*\n)+)",
                lambda found: found[1] + next(parts),
                text,
            )
            FLEET.write_text(text)
        for table in tables:
            self.assertIn(table, text)
        raised, lines, leaks, limits = results
        self.assertEqual([(row["job"], row["build"]) for row in raised], [("evaluate", "1046")])
        self.assertEqual(
            [(row["site"], row["before_mb"], row["peak_mb"]) for row in lines],
            [
                (f"s10_validation_without_no_grad.py:{line}", before, peak)
                for line, before, peak in self.lines_of_rise()
            ],
        )
        self.assertEqual({row["runs"] for row in leaks}, {100, 50})
        self.assertEqual(len(limits), 3)
        self.check_pyarrow()

    def lines_of_rise(self):
        def megabytes(name):
            groups = self.json_of("top", EXAMPLES / f"{name}.tide", "--by", "line", "--at", "peak")["groups"]
            return {group["name"].split(":")[1]: group["bytes"] / 1e6 for group in groups}

        before, peak = megabytes("s10_no_grad"), megabytes("s10_validation_without_no_grad")
        rises = sorted((before[line] - peak[line], line) for line in peak if peak[line] > before[line])
        return [(line, round(before[line], 1), round(peak[line], 1)) for _, line in rises]

    def check_pyarrow(self):
        script = (
            "import json, pyarrow.dataset, sys\n"
            "read = lambda table: pyarrow.dataset.dataset(f'{sys.argv[1]}/{table}', partitioning='hive').to_table()\n"
            "tables = {name: read(name) for name in sys.argv[2:]}\n"
            "counts = {name: [len(table), len(set(table['run'].to_pylist()))] for name, table in tables.items()}\n"
            "print(json.dumps(counts))"
        )
        result = subprocess.run([PYTHON, "-c", script, self.fleet, *TABLES], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = json.loads(result.stdout)
        in_duckdb = self.query(*(f"SELECT count(*), count(DISTINCT run) FROM {table}" for table in TABLES))
        self.assertEqual(counts["runs"], [300, 300])
        self.assertEqual([counts[table] for table in TABLES], [list(found.values()) for (found,) in in_duckdb])

    def test_the_guide_describes_every_column(self):
        described = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", FLEET.read_text(), re.MULTILINE)
        described = [name for cell in described for name in re.findall(r"`(\w+)`", cell)]
        sources = (ROOT / "storage" / "tables" / f"{table}_table.cpp" for table in TABLES)
        columns = [
            name for source in sources for name in re.findall(r'^    {"(\w+)", ', source.read_text(), re.MULTILINE)
        ]
        self.assertEqual(sorted(described), sorted(name for name in columns if name != "device"))


def cell(value):
    return str(value).replace("<", "&lt;")


def markdown(rows):
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(map(cell, row.values())) for row in rows)]
    return (
        "".join("| " + " | ".join(line) + " |\n" for line in lines)
        .replace("| --- |", "|---|")
        .replace(" --- |", "---|")
    )


class Errors(ExportTest):
    def test_a_python_without_pyarrow_is_told_what_to_install(self):
        self.use_python(f'exec "{sys.executable}" -S -I "$@"')
        message = self.export_failing(ENVIRONMENT, EXAMPLES / "gpt2.tide")
        self.assertIn("-m pip install pyarrow", message)
        self.assertFalse(self.fleet.exists())

    def test_no_python(self):
        self.environment["PATH"] = str(self.folder)
        self.assertIn("python3", self.export_failing(ENVIRONMENT, EXAMPLES / "gpt2.tide"))

    def test_labels_are_names_and_values(self):
        for label in ("commit", "=x", "my-label=x", "9=x", "Commit=x"):
            self.assertIn("NAME=VALUE", self.export_failing(USAGE, EXAMPLES / "gpt2.tide", f"--label={label}"))
        twice = ("--label=a=1", "--label=a=2")
        self.assertIn("was given before", self.export_failing(USAGE, EXAMPLES / "gpt2.tide", *twice))

    def test_a_folder_without_traces(self):
        self.assertIn("has no trace", self.export_failing(INPUT, self.folder))

    @needs_pyarrow
    def test_a_label_must_not_be_a_column(self):
        for name in ("run", "device", "peak_bytes"):
            message = self.export_failing(USAGE, EXAMPLES / "gpt2.tide", f"--label={name}=1")
            self.assertIn(f"--label {name}", message)

    @needs_pyarrow
    def test_other_traces_are_exported_if_one_is_unreadable(self):
        traces = self.folder / "traces"
        (traces / "job.tidejob").mkdir(parents=True)
        for name in ("a", "job.tidejob/b", "z"):
            shutil.copy(EXAMPLES / "s06_one_element.tide", traces / f"{name}.tide")
        content = (EXAMPLES / "gpt2.tide").read_bytes()
        (traces / "cut.tide").write_bytes(content[: len(content) // 2])
        (traces / "text.tide").write_text("no trace")
        (self.folder / "empty").mkdir()
        result = self.export(traces, self.folder / "empty", self.folder / "missing.tide", status=INPUT)
        for path in (traces / "cut.tide", traces / "text.tide", self.folder / "empty", self.folder / "missing.tide"):
            self.assertIn(str(path), result.stderr)
        self.assertIn("3 runs", result.stdout)
        self.assertEqual(len(self.written()), 3 * len(TABLES))

    @needs_pyarrow
    def test_a_run_is_replaced_only_with_force(self):
        trace = EXAMPLES / "s06_one_element.tide"
        self.export(trace)
        before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in self.written()}
        result = self.export(trace)
        self.assertIn("1 trace is in the dataset already", result.stderr)
        self.assertEqual(before, {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in self.written()})
        self.export(trace, "--force")
        self.assertEqual(list(before), self.written())
        self.assertNotEqual(before, {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in self.written()})

    @needs_pyarrow
    def test_runs_of_a_dataset_have_the_same_labels(self):
        self.export(EXAMPLES / "s06_one_element.tide", "--label=commit=a")
        for labels in ((), ("--label=job=x",), ("--label=commit=a", "--label=job=x")):
            message = self.export_failing(USAGE, EXAMPLES / "s07_one_name.tide", *labels)
            self.assertIn("have the labels commit", message)
        self.export(EXAMPLES / "s07_one_name.tide", "--label=commit=b")

    @needs_pyarrow
    def test_a_trace_that_is_being_recorded_is_left_out(self):
        trace = self.imported("streams")
        writer = sqlite3.connect(trace, isolation_level=None)
        self.addCleanup(writer.close)
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("UPDATE meta SET value='0' WHERE key='clean_end'")
        writer.execute("INSERT INTO meta VALUES('committed_time_ns', '1500000000')")
        with trace.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            result = self.export(trace)
        self.assertIn("1 trace is still being recorded", result.stderr)
        self.assertIn("0 runs", result.stdout)
        self.assertFalse(self.fleet.exists())

    @needs_pyarrow
    def test_a_failing_run_leaves_no_file(self):
        self.fleet.mkdir()
        (self.fleet / "breakdown").write_text("not a folder")
        message = self.export_failing(ENVIRONMENT, EXAMPLES / "s06_one_element.tide")
        self.assertIn(f"{self.fleet}/breakdown", message)
        self.assertEqual(self.written(), [self.fleet / "breakdown"])

    def test_a_python_that_dies_is_reported(self):
        for line in ("exit 0", """echo '{"columns": [], "labels": null}'"""):
            self.use_python(line)
            self.assertIn("ended before all was written", self.export_failing(ENVIRONMENT, EXAMPLES / "gpt2.tide"))

    @needs_pyarrow
    def test_text_in_traces_is_data(self):
        name = 'step"\n\\ \u2603 \u202e;{}'
        trace = self.imported_bytes(generated_snapshot(function=name))
        self.export(trace, "--label=note=a=b \u2603")
        script = (
            "import json, pyarrow.dataset as d, sys;"
            "print(json.dumps(d.dataset(sys.argv[1], partitioning='hive').to_table().to_pylist()))"
        )
        result = subprocess.run(
            [PYTHON, "-c", script, self.fleet / "sites"], capture_output=True, text=True, check=True
        )
        (site,) = json.loads(result.stdout)
        self.assertEqual((site["function"], site["note"]), (name, "a=b \u2603"))


if __name__ == "__main__":
    unittest.main()
