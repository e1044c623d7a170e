# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks that every #include refers to a room that the including room may use.

A room is a folder of the table below. A file belongs to the longest row that its path starts with, so a folder that
gets an own row becomes an own room. Standard library only.
"""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

BASE = {"storage/base"}
TRACE = BASE | {"storage/trace"}
STATE = TRACE | {"storage/allocator", "storage/replay", "storage/timeline", "storage/analysis", "storage/breakdown"}
GRAPH = STATE | {"storage/graph", "storage/attribution"}

# Folder ("room"): the folders that it may include, in addition to itself.
ALLOWED = {
    # library trace
    "storage/base": set(),
    "storage/trace": BASE,
    # library format
    "storage/sqlite": BASE,
    "storage/format": TRACE | {"storage/sqlite"},
    "storage/read": TRACE | {"storage/sqlite", "storage/format"},
    "storage/query": TRACE | {"storage/sqlite", "storage/format", "storage/read"},
    # library notes
    "storage/notes": TRACE | {"storage/format"},
    # library write
    "storage/write": TRACE | {"storage/sqlite", "storage/format"},
    # library state
    "storage/allocator": TRACE,
    "storage/replay": TRACE | {"storage/allocator"},
    "storage/timeline": TRACE | {"storage/replay"},
    "storage/analysis": TRACE | {"storage/replay", "storage/timeline"},
    "storage/breakdown": TRACE | {"storage/replay", "storage/analysis"},
    # library graph
    "storage/graph": TRACE | {"storage/read"},
    "storage/attribution": TRACE | {"storage/replay", "storage/timeline", "storage/graph"},
    # library exchange
    "storage/import": TRACE | {"storage/format", "storage/allocator", "storage/timeline", "storage/write"},
    "storage/export": STATE | {"storage/format", "storage/read", "storage/graph", "storage/write"} | {"storage/notes"},
    # library whatif
    "storage/whatif": TRACE | {"storage/allocator", "storage/replay", "storage/timeline", "storage/analysis"},
    "storage/compare": TRACE | {"storage/replay", "storage/timeline", "storage/attribution"},
    # library text
    "storage/text": TRACE | {"storage/attribution", "storage/breakdown", "storage/graph"},
    # library explain
    "storage/explain": GRAPH | {"storage/text", "storage/whatif"},
    # library convert
    "storage/convert": GRAPH | {"storage/explain", "storage/import", "storage/text"},
    # library job
    "storage/job": GRAPH | {"storage/explain", "storage/read", "storage/text", "storage/write"},
    # library report
    "storage/report": TRACE
    | {"storage/attribution", "storage/compare", "storage/text", "storage/timeline", "storage/explain", "storage/job"},
    # library tables
    "storage/tables": GRAPH | {"storage/compare", "storage/explain"},
    # the recorder
    "recorder/core": set(),
    "recorder/frames": {"recorder/core"},
    "recorder/heap": {"recorder/core"},
    "recorder/torch": {"recorder/core"},
    "recorder/driver": TRACE | {"recorder/core"},
    "recorder/control": BASE,
    "recorder/daemon": TRACE
    | {"recorder/control", "recorder/core", "recorder/driver", "storage/allocator", "storage/text", "storage/write"},
    "recorder/cli": GRAPH
    | {
        "recorder/control",
        "recorder/core",
        "recorder/driver",
        "storage/compare",
        "storage/convert",
        "storage/explain",
        "storage/export",
        "storage/format",
        "storage/import",
        "storage/job",
        "storage/query",
        "storage/read",
        "storage/report",
        "storage/tables",
        "storage/text",
        "storage/whatif",
    },
    "recorder/reader": GRAPH
    | {"storage/compare", "storage/explain", "storage/read", "storage/report", "storage/tables", "storage/text"},
    # the window
    "gui": GRAPH
    | {"storage/compare", "storage/explain", "storage/export", "storage/import", "storage/notes", "storage/query"}
    | {"storage/job", "storage/read", "storage/report", "storage/text", "storage/whatif"},
}


def room_of(path):
    """Returns the room of a path that is relative to the root, or None."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        room = "/".join(parts[:length])
        if room in ALLOWED:
            return room
    return None


def includes():
    """Yields (file, included file) of all sources of the program, relative to the root."""
    for top in ("storage", "recorder", "gui"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in {".h", ".cpp", ".inc"}:
                name = path.relative_to(ROOT).as_posix()
                for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
                    yield name, included


def cycle_in(arrows):
    """Returns one cycle of a graph {room: rooms} as a list that starts and ends with the same room, or None."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room) :] + [room]
        if room in done:
            return None
        path.append(room)
        for following in sorted(arrows.get(room, ())):
            if found := visit(following):
                return found
        done.add(path.pop())
        return None

    for start in sorted(arrows):
        if found := visit(start):
            return found
    return None


class Arrows(unittest.TestCase):
    def test_every_include_is_allowed(self):
        for source, included in includes():
            if "/" not in included:  # in the same folder
                continue
            room, target = room_of(source), room_of(included)
            with self.subTest(file=source, include=included):
                self.assertIsNotNone(room, "its folder has no row in the table")
                self.assertTrue((ROOT / included).is_file(), "there is no such file")
                self.assertIn(target, ALLOWED[room] | {room})

    def test_rooms_have_no_cycle(self):
        self.assertIsNone(cycle_in(ALLOWED))

    def test_every_row_is_used(self):
        used = {room_of(source) for source, _ in includes()}
        self.assertEqual(set(ALLOWED) - used, set())

    def test_cycles_are_found(self):
        self.assertIsNone(cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}))
        self.assertEqual(cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])


if __name__ == "__main__":
    unittest.main()
