# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import gzip
import lzma
import os
import pickle
import pty
import shutil
import signal
import sqlite3
import subprocess

from support import CANCELED, FINE, INPUT, TIDEMARK, USAGE, CommandTest, digest, run, snapshot


def large_snapshot(events):
    frames = [{"name": "step", "filename": "train.py", "line": 3}]
    trace = []
    for i in range(events // 3):
        common = {"addr": 4096 + 512 * i, "size": 512, "stream": 0, "time_us": 1000 + i}
        trace += [{"action": a, **common, "frames": frames} for a in ("alloc", "free_requested", "free_completed")]
    segment = {"action": "segment_alloc", "addr": 4096, "size": 1 << 30, "stream": 0, "time_us": 999, "frames": frames}
    return pickle.dumps({"segments": [], "device_traces": [[segment] + trace]}, protocol=4)


class Import(CommandTest):
    def test_reports_the_written_file_in_one_line(self):
        text = self.run_fine("import", snapshot("adam_steps"), "-o", self.folder / "out.tide")
        self.assertEqual(len(text.splitlines()), 1)
        self.assertIn("out.tide: 351 events", text)
        self.assertIn("1 device", text)
        self.assertIn("peak", text)
        self.assertEqual(self.files(), ["out.tide"])

    def test_damaged_values_are_a_data_gap(self):
        content = pickle.loads(large_snapshot(30))
        content["device_traces"][0][1]["stream"] = "main"
        content["device_traces"][0][2]["time_us"] = None
        trace = self.imported_bytes(pickle.dumps(content, protocol=4))
        self.assertIn(
            "2 values of the snapshot are damaged and were left out (event.stream, event.time_us)",
            " ".join(self.run_fine("info", trace).split()),
        )
        self.assertIn("快照中有 2 个值已损坏", self.run_fine("--language", "zh_CN", "info", trace))

    def test_absurd_times_do_not_stretch_the_trace(self):
        content = pickle.loads(large_snapshot(30))
        for event in content["device_traces"][0]:
            event["time_us"] += 1_763_800_000_000_000
        content["device_traces"][0][0]["time_us"] = 0
        info = self.run_fine("info", self.imported_bytes(pickle.dumps(content, protocol=4)))
        self.assertIn("1 event has no time, or a time years from that of the others", " ".join(info.split()))
        self.assertIn("for 9.00 µs", info)

    def test_sqlite_snapshots_are_named(self):
        path = self.folder / "run.db"
        with sqlite3.connect(path) as database:
            for table in ("segments", "blocks", "device_traces"):
                database.execute(f"CREATE TABLE {table} (id INTEGER)")
        message = self.run_failing(INPUT, "import", path)
        self.assertIn("PyTorch memory snapshot as an SQLite database", message)
        self.assertIn("_dump_snapshot", message)

    def test_every_view_returns_rows(self):
        with sqlite3.connect(self.imported("adam_steps")) as database:
            views = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
            self.assertIn("allocations", views)
            for view in views:
                with self.subTest(view=view):
                    database.execute(f"SELECT * FROM {view}").fetchall()

    def test_names_the_trace_after_the_snapshot(self):
        data = snapshot("s1_plain").read_bytes()
        for name, content in (
            ("plain.pickle", data),
            ("short.pkl", data),
            ("zip.pickle.gz", gzip.compress(data)),
            ("tight.pkl.xz", lzma.compress(data)),
            ("other.bin", data),
        ):
            (self.folder / name).write_bytes(content)
            self.run_fine("import", self.folder / name)
        for name in ("plain.tide", "short.tide", "zip.tide", "tight.tide", "other.bin.tide"):
            self.assertIn(name, self.files())

    def test_several_snapshots_at_once(self):
        for name in ("s1_plain", "s2_oom_list"):
            shutil.copy(snapshot(name), self.folder)
        text = self.run_fine("import", *sorted(self.folder.glob("*.pickle")))
        self.assertEqual(len(text.splitlines()), 2)
        self.assertIn("s2_oom_list.tide", self.files())
        self.run_failing(USAGE, "import", *sorted(self.folder.glob("*.pickle")), "-o", self.folder / "one.tide")

    def test_one_bad_snapshot_does_not_stop_the_others(self):
        (self.folder / "a.pickle").write_text("not a pickle")
        shutil.copy(snapshot("s1_plain"), self.folder / "b.pickle")
        result = run("import", self.folder / "a.pickle", self.folder / "b.pickle")
        self.assertEqual(result.returncode, 3)
        self.assertIn("a.pickle", result.stderr)
        self.assertEqual(self.files(), ["a.pickle", "b.pickle", "b.tide"])

    def test_replaces_traces_only_with_force_and_never_other_files(self):
        trace = self.imported("s1_plain")
        before = digest(trace)
        self.assertIn("--force", self.run_failing(USAGE, "import", snapshot("adam_steps"), "-o", trace))
        self.assertEqual(digest(trace), before)
        self.run_fine("import", snapshot("adam_steps"), "-o", trace, "--force")
        self.assertNotEqual(digest(trace), before)
        letter = self.folder / "letter.txt"
        letter.write_text("dear anna")
        for force in ([], ["--force"]):
            self.run_failing(USAGE, "import", snapshot("adam_steps"), "-o", letter, *force)
        self.assertEqual(letter.read_text(), "dear anna")

    def test_keeps_the_snapshot_and_shows_no_progress_without_a_terminal(self):
        copy = self.folder / "run.pickle"
        shutil.copy(snapshot("gpt_ring"), copy)
        before = digest(copy)
        result = run("import", copy)
        self.assertEqual((result.returncode, result.stderr), (FINE, ""))
        self.assertEqual(digest(copy), before)

    def on_terminal(self, *arguments, when_seen=None):
        """Runs with stderr on a terminal. Calls `when_seen(process)` when the progress bar appears."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be made here: {error}")
        process = subprocess.Popen([TIDEMARK, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        seen = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            if when_seen and b"%" in data:
                when_seen(process)
                when_seen = None
            seen += data
        os.close(ours)
        return process.wait(60), seen

    def test_progress_on_a_terminal_is_erased_at_the_end(self):
        status, seen = self.on_terminal("import", snapshot("s0_graph_leak"), "-o", self.folder / "out.tide")
        self.assertEqual(status, FINE)
        self.assertIn(b"%", seen)
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen[-40:])

    def test_canceling_leaves_no_file(self):
        big = self.folder / "big.pickle"
        big.write_bytes(large_snapshot(600_000))
        for number in (signal.SIGINT, signal.SIGTERM):
            status, _ = self.on_terminal(
                "import", big, when_seen=lambda process, number=number: process.send_signal(number)
            )
            self.assertEqual(status, CANCELED)
            self.assertEqual(self.files(), ["big.pickle"])

    def test_help_has_an_example_and_the_exit_statuses(self):
        for command in ("import", "record", "info", "stats", "top", "render", "share"):
            text = self.run_fine(command, "--help")
            self.assertIn(f"tidemark {command} ", text.split("Example:")[1])
            self.assertIn("130 canceled", text)
        self.assertIn("import", self.run_fine("--help"))
        self.assertRegex(self.run_fine("--version"), r"^tidemark \d+\.\d+\.\d+ \(trace format \d+\)\n$")

    def test_wrong_usage(self):
        self.run_failing(USAGE)
        self.run_failing(USAGE, "improt")
        self.run_failing(USAGE, "import")
        self.run_failing(USAGE, "import", "x.pickle", "--fast")
