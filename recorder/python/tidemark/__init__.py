# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records what a PyTorch program does with GPU memory into a Tidemark trace, and reads traces.

    import tidemark
    tidemark.record("run.tide")          # records until the program ends, or
    with tidemark.record("run.tide"):    # records until the block ends
        train()

    tidemark.step()                      # ends a training step; without it, an optimizer step ends one
    tidemark.mark("epoch 3", value=loss) # names this point in time
    tidemark.referrers()                 # records what retains each tensor now; also done at the end
    tidemark.phase("eval")               # names the phase from here on, or of a `with` block
    tidemark.pause(), tidemark.resume()  # records only allocations in between, without their origins
    tidemark.snapshot("now.tide")        # writes a trace up to now
    tidemark.stop()                      # ends the recording; the trace is complete when it returns

    run = tidemark.open("run.tide")      # any trace
    print(run.explain())                 # why memory went up
    run.allocations.to_pandas()          # tables for pandas, polars, pyarrow and DuckDB
    run.diff(tidemark.open("old.tide"))  # what changed
    tidemark.show(run)                   # in a notebook; %load_ext tidemark adds the cell magic %%tidemark

`tidemark record -- python train.py` records a program without a change in it. The package never changes the results of
the program. If something cannot be recorded, it prints one sentence on stderr, and the program continues.
"""

from typing import Any

from tidemark._api import mark, phase, record, referrers, step, stop
from tidemark._notebook import show
from tidemark._reader import Run, State, Table, TraceError, open
from tidemark._steer import pause, resume, snapshot

__all__ = [
    "Run",
    "State",
    "Table",
    "TraceError",
    "mark",
    "open",
    "pause",
    "phase",
    "record",
    "referrers",
    "resume",
    "show",
    "snapshot",
    "step",
    "stop",
]


def load_ipython_extension(shell: Any) -> None:
    """Adds %%tidemark to a notebook: `%load_ext tidemark` calls it."""
    from tidemark import _notebook

    _notebook.register(shell)
