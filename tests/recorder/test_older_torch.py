# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The plugin compiles for releases of torch that are older than the one the tests run with, in their C++ standard.

Needs g++ and PyPI, whose wheels it reads the headers of: about 20 MB each.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.request

BUILD_PLUGINS = pathlib.Path(__file__).parents[2] / "installers" / "wheel" / "build_plugins.py"
OLDEST, LAST_OF_CXX17 = "2.4.0", "2.11.0"
PLUGINS = {OLDEST: 2, LAST_OF_CXX17: 1}  # before 2.7, one for each ABI of std::string


def has_pypi():
    try:
        with urllib.request.urlopen("https://pypi.org/simple/torch/", timeout=30):
            return True
    except OSError:
        return False


class OlderTorch(unittest.TestCase):
    def test_plugins_compile(self):
        if not has_pypi():
            self.skipTest("PyPI cannot be reached: the plugin was not compiled for older releases of PyTorch")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, BUILD_PLUGINS, folder, *PLUGINS], capture_output=True, text=True, env=os.environ
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for version, count in PLUGINS.items():
                self.assertEqual(len(list(pathlib.Path(folder).glob(f"plugin-{version}-*.so"))), count, done.stdout)


if __name__ == "__main__":
    unittest.main()
