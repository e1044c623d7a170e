#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Packs recorded traces into one archive for tests/data/corpus, and puts their truths into truths.json.

    pack.py FOLDER ARCHIVE.tar.xz [--only '*.medium'] --seal SEAL_TRACE [--without-chunks]
            [--replace OLD=NEW]...

--without-chunks omits the chunks of allocations, which do not compress further. A reader then uses the rows, from which
the chunks were derived.

OLD=NEW replaces paths of the recording machine in the traces, as tests/data/neutral_paths.py does.
"""

import argparse
import contextlib
import fnmatch
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

import corpus

NEUTRAL_PATHS = corpus.HERE.parent / "data" / "neutral_paths.py"


def drop_chunks(trace):
    with contextlib.closing(sqlite3.connect(trace)) as connection:
        connection.execute("DELETE FROM allocation_chunk")
        connection.commit()
        connection.execute("VACUUM")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of runs")
    parser.add_argument("--without-chunks", action="store_true")
    parser.add_argument("--replace", action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("--seal", type=pathlib.Path, required=True, metavar="SEAL_TRACE", help="the built seal_trace")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        traces = [
            shutil.copy(options.source / f"{run.name}.tide", folder)
            for run in corpus.runs()
            if fnmatch.fnmatch(run.name, options.only) and (options.source / f"{run.name}.tide").exists()
        ]
        rewrites = [part for pair in options.replace for part in ("--replace", pair)]
        subprocess.run([sys.executable, NEUTRAL_PATHS, *traces, *rewrites], check=True)
        for trace in traces if options.without_chunks else ():
            drop_chunks(trace)
        subprocess.run([options.seal, *traces], check=True)
        with tarfile.open(options.archive, "w:xz", preset=9) as archive:
            for path in sorted(folder.iterdir()):
                archive.add(path, path.name, filter=corpus.without_owner)
    packed = {pathlib.Path(trace).stem for trace in traces}
    new = {name: truth for name, truth in corpus.read_truths(options.source).items() if name in packed}
    corpus.write_truths(corpus.packed_truths() | new)
    print(f"{len(traces)} traces, {options.archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
