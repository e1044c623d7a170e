# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every view of the window can be drawn from the command line."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

TIDEMARK, VIEWER = os.environ["TIDEMARK"], os.environ["TIDEMARK_GUI"]
TRACES = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]) / "traces"


def output_of(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, check=True).stdout


class Views(unittest.TestCase):
    def views_of_command(self):
        text = re.sub(r"\s+", " ", output_of(TIDEMARK, "render", "--help"))
        return [view.strip() for view in re.search(r"The view: ((?:\w+, )+\w+)", text)[1].split(",")]

    def views_of_viewer(self):
        text = re.sub(r"\s+", " ", output_of(VIEWER, "--help"))
        return [view.strip() for view in re.search(r"and exit: ((?:\w+, )+\w+)", text)[1].split(",")]

    def test_command_and_viewer_have_the_same_views(self):
        self.assertEqual(self.views_of_command(), self.views_of_viewer())
        self.assertGreaterEqual(len(self.views_of_command()), 11)

    def test_each_view_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            for view in self.views_of_command():
                for ending in ("png", "svg"):
                    picture = pathlib.Path(folder) / f"{view}.{ending}"
                    trace = sorted(TRACES.glob("*.tide"))[-1]
                    output_of(TIDEMARK, "render", trace, "--view", view, "--size", "800x500", "-o", picture)
                    self.assertGreater(picture.stat().st_size, 1000, picture.name)

    def test_what_only_a_picture_has_is_refused_by_a_window(self):
        trace = sorted(TRACES.glob("*.tide"))[-1]
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        for option, value in (("compare", trace), ("steps", "1:2"), ("finding", "1"), ("output", "x.png")):
            command = [VIEWER, f"--{option}", value, trace]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
            self.assertEqual(ended.returncode, 2, option)
            self.assertIn(f"--{option}", ended.stderr)


if __name__ == "__main__":
    unittest.main()
