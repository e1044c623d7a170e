# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks that the window gives no work to Qt's global thread pool, for which QPainter waits. Standard library only."""

import re
import unittest
from pathlib import Path

GUI = Path(__file__).resolve().parents[2] / "gui"
GLOBAL_POOL = re.compile(r"QThreadPool::globalInstance|QtConcurrent::\w+\((?!pool_|worker_threads|picture_threads)")


def uses(text):
    """Returns the uses of the global pool in C++ text."""
    return GLOBAL_POOL.findall(text)


class Threads(unittest.TestCase):
    def test_the_window_leaves_the_global_pool_to_qt(self):
        for source in sorted(GUI.rglob("*.cpp")) + sorted(GUI.rglob("*.h")):
            with self.subTest(file=str(source.relative_to(GUI))):
                self.assertEqual(uses(source.read_text(encoding="utf-8")), [])

    def test_uses_are_found(self):
        self.assertTrue(uses("QtConcurrent::run([this] { load(); })"))
        self.assertTrue(uses("pool = QThreadPool::globalInstance();"))
        self.assertFalse(uses("QtConcurrent::run(worker_threads(), [this] { load(); })"))


if __name__ == "__main__":
    unittest.main()
