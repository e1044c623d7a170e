# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""The window on a machine that cannot show it: one sentence with the cause, and exit status 4. Arguments: tidemark-gui,
and the folder of Qt's plugins."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WINDOW, PLUGINS = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
X_SERVER_PART = PLUGINS / "platforms" / "libqxcb.so"
OF_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


class NoDisplay(unittest.TestCase):
    def refusal(self, **variables):
        usual = {name: value for name, value in os.environ.items() if name not in OF_DISPLAYS}
        environment = {**usual, "LC_ALL": "C.UTF-8", **variables}
        done = subprocess.run([WINDOW, "run.tide"], capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("tidemark explain", done.stderr)
        return done.stderr

    def test_names_the_cause(self):
        self.assertIn("there is no display", self.refusal())
        self.assertIn("Qt cannot start its platform none", self.refusal(QT_QPA_PLATFORM="none"))

    @unittest.skipUnless(X_SERVER_PART.exists(), f"{X_SERVER_PART} is missing")
    def test_names_a_display_that_cannot_be_opened(self):
        self.assertIn("the display :4711 cannot be opened", self.refusal(DISPLAY=":4711"))

    @unittest.skipUnless(X_SERVER_PART.exists(), f"{X_SERVER_PART} is missing")
    def test_names_a_missing_library(self):
        with tempfile.TemporaryDirectory() as folder:
            needs_another = X_SERVER_PART.read_bytes().replace(b"libQt6XcbQpa.so.6", b"libQt6XcbQpX.so.6")
            pathlib.Path(folder, X_SERVER_PART.name).write_bytes(needs_another)
            refusal = self.refusal(DISPLAY=":4711", QT_QPA_PLATFORM_PLUGIN_PATH=folder)
        self.assertIn("the library libQt6XcbQpX.so.6 is missing", refusal)


if __name__ == "__main__":
    unittest.main()
