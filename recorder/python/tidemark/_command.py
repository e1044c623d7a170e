# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The `tidemark` command of an environment into which the wheel was installed."""

from __future__ import annotations

import os
import sys

from tidemark import _console, _core


def main() -> None:
    """Replaces this process by the command that belongs to this package."""
    try:
        path = _core.needed_command()
    except OSError as failure:
        _console.notify(failure)
        sys.exit(1)
    os.execv(path, [path, *sys.argv[1:]])
