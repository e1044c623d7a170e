# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Writes the compile commands for clang-tidy, one for each source file, from those of a unity build by GCC.

    tidy_commands.py BUILD OUTPUT

Precompiled headers are GCC's: their texts are copied to OUTPUT, where clang finds no compiled ones beside them.
"""

import json
import pathlib
import re
import shutil
import sys
from collections.abc import Iterator


def single(entry: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yields the entry, or those of the sources that a unity file includes."""
    unity = entry["file"]
    if "/Unity/" not in unity:
        yield entry
        return
    for source in re.findall(r'#include "(.*\.cpp)"', pathlib.Path(unity).read_text()):
        yield entry | {"file": source, "command": entry["command"].replace(f"-c {unity}", f"-c {source}")}


def main() -> None:
    build, output = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    entries = [one for entry in json.loads((build / "compile_commands.json").read_text()) for one in single(entry)]
    for header in build.rglob("cmake_pch.hxx"):
        copy = output / header.relative_to(build)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(header, copy)
    for entry in entries:
        command = re.sub(f"{re.escape(str(build))}/(\\S*cmake_pch\\.hxx)", f"{output}/\\1", entry["command"])
        # One file by itself: a name that hides another one is a mistake again.
        entry["command"] = command.replace(" -Wno-shadow", "")
    (output / "compile_commands.json").write_text(json.dumps(entries, indent=1))


if __name__ == "__main__":
    main()
