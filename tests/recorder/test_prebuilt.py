# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A plugin that comes with the package is used without a compiler, once it has proved itself. Needs torch."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HOME = pathlib.Path(os.environ["TIDEMARK_HOME"])
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
HAS_TORCH = subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True).returncode == 0
IMPORT = "import sys, os; sys.path.insert(0, os.environ['TIDEMARK_HOME'] + '/python')\nimport torch\n"


@unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
class Prebuilt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.home = self.folder / "home"
        self.home.mkdir()
        for part in HOME.iterdir():
            if part.name != "plugins":
                (self.home / part.name).symlink_to(part)
        self.plugins = self.home / "plugins"
        self.plugins.mkdir()

    def run_python(self, text, **variables):
        return subprocess.run(
            [TORCH_PYTHON, "-W", "ignore", "-c", IMPORT + text],
            capture_output=True, text=True, timeout=300, env={**os.environ, **variables},
        )  # fmt: skip

    def place(self, content=None):
        """Puts the plugin that the tests have built, or other content, where the wheel has it. Returns its path."""
        found = self.run_python(
            "from tidemark import _build, _compiler, _prebuilt\n"
            "print(_build.built_for(torch)); print(_prebuilt.file_name(_compiler.build_of(torch)))"
        )
        built, name = found.stdout.split()
        path = self.plugins / name
        shutil.copy(built, path) if content is None else path.write_text(content)
        return path

    def built_for(self, first="", **variables):
        return self.run_python(
            f"from tidemark import _build, _compiler, _prebuilt\n{first}\n"
            "try:\n    print(_build.built_for(torch))\nexcept OSError as failure:\n    print(failure)",
            TIDEMARK_HOME=str(self.home),
            TIDEMARK_CACHE=str(self.folder),
            **{"CXX": "/bin/false", **variables},
        )

    def test_is_used_without_a_compiler_and_proved_once(self):
        path = self.place()
        cache = self.folder / "tidemark"
        for _ in range(2):
            self.assertEqual(self.built_for().stdout.strip(), str(path))
            self.assertEqual(len(list(cache.glob("proven-*"))), 1)
        mark = next(iter(cache.glob("proven-*")))
        mark.unlink()
        path.write_bytes(path.read_bytes() + b"other")
        self.assertEqual(self.built_for().stdout.strip(), str(path))
        self.assertNotEqual(next(iter(cache.glob("proven-*"))).name, mark.name)

    def test_one_that_cannot_be_loaded_is_not_used(self):
        self.place("no library")
        done = self.built_for()
        self.assertIn("does not work here", done.stderr)
        self.assertIn("could not be built", done.stdout)

    def test_one_that_sees_other_memory_is_not_used(self):
        path = self.place()
        done = self.run_python(
            "from tidemark import _build, _plugin, _prebuilt, _trial\n"
            "_plugin.Plugin.identify = lambda self, cdata: _plugin.Place(1, 0, 0, 0)\n"
            f"_trial.run({str(path)!r})"
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("a tensor is seen as", done.stderr.splitlines()[-1], "the last line is what people are told")

    def test_one_for_a_newer_torch_is_compiled_and_proved(self):
        """The compiler is one that copies the plugin of the torch in use."""
        built = self.run_python("from tidemark import _build\nprint(_build.built_for(torch))").stdout.strip()
        compiler = self.folder / "compiler"
        # Its last words are -o OUTPUT.
        compiler.write_text('#!/bin/sh\nfor output; do :; done\ncp "$CONTENT" "$output"\n')
        compiler.chmod(0o755)
        newer = "torch.__version__ = '2.99.0'"
        for content, expected in ((built, "plugin-"), (os.devnull, "which is newer: ")):
            with self.subTest(content=content):
                done = self.built_for(newer, CXX=str(compiler), CONTENT=content)
                self.assertIn(expected, done.stdout)
                self.assertEqual(len(list((self.folder / "tidemark").glob("proven-*"))), int(content == built))
                shutil.rmtree(self.folder / "tidemark")

    def test_one_of_another_build_is_not_used(self):
        path = self.place()
        path.rename(path.with_name(path.name.replace("plugin-", "plugin-9")))
        self.assertIn("could not be built", self.built_for().stdout)


if __name__ == "__main__":
    unittest.main()
