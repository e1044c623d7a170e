"""Removes the paths and names of the recording machine from an example trace.

python tests/data/neutral_paths.py TRACE... --replace OLD=NEW [--replace OLD=NEW] [--computer NAME]

Its checksums are computed again, as storage/format/FORMAT.md describes them; else it would count as damaged. Needs
xxhash.
"""

import argparse
import pathlib
import sqlite3
import struct

EMPTY_SEAL = b"\xc7tidemark seal\r\n" + bytes(24)


def hashed(value):
    """Returns the bytes of a value that its row's hash is made of."""
    if value is None:
        return b"\x05"
    if isinstance(value, int):
        return b"\x01" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"\x02" + struct.pack("<d", value)
    content = value.encode() if isinstance(value, str) else value
    return (b"\x03" if isinstance(value, str) else b"\x04") + struct.pack("<q", len(content)) + content


def write_checksums(trace):
    import xxhash

    for (name,) in trace.execute("SELECT name FROM table_checksum").fetchall():
        checksum, rows = xxhash.xxh3_128(), 0
        for row in trace.execute(f"SELECT * FROM {name}"):
            checksum.update(b"".join(map(hashed, row)))
            rows += 1
        number = int.from_bytes(checksum.digest()[:8], "little", signed=True)
        trace.execute("UPDATE table_checksum SET rows = ?, checksum = ? WHERE name = ?", (rows, number, name))
    trace.execute("UPDATE seal SET bytes = ?", (EMPTY_SEAL,))


def seal(path):
    import xxhash

    content = pathlib.Path(path).read_bytes()
    place = content.index(EMPTY_SEAL)
    with open(path, "r+b") as file:
        file.seek(place + 16)
        file.write(struct.pack("<q", place) + xxhash.xxh3_128(content.replace(EMPTY_SEAL, bytes(40), 1)).digest())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--replace", action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("--computer", metavar="NAME", help="the new name of the computer")
    options = parser.parse_args()
    for path in options.traces:
        trace = sqlite3.connect(path)
        for old, new in (pair.split("=") for pair in options.replace):
            trace.execute("UPDATE string SET text = replace(text, ?, ?)", (old, new))
            trace.execute("UPDATE process SET command_line = replace(command_line, ?, ?)", (old, new))
            trace.execute("UPDATE process SET node = replace(node, ?, ?)", (old, new))
            trace.execute("UPDATE data_gap SET text = replace(text, ?, ?)", (old, new))
        if options.computer:
            trace.execute("UPDATE process SET node = ?", (options.computer,))
        trace.execute("UPDATE device SET uuid = NULL")
        has_seals = trace.execute("SELECT 1 FROM sqlite_schema WHERE name = 'seal'").fetchone() is not None
        is_sealed = has_seals and trace.execute("SELECT 1 FROM seal").fetchone() is not None
        if is_sealed:
            write_checksums(trace)
        trace.commit()
        trace.execute("VACUUM")
        trace.close()
        if is_sealed:
            seal(path)


if __name__ == "__main__":
    main()
