# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Explanations in Jupyter notebooks. Imports IPython only when it is used."""

from __future__ import annotations

import argparse
import html
import os
import shlex
import tempfile
from typing import Any

from tidemark import _api, _reader


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


def _display_sentence(sentence: str) -> None:
    from IPython.display import HTML, display

    display(HTML(f"<p>{html.escape(sentence)}</p>"))


def _options(line: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="%%tidemark", add_help=False, exit_on_error=False)
    parser.add_argument("-o", "--output", help="the trace to write; it is replaced. Default: none is kept")
    return parser.parse_args(shlex.split(line))


class CellMagic:
    """%%tidemark: records the GPU memory of a cell, then shows its explanation.

        %%tidemark [-o run.tide]
        train()
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, line: str, cell: str) -> None:
        options = _options(line)
        running = _api.current()
        if running is not None:
            self._shell.run_cell(cell)
            _display_sentence(f"A recording into {running.output} is running already; tidemark.stop() ends it.")
        elif options.output:
            self._record(cell, options.output)
        else:
            with tempfile.TemporaryDirectory(prefix="tidemark-cell-") as folder:
                self._record(cell, os.path.join(folder, "cell.tide"))

    def _record(self, cell: str, trace: str) -> None:
        with _api.record(trace, force=True):
            self._shell.run_cell(cell)
        try:
            _display(_reader.open(trace))
        except _reader.TraceError as failure:  # such as that the cell did not use the GPU
            _display_sentence(str(failure))


def register(shell: Any) -> None:
    """Adds the magic to an IPython shell."""
    shell.register_magic_function(CellMagic(shell).__call__, "cell", "tidemark")
