# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""tidemark live: the frame as text, and the view in a terminal, which is restored in every case."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata
import unittest

from support import FINE, TIDEMARK, run
from test_steering import Steered

BEGIN, END = "\x1b[?1049h", "\x1b[?1049l"


def width(text):
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


class Terminal:
    """The command in a pseudo terminal."""

    def __init__(self, *arguments, rows=24, columns=80, **variables):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        environment = {**os.environ, "TERM": "xterm", **variables}
        self.process = subprocess.Popen(
            [TIDEMARK, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self.output = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def read(self, seconds=0.0):
        end = time.monotonic() + seconds
        while select.select([self.master], [], [], max(end - time.monotonic(), 0))[0]:
            self.output += os.read(self.master, 65536).decode(errors="replace")

    def read_until(self, text, seconds=30):
        end = time.monotonic() + seconds
        while text not in self.output and time.monotonic() < end:
            self.read(0.05)
        return text in self.output

    def frames(self):
        """Returns the lines of each frame, without colors."""
        shown = self.output.partition(BEGIN)[2].partition("\x1b[0m\x1b[?25h" + END)[0]
        frames = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", frame) for frame in shown.split("\x1b[H")[1:]]
        return [frame.replace("\r", "").split("\n") for frame in frames]

    def is_restored(self):
        shown, hidden = self.output.rfind(BEGIN), self.output.rfind(END)
        same = termios.tcgetattr(self.slave)[:4] == self.before[:4]
        return same and hidden >= shown and self.output.rfind("\x1b[?25h") >= self.output.rfind("\x1b[?25l")

    def wait(self, seconds=20):
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        self.read(0.1)
        return self.process.returncode

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)


class Live(Steered):
    def terminal(self, *arguments, **options):
        terminal = Terminal("live", *arguments, **options)
        self.addCleanup(terminal.close)
        return terminal

    def test_one_frame(self):
        pid = self.start()
        self.await_events(pid, 300)
        frame = self.run_fine("live", pid, "--once")
        self.assertNotIn("\x1b", frame)
        lines = frame.rstrip("\n").split("\n")
        self.assertIn("recording", lines[0])
        self.assertIn("run.tide", lines[0])
        self.assertRegex(frame, r"Device 0: allocated .* reserved 2.00 GiB, peak ")
        self.assertRegex(frame, r"\d+ steps, [\d.]+ steps/s, recording cost ")
        self.assertRegex(frame, r"100 %|\d+ %  *\+512 KiB  .*train.py:31 keep")
        self.assertRegex(frame, r"\+512 KiB  .*train.py:31 keep")
        self.assertIn("Memory breakdown", frame)
        self.assertRegex(frame, r"Leak  .*train.py:31 keep")
        self.assertLessEqual(len(lines), 24)

    def test_frames_fit_in_both_languages(self):
        pid = self.start()
        self.await_events(pid, 100)
        for language in ("en", "zh_CN"):
            for columns, rows in ((80, 24), (200, 60), (60, 15), (30, 5), (1, 1)):
                with self.subTest(language=language, columns=columns):
                    variables = {"COLUMNS": str(columns), "LINES": str(rows), "LC_ALL": "C.UTF-8"}
                    result = run("--language", language, "live", pid, "--once", env={**os.environ, **variables})
                    self.assertEqual(result.returncode, FINE, result.stderr)
                    lines = result.stdout.rstrip("\n").split("\n")
                    self.assertLessEqual(len(lines), rows)
                    self.assertLessEqual(max(map(width, lines)), columns)

    def test_a_finished_trace(self):
        trace = self.imported("streams")
        frame = self.run_fine("live", trace, "--once")
        self.assertIn("the recording has ended", frame)
        self.assertIn("Memory breakdown", frame)

    def test_without_a_terminal_one_frame_is_printed(self):
        trace = self.imported("streams")
        self.assertEqual(self.run_fine("live", trace), self.run_fine("live", trace, "--once"))

    def test_q_quits(self):
        pid = self.start()
        self.await_events(pid, 100)
        terminal = self.terminal(pid)
        self.assertTrue(terminal.read_until("keep"))
        self.assertFalse(terminal.is_restored())
        terminal.read(1.5)
        frames = terminal.frames()
        self.assertGreaterEqual(len(frames), 5, "a frame every 250 ms")
        for frame in frames:
            self.assertLessEqual(len(frame), 24)
            self.assertLessEqual(max(map(width, frame)), 80)
        self.assertIn("q: quit", frames[-1][-1])
        self.assertNotEqual(frames[-1], frames[0], "it follows the recording")
        os.write(terminal.master, b"q")
        self.assertEqual(terminal.wait(), FINE)
        self.assertTrue(terminal.is_restored())

    def test_it_follows_the_size(self):
        trace = self.imported("streams")
        terminal = self.terminal(trace)
        self.assertTrue(terminal.read_until("q: quit"))
        terminal.resize(12, 50)
        terminal.process.send_signal(signal.SIGWINCH)
        terminal.output = BEGIN
        terminal.read(1.0)
        frames = terminal.frames()[1:]
        self.assertTrue(frames)
        for frame in frames:
            self.assertLessEqual(len(frame), 12)
            self.assertLessEqual(max(map(width, frame)), 50)

    def test_no_colors(self):
        trace = self.imported("streams")
        terminal = self.terminal(trace, NO_COLOR="1")
        self.assertTrue(terminal.read_until("q: quit"))
        self.assertNotRegex(terminal.output, r"\x1b\[[0-9]*m")
        colored = self.terminal(trace)
        self.assertTrue(colored.read_until("q: quit"))
        self.assertRegex(colored.output, r"\x1b\[[0-9]+m")

    def test_signals_restore_the_terminal(self):
        trace = self.imported("streams")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV):
            with self.subTest(signal=number):
                terminal = self.terminal(trace)
                self.assertTrue(terminal.read_until("q: quit"))
                terminal.process.send_signal(number)
                status = terminal.wait()
                self.assertIn(status, (130, -number))
                self.assertTrue(terminal.is_restored())

    def test_suspending_restores_the_terminal(self):
        trace = self.imported("streams")
        terminal = self.terminal(trace)
        self.assertTrue(terminal.read_until("q: quit"))
        terminal.process.send_signal(signal.SIGTSTP)
        self.await_true(lambda: terminal.read(0.02) or terminal.is_restored())
        self.await_true(lambda: os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT))
        terminal.output = ""
        terminal.process.send_signal(signal.SIGCONT)
        self.assertTrue(terminal.read_until("q: quit"))
        os.write(terminal.master, b"q")
        self.assertEqual(terminal.wait(), FINE)
        self.assertTrue(terminal.is_restored())

    def test_the_end_of_the_recording_is_shown(self):
        pid = self.start()
        self.await_events(pid, 100)
        terminal = self.terminal(pid)
        self.assertTrue(terminal.read_until("keep"))
        self.stop_all()
        self.assertTrue(terminal.read_until("the recording has ended"))
        os.write(terminal.master, b"q")
        self.assertEqual(terminal.wait(), FINE)


if __name__ == "__main__":
    unittest.main()
