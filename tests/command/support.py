# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Shared by the command tests: the binary, the snapshots, a folder per test."""

import hashlib
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import tempfile
import unittest

TIDEMARK = os.environ["TIDEMARK"]
SNAPSHOTS = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]) / "snapshots"

FINE, USAGE, INPUT, ENVIRONMENT, CANCELED = 0, 2, 3, 4, 130
STEPS = 12  # of make_graph_trace


def snapshot(name):
    return SNAPSHOTS / f"{name}.pickle"


def truth(name):
    return json.loads((SNAPSHOTS / f"{name}.json").read_text())


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def run(*arguments, **options):
    """Runs the command without a terminal. Input and output are text."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        [TIDEMARK, *map(str, arguments)], capture_output="stdout" not in options, text=True, timeout=300, **options
    )


def copy_command(folder):
    """Copies the command and its library into a folder, as they are installed. Returns the path of the command."""
    folder = pathlib.Path(folder)
    for name in ("bin/tidemark", "lib/tidemark/libtidemark_reader.so"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(pathlib.Path(TIDEMARK).parent / "../lib/tidemark/libtidemark_reader.so", folder / "lib/tidemark")
    return pathlib.Path(shutil.copy(TIDEMARK, folder / "bin"))


PARTS_OF_HOME = (
    "tidemark-recorder",
    "libtidemark_core.so",
    "libtidemark_frames.so",
    "libtidemark_driver.so",
    "plugin/x",
    "python/tidemark/__init__.py",
    "startup/sitecustomize.py",
)


def make_home(folder):
    """Makes a recorder of empty files below a folder, where it stands in an installation. Returns its path."""
    home = folder / "lib" / "tidemark"
    for part in PARTS_OF_HOME:
        (home / part).parent.mkdir(parents=True, exist_ok=True)
        (home / part).touch()
    return home


def generated_snapshot(devices=1, function="step", steps=10, depth=1):
    """Returns a small snapshot. Device D allocates 512 bytes steps * (D + 1) times, each from a stack of `depth`
    frames, and frees half of them at once."""
    traces, segments = [], []
    for device in range(devices):
        frames = [{"name": function, "filename": "/home/anna/train.py", "line": 7 + device + i} for i in range(depth)]
        base, kept = (device + 1) << 40, 0
        events = [("segment_alloc", base, 2 << 20)]
        for i in range(steps * (device + 1)):
            address = base + 512 * kept
            events.append(("alloc", address, 512))
            if i % 2:
                events += [("free_requested", address, 512), ("free_completed", address, 512)]
            else:
                kept += 1
        traces.append(
            [
                {
                    "action": action,
                    "addr": address,
                    "size": size,
                    "stream": 0,
                    "time_us": 1000 + device + 2 * i,
                    "frames": frames,
                }
                for i, (action, address, size) in enumerate(events)
            ]
        )
        segments.append(segment_at_end(device, base, kept, frames))
    return pickle.dumps({"segments": segments, "device_traces": traces}, protocol=4)


def make_graph_trace(path, steps=STEPS, scanned=True):
    """Writes a trace with a graph, see make_graph_trace.cpp. Nodes: 1 AccumulateGrad, then per step MmBackward0 and
    SumBackward0, finally MseLossBackward0 (executed with retain_graph) and ReluBackward0 (destroyed)."""
    arguments = [path, str(steps), "scanned" if scanned else "unscanned"]
    subprocess.run([os.environ["TIDEMARK_MAKE_GRAPH_TRACE"], *arguments], check=True)
    return path


def segment_at_end(device, base, kept, frames):
    blocks = [
        {"address": base + 512 * i, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": frames}
        for i in range(kept)
    ]
    used = 512 * kept
    blocks.append(
        {"address": base + used, "size": (2 << 20) - used, "requested_size": 0, "state": "inactive", "frames": []}
    )
    return {
        "device": device,
        "address": base,
        "total_size": 2 << 20,
        "allocated_size": used,
        "active_size": used,
        "requested_size": used,
        "stream": 0,
        "segment_type": "small",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": frames,
        "blocks": blocks,
    }


class CommandTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def run_fine(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, FINE, result.stderr)
        return result.stdout

    def json_of(self, *arguments):
        return json.loads(self.run_fine(*arguments, "--format", "json"))

    def run_failing(self, status, *arguments, **options):
        """Expects this exit status, one message on stderr and nothing on stdout. Returns the message."""
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout or "", "")
        self.assertTrue(result.stderr.startswith("tidemark: "), result.stderr)
        self.assertLess(len(result.stderr), 600)
        self.assertNotIn("terminate called", result.stderr)
        return result.stderr

    def imported_bytes(self, content):
        """Imports a generated snapshot. Returns the trace's path."""
        path = self.folder / "made-up.pickle"
        path.write_bytes(content)
        self.run_fine("import", path)
        return self.folder / "made-up.tide"

    def imported(self, name):
        """Imports one of the recorded snapshots. Returns the trace's path."""
        trace = self.folder / f"{name}.tide"
        self.run_fine("import", snapshot(name), "-o", trace)
        return trace
