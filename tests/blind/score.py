#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Compares explanations with the truth about the programs.

    score.py EXPLANATIONS PROGRAMS

EXPLANATIONS is a folder with NAME.json, as record.py writes them; PROGRAMS one with programs and their truths. Only the
first finding counts. Prints a line for each program and the sums; nothing is right because of a word that merely
appears somewhere else. README.md describes the truth files.
"""

import argparse
import json
import pathlib
import re
import sys

PARTS = ("kind", "site", "referrer", "bytes", "fix")
TOLERANCE = 0.01  # of bytes


def site_patterns(truth, source):
    """Returns patterns of "NAME.py:42" and, for "library.py:function", of "library.py:42 Class.function"."""
    lines = [line.strip() for line in source.splitlines()]
    for site in truth["sites"]:
        if site.strip() in lines:
            yield rf"\b{truth['name']}\.py:{lines.index(site.strip()) + 1}\b"
        else:
            file, function = site.split(":")
            yield rf"\b{re.escape(file)}:\d+ (\w+\.)*{re.escape(function)}\b"


def words_of(finding):
    evidence = [evidence["text"] for evidence in finding["evidence"]]
    return " ".join([finding["line"], finding["title"], *finding["text"], finding["referrer"], *evidence])


def is_kind(truth, finding):
    if truth["kind"] == "fragmentation":
        return finding["kind"] in ("fragmentation", "reserved-high-water")
    said = {"leak": "leak", "failure": "oom", "waste": "waste"}
    return said.get(finding["severity"], "harmless") == truth["kind"]


def names_site(truth, finding, source):
    return any(re.search(pattern, words_of(finding)) for pattern in site_patterns(truth, source))


def has_bytes(truth, finding):
    def is_near(expected, said):
        return expected is not None and said is not None and abs(said - expected) <= expected * TOLERANCE

    rise = (finding.get("rises") or {}).get("bytes")
    return (
        is_near(truth["bytes_per_round"], finding["per_iteration_bytes"])
        or is_near(truth["bytes_per_round"], rise)
        or is_near(truth["bytes"], finding["bytes"])
    )


def has_fix(truth, finding):
    advice = " ".join(f"{fix['text']} {fix['code']}" for fix in finding["fixes"]).lower()
    return all(any(word in advice for word in words) for words in truth["fix_words"])


def score(truth, source, explanation):
    """Returns, for each of PARTS, whether it is right; None where the truth has nothing to compare."""
    finding = next(iter(explanation["findings"]), {"kind": "", "severity": "background"})
    result = dict.fromkeys(PARTS)
    result["kind"] = is_kind(truth, finding)
    if truth["kind"] == "harmless":
        return result
    is_right = result["kind"]
    result["site"] = is_right and names_site(truth, finding, source) if truth["sites"] else None
    is_holder = is_right and any(re.search(rf"\b{re.escape(name)}\b", words_of(finding)) for name in truth["holders"])
    result["referrer"] = is_holder if truth["holders"] else None
    has_number = truth["bytes"] is not None or truth["bytes_per_round"] is not None
    result["bytes"] = is_right and has_bytes(truth, finding) if has_number else None
    result["fix"] = is_right and has_fix(truth, finding)
    return result


def print_scores(scores):
    mark = {True: "right", False: "WRONG", None: "-"}
    print(f"{'':26}" + "".join(f"{part:10}" for part in PARTS))
    for name, result in scores.items():
        print(f"{name:26}" + "".join(f"{mark[result[part]]:10}" for part in PARTS))
    sums = []
    for part in PARTS:
        known = [result[part] for result in scores.values() if result[part] is not None]
        sums.append(f"{sum(known)}/{len(known)}")
    print(f"{'':26}" + "".join(f"{text:10}" for text in sums))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("explanations", type=pathlib.Path)
    parser.add_argument("programs", type=pathlib.Path)
    options = parser.parse_args()
    scores, missing = {}, []
    for path in sorted(options.programs.glob("*.truth.json")):
        truth = json.loads(path.read_text())
        explained = options.explanations / f"{truth['name']}.json"
        if not explained.exists():
            missing.append(truth["name"])
            continue
        source = path.with_name(f"{truth['name']}.py").read_text()
        explanation = json.loads(explained.read_text())
        # With several devices, the first one is that of the program.
        first = explanation[0] if isinstance(explanation, list) else explanation
        scores[truth["name"]] = score(truth, source, first)
    print_scores(scores)
    if missing:
        print(f"not explained: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
