# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import contextlib
import sqlite3

from support import CommandTest, truth


class Info(CommandTest):
    def test_text(self):
        trace = self.imported("varlen_expandable")
        text = self.run_fine("info", trace)
        for part in (
            "varlen_expandable.pickle",
            "Device 0",
            "162",
            "peak allocated",
            "peak reserved",
            "at the end",
            "bytes per event",
            "expandable_segments = true",
            "Data gaps",
        ):
            self.assertIn(part, text)
        self.assertNotIn("max_split_size", text)

    def test_json(self):
        trace = self.imported("adam_steps")
        info = self.json_of("info", trace)
        self.assertEqual(info["file_bytes"], trace.stat().st_size)
        self.assertEqual(info["format_version"], 8)
        self.assertEqual(info["annotations"], 6)
        self.assertEqual(info["settings_changed"], [])
        self.assertTrue(info["clean_end"])
        (device,) = info["devices"]
        self.assertEqual((device["device"], device["events"]), (0, 351))
        final = truth("adam_steps")["marks"][-1][3]
        self.assertGreaterEqual(device["peak_allocated"]["bytes"], final["allocated_bytes.all.current"])
        self.assertGreaterEqual(device["peak_reserved"]["bytes"], device["peak_allocated"]["bytes"])

    def test_the_recording_cost_is_never_guessed(self):
        trace = self.imported("adam_steps")
        self.assertIsNone(self.json_of("info", trace)["recording_cost"])
        self.assertNotIn("recording cost", self.run_fine("info", trace), "an import has none")
        with contextlib.closing(sqlite3.connect(trace)) as database, database:
            (duration,) = database.execute("SELECT CAST(value AS INTEGER) FROM meta WHERE key='duration_ns'").fetchone()
            database.execute(
                "INSERT INTO process(id, pid, command_line, start_time) VALUES(1, 4711, 'python train.py', 0)"
            )
        self.assertRegex(self.run_fine("info", trace), "recording cost +unknown")
        rows = [
            ("callbacks", 1, duration // 100, 1000),
            ("pause", 1, duration // 100, duration // 200),
            ("callbacks", 2, duration // 100, 1000),
            ("heap scan", 3, duration // 50, duration // 50),
        ]
        with contextlib.closing(sqlite3.connect(trace)) as database, database:
            database.executemany(
                f"INSERT INTO recording_cost VALUES(NULL, ?, ?, 0, {duration}, 1, ?, ?)",
                [*rows, ("callbacks", 4, 2 * duration, 0)],  # the last one cannot be true
            )
        cost = self.json_of("info", trace)["recording_cost"]
        self.assertEqual(cost["longest_pause_ns"], duration // 50)
        self.assertAlmostEqual(cost["of_time"], 0.04, 3)
        self.assertRegex(self.run_fine("info", trace), r"recording cost +4\.0 % of the time, longest pause ")

    def test_peaks_match_pytorch(self):
        for name in ("s0_graph_leak", "s1_retain_empty", "s2_oom_list", "s3_linear", "s3_varlen"):
            stats = truth(name)["stats"]
            (device,) = self.json_of("info", self.imported(name))["devices"]
            self.assertEqual(device["peak_allocated"]["bytes"], stats["allocated_bytes.all.peak"], name)
            self.assertEqual(device["peak_reserved"]["bytes"], stats["reserved_bytes.all.peak"], name)
            self.assertEqual(device["end"]["reserved_bytes"], stats["reserved_bytes.all.current"], name)

    def test_reports_a_missing_beginning(self):
        trace = self.imported("gpt_ring")
        text = self.run_fine("info", trace)
        self.assertIn("- device 0: ", text.split("Data gaps")[1])
        info = self.json_of("info", trace)
        self.assertTrue(info["devices"][0]["history_truncated"])
        self.assertIn("history_truncated", [gap["kind"] for gap in info["data_gaps"]])
