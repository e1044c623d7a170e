# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The `tidemark` command of an environment into which the wheel was installed."""

from __future__ import annotations

import os
import sys

from tidemark import _core


def main() -> None:
    """Replaces this process by the command that belongs to this package."""
    path = _core.command()
    if path is None:
        sys.exit("tidemark: the command is missing from this installation; reinstall tidemark-gpu")
    os.execv(path, [path, *sys.argv[1:]])
