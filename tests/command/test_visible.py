# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Texts of traces and names of files cannot control the terminal, add lines or change the direction of text."""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import unicodedata
import unittest

from support import (
    ENVIRONMENT,
    FINE,
    INPUT,
    TIDEMARK,
    CommandTest,
    generated_snapshot,
    make_graph_trace,
    run,
    snapshot,
)

EVIL = "a\x1b]0;title\x07\x9b31m\u202egpj.\u2066\u200f\nsecond\r\tline\x7f<b>`|"
SHOWN = r"a\x1b]0;title\x07\u009b31m\u202egpj.\u2066\u200f\nsecond\r\tline\x7f<b>`|"
TEXT = (["explain"], ["info"], ["stats"], ["top"], ["top", "--by", "annotation"], ["breakdown"])
GRAPH = (["explain"], ["graph"], ["graph", "--root", "1"], ["referrers"], ["top", "--by", "category"], ["info"])


def hidden(text):
    """Returns the characters that must not be printed."""
    return {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}


class HostileTexts(CommandTest):
    def setUp(self):
        super().setUp()
        self.trace = self.imported_bytes(generated_snapshot(function=EVIL))
        with sqlite3.connect(self.trace) as database:
            for column in ("device.name", "process.command_line"):
                table, name = column.split(".")
                database.execute(f"UPDATE {table} SET {name} = ?", (EVIL,))
            database.execute("INSERT INTO meta VALUES ('setting.a\x1b[1mb', ?)", (json.dumps(EVIL),))
            database.execute("UPDATE meta SET value = ? WHERE key = 'source'", (EVIL,))
            database.execute("INSERT INTO mark(id, name, time) VALUES (1, ?, 5)", (EVIL,))
            database.execute(
                "INSERT INTO annotation(id, name, kind, device, start_time, end_time) VALUES (1, ?, 'user', 0, 0, 99)",
                (EVIL,),
            )
            database.execute(
                "INSERT INTO data_gap(kind, device, time, count, bytes, reason, text) "
                "VALUES ('not_recorded', -1, 0, 1, 0, '', ?)",
                (EVIL,),
            )

    def test_text(self):
        for command in TEXT:
            with self.subTest(command=command):
                text = self.run_fine(command[0], self.trace, *command[1:])
                self.assertEqual(hidden(text), set())
                self.assertNotIn("\nsecond", text)
        self.assertIn(SHOWN, self.run_fine("info", self.trace))

    def test_json(self):
        for command in TEXT:
            with self.subTest(command=command):
                text = self.run_fine(command[0], self.trace, *command[1:], "--format", "json")
                self.assertEqual(hidden(text), set())
                json.loads(text)
        stacks = json.dumps(self.json_of("top", self.trace))
        self.assertIn(json.dumps(EVIL)[1:-1], stacks)

    def test_reports(self):
        for kind in ("markdown", "html"):
            text = self.run_fine("explain", self.trace, "--format", kind)
            self.assertEqual(hidden(text), set())
            self.assertNotIn("<b>`", text)
            self.assertNotIn("\nsecond", text)

    def test_chinese(self):
        text = self.run_fine("--language", "zh_CN", "info", self.trace)
        self.assertEqual(hidden(text), set())
        self.assertIn(SHOWN, text)


class HostileGraph(CommandTest):
    """A recording in which every text is hostile."""

    def test_commands(self):
        trace = make_graph_trace(self.folder / "graph.tide")
        with sqlite3.connect(trace) as database:
            database.execute("UPDATE string SET text = ? || id", (EVIL,))
            database.execute("UPDATE mark SET name = ?", (EVIL,))
        for command in GRAPH:
            for form in ("text", "json"):
                with self.subTest(command=command, format=form):
                    text = self.run_fine(command[0], trace, *command[1:], "--format", form)
                    self.assertEqual(hidden(text), set())
                    self.assertNotIn("\nsecond", text)
        self.assertEqual(hidden(self.run_fine("graph", trace, "--format", "dot")), set())


class HostileNames(CommandTest):
    def test_in_errors(self):
        for name in (EVIL.replace("/", ""), "a\u202eedit.tide"):
            path = self.folder / name
            for command in ("info", "import", "explain"):
                message = self.run_failing(ENVIRONMENT, command, path)
                self.assertEqual(hidden(message), set())
                self.assertEqual(message.count("\n"), 1)
            path.write_text("no trace")
            message = self.run_failing(INPUT, "info", path)
            self.assertEqual(hidden(message), set())
            self.assertEqual(message.count("\n"), 1)

    def test_in_usage_errors(self):
        completed = run("info", "a", "b\x1b[2J\u202e\nc", "--x\x9b=1")
        self.assertEqual(hidden(completed.stderr), set())
        self.assertEqual(completed.stderr.count("\n"), 2)

    def test_bytes_that_are_not_utf_8(self):
        """A file with such a name is found, and its name is shown with escapes."""
        folder = os.fsencode(self.folder)
        source, trace, shared = (os.path.join(folder, name) for name in (b"\xff.pickle", b"\xff.tide", b"\xfe.tide"))
        pathlib.Path(os.fsdecode(source)).write_bytes(snapshot("s1_plain").read_bytes())

        def completed(*arguments):
            done = subprocess.run([os.fsencode(TIDEMARK), *arguments], capture_output=True, timeout=300)
            self.assertEqual(done.returncode, FINE, done.stderr)
            return done.stdout.decode()  # raises if it is not UTF-8

        self.assertIn(r"\xff.tide", completed(b"import", source))
        self.assertEqual(sorted(os.listdir(folder)), [b"\xff.pickle", b"\xff.tide"])
        self.assertIn(r"\xff.tide", completed(b"info", trace))
        self.assertIn(r"\xfe.tide", completed(b"share", trace, b"-o", shared))
        json.loads(completed(b"info", trace, b"--format", b"json"))
        completed(b"explain", trace, b"--format", b"html", b"-o", os.path.join(folder, b"\xff.html"))
        self.assertIn(b"\xff.html", os.listdir(folder))

    def test_of_a_program(self):
        completed = run("record", "-o", self.folder / "run.tide", "--", "no\x1b[2J\nprogram")
        self.assertEqual(hidden(completed.stderr), set())
        self.assertIn(r"no\x1b[2J\nprogram", completed.stderr)


class MessagesOfSqlite(CommandTest):
    def test_are_one_line(self):
        trace = self.imported("s0_graph_leak")
        content = bytearray(trace.read_bytes())
        page = int.from_bytes(content[16:18], "big")
        seen = set()
        for at in range(page, len(content), page):
            content[at : at + page], kept = b"\xff" * page, content[at : at + page]
            trace.write_bytes(content)
            content[at : at + page] = kept
            completed = run("info", trace)
            if completed.returncode == INPUT:
                seen.add(re.sub(r"\d+", "N", completed.stderr))
                self.assertEqual(completed.stderr.count("\n"), 1, completed.stderr)
                self.assertIn(str(trace), completed.stderr)
        self.assertTrue(seen)


if __name__ == "__main__":
    unittest.main()
