# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Compares the bytes saved for backward in a recorded trace of training_kinds.py with a counter's result.

    python saved_and_categories.py TRACE [--counted FILE]

FILE is the JSON that `training_kinds.py KIND --count-saved` prints. Prints both figures as JSON. Reads the tables of
the trace only; `tidemark top --by category --at peak` prints the categories of the allocations at the peak.
"""

import argparse
import json
import sqlite3


def saved(trace):
    """Returns the bytes of all tensors that nodes saved. Packed tensors have no bytes."""
    return trace.execute("SELECT coalesce(sum(bytes), 0) FROM saved_tensor").fetchone()[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--counted")
    options = parser.parse_args()
    trace = sqlite3.connect(options.trace)
    result = {"found": saved(trace)}
    if options.counted:
        with open(options.counted) as file:
            result["counted"] = sum(json.loads(file.read().splitlines()[-1])["saved_per_step"])
        result["equal"] = result["found"] == result["counted"]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
