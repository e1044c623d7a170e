"""Where the plugin cannot work: PyTorch's own memory history, imported as a trace at the end."""

import os
import subprocess
import tempfile

from tidemark import _core

MOST_EVENTS = 5_000_000


class Fallback:
    """Records through torch.cuda.memory._record_memory_history. Raises OSError where that cannot work either."""

    def __init__(self, torch, output):
        if _core.command() is None:
            raise OSError("the `tidemark` command is not beside the recorder")
        self._torch = torch
        self._output = output
        torch.cuda.memory._record_memory_history(max_entries=MOST_EVENTS, stacks="python")

    def finish(self):
        """Writes the snapshot and imports it; a sentence where that fails, else ''."""
        with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
            snapshot = os.path.join(folder, "snapshot.pickle")
            self._torch.cuda.memory._dump_snapshot(snapshot)
            self._torch.cuda.memory._record_memory_history(enabled=None)
            done = subprocess.run(
                [_core.command(), "import", snapshot, "-o", self._output, "--force"], capture_output=True, text=True
            )
        return "" if done.returncode == 0 else done.stderr.strip()
