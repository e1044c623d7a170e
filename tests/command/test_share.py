# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import contextlib
import shutil
import sqlite3

from support import SNAPSHOTS, USAGE, CommandTest, digest, run


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

    def test_dry_run_prints_what_would_be_removed_and_writes_nothing(self):
        trace = self.imported("adam_steps")
        text = self.run_fine("share", trace, "--dry-run", "--redact", "paths,source,names,times")
        self.assertRegex(text, r"fixtures\.py → file\d+\.py")
        self.assertRegex(text, r"2  marks, ranges and streams\n +Optimizer\.step#Adam\.step → range_a")
        self.assertIn("Size: ", text)
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.tide")), [trace.name])
        self.assertIn("Nothing is removed.", self.run_fine("share", trace, "--dry-run"))
        self.assertEqual(run("share", trace).returncode, USAGE)

    def recorded(self):
        """Returns a recorded trace with secrets in texts that any program can have."""
        trace = self.folder / "run.tide"
        shutil.copy(SNAPSHOTS.parent / "recorded" / "eager.tide", trace)
        with contextlib.closing(sqlite3.connect(trace)) as database, database:
            database.execute("UPDATE process SET command_line='python3 ../acme/train.py --api-key SECRETKEY123'")
            database.execute("UPDATE process SET how_ended='exception: KeyError: customer_4711'")
            for old, new in (
                ("Linear.forward", "FraudNet.forward"),
                ("aten::mm", "acmeorg::secret_op"),
                ("TBackward0", "SecretModelBackward"),
                ("libcublas.so.13", "/opt/acme/libcustom_acme_kernels.so"),
            ):
                database.execute("UPDATE string SET text=? WHERE text=?", (new, old))
            database.execute(
                "UPDATE string SET text='/opt/venv/lib/python3.11/site-packages/acmecorp_secret/fraud_model.py' "
                "WHERE text LIKE '%/nn/modules/linear.py'"
            )
        return trace

    def test_nothing_private_is_left(self):
        shared = self.folder / "shared.tide"
        text = self.run_fine("share", self.recorded(), "-o", shared, "--redact", "paths,source,names,times")
        self.assertNotIn("private", text)
        content = shared.read_bytes().lower()
        for secret in (b"acme", b"secret", b"fraud", b"customer_4711", b"anna", b"api-key", b"counters.py"):
            self.assertNotIn(secret, content)
        self.assertIn(b"site-packages/torch/nn/modules/module.py", content)
        self.assertIn(b"addmmbackward0", content)
        self.assertIsNone(self.json_of("info", shared).get("start_utc_ns") or None)

    def test_leaves_the_files_beside_the_copy_alone(self):
        trace = self.recorded()
        precious = self.folder / "shared.tide.unchecked"
        precious.write_text("of somebody else")
        self.run_fine("share", trace, "-o", self.folder / "shared.tide", "--redact", "paths,names")
        self.assertEqual(precious.read_text(), "of somebody else")
        self.assertEqual(self.files(), ["run.tide", "shared.tide", "shared.tide.unchecked"])

    def test_each_category_removes_the_command_line(self):
        trace = self.recorded()
        for what in ("paths", "names", "source", "paths,names"):
            shared = self.folder / f"{what}.tide"
            self.run_fine("share", trace, "-o", shared, "--redact", what)
            for secret in (b"SECRETKEY123", b"customer_4711"):
                self.assertNotIn(secret, shared.read_bytes(), what)

    def test_a_copy_with_private_texts_says_so(self):
        trace = self.recorded()
        result = run("share", trace, "-o", self.folder / "copy.tide")
        self.assertEqual(result.returncode, 0)
        self.assertIn("contains private texts: the command line, file paths, names", result.stderr)
        result = run("share", trace, "-o", self.folder / "redacted.tide", "--redact", "paths,names,times")
        self.assertEqual(result.stderr, "")

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
        self.assertIn(
            "paths, source, names, times", self.run_failing(USAGE, "share", trace, "-o", output, "--redact", "all")
        )
        self.run_failing(USAGE, "share", trace, "-o", trace, "--force")
        self.run_failing(USAGE, "share", trace, "-o", output, "--from", "event:9999")
        self.run_failing(USAGE, "share", trace, "-o", output, "--from", "event:5", "--to", "event:2")
        self.assertEqual(self.files(), ["s1_plain.tide"])
        output.write_text("mine")
        self.run_failing(USAGE, "share", trace, "-o", output, "--force")
        self.assertEqual(output.read_text(), "mine")
