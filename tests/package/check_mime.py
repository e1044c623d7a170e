# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks the MIME type of a trace by its content, with the rules of a compiled shared-mime-info folder.

Usage: check_mime.py MIME-FOLDER TRACE
"""

import re
import sqlite3
import sys
import tempfile
from pathlib import Path

TRACE_TYPE = "application/vnd.tidemark.trace"
SQLITE_TYPE = "application/vnd.sqlite3"
APPLICATION_ID = 0x54494445


def read_rules(magic_file):
    """Returns the rules of the compiled file: (priority, type, [(indent, offset, value, mask, range), ...])."""
    data = magic_file.read_bytes()
    if not data.startswith(b"MIME-Magic\0\n"):
        sys.exit(f"{magic_file} is not a compiled magic file")
    at = len(b"MIME-Magic\0\n")
    sections: list[tuple[int, str, list]] = []
    while at < len(data):
        if data[at : at + 1] == b"[":
            end = data.index(b"]\n", at)
            priority, name = data[at + 1 : end].decode().split(":", 1)
            sections.append((int(priority), name, []))
            at = end + 2
            continue
        start = re.compile(rb"(\d*)>(\d+)=").match(data, at)
        if start is None:
            sys.exit(f"{magic_file}: a rule of {sections[-1][1]} cannot be read")
        at = start.end()
        length = int.from_bytes(data[at : at + 2], "big")
        value = data[at + 2 : at + 2 + length]
        at += 2 + length
        mask = b"\xff" * length
        if data[at : at + 1] == b"&":
            mask = data[at + 1 : at + 1 + length]
            at += 1 + length
        word = re.compile(rb"~(\d+)").match(data, at)  # byte order of the value; matters on little-endian hosts only
        at = word.end() if word else at
        if word and sys.byteorder == "little":
            size = int(word[1])
            value = b"".join(value[i : i + size][::-1] for i in range(0, length, size))
            mask = b"".join(mask[i : i + size][::-1] for i in range(0, length, size))
        span = re.compile(rb"\+(\d+)").match(data, at)
        at = span.end() if span else at
        if data[at : at + 1] != b"\n":
            sys.exit(f"{magic_file}: a rule of {sections[-1][1]} cannot be read")
        at += 1
        sections[-1][2].append((int(start[1] or 0), int(start[2]), value, mask, int(span[1]) if span else 1))
    return sections


def rule_matches(head, rule):
    _, offset, value, mask, span = rule
    for begin in range(offset, offset + span):
        piece = head[begin : begin + len(value)]
        if len(piece) == len(value) and all((p & m) == (v & m) for p, v, m in zip(piece, value, mask)):
            return True
    return False


def section_matches(head, rules):
    """Returns whether a rule matches that has no children or whose children match."""

    def any_child(first, indent):
        i = first
        while i < len(rules) and rules[i][0] >= indent:
            if rules[i][0] == indent and rule_matches(head, rules[i]):
                has_children = i + 1 < len(rules) and rules[i + 1][0] > indent
                if not has_children or any_child(i + 1, indent + 1):
                    return True
            i += 1
        return False

    return any_child(0, 0)


def type_of(path, sections):
    head = path.read_bytes()[:65536]
    fitting = [(priority, name) for priority, name, rules in sections if section_matches(head, rules)]
    best = max((priority for priority, _ in fitting), default=0)
    return sorted(name for priority, name in fitting if priority == best)


def make_database(path, application_id):
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA application_id = {application_id}")
    database.execute("CREATE TABLE t(x)")
    database.commit()
    database.close()


def main():
    mime_folder, trace = Path(sys.argv[1]), Path(sys.argv[2])
    sections = read_rules(mime_folder / "magic")
    with tempfile.TemporaryDirectory() as folder:
        ours, plain, text = (Path(folder) / name for name in ("ours", "plain", "text"))
        make_database(ours, APPLICATION_ID)
        make_database(plain, 0)
        text.write_bytes(b"\0" * 68 + b"TIDE")
        expected = [
            ("a trace", trace, [TRACE_TYPE]),
            ("a database with our application_id", ours, [TRACE_TYPE]),
            ("a plain SQLite database", plain, [SQLITE_TYPE]),
            ("a file with only the four letters", text, []),
        ]
        for what, path, types in expected:
            found = type_of(path, sections)
            if found != types:
                sys.exit(f"{what} is taken for {found or 'nothing'}, not for {types or 'nothing'}")

    globs = (mime_folder / "globs2").read_text().splitlines()
    owners = [line for line in globs if line.split(":")[-1] == "*.tide"]
    if [line.split(":")[1] for line in owners] != [TRACE_TYPE]:
        sys.exit(f"*.tide belongs to {owners or 'nobody'}")


main()
