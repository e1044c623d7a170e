# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import sqlite3

from support import USAGE, CommandTest, digest


class Share(CommandTest):
    def test_redacted_file_opens_and_reports_the_redaction(self):
        trace = self.imported("adam_steps")
        before = digest(trace)
        shared = self.folder / "shared.tide"
        text = self.run_fine("share", trace, "-o", shared, "--redact", "paths,source,names,times")
        self.assertIn("351 events", text)
        self.assertEqual(digest(trace), before)
        self.assertEqual(self.json_of("stats", shared), self.json_of("stats", trace))
        info = self.json_of("info", shared)
        self.assertIn("redacted", [gap["kind"] for gap in info["data_gaps"]])
        self.assertNotIn("adam_steps", info["source"])
        content = shared.read_bytes()
        for secret in (b"/home/user", b"fixtures.py", b"adam_steps", b"Optimizer"):
            self.assertNotIn(secret, content)
        with sqlite3.connect(f"file:{shared}?mode=ro", uri=True) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_a_time_range_keeps_its_states(self):
        trace = self.imported("streams")
        part = self.folder / "part.tide"
        self.run_fine("share", trace, "-o", part, "--from", "event:200", "--to", "event:400")
        now = lambda path, event: {
            key: value
            for key, value in self.json_of("stats", path, "--at", f"event:{event}").items()
            if key.endswith(".current")
        }
        for event in (0, 1, 77, 200):
            self.assertEqual(now(part, event), now(trace, event + 200), event)

    def test_wrong_usage(self):
        trace = self.imported("s1_plain")
        output = self.folder / "out.tide"
        self.assertIn("paths, source, names, times", self.run_failing(USAGE, "share", trace, "-o", output, "--redact", "all"))
        self.run_failing(USAGE, "share", trace, "-o", trace, "--force")
        self.run_failing(USAGE, "share", trace, "-o", output, "--from", "event:9999")
        self.run_failing(USAGE, "share", trace, "-o", output, "--from", "event:5", "--to", "event:2")
        self.assertEqual(self.files(), ["s1_plain.tide"])
        output.write_text("mine")
        self.run_failing(USAGE, "share", trace, "-o", output, "--force")
        self.assertEqual(output.read_text(), "mine")
