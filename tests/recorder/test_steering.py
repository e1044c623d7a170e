# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Pauses, snapshots and late starts of a program with PyTorch on the CPU, which has an autograd graph and a heap.

Needs torch with CUDA's libraries (no GPU) and a C++ compiler: TIDEMARK_TEST_PYTHON names a Python that has it.
"""

import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

HOME = pathlib.Path(os.environ["TIDEMARK_HOME"])
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
HAS_TORCH = subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True).returncode == 0

# Reads commands from stdin: "step" makes a training step; "forward" and "backward" are halves of another one.
PROGRAM = """
import sys
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
if sys.argv[1] != "later":
    import tidemark
    tidemark.record(sys.argv[1], parts=["stacks", "ops", "modules", "graph"])
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
kept = []
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "forward":
        pending = model[0](torch.ones(4, 8)).sum()  # its graph needs no weight, which steps change
        print("", flush=True)
        continue
    if line.strip() == "backward":
        pending.backward()
        print("", flush=True)
        continue
    loss = model(torch.randn(4, 8)).square().mean()
    kept.append(loss)
    loss.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item().hex(), flush=True)
"""


@unittest.skipUnless(HAS_TORCH, "needs torch")
class Steering(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "run.tide"

    def start(self, output, **variables):
        environment = {
            **os.environ,
            "PYTHONPATH": str(HOME / "python"),
            "TIDEMARK_RUNTIME": str(self.folder / "r"),
            **variables,
        }
        self.program = subprocess.Popen(
            [TORCH_PYTHON, "-c", PROGRAM, str(output)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
        )
        self.addCleanup(self.program.stdout.close)
        self.addCleanup(self.program.wait)
        self.addCleanup(self.program.kill)
        self.assertEqual(self.program.stdout.readline(), "ready\n")

    def command(self, name):
        """Returns the line with which the program answers."""
        self.program.stdin.write(f"{name}\n")
        self.program.stdin.flush()
        return self.program.stdout.readline()

    def steps(self, count):
        """Makes steps. Returns their losses."""
        return [self.command("step") for _ in range(count)]

    def ask(self, request, listener="recorder", **arguments):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(300)
            connection.connect(str(self.folder / "r" / f"{self.program.pid}.{listener}"))
            connection.sendall(json.dumps({"request": request, **arguments}).encode() + b"\n")
            answer = json.loads(connection.makefile().readline())
        self.assertTrue(answer["ok"], answer)
        return answer

    def finish(self):
        self.program.stdin.close()
        self.program.wait(60)

    def rows(self, query):
        with sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True) as database:
            return database.execute(query).fetchall()

    def bare_losses(self, count):
        self.start("later")
        losses = self.steps(count)
        self.finish()
        return losses

    def test_a_pause_records_no_details(self):
        bare = self.bare_losses(30)
        self.start(self.trace)
        losses = self.steps(10)
        self.ask("pause")
        losses += self.steps(1)  # a pause begins at the end of a step, since nothing is allocated on a GPU
        time.sleep(0.1)
        paused = time.time_ns()
        losses += self.steps(9)
        self.assertEqual(self.ask("snapshot")["heap_scan"], "made")
        resumed = time.time_ns()
        self.ask("resume")
        losses += self.steps(10)
        self.finish()
        self.assertEqual(losses, bare, "the results are the same bit for bit")
        self.assertEqual(self.rows("SELECT count(*) FROM step"), [(30,)])
        start = int(self.rows("SELECT value FROM meta WHERE key='start_utc_ns'")[0][0])
        created = [time for (time,) in self.rows("SELECT created_time FROM autograd_node WHERE created_time NOT NULL")]
        self.assertTrue(any(time < paused - start for time in created))
        self.assertFalse([time for time in created if paused - start < time < resumed - start])
        self.assertTrue(any(time > resumed - start for time in created))
        self.assertEqual(self.rows("SELECT count(*) FROM heap_scan WHERE reason='asked'"), [(1,)])
        self.assertEqual(self.rows("SELECT count(*) FROM data_gap WHERE reason='details_paused'"), [(1,)])

    def test_a_graph_that_is_backpropagated_in_a_pause(self):
        self.start(self.trace)
        self.steps(2)
        self.command("forward")
        self.ask("pause")
        self.steps(2)  # the pause begins at the end of the first
        self.command("backward")
        self.steps(1)
        self.finish()
        of_sum = "FROM autograd_node JOIN string ON string.id = type WHERE text = 'SumBackward0'"
        self.assertEqual(self.rows(f"SELECT executed_time NOT NULL {of_sum}"), [(1,)])

    def test_a_late_start_changes_no_result(self):
        bare = self.bare_losses(20)
        path = f"{HOME / 'startup'}{os.pathsep}{HOME / 'python'}"
        self.start("later", PYTHONPATH=path, TIDEMARK_ATTACHABLE="1")
        losses = self.steps(10)
        answer = self.ask("record", "program", output=str(self.trace), parts=["stacks", "ops", "modules", "graph"])
        self.assertEqual((answer["output"], answer["gaps"]), (str(self.trace), []))
        losses += self.steps(10)
        self.finish()
        self.assertEqual(losses, bare, "the results are the same bit for bit")
        self.assertEqual(self.rows("SELECT count(*) FROM step"), [(10,)])
        self.assertGreater(self.rows("SELECT count(*) FROM autograd_node")[0][0], 10)
        self.assertGreater(self.rows("SELECT count(*) FROM referrer")[0][0], 0)


if __name__ == "__main__":
    unittest.main()
