# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import contextlib
import sqlite3

from support import USAGE, CommandTest

MIB = 1 << 20


class Breakdown(CommandTest):
    def recorded(self, name):
        """Returns the trace of a snapshot, with the rows that a recorder adds: NVML, driver calls, a process, steps."""
        trace = self.imported(name)
        with contextlib.closing(sqlite3.connect(trace)) as database, database:
            end = int(database.execute("SELECT value FROM meta WHERE key = 'duration_ns'").fetchone()[0])
            library = database.execute("SELECT max(id) + 1 FROM string").fetchone()[0]
            database.execute("INSERT INTO string VALUES(?, 'libcublas.so.13')", (library,))
            database.execute(
                "INSERT INTO process VALUES(1, 4711, 3, NULL, NULL, NULL, NULL, 'python train.py', 0, ?, 137, "
                "'killed by signal 9')",
                (end,),
            )
            database.execute(
                "INSERT INTO step VALUES(1, 0, 'user', 0, ?), (2, 1, 'user', ?, NULL)", (end // 2, end // 2)
            )
            database.execute(
                "INSERT INTO driver_allocation VALUES(1, 1, 0, 'context', 0, ?, 0, NULL, NULL, NULL, NULL),"
                "(2, 1, 0, 'device', 1, ?, 1, NULL, ?, NULL, NULL)",
                (500 * MIB, 8 * MIB, library),
            )
            reserved = database.execute("SELECT sum(size) FROM segment WHERE free_event IS NULL").fetchone()[0]
            figures = [(None, reserved + 1000 * MIB), (4711, reserved + 600 * MIB), (12, 100 * MIB)]
            database.executemany(
                "INSERT INTO sample VALUES(NULL, ?, 0, ?, ?, NULL, 'nvml')", [(end, pid, used) for pid, used in figures]
            )
        return trace, reserved

    def test_adds_up_to_nvml_usage(self):
        trace, reserved = self.recorded("adam_steps")
        breakdown = self.json_of("breakdown", trace)
        self.assertEqual(breakdown["device_used_bytes"], reserved + 1000 * MIB)
        self.assertEqual(breakdown["process_used_bytes"], reserved + 600 * MIB)
        self.assertEqual(breakdown["sample_age_ns"], 0)
        self.assertEqual(
            sum(component["bytes"] for component in breakdown["components"]), breakdown["device_used_bytes"]
        )
        components = {
            component["name"] or component["component"]: component["bytes"] for component in breakdown["components"]
        }
        self.assertEqual(components["libcublas.so.13"], 8 * MIB)
        self.assertEqual(components["context"], 500 * MIB)
        self.assertEqual(components["process 12"], 100 * MIB)
        self.assertEqual(components["unknown"], (1000 - 8 - 500 - 100) * MIB)
        text = self.run_fine("breakdown", trace)
        for words in (
            "libcublas.so.13",
            "as nvidia-smi shows it for the device",
            "CUDA context",
            "unexplained",
            "The nearest NVML sample",
            "empty_cache",
        ):
            self.assertIn(words, text)

    def test_without_nvml_ends_with_known_memory(self):
        for name in ("streams", "cudagraph", "varlen_expandable", "frag_oom"):
            trace = self.imported(name)
            for time_point in ("peak", "end", "event:50", "time:1ms"):
                breakdown = self.json_of("breakdown", trace, "--at", time_point)
                self.assertIsNone(breakdown["device_used_bytes"])
                if time_point != "time:1ms":
                    reserved = self.json_of("stats", trace, "--at", time_point)["reserved_bytes.all.current"]
                    self.assertEqual(breakdown["total_bytes"], reserved, f"{name} {time_point}")
                self.assertTrue(breakdown["gaps"])
        self.assertIn("Note: NVML was not read", self.run_fine("breakdown", trace))

    def test_devices(self):
        trace = self.imported("two_gpus")
        self.assertEqual([page["device"] for page in self.json_of("breakdown", trace)], [0, 1])
        self.assertEqual(self.json_of("breakdown", trace, "--device", "1")["device"], 1)
        self.run_failing(USAGE, "breakdown", trace, "--device", "7")
        self.run_failing(USAGE, "breakdown", trace, "--at", "noon")

    def test_info_describes_the_recording(self):
        trace, _ = self.recorded("adam_steps")
        info = self.json_of("info", trace)
        (process,) = info["processes"]
        self.assertEqual((process["pid"], process["rank"], process["exit_status"]), (4711, 3, 137))
        self.assertEqual((info["steps"], info["samples"], info["driver_allocations"]), (2, 3, 2))
        self.assertFalse(info["being_written"])
        text = self.run_fine("info", trace)
        self.assertIn("pid 4711, rank 3, killed by signal 9", text)
        self.assertIn("python train.py", text)

    def test_top_by_step(self):
        trace, _ = self.recorded("adam_steps")
        names = [group["name"] for group in self.json_of("top", trace, "--by", "step")["groups"]]
        self.assertTrue(any(name.startswith("step ") for name in names), names)
        self.assertEqual(
            [group["name"] for group in self.json_of("top", trace, "--by", "module")["groups"]], ["no module"]
        )
