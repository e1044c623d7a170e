# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import csv
import io
import json
import signal
import subprocess
import time

from support import CANCELED, ENVIRONMENT, INPUT, TIDEMARK, USAGE, CommandTest, digest, generated_snapshot, run

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT "


class Query(CommandTest):
    def setUp(self):
        super().setUp()
        self.trace = self.imported_bytes(generated_snapshot(devices=2))

    def rows(self, sql, *options):
        return self.json_of("query", self.trace, sql, *options)["rows"]

    def test_formats(self):
        sql = "SELECT device, sum(block_bytes) AS bytes, 'a,b' AS text, NULL AS missing FROM allocations GROUP BY 1"
        self.assertEqual(
            self.run_fine("query", self.trace, sql),
            "device  bytes  text  missing\n     0   5120  a,b      NULL\n     1  10240  a,b      NULL\n",
        )
        page = self.json_of("query", self.trace, sql)
        self.assertEqual(page["columns"], ["device", "bytes", "text", "missing"])
        self.assertEqual(page["rows"], [[0, 5120, "a,b", None], [1, 10240, "a,b", None]])
        self.assertTrue(page["complete"])
        text = self.run_fine("query", self.trace, sql, "--format", "csv")
        self.assertEqual(list(csv.reader(io.StringIO(text)))[1], ["0", "5120", "a,b", ""])
        self.assertIn("'=1+1", self.run_fine("query", self.trace, "SELECT '=1+1' AS x", "--format", "csv"))

    def test_every_example_runs(self):
        examples = json.loads(self.run_fine("query", "--examples", "--format", "json"))
        self.assertEqual(len(examples), 10)
        text = self.run_fine("query", "--examples")
        for example in examples:
            self.assertIn(example["question"], text)
            self.run_fine("query", self.trace, example["sql"])
        self.assertEqual(self.rows(examples[3]["sql"])[0][2], 0)

    def test_tables(self):
        tables = {table["name"]: table for table in json.loads(self.run_fine("query", "--tables", "--format", "json"))}
        self.assertTrue(tables["allocations"]["is_view"])
        self.assertFalse(tables["allocation"]["is_view"])
        for name, table in tables.items():
            self.rows(f"SELECT {', '.join(table['columns'])} FROM {name}")
        self.assertIn("view live_at_peak", self.run_fine("query", "--tables"))

    def test_cut_rows_are_said(self):
        result = run("query", self.trace, ENDLESS + "x FROM c", "--limit", "3")
        self.assertEqual(result.stdout, "x\n1\n2\n3\n")
        self.assertIn("first 3 rows", result.stderr)
        self.assertEqual(len(self.rows("SELECT * FROM allocations", "--limit", "0")), 30)

    def test_wrong_sql(self):
        self.assertIn("Line 1, column 8", self.run_failing(USAGE, "query", self.trace, "SELECT x FROM meta"))
        self.assertIn("allocations", self.run_failing(USAGE, "query", self.trace, "SELECT * FROM x"))
        self.assertIn("--examples", self.run_failing(USAGE, "query", self.trace))
        before = digest(self.trace)
        for sql in ("DELETE FROM allocation", "ATTACH 'x' AS x", "PRAGMA writable_schema=on", "VACUUM INTO 'y'"):
            self.assertIn("only reads", self.run_failing(USAGE, "query", self.trace, sql, cwd=self.folder))
        self.assertEqual(digest(self.trace), before)
        self.assertNotIn("x", self.files())

    def test_unusable_files(self):
        other = self.folder / "other.tide"
        other.write_bytes(b"no trace")
        self.run_failing(INPUT, "query", other, "SELECT 1")
        self.run_failing(ENVIRONMENT, "query", self.folder / "missing.tide", "SELECT 1")

    def test_limits(self):
        self.assertIn(
            "limit of time",
            self.run_failing(USAGE, "query", self.trace, ENDLESS + "count(*) FROM c", "--timeout", "0.2"),
        )
        for wrong in ("0", "-1", "99999"):
            refusal = self.run_failing(USAGE, "query", self.trace, "SELECT 1", "--timeout", wrong)
            self.assertIn(f"{wrong} is not a number from 0.001 to 86400.", refusal)
        self.assertIn("16 MiB", self.run_failing(USAGE, "query", self.trace, "SELECT zeroblob(1000000000)"))

    def test_ctrl_c_cancels(self):
        command = subprocess.Popen(
            [TIDEMARK, "query", self.trace, ENDLESS + "count(*) FROM c"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        time.sleep(1)
        command.send_signal(signal.SIGINT)
        command.communicate(timeout=60)
        self.assertEqual(command.returncode, CANCELED)

    def test_hidden_characters_are_visible(self):
        for form in ("table", "csv", "json"):
            text = self.run_fine("query", self.trace, "SELECT char(27) || '[31m' || char(10) AS x", "--format", form)
            self.assertNotIn("\x1b", text)
