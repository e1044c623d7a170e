# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Traces of several devices, and untrusted names."""

from support import USAGE, CommandTest, generated_snapshot


class Devices(CommandTest):
    def setUp(self):
        super().setUp()
        self.trace = self.imported_bytes(generated_snapshot(devices=3))

    def test_info_lists_devices(self):
        info = self.json_of("info", self.trace)
        self.assertEqual([device["device"] for device in info["devices"]], [0, 1, 2])
        self.assertEqual([device["events"] for device in info["devices"]], [21, 41, 61])
        self.assertEqual(info["data_gaps"], [])
        self.assertIn("Device 2", self.run_fine("info", self.trace))

    def test_stats_are_a_list_or_one_table_each(self):
        stats = self.json_of("stats", self.trace)
        self.assertEqual([entry["device"] for entry in stats], [0, 1, 2])
        self.assertEqual([entry["stats"]["allocated_bytes.all.current"] for entry in stats], [2560, 5120, 7680])
        self.assertEqual(self.json_of("stats", self.trace, "--device", "1"), stats[1]["stats"])
        self.assertEqual(self.run_fine("stats", self.trace).count("PyTorch CUDA memory summary"), 3)
        self.assertIn("it has 0, 1, 2", self.run_failing(USAGE, "stats", self.trace, "--device", "3"))

    def test_top_is_a_list_or_one_text_each(self):
        self.assertEqual(
            [entry["total"]["bytes"] for entry in self.json_of("top", self.trace, "--at", "end")], [2560, 5120, 7680]
        )
        self.assertEqual(self.json_of("top", self.trace, "--device", "2", "--at", "end")["device"], 2)
        self.assertEqual(self.run_fine("top", self.trace).count("total"), 3)

    def test_an_event_of_one_device_need_not_exist_on_another(self):
        self.assertIn("device 0 has 21 events", self.run_failing(USAGE, "stats", self.trace, "--at", "event:50"))
        self.json_of("stats", self.trace, "--at", "event:50", "--device", "2")

    def test_a_time_range_applies_to_all_devices(self):
        part = self.folder / "part.tide"
        self.run_fine("share", self.trace, "-o", part, "--from", "event:11", "--to", "event:31")
        for device in range(3):
            self.assertGreater(self.json_of("info", part)["devices"][device]["events"], 0)
            start = self.json_of("stats", part, "--device", device, "--at", "event:0")
            whole = self.json_of("stats", self.trace, "--device", device, "--at", "time:22us")  # of device 2's event 11
            self.assertEqual(start["active_bytes.all.current"], whole["active_bytes.all.current"])


class Names(CommandTest):
    def test_control_characters_never_reach_the_terminal(self):
        trace = self.imported_bytes(generated_snapshot(function="\x1b[31mevil\nline\x07"))
        text = self.run_fine("top", trace)
        self.assertNotIn("\x1b", text)
        self.assertIn(r"\x1b[31mevil\nline\x07", text)
        group = self.json_of("top", trace)["groups"][0]
        self.assertEqual(group["frames"][0]["function"], "\x1b[31mevil\nline\x07")

    def test_names_in_every_script_are_kept(self):
        trace = self.imported_bytes(generated_snapshot(function="обучение_训练_é"))
        self.assertIn("обучение_训练_é", self.run_fine("top", trace))
