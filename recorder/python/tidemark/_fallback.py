# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records PyTorch's own memory history where the plugin cannot work, and imports it as a trace at the end."""

import os
import subprocess
import tempfile
from typing import Any

from tidemark import _core

MOST_EVENTS = 5_000_000


class Fallback:
    """Records through torch.cuda.memory._record_memory_history. The constructor raises OSError if that cannot work."""

    def __init__(self, torch: Any, output: str) -> None:
        command = _core.command()
        if command is None:
            raise OSError("the `tidemark` command is not beside the recorder")
        self._command = command
        self._torch = torch
        self._output = output
        torch.cuda.memory._record_memory_history(max_entries=MOST_EVENTS, stacks="python")

    def finish(self) -> str:
        """Writes the snapshot and imports it. Returns "", or a sentence that says what failed."""
        with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
            snapshot = os.path.join(folder, "snapshot.pickle")
            self._torch.cuda.memory._dump_snapshot(snapshot)
            self._torch.cuda.memory._record_memory_history(enabled=None)
            done = subprocess.run(
                [self._command, "import", snapshot, "-o", self._output, "--force"], capture_output=True, text=True
            )
        return "" if done.returncode == 0 else done.stderr.strip()
