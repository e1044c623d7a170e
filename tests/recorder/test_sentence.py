# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""What the package prints is in the language of the user; exceptions are in English."""

import contextlib
import io
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HOME = os.environ["TIDEMARK_HOME"]
PACKAGE = os.path.join(HOME, "python")
sys.path.insert(0, PACKAGE)

from tidemark import _console, _sentence, _trust
from tidemark._sentence import Sentence

LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")


def printed(sentence, **locale):
    """Returns what notify() prints for a user with these variables of the locale."""
    err = io.StringIO()
    environment = {name: value for name, value in os.environ.items() if name not in LOCALES}
    with mock.patch.dict(os.environ, environment | locale, clear=True), contextlib.redirect_stderr(err):
        _console.notify(sentence)
    return err.getvalue()


class InTheLanguageOfTheUser(unittest.TestCase):
    def setUp(self):
        with self.assertRaises(OSError) as raised:
            _trust._check_one("/etc/passwd", True)
        self.failure = Sentence("not recording: {failure}", failure=raised.exception)

    def test_exceptions_are_in_english(self):
        self.assertEqual(self.failure, "not recording: /etc/passwd is not a folder; remove it or name another one")

    def test_what_is_printed_is_translated_with_its_parts(self):
        chinese = "tidemark: 未记录：/etc/passwd 不是文件夹；请将其删除或指定另一个\n"
        self.assertEqual(printed(self.failure, LANG="zh_CN.UTF-8"), chinese)
        self.assertEqual(printed(self.failure, LANG="en_US.UTF-8", LC_ALL="zh_CN"), chinese)

    def test_other_languages_get_english(self):
        for locale in ({}, {"LANG": "C.UTF-8"}, {"LANG": "de_DE.UTF-8"}, {"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}):
            with self.subTest(locale):
                self.assertEqual(printed(self.failure, **locale), f"tidemark: {self.failure}\n")

    def test_a_missing_catalog_gives_english(self):
        with mock.patch.object(_sentence, "_CATALOG", "/nonexistent/zh_CN.mo"):
            self.assertEqual(printed(self.failure, LANG="zh_CN.UTF-8"), f"tidemark: {self.failure}\n")

    def test_other_exceptions_and_values_with_braces_are_printed_as_they_are(self):
        failure = Sentence("not recording: {failure}", failure=KeyError("{a} {0}"))
        self.assertEqual(printed(failure, LANG="zh_CN.UTF-8"), "tidemark: 未记录：'{a} {0}'\n")
        self.assertEqual(printed(OSError(2, "No such file"), LANG="zh_CN.UTF-8"), "tidemark: [Errno 2] No such file\n")

    def test_a_pickled_sentence_is_its_text(self):
        self.assertEqual(pickle.loads(pickle.dumps(self.failure)), str(self.failure))

    def test_the_recorder_process_speaks_the_same_language(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", "import sys, tidemark; tidemark.record(sys.argv[1])", "/proc/none/run.tide"],
                capture_output=True,
                text=True,
                env=os.environ | {"PYTHONPATH": PACKAGE, "LC_ALL": "zh_CN.UTF-8", "PYTHONIOENCODING": "utf-8",
                                  "TIDEMARK_RUNTIME": folder},
            )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Atidemark: 未记录：.*无法.*/proc/none/run\.tide")


if __name__ == "__main__":
    unittest.main()
