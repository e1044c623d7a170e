# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks that the build contains every C++ test: one that no list names would pass forever. Standard library only."""

import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def unnamed(sources, lists):
    """Returns those of the files whose name without its ending none of the texts contains."""
    return [name for name in sources if not any(Path(name).stem in text for text in lists)]


class Built(unittest.TestCase):
    def test_every_source_is_in_a_list(self):
        lists = [path.read_text(encoding="utf-8") for path in TESTS.rglob("CMakeLists.txt")]
        self.assertEqual(unnamed([path.name for path in sorted(TESTS.rglob("*test*.cpp"))], lists), [])

    def test_one_that_is_missing_is_found(self):
        self.assertEqual(unnamed(["a_test.cpp", "b_test.cpp"], ["add(unit/a_test.cpp)"]), ["b_test.cpp"])


if __name__ == "__main__":
    unittest.main()
