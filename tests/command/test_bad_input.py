# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Invalid input: a clear message, the right exit status, no partial output, unchanged input, no crash."""

import contextlib
import os
import pickle
import shutil
import sqlite3
import subprocess
import unittest

from support import ENVIRONMENT, FINE, INPUT, SNAPSHOTS, TIDEMARK, CommandTest, digest, run, snapshot


class System:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


class BadSnapshots(CommandTest):
    def refused(self, content, status=INPUT):
        path = self.folder / "bad.pickle"
        path.write_bytes(content)
        message = self.run_failing(status, "import", path)
        self.assertEqual(self.files(), ["bad.pickle"])
        self.assertEqual(path.read_bytes(), content)
        self.assertIn("bad.pickle", message)
        return message

    def test_file_that_is_no_pickle(self):
        for content in (
            b"",
            b"\x80",
            b'{"a": 1}',
            b"dear anna\n" * 1000,
            b"\x00" * 5000,
            b"\x1f\x8b rubbish",
            b"\xfd7zXZ\x00 rubbish",
            b"\x28\xb5\x2f\xfd rubbish",
            b"PK\x03\x04" + bytes(100),
        ):
            self.refused(content)

    def test_pickle_of_other_data(self):
        for value in (None, 1, [], {}, {"weights": [1.0] * 100}, "text", {"segments": 1, "device_traces": 2}):
            self.refused(pickle.dumps(value, protocol=4))

    def test_code_is_rejected_by_name_and_not_executed(self):
        marker = self.folder / "marker"
        for protocol in range(2, 6):
            evil = {"segments": [], "device_traces": [], "x": System(f"touch {marker}")}
            message = self.refused(pickle.dumps(evil, protocol=protocol))
            self.assertIn("system", message)

    def test_truncated_at_every_twentieth(self):
        for name in ("adam_steps", "streams"):
            content = snapshot(name).read_bytes()
            for i in range(20):
                self.refused(content[: len(content) * i // 20])

    def test_every_twentieth_byte_flipped_never_crashes(self):
        content = bytearray(snapshot("s1_plain").read_bytes())
        path = self.folder / "flipped.pickle"
        for at in range(0, len(content), max(1, len(content) // 150)):
            content[at] ^= 0xFF
            path.write_bytes(content)
            result = run("import", path, "-o", self.folder / "out.tide", "--force")
            self.assertIn(result.returncode, (FINE, INPUT), f"byte {at}: {result.stderr}")
            content[at] ^= 0xFF
            if result.returncode == FINE:
                self.run_fine("info", self.folder / "out.tide")

    def test_missing_and_unreadable(self):
        self.run_failing(ENVIRONMENT, "import", self.folder / "no.pickle")
        self.run_failing(INPUT, "import", self.folder)
        self.assertEqual(self.files(), [])


class BadTraces(CommandTest):
    def refused(self, path, status=INPUT):
        before = digest(path) if path.is_file() else None
        files = self.files()
        for command in (["info"], ["stats"], ["top"], ["share", "-o", self.folder / "out.tide"]):
            message = self.run_failing(status, command[0], path, *command[1:])
        self.assertEqual(self.files(), files)
        if before:
            self.assertEqual(digest(path), before)
        return message

    def test_file_that_is_no_trace(self):
        path = self.folder / "bad.tide"
        for content in (b"", b"x", b"dear anna\n" * 1000, b"SQLite format 3\x00", b"SQLite format 3\x00" + bytes(5000)):
            path.write_bytes(content)
            self.refused(path)

    def test_missing(self):
        self.refused(self.folder / "no.tide", ENVIRONMENT)
        self.refused(self.folder)

    def test_another_programs_database(self):
        path = self.folder / "other.sqlite"
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE bookmarks(url TEXT)")
        self.assertIn("another program", self.refused(path))
        self.run_failing(INPUT, "import", path)

    def test_a_newer_version(self):
        trace = self.imported("s1_plain")
        with sqlite3.connect(trace) as database:
            database.execute("PRAGMA user_version = 9999")
        self.assertIn("newer", self.refused(trace))

    @unittest.skipIf(os.environ["TIDEMARK_SANITIZED"], "a sanitizer ends the process itself when memory is refused")
    def test_more_memory_than_the_size_justifies(self):
        trace = self.folder / "deep.tide"
        shutil.copy(SNAPSHOTS.parent / "traces" / "format-5.tide", trace)
        depth = 60_000
        with contextlib.closing(sqlite3.connect(trace)) as database, database:
            (first,) = database.execute("SELECT max(id) FROM stack").fetchone()
            deep = ((first + 1 + i, first + i if i else 0) for i in range(depth))
            database.executemany("INSERT INTO stack VALUES(?, ?, 1)", deep)
            database.execute("DELETE FROM allocation_chunk")
            database.execute("UPDATE allocation SET stack = ? - id % 500", (first + depth,))
        message = self.run_failing(INPUT, "top", trace, "--at", "peak", "--format", "json", "--limit", "0")
        self.assertIn("more memory than its size justifies", message)
        self.assertIn("called by", self.run_fine("top", trace, "--at", "peak"))

    def test_a_table_that_is_missing_or_not_a_table(self):
        for statement in (
            "DROP TABLE stack",
            "DROP TABLE allocation_chunk",
            "CREATE TRIGGER t AFTER INSERT ON stack BEGIN SELECT 1; END",
            "ALTER TABLE mark RENAME TO mork; CREATE VIEW mark AS SELECT * FROM mork",
        ):
            trace = self.imported("s1_plain")
            with sqlite3.connect(trace) as database:
                database.executescript(statement)
            self.refused(trace)
            trace.unlink()

    def test_truncated_at_every_twentieth(self):
        content = self.imported("adam_steps").read_bytes()
        path = self.folder / "cut.tide"
        for i in range(20):
            path.write_bytes(content[: len(content) * i // 20])
            self.refused(path)

    def test_damaged_pages_are_reported_or_have_no_effect(self):
        trace = self.imported("s0_graph_leak")
        content = trace.read_bytes()
        page_size = int.from_bytes(content[16:18], "big")
        found = 0
        pages = len(content) // page_size
        for page in range(1, pages, max(1, pages // 25)):
            for damage in (bytes(page_size), b"\xff" * page_size):
                at = page * page_size
                trace.write_bytes(content[:at] + damage + content[at + page_size :])
                result = run("stats", trace)
                self.assertIn(result.returncode, (FINE, INPUT), f"page {page}: {result.stderr}")
                found += result.returncode == INPUT
        self.assertGreater(found, 0)

    def test_flipped_bytes_never_crash(self):
        trace = self.imported("s1_plain")
        content = bytearray(trace.read_bytes())
        for at in range(100, len(content), max(1, len(content) // 150)):
            content[at] ^= 0x55
            trace.write_bytes(content)
            content[at] ^= 0x55
            result = run("top", trace, "--by", "annotation", "--format", "json")
            self.assertIn(result.returncode, (FINE, INPUT), f"byte {at}: {result.stderr}")


class EnvironmentErrors(CommandTest):
    def test_folders_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        for output in (
            self.folder / "file" / "out.tide",
            "/proc/out.tide",
            self.folder / "no-such-folder" / "out.tide",
        ):
            self.run_failing(ENVIRONMENT, "import", snapshot("s1_plain"), "-o", output)
        self.assertEqual(self.files(), ["file"])

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_read_only_folder(self):
        self.folder.chmod(0o555)
        self.run_failing(ENVIRONMENT, "import", snapshot("s1_plain"), "-o", self.folder / "out.tide")
        self.folder.chmod(0o755)
        self.assertEqual(self.files(), [])

    def test_full_output(self):
        trace = self.imported("s1_plain")
        for command in (["info"], ["stats"], ["top"], ["stats", "--format", "json"]):
            with open("/dev/full", "w") as full:
                result = run(command[0], trace, *command[1:], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, ENVIRONMENT)
            self.assertIn("No space left on device", result.stderr)

    def in_private_mount(self, mount_options, script):
        """Runs a shell script with its own small file system at $M. Skips the test if mounting is not allowed."""
        mount = self.folder / "mount"
        mount.mkdir()
        prepare = f"mount -t tmpfs -o {mount_options} tmpfs $M"
        command = ["unshare", "-m", "sh", "-c", f"{prepare} || exit 99; {script}"]
        environment = {**os.environ, "M": str(mount), "T": TIDEMARK, "S": str(snapshot("s0_graph_leak"))}
        try:
            result = subprocess.run(command, capture_output=True, text=True, env=environment)
        except FileNotFoundError:
            self.skipTest("unshare is not installed")
        if result.returncode == 99 or result.stderr.startswith("unshare: "):
            self.skipTest("mounting is not allowed here")
        return result

    def test_full_disk(self):
        result = self.in_private_mount("size=64k", '"$T" import "$S" -o "$M/out.tide"; echo status $?; ls -A "$M"')
        self.assertEqual(result.stdout, f"status {ENVIRONMENT}\n", result.stderr)
        self.assertIn("out.tide", result.stderr)

    def test_full_disk_keeps_the_existing_trace(self):
        script = (
            '"$T" import "${S%/*}/s1_plain.pickle" -o "$M/out.tide" || exit 98; before=$(md5sum "$M/out.tide"); '
            '"$T" import "$S" -o "$M/out.tide" --force; echo status $?; '
            '[ "$before" = "$(md5sum "$M/out.tide")" ] && ls -A "$M"'
        )
        result = self.in_private_mount("size=300k", script)
        self.assertEqual(result.stdout.splitlines()[1:], [f"status {ENVIRONMENT}", "out.tide"], result.stderr)

    def test_full_disk_leaves_no_folder_of_tables(self):
        script = '"$T" import "$S" -o /tmp/$$.tide >&2 || exit 98; "$T" export --format csv /tmp/$$.tide -o "$M/csv"; '
        script += 'echo status $?; rm /tmp/$$.tide; ls -A "$M"'
        result = self.in_private_mount("size=64k", script)
        self.assertEqual(result.stdout, f"status {ENVIRONMENT}\n", result.stderr)

    def test_help_on_a_full_disk(self):
        with open("/dev/full", "w") as full:
            self.assertEqual(run("--help", stdout=full, stderr=subprocess.PIPE).returncode, ENVIRONMENT)

    def test_read_only_file_system(self):
        result = self.in_private_mount("ro", '"$T" import "$S" -o "$M/out.tide"; echo status $?; ls -A "$M"')
        self.assertEqual(result.stdout, f"status {ENVIRONMENT}\n", result.stderr)
        self.assertIn("Read-only file system", result.stderr)
