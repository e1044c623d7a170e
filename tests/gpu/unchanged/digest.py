# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""What the programs in this folder share: PyTorch as deterministic as it can be, and a digest of a result's bits."""

import hashlib
import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch

torch.use_deterministic_algorithms(True, warn_only=True)
torch.backends.cudnn.benchmark = False
torch.manual_seed(7)


def digest(*values):
    """Returns a digest of tensors, modules and lists of numbers, which differs if any bit differs."""
    found = hashlib.sha256()
    for value in values:
        parts = value.state_dict().values() if isinstance(value, torch.nn.Module) else value
        for each in parts if isinstance(value, (torch.nn.Module, list, tuple)) else [value]:
            tensor = each.detach() if isinstance(each, torch.Tensor) else torch.tensor(each, dtype=torch.float64)
            found.update(tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()[:16]
