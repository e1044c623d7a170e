# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records PyTorch's own memory history if the plugin does not work, and imports it as a trace at the end."""

import os
import subprocess
import tempfile
from typing import Any

from tidemark import _core

MOST_EVENTS = 5_000_000


class Fallback:
    """Records through torch.cuda.memory._record_memory_history. The constructor raises OSError if the
    command for the import is missing."""

    def __init__(self, torch: Any, output: str) -> None:
        command = _core.command()
        if command is None:
            raise OSError("the `tidemark` command is missing from the installation")
        self._command = command
        self._torch = torch
        self._output = output
        torch.cuda.memory._record_memory_history(max_entries=MOST_EVENTS, stacks="python")

    def finish(self) -> str:
        """Writes the snapshot and imports it. Returns "" or a sentence about the failure."""
        with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
            snapshot = os.path.join(folder, "snapshot.pickle")
            self._torch.cuda.memory._dump_snapshot(snapshot)
            self._torch.cuda.memory._record_memory_history(enabled=None)
            completed = subprocess.run(
                [self._command, "import", snapshot, "-o", self._output, "--force"], capture_output=True, text=True
            )
        return "" if completed.returncode == 0 else completed.stderr.strip()
