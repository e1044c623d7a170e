# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess

from support import ENVIRONMENT, INPUT, USAGE, CommandTest, copy_command, snapshot

VIEWER = """#!/bin/sh
printf '%s\\n' "$@" > "$(dirname "$0")/arguments"
exit 7
"""


class Render(CommandTest):
    def alone(self):
        """Returns a copy of the command without a viewer in its folder."""
        return copy_command(self.folder)

    def run_alone(self, *arguments, path="/nonexistent"):
        return subprocess.run(
            [self.alone(), *map(str, arguments)], capture_output=True, text=True, env={**os.environ, "PATH": path}
        )

    def test_reports_a_missing_viewer(self):
        trace = self.imported("s1_plain")
        result = self.run_alone("render", trace, "--view", "segments", "-o", self.folder / "a.png")
        self.assertEqual(result.returncode, ENVIRONMENT)
        self.assertIn("tidemark-viewer", result.stderr)

    def test_passes_all_arguments_to_the_viewer(self):
        trace = self.imported("s1_plain")
        viewer = self.folder / "bin" / "tidemark-gui"
        self.alone()
        viewer.write_text(VIEWER)
        viewer.chmod(0o755)
        result = self.run_alone(
            "render",
            trace,
            "--view",
            "timeline",
            "--at",
            "end",
            "--size",
            "800x600",
            "--theme",
            "dark",
            "--language",
            "zh_CN",
            "-o",
            self.folder / "a.svg",
            path=os.environ["PATH"],
        )
        self.assertEqual(result.returncode, 7, result.stderr)
        arguments = (self.folder / "bin" / "arguments").read_text().split("\n")[:-1]
        self.assertEqual(
            arguments,
            [
                "--render",
                "timeline",
                "--at",
                "end",
                "--size",
                "800x600",
                "--theme",
                "dark",
                "-o",
                str(self.folder / "a.svg"),
                "--language",
                "zh_CN",
                str(trace),
            ],
        )

    def test_wrong_usage(self):
        trace = self.imported("s1_plain")
        good = ["render", trace, "--view", "segments", "-o", "a.png"]
        for wrong in (["--size", "800"], ["--size", "0x0"], ["--theme", "pink"], ["--view", "cake"], ["-o", "a.gif"]):
            self.run_failing(USAGE, *good, *wrong)
        self.run_failing(INPUT, "render", snapshot("s1_plain"), "-o", "a.png")
        self.run_failing(ENVIRONMENT, "render", self.folder / "no.tide", "-o", "a.png")
