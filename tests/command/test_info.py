# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
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
        self.assertEqual(info["format_version"], 6)
        self.assertEqual(info["annotations"], 6)
        self.assertEqual(info["settings_changed"], [])
        self.assertTrue(info["clean_end"])
        (device,) = info["devices"]
        self.assertEqual((device["device"], device["events"]), (0, 351))
        final = truth("adam_steps")["marks"][-1][3]
        self.assertGreaterEqual(device["peak_allocated"]["bytes"], final["allocated_bytes.all.current"])
        self.assertGreaterEqual(device["peak_reserved"]["bytes"], device["peak_allocated"]["bytes"])

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
