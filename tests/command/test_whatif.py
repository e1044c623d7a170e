# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import json

from support import INPUT, USAGE, CommandTest, run


class WhatIf(CommandTest):
    def test_the_model_has_the_recorded_figures(self):
        for name in ("s3_varlen", "varlen_expandable", "frag_oom", "streams"):
            found = self.json_of("whatif", self.imported(name))
            self.assertTrue(found["model"]["exact"], name)
            self.assertEqual(found["model"]["peak_deviation"], 0, name)
            for key in (
                "peak_reserved_bytes",
                "peak_allocated_bytes",
                "end_reserved_bytes",
                "free_gaps_at_peak_reserved",
            ):
                self.assertEqual(found["recorded"][key], found["model_as_recorded"][key], (name, key))
                self.assertEqual(found["model_asked"][key], found["model_as_recorded"][key], (name, key))

    def test_expandable_segments_give_the_peak_of_the_same_program_with_them(self):
        segments, expandable = self.imported("s3_varlen"), self.imported("varlen_expandable")
        found = self.json_of("whatif", segments, "--set", "expandable_segments:True")
        other = self.json_of("whatif", expandable)
        self.assertEqual(found["model_asked"]["peak_reserved_bytes"], other["recorded"]["peak_reserved_bytes"])
        self.assertEqual(found["configuration"], "expandable_segments:True")

    def test_the_last_line_sets_the_variable(self):
        trace = self.imported("s3_varlen")
        text = self.run_fine("whatif", trace, "--set", "expandable_segments:True", "--set", "max_split_size_mb:128")
        last = text.strip().splitlines()[-1]
        self.assertEqual(last, "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128")

    def test_no_variable_without_a_setting(self):
        trace = self.imported("s3_varlen")
        for options in ((), ("--limit", "40GiB")):
            self.assertNotIn("export", self.run_fine("whatif", trace, *options))

    def test_the_smallest_limit_of_a_history_without_its_beginning_is_unknown(self):
        smallest = self.json_of("whatif", self.imported("gpt_ring"))["smallest_memory_limit_bytes"]
        self.assertEqual(smallest, {"as_recorded": None, "asked": None})

    def test_a_limit_that_is_too_small(self):
        trace = self.imported("s3_varlen")
        found = self.json_of("whatif", trace)
        smallest = found["smallest_memory_limit_bytes"]["as_recorded"]
        self.assertIsNone(found["model_asked"]["out_of_memory"])
        self.assertIsNone(self.json_of("whatif", trace, "--limit", smallest)["model_asked"]["out_of_memory"])
        found = self.json_of("whatif", trace, "--limit", smallest - (2 << 20))
        self.assertTrue(found["model_asked"]["out_of_memory"]["sure"])
        self.assertIn("Would run out of memory at event", found["text"])

    def test_unknown_settings_name_the_known_ones(self):
        trace = self.imported("s3_varlen")
        for setting, expected in (
            ("max_split:64", "max_split_size_mb"),
            ("expandable_segments:yes", "True, False"),
            ("backend:cudaMallocAsync", "native"),
            ("garbage_collection_threshold:0.5", "memory limit"),
        ):
            result = run("whatif", trace, "--set", setting)
            self.assertEqual(result.returncode, USAGE, setting)
            self.assertIn(expected, result.stderr)
        self.assertEqual(run("whatif", trace, "--limit", "much").returncode, USAGE)

    def test_a_trace_without_events_of_the_allocator(self):
        broken = self.folder / "broken.tide"
        broken.write_text(json.dumps({}))
        self.assertEqual(run("whatif", broken).returncode, INPUT)
