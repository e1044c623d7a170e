# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The scores of blind tests, and that each program has a truth that can be compared."""

import copy
import json
import pathlib
import unittest

from score import PARTS, score, site_patterns

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = "def main():\n    results.append(model(batch))\n"
TRUTH = {
    "name": "train",
    "kind": "leak",
    "sites": ["results.append(model(batch))", "adam.py:_init_group"],
    "holders": ["results"],
    "bytes_per_round": 1_000_000,
    "bytes": None,
    "fix_words": [["detach", "item("]],
}
FINDING = {
    "kind": "growing-container",
    "severity": "leak",
    "line": "train.py:2 main",
    "title": "60 tensors retained by list `results`",
    "text": [],
    "referrer": "list `results` (variable of main)",
    "evidence": [],
    "bytes": 60_000_000,
    "per_iteration_bytes": 1_005_000,
    "fixes": [{"text": "Keep only the values.", "code": "results.append(output.detach())"}],
}


def scored(**changes):
    finding = {**copy.deepcopy(FINDING), **changes}
    return score(TRUTH, SOURCE, {"findings": [finding]})


class Score(unittest.TestCase):
    def test_a_right_finding(self):
        self.assertEqual(scored(), dict.fromkeys(PARTS, True))

    def test_each_part_can_be_wrong(self):
        for part, changes in (
            ("site", {"line": "train.py:20 main"}),
            ("referrer", {"title": "60 tensors", "referrer": "list `result`"}),
            ("bytes", {"per_iteration_bytes": 1_020_000}),
            ("fix", {"fixes": [{"text": "Buy a larger GPU.", "code": ""}]}),
        ):
            result = scored(**changes)
            self.assertEqual([name for name in PARTS if not result[name]], [part])

    def test_nothing_is_right_about_another_kind(self):
        self.assertEqual(scored(severity="waste"), dict.fromkeys(PARTS, False))
        self.assertEqual(score(TRUTH, SOURCE, {"findings": []}), dict.fromkeys(PARTS, False))

    def test_a_function_of_a_library_may_be_the_site(self):
        self.assertTrue(scored(line="adam.py:180 Adam._init_group")["site"])
        self.assertFalse(scored(line="adam.py:180 Adam.step")["site"])

    def test_a_harmless_program(self):
        truth = {**TRUTH, "kind": "harmless"}
        self.assertFalse(score(truth, SOURCE, {"findings": [FINDING]})["kind"])
        self.assertTrue(score(truth, SOURCE, {"findings": []})["kind"])
        self.assertTrue(score(truth, SOURCE, {"findings": [{"kind": "steady", "severity": "pattern"}]})["kind"])

    def test_each_program_has_a_truth(self):
        programs = sorted(path for folder in ("first", "second") for path in (HERE / folder).glob("*.py"))
        self.assertEqual(len(programs), 80)
        for program in programs:
            truth = json.loads(program.with_suffix(".truth.json").read_text())
            self.assertEqual(truth["name"], program.stem)
            self.assertIn(truth["kind"], ("leak", "waste", "oom", "fragmentation", "harmless"))
            source = program.read_text()
            self.assertEqual(len(list(site_patterns(truth, source))), len(truth["sites"]))
            for site in truth["sites"]:
                lines = [line.strip() for line in source.splitlines()]
                self.assertTrue(lines.count(site.strip()) == 1 or ".py:" in site, f"{truth['name']}: {site}")


if __name__ == "__main__":
    unittest.main()
