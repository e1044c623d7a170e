# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Programs with a known cause, and their recorded traces: NAME.SIZE[.noise].tide.

Keys of a program in expected.json:

    first      word of the first finding, or a list of correct words
    contains   word that one of the findings must have, or a list of which one must exist
    never      words that no finding may have
    leak       true: the first finding is a leak; false: none is; null: both are correct
    noise      what differs in the recording with noise
    exit       exit status of the program; default 0
    alone      true: other programs on the GPU would spoil it
    gpus       required number; default 1
"""

import dataclasses
import json
import pathlib
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
TRUTHS = HERE / "truths.json"
SCENARIOS = HERE.parent / "scenarios"
SIZES = ("small", "medium", "large")


@dataclasses.dataclass(frozen=True)
class Run:
    entry: dict
    size: str
    noise: bool = False

    @property
    def name(self):
        return f"{self.entry['name']}.{self.size}" + (".noise" if self.noise else "")

    @property
    def command(self):
        options = ["--size", self.size] + (["--noise"] if self.noise else [])
        return [str(SCENARIOS / self.entry["program"]), *self.entry["arguments"], *options]


def entries():
    return json.loads((HERE / "expected.json").read_text())


def runs():
    for entry in entries():
        yield from (Run(entry, size) for size in SIZES)
        yield Run({**entry, **entry.get("noise", {})}, "medium", noise=True)


def words(entry, key):
    value = entry.get(key, [])
    return [value] if isinstance(value, str) else value


def packed_truths():
    """Returns the truths of the packed traces, by name of run."""
    return json.loads(TRUTHS.read_text())


def read_truths(folder):
    """Returns the truths that record.py stored next to its traces, by name of run."""
    return {path.name.removesuffix(".truth.json"): json.loads(path.read_text()) for path in folder.glob("*.truth.json")}


def write_truths(truths):
    lines = [f" {json.dumps(name)}: {json.dumps(truths[name])}" for name in sorted(truths)]
    TRUTHS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def without_owner(member):
    """Removes the packing machine and its time from a member of an archive."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def unpack(archive, folder):
    """Writes the files of an archive into a folder."""
    with tarfile.open(archive) as packed:
        for member in packed:
            content = packed.extractfile(member)
            if content is not None:
                path = folder / member.name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content.read())
