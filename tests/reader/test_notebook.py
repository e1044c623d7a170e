# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Explanations in a notebook that nbconvert executes. Needs nbconvert and ipykernel."""

import importlib.util
import re
import sys
import unittest

import tidemark
from support import EXAMPLES, ReaderTest

TRACE = EXAMPLES / "s01_list_of_cpu_outputs.tide"
MISSING = [name for name in ("nbconvert", "nbformat", "ipykernel") if importlib.util.find_spec(name) is None]

CELLS = (
    "import tidemark\n%load_ext tidemark",
    f"run = tidemark.open({str(TRACE)!r})\nrun",
    "tidemark.show(run)",
    f"tidemark.show({str(TRACE)!r})",
    "%%tidemark\nx = 20 + 22\nprint(x)",
    "%%tidemark -o cell.tide\nx += 1",
    "import os\nprint(x, os.path.exists('cell.tide'))",
)


class Fragment(ReaderTest):
    def test_its_style_concerns_only_itself(self):
        html = tidemark.open(TRACE)._repr_html_()
        style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
        self.assertTrue(style.startswith(".tidemark {") and style.endswith("}"))
        depth = 0
        for i, character in enumerate(style):
            depth += {"{": 1, "}": -1}.get(character, 0)
            self.assertTrue(depth > 0 or i in (len(style) - 1, *range(len(".tidemark "))), style[i - 40 : i + 1])
        self.assertNotIn(":root", style)
        self.assertNotRegex(style, r"\bbody\b")
        self.assertIn("<svg", html)
        for outside in ("<html", "<body", "<script", "http://", "https://"):
            self.assertNotIn(outside, re.sub(r'xmlns="[^"]*"', "", html))
        self.assertEqual(html.count("<div"), html.count("</div>"))


@unittest.skipIf(MISSING, f"{sys.executable} has no {', '.join(MISSING)}")
class Notebook(ReaderTest):
    def setUp(self):
        super().setUp()
        import nbformat
        from nbconvert.preprocessors import ExecutePreprocessor

        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
        ExecutePreprocessor(timeout=120, kernel_name="python3").preprocess(
            notebook, {"metadata": {"path": str(self.folder)}}
        )
        self.outputs = [cell.outputs for cell in notebook.cells]

    def text(self, cell):
        return "".join(output.get("text", "") for output in self.outputs[cell])

    def test_shows_explanations(self):
        expected = tidemark.open(TRACE)._repr_html_()
        for cell in (1, 2, 3):
            (output,) = self.outputs[cell]
            self.assertEqual(output["data"]["text/html"], expected)

    def test_cells_run_and_tell_that_they_used_no_gpu(self):
        sentence = "tidemark: the cell used no GPU, so there is nothing to explain\n"
        for cell, printed in ((4, "42\n"), (5, "")):
            self.assertEqual(sorted(self.text(cell).splitlines(True)), sorted([*printed.splitlines(True), sentence]))
        self.assertEqual(self.text(6), "43 False\n")


if __name__ == "__main__":
    unittest.main()
