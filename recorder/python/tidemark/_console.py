# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Sentences to the user."""

import sys


def notify(sentence: str) -> None:
    """Prints one sentence on stderr, marked as Tidemark's."""
    print(f"tidemark: {sentence}", file=sys.stderr, flush=True)
