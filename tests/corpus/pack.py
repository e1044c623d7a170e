#!/usr/bin/env python3
"""Packs recorded traces for tests/data/corpus: NAME.SIZE.tide.xz, and all truths in one truth.json.

    pack.py FROM TO [--only '*.medium*']
"""

import argparse
import fnmatch
import json
import lzma
import pathlib

import corpus


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("to", type=pathlib.Path)
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of runs")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    truths, total = corpus.read_truths(options.to), 0
    of_source = corpus.read_truths(options.source)
    for run in corpus.runs():
        trace = options.source / f"{run.name}.tide"
        if not trace.exists() or not fnmatch.fnmatch(run.name, options.only):
            continue
        packed = lzma.compress(trace.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
        (options.to / f"{run.name}.tide.xz").write_bytes(packed)
        truths.pop(run.name, None)
        if run.name in of_source:
            truths[run.name] = of_source[run.name]
        total += len(packed)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(truths[name])}" for name in sorted(truths))
    (options.to / "truth.json").write_text("{\n" + lines + "\n}\n")
    print(f"{total:,} bytes in {options.to}")


if __name__ == "__main__":
    main()
