# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""How the recorder's Python code measures the pauses that it makes, and the time of its heap scans."""

import gc
import os
import sys
import time
import types
import unittest

sys.path.insert(0, os.path.join(os.environ["TIDEMARK_HOME"], "python"))

from tidemark import _pauses, _scans


class Pauses(unittest.TestCase):
    def setUp(self):
        self.costs = []
        core = types.SimpleNamespace(push=lambda message: self.costs.append(message[0].cost))
        self.pauses = _pauses.Pauses(core)

    def reported(self):
        """Returns (total in ns, longest in ns, number) of the pauses since the last call."""
        self.pauses.send()
        reported = [(each.duration_ns, each.longest_ns, each.count) for each in self.costs]
        self.costs.clear()
        return reported

    def test_an_inner_pause_belongs_to_the_outer_one(self):
        with self.pauses.measure():
            with self.pauses.measure():
                time.sleep(0.002)
            self.assertEqual(self.costs, [])
        [(total, longest, count)] = self.reported()
        self.assertEqual((count, total), (1, longest))
        self.assertGreaterEqual(longest, 2_000_000)

    def test_what_is_excluded(self):
        began = time.perf_counter_ns()
        with self.pauses.measure(), self.pauses.exclude():
            time.sleep(0.05)
        [(total, _, _)] = self.reported()
        self.assertLess(total, time.perf_counter_ns() - began - 50_000_000 + 1)

    def test_a_pause_ends_with_an_exception(self):
        for _ in range(2):
            with self.assertRaises(KeyError), self.pauses.measure():
                raise KeyError
        self.assertEqual(sum(count for _, _, count in self.reported()), 2)
        self.assertNotEqual(gc.get_threshold()[0], 0)

    def test_no_collection_of_the_program_is_in_a_pause(self):
        began = []

        def collects(phase, _):
            began.append(phase)
            time.sleep(0.02)

        gc.callbacks.append(collects)
        self.addCleanup(gc.callbacks.remove, collects)
        limits = gc.get_threshold()
        with self.pauses.measure():
            kept = [[] for _ in range(20 * limits[0])]
            self.assertEqual(began, [])
        kept += [[] for _ in range(2 * limits[0])]
        self.assertEqual(gc.get_threshold(), limits)
        self.assertNotEqual(began, [], "the program's collections go on after the pause")
        [(_, longest, _)] = self.reported()
        self.assertLess(longest, 20_000_000)

    def test_the_program_sets_its_own_limit_in_a_pause(self):
        limits = gc.get_threshold()
        self.addCleanup(gc.set_threshold, *limits)
        with self.pauses.measure():
            gc.set_threshold(123, 4, 5)
        self.assertEqual(gc.get_threshold()[:2], (123, 4))

    def test_no_collection_of_the_program_is_in_the_time_of_scans(self):
        collections, limits = [], gc.get_threshold()

        def collects(phase, _):
            collections.append(phase)
            began = time.thread_time()
            while time.thread_time() - began < 0.02:
                pass

        core = types.SimpleNamespace(
            scans_wanted=lambda: 0, full_scans_wanted=lambda: 0, serve_scans=lambda serves: None
        )
        kept = []
        referrers = types.SimpleNamespace(scan=lambda *_: kept.extend([] for _ in range(20 * limits[0])))
        scans = _scans.Scans(core, referrers, self.pauses)
        before = scans._budget.left()
        gc.callbacks.append(collects)
        self.addCleanup(gc.callbacks.remove, collects)
        self.assertTrue(scans.scan_if_affordable("memory grows", 0.0))
        kept += [[] for _ in range(2 * limits[0])]
        self.assertNotEqual(collections, [])
        self.assertLess(before - scans._budget.left(), 0.02)


if __name__ == "__main__":
    unittest.main()
