# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Writes the tables of traces as a partitioned Parquet dataset, for `tidemark export --format parquet`.

    _parquet.py DATASET LABELS TABLES    LABELS: {NAME: VALUE}, TABLES: {TABLE: {COLUMN: TYPE}}, as JSON

The command computes all numbers and sends them here, as lines on the standard input. Each line is a JSON object:

    {"run": NAME}                   begins the files of a run
    {"table": NAME, "bytes": N}     N bytes follow: rows of a table, one JSON object a line
    {"finish": true}                gives the files of the run their names; answered by {"bytes": N} of the files
    {"abandon": true}               removes them; answered by {}

Answers are JSON lines on the standard output. The first one, before any input, is {"columns": [NAME...], "labels":
[NAME...] or null}: the names that no label may have, and the labels of the runs that the dataset has. It is
{"missing": REASON} without pyarrow. {"error": REASON, "path": PATH} ends the program.

A file is DATASET/TABLE/run=NAME/part-0.parquet. While it is written, it has a name that readers of datasets ignore.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file, whose modules are not for pyarrow

try:
    import pyarrow as pa
    import pyarrow.json
    import pyarrow.parquet as pq

    MISSING = ""
except ImportError as reason:
    MISSING = str(reason)

Tables = dict[str, dict[str, str]]  # the columns of the tables with their types, which docs/FLEET.md describes
LABELS_KEY = b"tidemark.labels"


class Files:
    """The files of one run, one per table. They get their names together or are removed."""

    def __init__(self, tables: Tables, dataset: pathlib.Path, run: str, labels: dict[str, str]) -> None:
        self._tables, self._labels = tables, labels
        self._files: dict[str, tuple[pathlib.Path, pathlib.Path]] = {}  # by table: while it is written, and its name
        self._writers: dict[str, Any] = {}
        try:
            for table, columns in tables.items():
                folder = dataset / table / f"run={run}"
                folder.mkdir(parents=True, exist_ok=True)
                unfinished = folder / f".part-0.{os.getpid()}.tmp"
                self._files[table] = unfinished, folder / "part-0.parquet"
                self._writers[table] = pq.ParquetWriter(unfinished, self._schema(columns), compression="zstd")
        except OSError:
            self.abandon()
            raise

    def _schema(self, columns: dict[str, str], is_read: bool = False) -> Any:
        """Returns the schema of a file, or that of its rows as they are read: without labels, times as numbers."""
        types = {"timestamp": pa.int64() if is_read else pa.timestamp("ns", tz="UTC")}
        fields = [pa.field(name, types.get(kind) or pa.type_for_alias(kind)) for name, kind in columns.items()]
        if is_read:
            return pa.schema(fields)
        fields += [pa.field(name, pa.string()) for name in self._labels]
        return pa.schema(fields, metadata={LABELS_KEY: json.dumps(list(self._labels)).encode()})

    def write(self, table: str, rows: bytes) -> None:
        """Appends rows: one JSON object a line."""
        columns = self._tables[table]
        read = pa.json.read_json(
            pa.BufferReader(rows),
            read_options=pa.json.ReadOptions(block_size=len(rows) + 1),
            parse_options=pa.json.ParseOptions(
                explicit_schema=self._schema(columns, is_read=True), unexpected_field_behavior="error"
            ),
        )
        arrays = [read[name] for name in columns]
        arrays += [pa.repeat(pa.scalar(value, pa.string()), len(read)) for value in self._labels.values()]
        schema = self._schema(columns)
        arrays = [array.cast(field.type) for array, field in zip(arrays, schema)]
        self._writers[table].write_table(pa.Table.from_arrays(arrays, schema=schema))

    def finish(self) -> int:
        """Gives the files their names. Returns their bytes."""
        for writer in self._writers.values():
            writer.close()
        size = sum(unfinished.stat().st_size for unfinished, _ in self._files.values())
        # A run that is in `runs` has all its tables.
        for table in sorted(self._files, key=lambda table: table == "runs"):
            unfinished, name = self._files[table]
            unfinished.replace(name)
        return size

    def abandon(self) -> None:
        for writer in self._writers.values():
            with contextlib.suppress(OSError):
                writer.close()
        for unfinished, _ in self._files.values():
            with contextlib.suppress(OSError):
                unfinished.unlink()
            # The folder of the run and that of the table, unless they contain something else.
            with contextlib.suppress(OSError):
                unfinished.parent.rmdir()
                unfinished.parent.parent.rmdir()


def answer(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


def labels_of(dataset: pathlib.Path) -> list[str] | None:
    """Returns the names of the labels of the runs that the dataset has; None if it has no runs."""
    for file in dataset.glob("runs/run=*/part-0.parquet"):
        metadata = pq.read_schema(file).metadata or {}
        if LABELS_KEY in metadata:
            labels: list[str] = json.loads(metadata[LABELS_KEY])
            return labels
    return None


def messages(stream: BinaryIO) -> Iterator[tuple[dict[str, Any], bytes]]:
    for line in stream:
        message = json.loads(line)
        size = message.get("bytes", 0)
        rows = stream.read(size)
        if len(rows) < size:
            return  # the command was killed
        yield message, rows


def write_dataset(tables: Tables, dataset: pathlib.Path, labels: dict[str, str], stream: BinaryIO) -> None:
    files: Files | None = None
    try:
        for message, rows in messages(stream):
            if "run" in message:
                files = Files(tables, dataset, message["run"], labels)
            elif files is None:
                raise ValueError("rows without a run")
            elif "table" in message:
                files.write(message["table"], rows)
            else:
                reply: dict[str, object] = {}
                if "finish" in message:
                    reply["bytes"] = files.finish()
                else:
                    files.abandon()
                files = None
                answer(reply)
    finally:
        if files is not None:
            files.abandon()


def main(dataset: str, labels: str, columns: str) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which then ends the input
    if MISSING:
        answer({"missing": MISSING})
        return 1
    try:
        tables: Tables = json.loads(columns)
        answer({"columns": sorted({"run"}.union(*tables.values())), "labels": labels_of(pathlib.Path(dataset))})
        write_dataset(tables, pathlib.Path(dataset), json.loads(labels), sys.stdin.buffer)
    except (OSError, pa.ArrowException) as error:
        path = getattr(error, "filename", None) or dataset
        answer({"error": getattr(error, "strerror", None) or str(error), "path": os.fspath(path)})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
