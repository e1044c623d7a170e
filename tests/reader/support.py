# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Shared by the tests of the package that reads traces: traces, the command, and rows without another package."""

import ctypes
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "resources" / "examples"
RECORDED = ROOT / "tests" / "data" / "recorded"
SNAPSHOTS = ROOT / "tests" / "data" / "snapshots"


def command(*arguments):
    """Returns what the command prints."""
    environment = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    result = subprocess.run(
        [os.environ["TIDEMARK"], *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=300
    )
    if result.returncode:
        raise AssertionError(result.stderr)
    return result.stdout


def json_of(*arguments):
    return json.loads(command(*arguments, "--format", "json"))


class ReaderTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def imported(self, name):
        trace = self.folder / f"{name}.tide"
        command("import", SNAPSHOTS / f"{name}.pickle", "-o", trace)
        return trace


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]


class _Stream(ctypes.Structure):
    _fields_ = [
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Schema))),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Array))),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def rows_of(table):
    """Returns the rows of a table as dictionaries, read through Arrow's PyCapsule interface."""
    capsule = table.__arrow_c_stream__()
    address = _pointer_of(capsule, b"arrow_array_stream")
    stream = _Stream.from_address(address)
    schema = _Schema()
    assert stream.get_schema(address, schema) == 0
    rows = []
    while True:
        batch = _Array()
        assert stream.get_next(address, batch) == 0
        if not batch.release:
            break
        columns = {}
        for i in range(schema.n_children):
            of = schema.children[i].contents
            columns[of.name.decode()] = _values(of, batch.children[i].contents)
        rows += [dict(zip(columns, values)) for values in zip(*columns.values())]
        batch.release(batch)
    schema.release(schema)
    return rows


def _values(schema, array):
    present = array.buffers[0] and ctypes.string_at(array.buffers[0], (array.length + 7) // 8)
    values = _texts(array.dictionary.contents) if schema.dictionary else None
    numbers = _numbers(schema.format, array)
    found = [values[n] for n in numbers] if values else numbers
    return [None if present and not present[i // 8] >> i % 8 & 1 else value for i, value in enumerate(found)]


def _numbers(form, array):
    if form == b"U":
        return _texts(array)
    if form == b"b":
        bits = ctypes.string_at(array.buffers[1], (array.length + 7) // 8)
        return [bool(bits[i // 8] >> i % 8 & 1) for i in range(array.length)]
    kind = ctypes.c_int32 if form == b"i" else ctypes.c_int64
    return list((kind * array.length).from_address(array.buffers[1])) if array.length else []


def _texts(array):
    offsets = (ctypes.c_int64 * (array.length + 1)).from_address(array.buffers[1])
    chars = ctypes.string_at(array.buffers[2], offsets[array.length]) if offsets[array.length] else b""
    return [chars[offsets[i] : offsets[i + 1]].decode() for i in range(array.length)]
