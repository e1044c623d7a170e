# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""tidemark.pause(), resume() and snapshot() in a program that records itself. Needs torch (no GPU)."""

import importlib.util
import os
import sqlite3
import subprocess
import sys
import unittest

import tidemark
from support import ReaderTest

PROGRAM = """
import sys, torch, tidemark
tidemark.record(sys.argv[1], parts=["stacks", "ops", "modules", "graph"])
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.Adam(model.parameters())
def step():
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
step()
print(tidemark.pause(), tidemark.pause())
step()
print(tidemark.resume())
step()
print(tidemark.snapshot(sys.argv[2]), tidemark.snapshot(sys.argv[2]), tidemark.snapshot(sys.argv[2], force=True))
tidemark.stop()
print(tidemark.pause())
"""


class Steering(ReaderTest):
    def test_nothing_happens_without_a_recording(self):
        self.assertFalse(tidemark.pause())
        self.assertFalse(tidemark.resume())
        self.assertFalse(tidemark.snapshot(self.folder / "now.tide"))
        self.assertEqual(list(self.folder.iterdir()), [])

    @unittest.skipIf(importlib.util.find_spec("torch") is None, f"{sys.executable} has no torch")
    def test_a_program_steers_its_recording(self):
        run, now = self.folder / "run.tide", self.folder / "now.tide"
        result = subprocess.run(
            [sys.executable, "-c", PROGRAM, run, now],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "TIDEMARK_RUNTIME": str(self.folder / "r")},
        )
        self.assertEqual(result.stdout.splitlines(), ["True True", "True", "True False True", "False"], result.stderr)
        self.assertIn(f"{now} exists already", result.stderr)
        for trace, reasons in ((run, {"details_paused"}), (now, {"details_paused", "snapshot"})):
            with sqlite3.connect(trace) as connection:
                found = {reason for (reason,) in connection.execute("SELECT reason FROM data_gap")}
            self.assertLessEqual(reasons, found)


if __name__ == "__main__":
    unittest.main()
