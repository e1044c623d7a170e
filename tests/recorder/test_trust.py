# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Code is loaded only from folders and files that no other user can change."""

import contextlib
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

HOME = os.environ["TIDEMARK_HOME"]
sys.path.insert(0, os.path.join(HOME, "python"))

from tidemark import _build, _compiler, _console, _core, _plugin, _trust

NOBODY = 65534
AS_ROOT = unittest.skipUnless(os.geteuid() == 0, "only root can create files of another user")


class Torch:
    """The parts of torch that name a plugin."""

    __version__ = "2.9.1"
    __file__ = "/torch/__init__.py"
    version = types.SimpleNamespace(git_version="4a1b", cuda="12.8")

    @staticmethod
    def compiled_with_cxx11_abi():
        return True


class TrustTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, call, *mentioned):
        """Expects an OSError of one sentence with these words."""
        with self.assertRaises(OSError) as raised:
            call()
        for word in mentioned:
            self.assertIn(str(word), str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))


class Folders(TrustTest):
    def test_own_folder_below_tmp(self):
        self.assertEqual(os.stat("/tmp").st_mode & 0o1002, 0o1002, "/tmp is expected to be shared")
        _trust.check_folder(str(self.folder))

    def test_created_with_0700(self):
        before = os.umask(0)
        try:
            _trust.create_folder(str(self.folder / "a" / "b" / "c"))
        finally:
            os.umask(before)
        for name in ("a", "a/b", "a/b/c"):
            self.assertEqual((self.folder / name).stat().st_mode & 0o777, 0o700)

    def test_folder_that_others_may_write(self):
        for mode in (0o707, 0o777, 0o1777):
            self.folder.chmod(mode)
            self.refused(lambda: _trust.check_folder(str(self.folder)), self.folder, "chmod go-w", f"{mode:04o}")

    def test_folder_below_one_that_others_may_write(self):
        inner = self.folder / "inner"
        inner.mkdir(0o700)
        self.folder.chmod(0o777)
        self.refused(lambda: _trust.check_folder(str(inner)), self.folder, "0777")
        self.folder.chmod(0o1777)  # like /tmp: others cannot rename the inner folder
        _trust.check_folder(str(inner))

    @AS_ROOT
    def test_writable_for_a_group(self):
        os.chown(self.folder, 0, NOBODY)
        self.folder.chmod(0o770)
        self.refused(lambda: _trust.check_folder(str(self.folder)), self.folder, "0770")
        os.chown(self.folder, 0, 0)  # only root is in its group
        _trust.check_folder(str(self.folder))

    @AS_ROOT
    def test_of_another_user(self):
        inner = self.folder / "inner"
        inner.mkdir(0o700)
        os.chown(self.folder, NOBODY, NOBODY)
        self.refused(lambda: _trust.check_folder(str(inner)), self.folder, "nobody")

    @AS_ROOT
    def test_reached_through_a_link(self):
        other = self.folder / "other"
        other.mkdir()
        os.chown(other, NOBODY, NOBODY)
        (self.folder / "link").symlink_to(other)
        self.refused(lambda: _trust.check_folder(str(self.folder / "link")), other)


class Files(TrustTest):
    def test_link_is_not_followed(self):
        target = self.folder / "target"
        target.write_text("precious")
        (self.folder / "lock").symlink_to(target)
        with self.assertRaises(OSError):
            _trust.open_file(str(self.folder / "lock"), os.O_RDWR | os.O_CREAT)
        self.assertEqual(target.read_text(), "precious")

    def test_pipe_does_not_block(self):
        os.mkfifo(self.folder / "pipe")
        self.refused(lambda: _trust.open_file(str(self.folder / "pipe"), os.O_RDONLY), "pipe")

    def test_file_that_others_may_write(self):
        path = self.folder / "file"
        path.write_text("")
        path.chmod(0o666)
        self.refused(lambda: _trust.open_file(str(path), os.O_RDONLY), path, "0666", "remove")

    @AS_ROOT
    def test_file_of_another_user(self):
        path = self.folder / "file"
        path.write_text("")
        os.chown(path, NOBODY, NOBODY)
        self.refused(lambda: _trust.open_file(str(path), os.O_RDONLY), path, "nobody")

    def test_created_with_0600(self):
        before = os.umask(0)
        try:
            os.close(_trust.open_file(str(self.folder / "new"), os.O_WRONLY | os.O_CREAT))
        finally:
            os.umask(before)
        self.assertEqual((self.folder / "new").stat().st_mode & 0o777, 0o600)


class Cache(TrustTest):
    """The cache of plugins. A fake compiler writes the library."""

    def setUp(self):
        super().setUp()
        self.builds = 0
        self.messages = ""
        self.cache = self.folder / "cache"
        variables = mock.patch.dict(os.environ, {"TIDEMARK_CACHE": str(self.cache)})
        compiler = mock.patch.object(_compiler, "compile_plugin", self.compile)
        for patch in (variables, compiler, contextlib.redirect_stderr(io.StringIO())):
            patch.__enter__()
            self.addCleanup(patch.__exit__, None, None, None)

    def compile(self, build, folder, runtimes):
        library = pathlib.Path(folder, "plugin.so")
        if not self.messages:
            self.builds += 1
            library.write_bytes(b"library")
        return str(library), self.messages

    def built(self):
        return pathlib.Path(_build.built_for(Torch))

    def test_is_built_once(self):
        before = os.umask(0)
        try:
            path = self.built()
        finally:
            os.umask(before)
        self.assertEqual(self.built(), path)
        self.assertEqual(self.builds, 1)
        self.assertEqual((self.cache / "tidemark").stat().st_mode & 0o777, 0o700)
        for file in path.parent.iterdir():
            self.assertEqual(file.stat().st_mode & 0o077, 0, file)
        digest = pathlib.Path(f"{path}.sha256").read_text()
        self.assertEqual(digest, hashlib.sha256(b"library").hexdigest())

    def test_changed_library_is_built_again(self):
        path = self.built()
        path.write_bytes(b"changed")
        self.assertEqual(self.built().read_bytes(), b"library")
        pathlib.Path(f"{path}.sha256").unlink()
        self.built()
        self.assertEqual(self.builds, 3)

    def test_cache_that_others_may_write(self):
        folder = self.cache / "tidemark"
        folder.mkdir(parents=True)
        folder.chmod(0o777)
        self.refused(self.built, folder, "0777", "chmod go-w")
        self.assertEqual(self.builds, 0)

    def test_library_that_others_may_write(self):
        path = self.built()
        path.chmod(0o666)
        self.refused(self.built, path, "0666")

    @AS_ROOT
    def test_library_of_another_user_is_not_loaded(self):
        path = self.built()
        os.chown(path, NOBODY, NOBODY)
        with mock.patch("ctypes.PyDLL") as load:
            self.refused(lambda: _plugin.Plugin(Torch), path, "nobody")
        load.assert_not_called()

    @AS_ROOT
    def test_cache_of_another_user(self):
        self.built()
        os.chown(self.cache / "tidemark", NOBODY, NOBODY)
        self.refused(self.built, self.cache / "tidemark", "nobody")

    def test_lock_that_is_a_link(self):
        target = self.folder / "target"
        target.write_text("precious")
        (self.cache / "tidemark").mkdir(parents=True, mode=0o700)
        (self.cache / "tidemark" / "lock").symlink_to(target)
        with self.assertRaises(OSError):
            self.built()
        self.assertEqual(target.read_text(), "precious")

    def test_log_that_is_a_link(self):
        path = self.built()
        path.unlink()
        target = self.folder / "target"
        target.write_text("precious")
        pathlib.Path(f"{path}.log").symlink_to(target)
        self.messages = "error"
        with self.assertRaises(OSError):
            self.built()
        self.assertEqual(target.read_text(), "precious")

    def test_killed_builds_are_removed_after_a_day(self):
        folder = self.cache / "tidemark"
        for name, age_s in (("build-old", 25 * 3600), ("build-new", 3600), ("kept-old", 25 * 3600)):
            (folder / name).mkdir(parents=True)
            (folder / name / "plugin.so").write_text("")
            os.utime(folder / name, (time.time() - age_s,) * 2)
        folder.chmod(0o700)
        self.cache.chmod(0o700)
        self.built()
        self.assertEqual(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()), ["build-new", "kept-old"])

    def without_home(self, home):
        """Builds for a user with this home and no variables that select a cache."""
        with mock.patch.dict(os.environ, {"HOME": str(home), "TMPDIR": str(self.folder)}):
            for name in ("TIDEMARK_CACHE", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
                os.environ.pop(name, None)
            with mock.patch.object(_build, "_home", lambda: str(home)), mock.patch.object(tempfile, "tempdir", None):
                return self.built()

    def test_without_a_home_the_runtime_folder_holds_the_plugin(self):
        blocked = self.folder / "file"
        blocked.touch()
        path = self.without_home(blocked / "home")
        self.assertEqual(path.parent, self.folder / f"tidemark-{os.geteuid()}")
        self.assertEqual(path.parent.stat().st_mode & 0o777, 0o700)
        runtime = self.folder / "runtime"
        runtime.mkdir(0o700)
        with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": str(runtime)}):
            self.assertEqual(_build._runtime_folder(), str(runtime / "tidemark"))

    def test_runtime_folder_of_another_user_is_not_used(self):
        squatted = self.folder / f"tidemark-{os.geteuid()}"
        squatted.mkdir()
        squatted.chmod(0o777)
        self.refused(lambda: self.without_home("/dev/null/home"), squatted, "0777")

    def test_a_selected_cache_that_cannot_be_created_is_named(self):
        with mock.patch.dict(os.environ, {"TIDEMARK_CACHE": "/dev/null/cache"}):
            self.refused(self.built, "/dev/null/cache/tidemark", "Not a directory", "TIDEMARK_CACHE")

    def test_a_cache_without_locks_is_used(self):
        with mock.patch("fcntl.flock", side_effect=OSError(37, "No locks available")):
            self.assertEqual(self.built().read_bytes(), b"library")

    @AS_ROOT
    def test_home_of_another_user(self):
        os.chown(self.folder, NOBODY, NOBODY)
        with mock.patch.dict(os.environ, {"HOME": str(self.folder)}):
            for name in ("TIDEMARK_CACHE", "XDG_CACHE_HOME"):
                os.environ.pop(name, None)
            self.assertTrue(_build._cache_folders()[0].startswith("/root/"), _build._cache_folders())


class Home(TrustTest):
    def test_own_installation_is_not_checked(self):
        with mock.patch.object(_trust, "check_folder") as check:
            _core._check_home()
        check.assert_not_called()

    def test_folder_that_others_may_write_is_not_loaded(self):
        """A program with TIDEMARK_HOME in a shared folder runs without a recording."""
        home = self.folder / "home"
        home.mkdir(0o777)
        home.chmod(0o777)
        shutil.copy(os.path.join(HOME, "libtidemark_core.so"), home)
        script = "import tidemark\ntidemark.record('run.tide')\nprint('goes on')"
        completed = subprocess.run(
            [sys.executable, "-c", script],
            cwd=self.folder,
            env={**os.environ, "TIDEMARK_HOME": str(home), "PYTHONPATH": os.path.join(HOME, "python")},
            capture_output=True,
            text=True,
        )
        self.assertEqual(completed.stdout, "goes on\n", completed.stderr)
        self.assertIn(f"chmod go-w {home}", completed.stderr)
        self.assertEqual(len(completed.stderr.splitlines()), 1, completed.stderr)
        self.assertFalse((self.folder / "run.tide").exists())


class Messages(unittest.TestCase):
    def test_hidden_characters_are_visible(self):
        self.assertEqual(_console.visible("a\x1b[31m\n\t\x9b\u202e\u2066\x7f"), r"a\x1b[31m\n\t\u009b\u202e\u2066\x7f")
        self.assertEqual(_console.visible(os.fsdecode(b"\xff.tide")), r"\xff.tide")
        self.assertEqual(_console.visible("\U000e0041 über 中文"), r"\U000e0041 über 中文")

    def test_one_message_is_one_line(self):
        out = io.StringIO()
        with contextlib.redirect_stderr(out):
            _console.notify("not recording: first\nsecond\x1b[2J")
        self.assertEqual(out.getvalue(), "tidemark: not recording: first\\nsecond\\x1b[2J\n")


if __name__ == "__main__":
    unittest.main()
