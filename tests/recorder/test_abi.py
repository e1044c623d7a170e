# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Compares the generated tidemark._abi with the C headers as compiled. Needs no torch, no GPU.

TIDEMARK_ABI_PROBE: a program that prints sizes, offsets and values. TIDEMARK_ABI_GENERATOR: generate_abi.py.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["TIDEMARK_HOME"], "python"))

from tidemark import _abi


def facts(kind):
    """Returns the probe's lines of one kind, split into words."""
    lines = subprocess.run([os.environ["TIDEMARK_ABI_PROBE"]], capture_output=True, text=True, check=True).stdout
    return [line.split()[1:] for line in lines.splitlines() if line.startswith(kind + " ")]


def member(structure, path):
    """Returns (offset, size) of a member, which may be nested. Members of anonymous unions belong to the structure."""
    offset = 0
    for name in path.split("."):
        place, types = getattr(structure, name), dict(all_fields(structure))
        offset, structure = offset + place.offset, types[name]
    return offset, ctypes.sizeof(structure)


def all_fields(structure):
    for name, c_type in structure._fields_:
        yield name, c_type
        if name in getattr(structure, "_anonymous_", ()):
            yield from all_fields(c_type)


class Abi(unittest.TestCase):
    def test_constants(self):
        values = facts("value")
        self.assertGreater(len(values), 50)
        for name, value in values:
            self.assertEqual(getattr(_abi, name.removeprefix("TIDEMARK_")), int(value), name)

    def test_sizes(self):
        sizes = facts("size")
        self.assertIn(["Record", "64"], sizes)
        for name, size in sizes:
            self.assertEqual(ctypes.sizeof(getattr(_abi, name)), int(size), name)

    def test_members(self):
        members = facts("member")
        self.assertIn(["Record", "event.device", "60", "1"], members)
        for name, path, offset, size in members:
            self.assertEqual(member(getattr(_abi, name), path), (int(offset), int(size)), f"{name}.{path}")


class Generator(unittest.TestCase):
    def messages(self, header):
        """Returns the generator's error message for a header; "" if it accepts the header."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "some.h")
            with open(path, "w") as file:
                file.write(header)
            command = [sys.executable, "-B", os.environ["TIDEMARK_ABI_GENERATOR"], path]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode != 0, done.stderr != "", done.stderr)
            return done.stderr

    def test_supported_headers_are_accepted(self):
        self.assertEqual(self.messages("#define TIDEMARK_A 0x10u\nstruct tidemark_a { uint8_t b, c[3]; };\n"), "")

    def test_unsupported_headers_are_rejected_with_a_message(self):
        for header, words in (
            ("#define TIDEMARK_A(x) x", "unknown directive"),
            ("#define TIDEMARK_A 1 << 2", "is no integer"),
            ("#ifdef OTHER", "unknown directive"),
            ("struct tidemark_a { long b; };", "unknown type: long"),
            ("struct tidemark_a { uint32_t b : 4; };", "unknown text"),
            ("struct tidemark_a { char** b; };", "pointer to a pointer"),
            ("struct tidemark_a { struct tidemark_b c; };", "unknown type: tidemark_b"),
            ("enum tidemark_a { TIDEMARK_B };", "expected ="),
            ("int tidemark_f(...);", "unknown text"),
        ):
            with self.subTest(header):
                self.assertIn(words, self.messages(header))


if __name__ == "__main__":
    unittest.main()
