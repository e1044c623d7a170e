"""Removes the paths and names of the recording machine from an example trace.

python tests/data/neutral_paths.py TRACE... --replace OLD=NEW [--replace OLD=NEW]
"""

import argparse
import sqlite3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--replace", action="append", default=[], metavar="OLD=NEW")
    options = parser.parse_args()
    for path in options.traces:
        trace = sqlite3.connect(path)
        for old, new in (pair.split("=") for pair in options.replace):
            trace.execute("UPDATE string SET text = replace(text, ?, ?)", (old, new))
            trace.execute("UPDATE process SET command_line = replace(command_line, ?, ?)", (old, new))
            trace.execute("UPDATE process SET node = replace(node, ?, ?)", (old, new))
            trace.execute("UPDATE data_gap SET text = replace(text, ?, ?)", (old, new))
        trace.execute("UPDATE device SET uuid = NULL")
        trace.commit()
        trace.execute("VACUUM")
        trace.close()


if __name__ == "__main__":
    main()
