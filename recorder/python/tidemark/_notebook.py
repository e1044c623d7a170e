# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Explanations in Jupyter notebooks. Imports IPython only when it is used."""

from __future__ import annotations

import os
from typing import Any

from tidemark import _api, _console, _reader
from tidemark._sentence import Sentence


def show(run: _reader.Run | str | os.PathLike[str]) -> None:
    """Shows the explanation of a run in a notebook: summary, plots and findings, without a server.

    run: what tidemark.open() returned, or the path of a trace. Raises TraceError if it cannot be read, and ImportError
    without IPython.

        tidemark.show("run.tide")
    """
    _display(run if isinstance(run, _reader.Run) else _reader.open(run))


def _display(run: _reader.Run) -> None:
    from IPython.display import HTML, display

    display(HTML(run._repr_html_()))


def _output_of(line: str) -> str | None:
    """Returns the trace that the line of the magic names. Raises ValueError for other text."""
    import shlex

    words = shlex.split(line)
    if not words:
        return None
    if len(words) == 2 and words[0] in ("-o", "--output"):
        return words[1]
    raise ValueError(f"%%tidemark {line}: write %%tidemark or %%tidemark -o run.tide")


class CellMagic:
    """%%tidemark: records the GPU memory of a cell, then shows its explanation.

        %%tidemark
        train()

        %%tidemark -o run.tide
        train()

    The second one keeps the trace, unless the cell uses no GPU, and replaces an existing one.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, line: str, cell: str) -> None:
        import tempfile

        output = _output_of(line)
        if output is not None:
            self._record(cell, output)
            return
        with tempfile.TemporaryDirectory(prefix="tidemark-cell-") as folder:
            self._record(cell, os.path.join(folder, "cell.tide"))

    def _record(self, cell: str, trace: str) -> None:
        other = _api.current()
        with _api.record(trace, force=True):
            recording = _api.current()
            if recording is not None and recording is not other:
                recording.leave_report()
            self._shell.run_cell(cell)
        if recording is None or recording is other:
            return  # record() has said why
        try:
            _display(_reader.open(trace))
        except _reader.TraceError as failure:
            if recording.used_gpu:
                _console.notify(failure)
            else:
                os.unlink(trace)
                _console.notify(Sentence("the cell used no GPU, so there is nothing to explain"))


def register(shell: Any) -> None:
    """Adds the magic to an IPython shell."""
    shell.register_magic_function(CellMagic(shell).__call__, "cell", "tidemark")
