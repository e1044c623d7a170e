# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Builds the plugin for the torch in use, so that no later test waits for the compiler. Without torch, does nothing."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["TIDEMARK_HOME"], "python"))

try:
    import torch
except ImportError as failure:
    sys.exit(print(f"torch is not here: {failure}"))

from tidemark import _build

print(_build.built_for(torch))
