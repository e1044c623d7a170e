# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Compares Python stacks that the recorder reads from memory with those that Python reports. Needs no torch, no GPU."""

import ctypes
import os
import sqlite3
import sys
import tempfile
import threading
import unittest

HOME = os.environ["TIDEMARK_HOME"]
sys.path.insert(0, os.path.join(HOME, "python"))

import tidemark
from tidemark import _abi, _frames, _introspect


class Recorded:
    """A recording in which each noted stack belongs to one driver allocation, whose address is the note's number."""

    def __init__(self, path):
        self.recording = tidemark.record(path, parts=())
        self.core = self.recording.core
        self.api = self.core.table.contents
        _frames.Frames().walk_for(self.core.table, None)
        self.expected = []

    def note(self):
        """Stores the caller's stack as reported by Python, and lets the recorder read it."""
        ring = self.api.this_thread()
        frame, expected = sys._getframe(), []
        stack, frame.f_trace = self._read(ring), None
        while frame is not None:
            expected.append((_introspect.name_of_function(frame.f_code), frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        self.expected.append(expected[1:])  # the line inside this function has changed since
        record = _abi.Record(kind=_abi.DRIVER, detail=_abi.DRIVER_ALLOC)
        record.driver.address, record.driver.size = len(self.expected), 1
        record.driver.stack, record.driver.stack_thread = stack, ring.contents.serial
        self.core.push((record, b""))

    def _read(self, ring):
        return self.api.stack(ring, None)


def stacks_of(path):
    """Returns, by note, the frames above note(), innermost first."""
    trace = sqlite3.connect(path)
    rows = trace.execute(
        "SELECT d.address, s.function, s.file, s.line FROM driver_allocation d JOIN stacks s ON s.id = d.stack "
        "ORDER BY d.address, s.depth"
    )
    stacks = {}
    for address, function, file, line in rows:
        stacks.setdefault(address, []).append((function, file, line))
    return [stacks[address][2:] for address in sorted(stacks)]


class Frames(unittest.TestCase):
    def recorded(self, program):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.tide")
            recorded = Recorded(path)
            program(recorded)
            self.assertTrue(tidemark.stop(), "the trace is not finished")
            seen = stacks_of(path)
        self.assertEqual(len(seen), len(recorded.expected))
        for stack, expected in zip(seen, recorded.expected):
            self.assertEqual(stack, expected[: len(stack)])
            self.assertGreaterEqual(len(stack), min(len(expected), 250))
        return seen

    def test_kinds_of_callers(self):
        def program(recorded):
            class Model:
                def forward(self, depth):
                    if depth:
                        return self.forward(depth - 1)
                    recorded.note()

                @property
                def value(self):
                    recorded.note()

            def generate():
                yield recorded.note()

            Model().forward(3)
            Model().value
            list(generate())
            [recorded.note() for _ in range(2)]
            (lambda: recorded.note())()
            recorded.note()
            try:
                raise ValueError
            except ValueError:
                recorded.note()
            sorted([1, 2], key=lambda _: recorded.note() or 0)

        self.recorded(program)

    def test_names_of_all_kinds(self):
        def program(recorded):
            for name in ("plain", "größe", "内存", "𝒻"):
                source = f"def {name}(recorded):\n\n    recorded.note()\n{name}(recorded)"
                exec(compile(source, f"/home/anna/{name}.py", "exec"), {"recorded": recorded})

        self.recorded(program)

    def test_a_later_recording_has_other_rings(self):
        """Rings of two recordings may have the same address, and then only their serials differ."""
        serials = []
        for _ in range(2):
            self.recorded(lambda recorded: serials.append(recorded.api.this_thread().contents.serial))
        self.assertEqual(len(set(serials)), 2)

    def test_code_at_the_address_of_freed_code(self):
        def program(recorded):
            for number in range(300):
                source = "\n" * number + f"def made_{number}(recorded): recorded.note()\nmade_{number}(recorded)"
                exec(compile(source, "made.py", "exec"), {"recorded": recorded})

        seen = self.recorded(program)
        self.assertEqual(len({stack[0] for stack in seen}), 300)

    def test_deep_recursion_keeps_the_inner_frames(self):
        def program(recorded):
            def down(depth):
                return down(depth - 1) if depth else recorded.note()

            for depth in (5, 100, 200, 400):
                down(depth)

        self.recorded(program)

    def test_threads(self):
        def program(recorded):
            def work():
                for _ in range(20):
                    recorded.note()

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
                thread.join()

        self.recorded(program)

    def test_frames_of_the_package_are_omitted(self):
        def program(recorded):
            source = "def hook(recorded): recorded.note()"
            own = {}
            file = os.path.join(os.path.dirname(_frames.__file__), "_hooks.py")
            exec(compile(source, file, "exec"), own)
            own["hook"](recorded)
            recorded.expected[-1] = [frame for frame in recorded.expected[-1] if frame[1] != file]

        self.recorded(program)

    def test_lines_do_not_depend_on_instructions(self):
        def program(recorded):
            ring, lines = recorded.api.this_thread(), ctypes.c_uint16()

            def read():
                return recorded.api.stack(ring, ctypes.byref(lines)), lines.value

            def one_line():
                return [read(), read()]

            def another_line():
                return read()

            first, second = one_line()
            self.assertNotEqual(first[0], second[0])
            self.assertEqual(first[1], second[1])
            self.assertNotEqual(first[1], another_line()[1])
            # The interpreter replaces instructions that run often.
            self.assertEqual(len({found[1] for _ in range(5000) for found in one_line()}), 1)

        self.recorded(program)

    def test_a_wrong_layout_is_rejected(self):
        frames = _frames.Frames()
        self.assertFalse(frames._prepare(3, 99))
        self.assertFalse(frames._prepare(3, 13 if sys.version_info[1] != 13 else 11))


if __name__ == "__main__":
    unittest.main()
