"""What a program knows to be true of its own memory, for whoever compares: JSON in the file named by SCENARIO_TRUTH.

`bytes` lie there at the end of the last round, `bytes_per_round` came with each of `rounds` rounds.
"""

import json
import os

import torch

BLOCK = 512


def write(**known):
    path = os.environ.get("SCENARIO_TRUTH")
    if path:
        with open(path, "w") as file:
            json.dump(known, file)


def block(size):
    """Bytes the allocator takes for so many."""
    return (size + BLOCK - 1) // BLOCK * BLOCK


def bytes_of(tensors):
    """Of their storages, each counted once."""
    sizes = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
    return sum(map(block, sizes.values()))


class Growth:
    """Allocated bytes at the end of each round; the first two rounds are warm-up."""

    def __init__(self):
        self.ends = []

    def round(self):
        self.ends.append(torch.cuda.memory_allocated())

    def write(self, **more):
        rounds = len(self.ends)
        per_round = (self.ends[-1] - self.ends[1]) // (rounds - 2)
        write(bytes=per_round * rounds, bytes_per_round=per_round, rounds=rounds, **more)
