# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Traces whose recorder was killed or is still running."""

import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest

from support import CommandTest, run

# Leaves a trace like a killed recorder: in WAL mode, with the last rows only in the log.
KILLED = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA journal_mode=WAL")
database.execute("PRAGMA wal_autocheckpoint=0")
database.execute("DELETE FROM allocation_chunk")
database.execute("UPDATE meta SET value='0' WHERE key='clean_end'")
database.execute("INSERT INTO mark VALUES(99, 'only in the log', 0, NULL)")
os.kill(os.getpid(), 9)
"""


class Unfinished(CommandTest):
    def killed(self):
        trace = self.imported("streams")
        before = self.json_of("stats", trace)
        self.assertEqual(subprocess.run([sys.executable, "-c", KILLED, trace]).returncode, -signal.SIGKILL)
        self.assertIn("streams.tide-wal", self.files())
        return trace, before

    def test_a_killed_recorders_trace_opens_with_its_log(self):
        trace, before = self.killed()
        (self.folder / "streams.tide-shm").unlink(missing_ok=True)
        files = self.files()
        info = self.json_of("info", trace, "--check")
        self.assertEqual(info["marks"], 1)
        self.assertFalse(info["clean_end"])
        self.assertEqual([gap["kind"] for gap in info["data_gaps"]].count("unclean_end"), 1)
        self.assertEqual(self.json_of("stats", trace), before)
        self.assertEqual(self.files(), files, "reading creates no file")

    def test_sharing_makes_one_ordinary_file(self):
        trace, before = self.killed()
        shared = self.folder / "shared.tide"
        self.run_fine("share", trace, "-o", shared)
        self.assertEqual(self.json_of("stats", shared), before)
        info = self.json_of("info", shared)
        self.assertEqual([gap["kind"] for gap in info["data_gaps"]].count("unclean_end"), 1)
        with sqlite3.connect(f"file:{shared}?mode=ro", uri=True) as database:
            self.assertEqual(database.execute("PRAGMA journal_mode").fetchone(), ("delete",))

    def test_a_trace_copied_without_its_log(self):
        trace, before = self.killed()
        alone = self.folder / "alone" / "100% of it?.tide"
        alone.parent.mkdir()
        shutil.copy(trace, alone)
        self.assertEqual(self.json_of("stats", alone), before)
        self.assertEqual(self.json_of("info", alone)["marks"], 0)
        self.assertEqual([path.name for path in alone.parent.iterdir()], [alone.name])

    @unittest.skipUnless(os.geteuid() == 0, "needs to mount")
    def test_a_trace_in_a_read_only_folder(self):
        self.killed()
        for suffix in ("", "-shm"):
            if suffix:
                (self.folder / f"streams.tide{suffix}").unlink(missing_ok=True)
            script = 'mount --bind "$F" "$F" && mount -o remount,ro,bind "$F" || exit 99; "$T" info "$F/streams.tide"'
            result = subprocess.run(
                ["unshare", "-m", "sh", "-c", script],
                capture_output=True,
                text=True,
                env={**os.environ, "F": str(self.folder), "T": os.environ["TIDEMARK"]},
            )
            if result.returncode == 99 or result.stderr.startswith("unshare: "):
                self.skipTest("mounting is not allowed here")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("the trace did not end cleanly", result.stdout)

    def test_a_trace_that_is_being_recorded(self):
        trace = self.imported("streams")
        writer = sqlite3.connect(trace, isolation_level=None)
        self.addCleanup(writer.close)
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("UPDATE meta SET value='0' WHERE key='clean_end'")
        writer.execute("INSERT INTO meta VALUES('committed_time_ns', '1500000000')")
        with open(trace, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            result = run("info", trace)
            info = self.json_of("info", trace)
        self.assertIn("it is being recorded; complete up to 1.500000 s", result.stdout)
        self.assertTrue(info["being_written"])
        self.assertNotIn("unclean_end", [gap["kind"] for gap in info["data_gaps"]])
