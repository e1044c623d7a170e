# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Prints messages to the user."""

import sys


def notify(sentence: str) -> None:
    """Prints one sentence on stderr, prefixed with "tidemark: "."""
    print(f"tidemark: {sentence}", file=sys.stderr, flush=True)
