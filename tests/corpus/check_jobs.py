#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Compares what `tidemark explain` says of recorded jobs with their known causes. Exit status 1: a job differs.

    check_jobs.py ARCHIVE.tar.xz --tidemark build/ci/recorder/cli/tidemark

The programs are in tests/blind/jobs; they and their truths were written by someone who knew nothing of Tidemark. Each
job was recorded on two H200s, `four_ranks` (rank_growth_val) on four:

    tidemark record -o run.tidejob -- torchrun --nproc-per-node 2 PROGRAM.py

`two_nodes` is eight_cameras with eight ranks on one GPU, started as on two nodes, each into its own folder: the second
one had another host name and a clock that was 2.5 s ahead, by LD_PRELOAD. `tidemark collect` put both together.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import corpus

# Of the first finding: its kind, its ranks, how its line begins, and a text that the title has. None: no finding is
# worse than a pattern.
EXPECTED = {
    "board_imbalance": ("rank-growth", [0], "board_imbalance.py:95", "rank 0 retains 632 MiB more than rank 1"),
    "ddp_plain": None,
    "ddp_resume": ("some-ranks", [1], "ddp_resume.py:43", "GPU 0 is hardly used"),
    "four_ranks": ("rank-growth", [3], "rank_growth_val.py:49", "eval_results"),
    "fsdp_no_reshard": ("all-ranks", [0, 1], "fsdp_no_reshard.py:65", "3.00 GiB of unsharded parameters"),
    "groups_each_step": ("all-ranks", [0, 1], "groups_each_step.py:21", "grows by 484 MiB every 6 steps"),
    "pipeline_two": None,
    "rank0_oom": ("out-of-memory", [0], "", "rank 0 ran out of memory"),
    "rank_growth_val": ("rank-growth", [1], "rank_growth_val.py:49", "eval_results"),
    "slow_free": ("rank-imbalance", [1], "slow_free.py:37", "rank 1 retains"),
    "two_nodes": ("rank-growth", [5], "eight_cameras.py:72", "self.entries"),
    "stray_tensor": ("some-ranks", [1], "stray_tensor.py:31", "GPU 0 is hardly used"),
}

# Texts of the summary.
SAID = {"two_nodes": "The clock of node-b is 2.50 s ahead"}


def differences(name, report):
    """Yields what differs from the expectation."""
    expected = EXPECTED[name]
    findings = report["findings"]
    if SAID.get(name, "") not in " ".join(report["summary"]):
        yield f"summary: {report['summary']}"
    serious = [finding for finding in findings if finding["severity"] not in ("pattern", "background")]
    if expected is None:
        yield from (f"harmless, but: {finding['title']}" for finding in serious)
        return
    kind, ranks, line, title = expected
    if not findings:
        yield "no finding"
        return
    first = findings[0]
    for key, value, wanted in (("kind", first["kind"], kind), ("ranks", first["ranks"], ranks)):
        if value != wanted:
            yield f"{key} {value} instead of {wanted}"
    if not first["line"].startswith(line):
        yield f"line {first['line']} instead of {line}"
    if title not in first["title"]:
        yield f"title: {first['title']}"


def check(tidemark, folder):
    """Returns the differences of one job, explained twice: from its traces, and then from its summaries."""
    found = []
    for _ in range(2):
        answer = subprocess.run(
            [str(tidemark), "explain", str(folder), "--format", "json"], capture_output=True, text=True, timeout=120
        )
        if answer.returncode != 0:
            return [f"exit {answer.returncode}: {answer.stderr.strip()[:200]}"]
        found.append(list(differences(folder.name, json.loads(answer.stdout))))
    return found[0] + [f"from summaries: {text}" for text in found[1] if text not in found[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("--tidemark", type=pathlib.Path, required=True)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        corpus.unpack(options.archive, pathlib.Path(name))
        for folder in sorted(pathlib.Path(name).iterdir()):
            found = check(options.tidemark, folder)
            print(f"{'WRONG' if found else 'ok':6}{folder.name}", *found, sep="\n      " if found else "")
            failed |= bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
