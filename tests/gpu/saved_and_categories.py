"""Compares a recorded trace of training_kinds.py with what a counter said, and says what is known at the peak.

    python saved_and_categories.py TRACE [--counted FILE]

FILE: the JSON that `training_kinds.py KIND --count-saved` printed. Prints JSON: bytes saved for backward per step, both
ways. Works on the trace's tables alone; what allocations are at the peak is `tidemark top --by category --at peak`.
"""

import argparse
import json
import sqlite3


def saved_per_step(trace):
    """Bytes of tensors saved by nodes that were made in each step; packed ones have none."""
    steps = trace.execute("SELECT start_time, coalesce(end_time, 1 << 62) FROM step ORDER BY number").fetchall()
    sums = []
    for start, end in steps:
        sums.append(
            trace.execute(
                "SELECT coalesce(sum(saved_tensor.bytes), 0) FROM saved_tensor JOIN autograd_node ON node = autograd_node.id"
                " WHERE created_time >= ? AND created_time < ?", (start, end)
            ).fetchone()[0]
        )  # fmt: skip
    return sums


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--counted")
    options = parser.parse_args()
    trace = sqlite3.connect(options.trace)
    result = {"found": saved_per_step(trace)}
    if options.counted:
        with open(options.counted) as file:
            result["counted"] = json.loads(file.read().splitlines()[-1])["saved_per_step"]
        result["equal"] = result["found"][: len(result["counted"])] == result["counted"]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
