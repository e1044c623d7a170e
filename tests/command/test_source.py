# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The source with the bytes of each line."""

from support import USAGE, CommandTest


class Source(CommandTest):
    def setUp(self):
        super().setUp()
        self.trace = self.imported("gpt_ring")

    def test_lists_own_files_first(self):
        files = self.json_of("source", self.trace, "--limit", "0")["files"]
        own = [file["is_own_code"] for file in files]
        self.assertEqual(own, sorted(own, reverse=True))
        self.assertTrue(own[0])
        self.assertFalse(own[-1])

    def test_the_total_is_the_active_memory(self):
        active = {
            at: self.json_of("stats", self.trace, "--at", at)["active_bytes.all.current"] for at in ("peak", "end")
        }
        for time_point in active:
            total = self.json_of("source", self.trace, "--at", time_point)["total"]
            self.assertEqual(total["active_bytes"], active[time_point])
            self.assertEqual(total["peak_bytes"], active["peak"])

    def test_no_line_has_more_than_its_file(self):
        listed = self.json_of("source", self.trace)["files"][0]
        shown = self.json_of("source", self.trace, listed["file"].rsplit("/", 1)[1])
        self.assertEqual(shown["file"], listed["file"])
        for line in shown["lines"]:
            self.assertLessEqual(line["active_bytes"], listed["active_bytes"])
            self.assertLessEqual(line["self_bytes"], line["active_bytes"])
        self.assertEqual(sum(line["self_bytes"] for line in shown["lines"]), listed["self_bytes"])

    def test_a_file_without_text_has_its_functions(self):
        listed = self.json_of("source", self.trace)["files"][0]
        text = self.run_fine("source", self.trace, listed["file"])
        self.assertIn("neither in the trace nor on this machine", text)
        self.assertRegex(text, r"\d+  in \w+")

    def test_unknown_and_ambiguous_files_are_refused(self):
        for name in ("no_such_file.py", "y"):
            self.assertIn(name, self.run_failing(USAGE, "source", self.trace, name))
