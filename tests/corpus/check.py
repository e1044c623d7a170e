#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Compares the findings of `tidemark explain` for each trace with the expected ones. Exit status 1: a trace differs.

    check.py FOLDER|ARCHIVE.tar.xz --tidemark build/ci/recorder/cli/tidemark [--only 'w0*'] [--strict]

Bytes may differ by 1 % or 1 MiB. With --strict, bytes per iteration may differ by 1 % or 512 B; with noise, which has
its own steps, they are never compared.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile

import corpus

KIND_COLUMN = 26
# Their referrer is what makes the memory again and again, and no path leads from it to an allocation.
WITHOUT_PATH = {"cuda-graph-pools-grow", "hook-retains-activations"}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=pathlib.Path, metavar="FOLDER|ARCHIVE")
    parser.add_argument("--tidemark", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of runs")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def explain(tidemark, trace):
    """Returns the findings, or an error message."""
    command = [str(tidemark), "explain", str(trace), "--format", "json"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if answer.returncode != 0:
        return f"explain: exit {answer.returncode}: {answer.stderr.strip()[:100]}"
    try:
        reported = json.loads(answer.stdout)
        # The programs use the first device.
        return (reported[0] if isinstance(reported, list) else reported)["findings"]
    except (ValueError, KeyError) as error:
        return f"explain: no findings in its JSON ({error})"


def differs_in_words(entry, findings):
    kinds = [finding["kind"] for finding in findings]
    first, contains = corpus.words(entry, "first"), corpus.words(entry, "contains")
    if first and (not kinds or kinds[0] not in first):
        yield f"first is {kinds[0] if kinds else 'nothing'}, not {' or '.join(first)}"
    if contains and not set(contains) & set(kinds):
        yield f"no {' or '.join(contains)}"
    for kind in sorted(set(corpus.words(entry, "never")) & set(kinds)):
        yield f"unexpected: {kind}"


def differs_in_severity(entry, findings):
    leaks = [finding["kind"] for finding in findings if finding["severity"] == "leak"]
    if entry["leak"] is False and leaks:
        yield f"called a leak: {', '.join(leaks)}"
    if entry["leak"] is True and (not findings or findings[0]["severity"] != "leak"):
        yield "not called a leak"


def is_near(reported, known, allowed):
    return reported is not None and abs(reported - known) <= max(allowed, known // 100)


def differs_in_bytes(run, findings, truth, strict):
    kinds = corpus.words(run.entry, "first") or corpus.words(run.entry, "contains")
    finding = next((finding for finding in findings if finding["kind"] in kinds), None)
    if finding is None or truth is None:
        return
    if "bytes" in truth and not is_near(finding.get("bytes"), truth["bytes"], 1 << 20):
        yield f"bytes {finding.get('bytes')}, not {truth['bytes']}"
    known = truth.get("bytes_per_iteration")
    if strict and not run.noise and known and not is_near(finding.get("per_iteration_bytes"), known, 512):
        yield f"bytes per iteration {finding.get('per_iteration_bytes')}, not {known}"


def differs_in_memory(findings):
    """The allocations of a leak must be those that its bytes count."""
    for finding in findings:
        if finding["severity"] == "leak" and finding["component"] == "requested":
            memory = finding["memory"] or {"bytes": 0}
            if not is_near(memory["bytes"], finding["bytes"], 0):
                yield f"{finding['kind']}: its allocations have {memory['bytes']} bytes, not {finding['bytes']}"


def differs_in_path(findings):
    """The path of a leak leads to one of its allocations, and no step but the last is smaller than the one below it."""
    for finding in findings:
        path = finding["path"]
        if finding["severity"] == "leak" and finding["referrer"] and not path and finding["kind"] not in WITHOUT_PATH:
            yield f"{finding['kind']}: no retention path, but a referrer"
        if path and (path[-1]["kind"] != "allocation" or path[-1]["allocation"] is None):
            yield f"{finding['kind']}: its retention path ends at no allocation"
        known = [step["bytes"] for step in path if step["bytes"] is not None and step["kind"] in ("reference", "node")]
        if known != sorted(known, reverse=True):
            yield f"{finding['kind']}: the bytes of its retention path grow: {known}"


def check(options, run, trace, truth):
    findings = explain(options.tidemark, trace)
    if isinstance(findings, str):
        return run, [], [findings]
    differences = list(differs_in_words(run.entry, findings)) + list(differs_in_severity(run.entry, findings))
    differences += differs_in_bytes(run, findings, truth, options.strict)
    differences += differs_in_memory(findings)
    differences += differs_in_path(findings)
    return run, findings, differences


def print_row(run, findings, differences):
    kind = findings[0]["kind"] if findings else "-"
    severity = findings[0]["severity"] if findings else "-"
    print(f"{run.name:<46} {severity:<11}{kind:<{KIND_COLUMN}} {'; '.join(differences) or 'ok'}", flush=True)


def check_all(options, folder):
    selected = [run for run in corpus.runs() if fnmatch.fnmatch(run.name, options.only)]
    found = [(run, trace) for run in selected if (trace := folder / f"{run.name}.tide").exists()]
    truths = corpus.packed_truths() | corpus.read_truths(folder)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda pair: check(options, pair[0], pair[1], truths.get(pair[0].name)), found))
    for row in rows:
        print_row(*row)
    wrong = sum(1 for row in rows if row[2])
    print(f"\n{len(rows)} traces, {len(selected) - len(found)} runs without one, {wrong} not as expected")
    return 1 if wrong or not rows else 0


def main():
    options = parse_options()
    if options.traces.is_dir():
        return check_all(options, options.traces)
    with tempfile.TemporaryDirectory() as folder:
        corpus.unpack(options.traces, pathlib.Path(folder))
        return check_all(options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
