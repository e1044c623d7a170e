# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A C++ program without PyTorch is recorded with its native stacks, and explained, with a fake CUDA."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDEMARK, PROGRAM = os.environ["TIDEMARK"], os.environ["TIDEMARK_NATIVE_PROGRAM"]
SOURCE = pathlib.Path(__file__).with_name("native_program.cpp")
PYTHON_PROGRAM = """
import ctypes, os
import tidemark

cuda = ctypes.CDLL(os.environ["TIDEMARK_FAKE_RUNTIME"])
kept = []

def take():
    memory = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(8 << 20))
    return memory

for step in range(30):
    kept.append(take())
    tidemark.step()
    if step == 20:
        tidemark.mark("late")
"""
FREES_AT_EXIT = """
import atexit, ctypes, os, sys, threading

cuda = ctypes.CDLL(os.environ["TIDEMARK_FAKE_RUNTIME"])
kept = []
atexit.register(lambda: [cuda.cudaFree(memory) for memory in kept])

def take():
    memory = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(8 << 20))
    kept.append(memory)

def work():
    for _ in range(30):
        take()

if "thread" in sys.argv:
    threading.Thread(target=work).start()
else:
    work()
if "fail" in sys.argv:
    raise ValueError("no")
"""
# What a program that does not use PyTorch must not be told.
FOREIGN = ("PyTorch", "caching allocator", "empty_cache", "tensor", "autograd", "torch")


def line_of(mark):
    lines = SOURCE.read_text().splitlines()
    return f"{SOURCE.name}:{next(i for i, text in enumerate(lines, 1) if text.endswith(mark))}"


class NativeProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = os.path.join(folder.name, "run.tide")

    def record(self, *arguments):
        self.record_command(PROGRAM, *arguments)

    def record_command(self, *command, status=0):
        command = [TIDEMARK, "record", "--with", "stacks,driver", "-o", self.trace, "--", *command]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stdout + done.stderr

    def record_python(self, text, *arguments, status=0):
        program = os.path.join(os.path.dirname(self.trace), "simulate.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(text)
        self.record_command(sys.executable, program, *arguments, status=status)

    def told(self, *words):
        done = subprocess.run([TIDEMARK, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{done.stderr}The recorded program said: {self.said}")
        return done.stdout

    def test_retained_memory_is_a_leak_at_its_line(self):
        self.record("retains")
        explanation = json.loads(self.told("explain", self.trace, "--format", "json"))
        finding = explanation["findings"][0]
        self.assertEqual(finding["severity"], "leak")
        self.assertIn(line_of("// the site"), finding["line"])
        self.assertIn("take", finding["line"])
        self.assertGreaterEqual(finding["bytes"], 20 * (16 << 20))
        self.assertIn("cudaFree", finding["fixes"][0]["code"])
        self.assertIn("cudaMalloc(&field", " ".join(line["text"] for line in finding["source"]))

    def test_nothing_is_said_of_pytorch(self):
        self.record("retains")
        for words in (("explain", self.trace), ("breakdown", self.trace), ("top", self.trace), ("info", self.trace)):
            text = self.told(*words)
            for part in FOREIGN:
                self.assertNotIn(part, text.replace(self.trace, ""), words)

    def test_a_python_program_without_pytorch_has_python_stacks_steps_and_marks(self):
        self.record_python(PYTHON_PROGRAM)
        explanation = json.loads(self.told("explain", self.trace, "--format", "json"))
        finding = explanation["findings"][0]
        self.assertEqual((finding["severity"], finding["line"]), ("leak", "simulate.py:10 take"))
        info = json.loads(self.told("info", self.trace, "--format", "json"))
        self.assertEqual((info["steps"], info["marks"]), (30, 1))
        self.assertNotIn("data gap", self.told("info", self.trace).lower().replace("data gaps: none known", ""))

    def test_what_atexit_frees_is_retained_by_the_program(self):
        for arguments, status, end in (((), 0, "exited"), (("fail",), 1, "ValueError: no")):
            self.record_python(FREES_AT_EXIT, *arguments, status=status)
            self.assertEqual("ValueError: no" in self.said, bool(arguments), self.said)
            info = json.loads(self.told("info", self.trace, "--format", "json"))
            self.assertEqual(info["devices"][0]["events"], 30 * 2)
            self.assertIn(end, info["processes"][0]["how_ended"])
            finding = json.loads(self.told("explain", self.trace, "--format", "json"))["findings"][0]
            self.assertEqual((finding["severity"], finding["line"]), ("leak", "simulate.py:10 take"))
            os.remove(self.trace)

    def test_threads_that_still_run_are_recorded(self):
        self.record_python(FREES_AT_EXIT, "thread")
        info = json.loads(self.told("info", self.trace, "--format", "json"))
        self.assertGreaterEqual(info["devices"][0]["events"], 30 * 2)

    def test_memory_that_is_freed_or_allocated_once_is_no_leak(self):
        self.record()
        explanation = json.loads(self.told("explain", self.trace, "--format", "json"))
        self.assertEqual([f["title"] for f in explanation["findings"] if f["severity"] == "leak"], [])
        info = json.loads(self.told("info", self.trace, "--format", "json"))
        self.assertEqual(info["devices"][0]["events"], 41 * 2 + 40 * 3)


if __name__ == "__main__":
    unittest.main()
