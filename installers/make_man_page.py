#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Writes the manual page of a program from its own --help, so that the page names every command and option.

make_man_page.py PROGRAM OUTPUT.1.gz [--see-also NAME]
"""

import argparse
import gzip
import os
import pathlib
import re
import subprocess
import typing

HELP_OPTIONS = ("-h,", "-v,", "--help-all", "--version")
EXIT_STATUS = re.compile(r"^Exit status: .*(\n.+)*\n?", re.MULTILINE)


class Help(typing.NamedTuple):
    summary: str
    usage: str
    sections: dict[str, list[tuple[str, str]]]  # heading: (term, description)
    rest: str  # what follows the last section


def read_help(program, *command):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "en", "COLUMNS": "80", "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([program, *command, "--help"], env=environment, capture_output=True, text=True, check=True)
    lines = done.stdout.strip().replace(str(program), program.name).split("\n")
    usage = next(line for line in lines if line.startswith("Usage: "))
    summary = next(line for line in lines if line and line != usage)
    sections: dict[str, list[tuple[str, str]]] = {}
    entries: list[tuple[str, str]] | None = None
    rest: list[str] = []
    for line in lines[max(lines.index(usage), lines.index(summary)) + 1 :]:
        entry = re.match(r"  (\S.*?)(?:  +(\S.*))?$", line)
        if not rest and re.match(r"(Positionals|Options|Commands|Arguments):$", line):
            entries = sections.setdefault(line[:-1], [])
        elif entries is not None and entry:
            entries.append((entry[1], entry[2] or ""))
        elif entries is not None and line.startswith("   "):
            term, description = entries.pop()
            entries.append((term, f"{description} {line.strip()}".strip()))
        elif line or rest:
            entries = None
            rest.append(line)
        else:
            entries = None
    return Help(summary, usage.removeprefix("Usage: "), sections, "\n".join(rest))


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def list_of(entries):
    for term, description in entries:
        yield f".TP\n.B {escaped(term)}\n{escaped(description)}" if description else f".TP\n.B {escaped(term)}"


def text_of(rest):
    """Yields paragraphs; keeps the lines of a paragraph apart if one of them is indented."""
    for paragraph in re.split(r"\n\s*\n", EXIT_STATUS.sub("", rest).strip("\n")):
        if paragraph.strip():
            is_list = re.search(r"^  ", paragraph, re.MULTILINE)
            yield f".PP\n.EX\n{escaped(paragraph)}\n.EE" if is_list else f".PP\n{escaped(paragraph)}"


def part_of(text, command):
    """Yields a section about one command."""
    yield f".SS {escaped(command)}"
    yield escaped(text.summary)
    yield f".PP\n.B {escaped(text.usage)}"
    for entries in text.sections.values():
        yield from list_of(entry for entry in entries if not entry[0].startswith(HELP_OPTIONS))
    yield from text_of(text.rest)


def page(program, see_also):
    name = program.name
    text = read_help(program)
    summary = text.summary[0].lower() + text.summary[1:].rstrip(".")
    yield f'.TH {escaped(name.upper())} 1 "" "Tidemark" "User Commands"'
    yield f".SH NAME\n{escaped(name)} \\- {escaped(summary)}"
    yield f".SH SYNOPSIS\n.B {escaped(text.usage)}"
    for heading, entries in text.sections.items():
        yield f".SH {heading.upper()}"
        yield from list_of(entries)
    yield from text_of(text.rest)
    commands = [command for command, _ in text.sections.get("Commands", [])]
    if commands:
        yield ".SH COMMANDS IN DETAIL"
        for command in commands:
            yield from part_of(read_help(program, command), f"{name} {command}")
    status = EXIT_STATUS.search(text.rest)
    if status:
        yield f".SH EXIT STATUS\n{escaped(status[0].removeprefix('Exit status: ').strip())}"
    if see_also:
        yield f".SH SEE ALSO\n.BR {escaped(see_also)} (1)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--see-also", default="")
    options = parser.parse_args()
    text = "\n".join(page(options.program.resolve(), options.see_also)) + "\n"
    # Without a time, so that builds can be reproduced.
    options.output.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
