# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A Python program without PyTorch whose arrays on the GPU are retained: the heap scans of a recording find by what,
with a fake CUDA and a module that looks like CuPy."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = os.environ["TIDEMARK"]
LIBRARY = """
import ctypes, os

cuda = ctypes.CDLL(os.environ["TIDEMARK_FAKE_RUNTIME"])

class MemoryPointer:
    device_id, mem = 0, None

class ndarray:
    def __init__(self, size, base=None):
        self.data, self.base = MemoryPointer(), base
        self.data.device_id = 0
        if base is None:
            memory = ctypes.c_void_p()
            cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(size))
            self.data.ptr = memory.value
        else:
            self.data.ptr = base.data.ptr + 4096

    def __del__(self):
        if self.base is None:
            cuda.cudaFree(ctypes.c_void_p(self.data.ptr))
"""
PROGRAM = """
import functools, os, subprocess, sys, time
import cupy

class Denoiser:
    def __init__(self):
        self.in_flight = []

    def submit(self, frame):
        source, result = cupy.ndarray(4 << 20), cupy.ndarray(4 << 20)
        self.in_flight.append((frame, source, cupy.ndarray(0, result)))

@functools.lru_cache(maxsize=None)
def transfer(distance):
    return cupy.ndarray(8 << 20)

def main(kind, snapshot=None):
    denoiser, asked = Denoiser(), None
    for frame in range(60):
        work = cupy.ndarray(64 << 20)
        transfer(frame) if kind == "cache" else denoiser.submit(frame)
        del work
        if snapshot and frame == 10:
            asked = subprocess.Popen([os.environ["TIDEMARK"], "snapshot", str(os.getpid()), "-o", snapshot])
        time.sleep(0.06)
    if asked:
        print("asked", asked.wait())

main(*sys.argv[1:])
"""


class ArrayProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "cupy.py").write_text(LIBRARY)
        (self.folder / "simulate.py").write_text(PROGRAM)
        self.trace = self.folder / "run.tide"

    def record(self, *arguments):
        command = [TIDEMARK, "record", "--with", "stacks,driver,graph", "-o", self.trace, "--", sys.executable]
        done = subprocess.run([*command, self.folder / "simulate.py", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stdout + done.stderr

    def told(self, *words):
        done = subprocess.run([TIDEMARK, *words, "--format", "json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{done.stderr}The recorded program said: {self.said}")
        return json.loads(done.stdout)

    def test_a_list_of_tuples(self):
        self.record("list", self.folder / "now.tide")
        finding = self.told("explain", self.trace)["findings"][0]
        self.assertEqual((finding["kind"], finding["severity"]), ("growing-container", "leak"))
        self.assertIn("list `denoiser.in_flight` of class Denoiser", finding["referrer"])
        self.assertEqual(finding["count"], 120, "both arrays, also that of which a view is retained")
        self.assertNotIn("tensor", json.dumps(finding))
        self.assertIn(["end"], self.told("query", self.trace, "SELECT reason FROM heap_scan")["rows"])
        self.assertIn("asked 0", self.said)
        asked = "SELECT tensors > 0 FROM heap_scan WHERE reason = 'asked'"
        self.assertEqual(self.told("query", self.folder / "now.tide", asked)["rows"], [[1]], "a snapshot has a scan")

    def test_a_cache(self):
        self.record("cache")
        finding = self.told("explain", self.trace)["findings"][0]
        self.assertEqual((finding["kind"], finding["severity"]), ("growing-container", "leak"))
        self.assertIn("`transfer.cache`", finding["referrer"])


if __name__ == "__main__":
    unittest.main()
