# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""What the docs quote of the example traces is what the command prints."""

import pathlib
import re
import shlex

from support import CommandTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "resources" / "examples"
QUOTED = re.compile(r"^```\n\$ tidemark ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"\b[a-z]\d\d_\w+\.py:\d+ [\w.<>]+")


class Docs(CommandTest):
    def test_examples_quote_the_command(self):
        """A quotation has lines of the output in their order. "..." stands for those that it leaves out."""
        quotations = QUOTED.findall((ROOT / "docs" / "EXAMPLES.md").read_text())
        self.assertEqual(len(quotations), 2)
        for arguments, text in quotations:
            *options, trace = shlex.split(arguments)
            printed = iter(self.run_fine(*options, EXAMPLES / trace).splitlines())
            for line in text.splitlines():
                self.assertTrue(
                    line.strip() == "..." or line in printed, f"{arguments} does not print, in order: {line}"
                )

    def test_lines_are_those_of_the_example(self):
        """The first answer of the user guide, and the check of the docs, name the line that explain finds."""
        for page, trace in (
            ("USER_GUIDE.md", "s10_validation_without_no_grad.tide"),
            ("EXPLAIN.md", "s01_list_of_cpu_outputs.tide"),
        ):
            explained = self.json_of("explain", EXAMPLES / trace)
            known = {finding["line"] for finding in explained["findings"]}
            quoted = {line for line in LINE.findall((ROOT / "docs" / page).read_text()) if line.startswith(trace[:4])}
            self.assertTrue(quoted, page)
            self.assertLessEqual(quoted, known, page)
