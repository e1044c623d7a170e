# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records PyTorch's own memory history if the plugin does not work, and imports it as a trace at the end."""

import os
import subprocess
import tempfile
import time
from typing import Any

from tidemark import _core

ENDING = ".history.tide"
MOST_EVENTS = 5_000_000
_WAIT_FOR_NAME_S = 5.0


class Fallback:
    """Records through torch.cuda.memory._record_memory_history. The constructor raises OSError if the
    command for the import is missing."""

    def __init__(self, torch: Any, core: _core.Core) -> None:
        self._command = _core.needed_command()
        self._torch = torch
        self._core = core
        torch.cuda.memory._record_memory_history(max_entries=MOST_EVENTS, stacks="python")

    def finish(self) -> str:
        """Writes the snapshot and imports it. Returns "" or a sentence about the failure."""
        with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
            snapshot = os.path.join(folder, "snapshot.pickle")
            self._torch.cuda.memory._dump_snapshot(snapshot)
            self._torch.cuda.memory._record_memory_history(enabled=None)
            completed = subprocess.run(
                [self._command, "import", snapshot, "-o", self._output(), "--force"], capture_output=True, text=True
            )
        return "" if completed.returncode == 0 else completed.stderr.strip()

    def _output(self) -> str:
        """Returns a name that is derived from that of the trace, which gets its name at the latest when it ends."""
        end = time.monotonic() + _WAIT_FOR_NAME_S
        while not self._core.output() and time.monotonic() < end:
            time.sleep(0.01)
        trace = self._core.output() or os.path.abspath(f"run.{os.getpid()}.tide")
        return trace.removesuffix(".tide") + ENDING
