# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Files in folders that hostile users share: what is read, what is written, and what remains after Ctrl-C."""

import fcntl
import gzip
import os
import pickle
import signal
import socket
import subprocess
import time
import unittest

from support import CANCELED, ENVIRONMENT, FINE, INPUT, TIDEMARK, USAGE, CommandTest, run, segment_at_end, snapshot

NOBODY = 65534
PART = "0123456789abcdef.part"
READING = (
    ["import"],
    ["explain"],
    ["info"],
    ["stats"],
    ["top"],
    ["graph"],
    ["breakdown"],
    ["whatif"],
    ["referrers"],
    ["query", "SELECT count(*) FROM allocations"],
    ["check", "--max-peak", "1GiB"],
    ["share", "-o", "out.tide"],
    ["render", "-o", "out.png"],
)


def long_snapshot(allocations=150_000):
    """Returns a snapshot of one block that is allocated and freed again and again."""
    address = 1 << 40
    frames = [{"name": "step", "filename": "/home/anna/train.py", "line": 7}]
    actions = ["segment_alloc", *["alloc", "free_requested", "free_completed"] * allocations]
    events = [
        {
            "action": action,
            "addr": address,
            "size": 512 if i else 2 << 20,
            "stream": 0,
            "time_us": 1000 + i,
            "frames": frames,
        }
        for i, action in enumerate(actions)
    ]
    segments = [segment_at_end(0, address, 0, frames)]
    return pickle.dumps({"segments": segments, "device_traces": [events]}, protocol=4)


class Inputs(CommandTest):
    def refused(self, path, *words):
        for command in READING:
            with self.subTest(command=command[0]):
                message = self.run_failing(INPUT, command[0], path, *command[1:], cwd=self.folder)
                for word in (path, *words):
                    self.assertIn(str(word), message)
        self.run_failing(INPUT, "diff", path, path)

    def test_named_pipe(self):
        pipe = self.folder / "pipe.tide"
        os.mkfifo(pipe)
        self.refused(pipe, "is a pipe", "cat ")
        self.assertEqual(self.files(), ["pipe.tide"])

    def test_devices(self):
        self.refused("/dev/null", "is a device")
        self.refused("/dev/zero", "is a device")

    def test_socket(self):
        path = self.folder / "socket"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            self.refused(path, "is a socket")

    def test_folder(self):
        self.refused(self.folder, "is a folder")
        self.assertEqual(self.run_failing(INPUT, "import", self.folder).count(str(self.folder)), 1)

    def test_folder_of_a_job_without_traces(self):
        job = self.folder / "run.tidejob"
        job.mkdir()
        self.assertIn("has no traces (*.tide) yet", self.run_failing(INPUT, "explain", job))

    def test_empty_name(self):
        self.assertIn("The name of the trace is empty", self.run_failing(USAGE, "explain", ""))

    def test_cut_trace(self):
        content = self.imported("s1_plain").read_bytes()
        cut = self.folder / "cut.tide"
        for size in (50, len(content) // 2, len(content) - 1):
            cut.write_bytes(content[:size])
            for part in ("cut.tide is damaged: it has only ", "Copy it again from where it was recorded"):
                self.assertIn(part, self.run_failing(INPUT, "info", cut))

    def test_standard_input(self):
        for command in ("import", "info"):
            completed = subprocess.run([TIDEMARK, command, "/dev/stdin"], input=b"", capture_output=True, timeout=300)
            self.assertEqual(completed.returncode, INPUT)
            self.assertIn(b"is a pipe", completed.stderr)

    def test_link_to_a_trace_is_read(self):
        (self.folder / "link.tide").symlink_to(self.imported("s1_plain"))
        self.run_fine("info", self.folder / "link.tide")


class Outputs(CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out.tide"

    def make(self, status=FINE, output=None, **options):
        return run("import", snapshot("s1_plain"), "-o", output or self.out, "--force", **options)

    def test_guessable_names_are_not_written(self):
        precious = self.folder / "precious"
        precious.write_text("precious")
        (self.folder / "out.tide.part").symlink_to(precious)
        self.assertEqual(self.make().returncode, FINE)
        self.assertEqual(precious.read_text(), "precious")
        self.assertEqual(self.files(), ["out.tide", "out.tide.part", "precious"])

    def test_an_output_that_is_a_link_is_replaced_and_not_its_target(self):
        other = self.imported("adam_steps")
        before = other.read_bytes()
        self.out.symlink_to(other)
        self.assertEqual(self.make().returncode, FINE)
        self.assertFalse(self.out.is_symlink())
        self.assertEqual(other.read_bytes(), before)

    def test_what_killed_writers_left_is_removed(self):
        (self.folder / f"out.tide.{PART}").write_text("half")
        (self.folder / f"other.tide.{PART}").write_text("of another output")
        (self.folder / "out.tide.my.part").write_text("no name that Tidemark makes")
        self.assertEqual(self.make().returncode, FINE)
        self.assertEqual(self.files(), [f"other.tide.{PART}", "out.tide", "out.tide.my.part"])

    def test_two_writers_of_one_output(self):
        with open(self.folder / f"out.tide.{PART}", "w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            message = self.run_failing(ENVIRONMENT, "import", snapshot("s1_plain"), "-o", self.out)
            self.assertIn("being written by another program", message)
        self.assertEqual(self.files(), [f"out.tide.{PART}"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can create files of another user")
    def test_files_of_another_user_neither_block_nor_vanish(self):
        path = self.folder / f"out.tide.{PART}"
        with open(path, "w") as other:
            os.chown(path, NOBODY, NOBODY)
            fcntl.flock(other, fcntl.LOCK_EX)
            self.assertEqual(self.make().returncode, FINE)
        self.assertTrue(path.exists())

    def test_only_the_owner_reads_a_trace_and_the_umask_decides_for_what_is_made_for_others(self):
        for umask in (0, 0o027):
            before = os.umask(umask)
            try:
                self.assertEqual(self.make().returncode, FINE)
                self.run_fine("share", self.out, "-o", self.folder / "shared.tide", "--force")
                self.run_fine("explain", self.out, "-o", self.folder / "why.md", "--format", "markdown", "--force")
            finally:
                os.umask(before)
            self.assertEqual(self.out.stat().st_mode & 0o777, 0o600)
            for name in ("shared.tide", "why.md"):
                self.assertEqual((self.folder / name).stat().st_mode & 0o777, 0o666 & ~umask, name)

    def test_a_full_disk_leaves_nothing(self):
        shell = f'ulimit -f 8; exec "$0" import {snapshot("s0_graph_leak")} -o {self.out}'
        completed = subprocess.run(["sh", "-c", f"trap '' XFSZ; {shell}", TIDEMARK], capture_output=True, text=True)
        self.assertEqual(completed.returncode, ENVIRONMENT, completed.stderr)
        self.assertEqual(self.files(), [])


class Pictures(CommandTest):
    def test_only_pictures_are_replaced_and_only_on_request(self):
        trace = self.imported("s1_plain")
        before = trace.read_bytes()
        picture = self.folder / "out.png"
        picture.write_text("my picture")
        message = self.run_failing(USAGE, "render", trace, "-o", picture)
        self.assertIn("--force", message)
        self.assertEqual(picture.read_text(), "my picture")
        disguised = self.folder / "trace.png"
        trace.rename(disguised)
        for output in (disguised, self.folder / "same.png"):
            if output != disguised:
                output.hardlink_to(disguised)
            self.run_failing(USAGE, "render", disguised, "-o", output, "--force")
        self.assertEqual(disguised.read_bytes(), before)


class Interrupts(CommandTest):
    """Ctrl-C while a command works: it ends with status 130 and leaves nothing behind."""

    @classmethod
    def setUpClass(cls):
        cls.content = long_snapshot()

    def interrupted(self, is_due, *arguments):
        """Sends SIGINT when is_due(pid) is true. Returns the exit status."""
        command = subprocess.Popen(
            [TIDEMARK, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder
        )
        while command.poll() is None and not is_due(command.pid):
            time.sleep(0.001)
        command.send_signal(signal.SIGINT)
        stderr = command.communicate(timeout=120)[1]
        self.assertNotIn(b"terminate called", stderr)
        return command.returncode

    def has_open(self, path):
        def is_due(pid):
            try:
                return any(os.path.samefile(f"/proc/{pid}/fd/{fd}", path) for fd in os.listdir(f"/proc/{pid}/fd"))
            except OSError:
                return False

        return is_due

    def test_while_a_snapshot_is_read(self):
        for name, content in (("a.pickle", self.content), ("a.pickle.gz", gzip.compress(self.content, 1))):
            path = self.folder / name
            path.write_bytes(content)
            self.assertEqual(self.interrupted(self.has_open(path), "import", path, "-o", "out.tide"), CANCELED)
            path.unlink()
            self.assertEqual(self.files(), [])

    def test_while_a_trace_is_written(self):
        (self.folder / "a.pickle").write_bytes(self.content)
        is_writing = lambda pid: any(name.endswith(".part") for name in self.files())
        self.assertEqual(self.interrupted(is_writing, "import", "a.pickle", "-o", "out.tide"), CANCELED)
        self.assertEqual(self.files(), ["a.pickle"])

    def test_while_a_trace_is_analyzed(self):
        trace = self.imported_bytes(self.content)
        files = self.files()
        for command in (
            ["explain"],
            ["share", "-o", "shared.tide"],
            ["top", "--by", "stack"],
            ["explain", "-o", "a.md"],
        ):
            status = self.interrupted(self.has_open(trace), command[0], trace, *command[1:])
            self.assertEqual(status, CANCELED, command)
            self.assertEqual(self.files(), files)


if __name__ == "__main__":
    unittest.main()
