# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Token-level index of court decisions: encode all of them, keep the token vectors in half precision, answer queries."""
import argparse
import json
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"


class PassageLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        return x + F.gelu(self.mix(self.norm(x)))


class PassageEncoder(nn.Module):
    def __init__(self, vocabulary, dim, depth):
        super().__init__()
        self.words = nn.Embedding(vocabulary, dim)
        self.layers = nn.ModuleList(PassageLayer(dim) for _ in range(depth))

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x)
        return x


class Docket:
    """Decisions in order of length, so that a batch holds decisions of like length and needs little padding."""

    def __init__(self, args):
        generator = torch.Generator().manual_seed(args.seed)
        count = args.batches * args.batch
        spread = torch.rand(count, generator=generator)
        lengths = (args.shortest + spread * (args.longest - args.shortest)).long()
        self.lengths = lengths.sort().values.tolist()
        self.batch, self.vocabulary, self.generator = args.batch, args.vocabulary, generator

    def __iter__(self):
        for start in range(0, len(self.lengths), self.batch):
            lengths = self.lengths[start:start + self.batch]
            tokens = torch.randint(1, self.vocabulary, (len(lengths), max(lengths)), generator=self.generator)
            for row, length in enumerate(lengths):
                tokens[row, length:] = 0
            yield tokens


class TokenIndex:
    def __init__(self, encoder):
        self.encoder = encoder.eval()
        self.pages = []

    @torch.no_grad()
    def add(self, tokens):
        vectors = self.encoder(tokens.to(DEVICE))
        self.pages.append(vectors.to(torch.float16))
        del vectors
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()

    @torch.no_grad()
    def search(self, query):
        wanted = self.encoder(query.to(DEVICE)).to(torch.float16)
        best = []
        for page in self.pages:
            likeness = torch.matmul(page, wanted[0].T)
            best.append(likeness.amax(dim=1).float().sum(dim=1))
        return torch.cat(best).topk(5)

    @property
    def stored(self):
        return sum(page.numel() * page.element_size() for page in self.pages)


class Meter:
    def __init__(self):
        self.allocated, self.reserved, self.split = [], [], []

    def read(self):
        cuda = DEVICE.type == "cuda"
        self.allocated.append(torch.cuda.memory_allocated() if cuda else 0)
        self.reserved.append(torch.cuda.memory_reserved() if cuda else 0)
        self.split.append(torch.cuda.memory_stats().get("inactive_split_bytes.all.current", 0) if cuda else 0)

    def emit(self, stored):
        every = max(1, len(self.allocated) // 12)
        print("TRUTH " + json.dumps({
            "allocated": self.allocated[every - 1::every], "reserved": self.reserved[every - 1::every],
            "split": self.split[every - 1::every], "stored": stored, "rounds": len(self.allocated)}), file=sys.stderr)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocabulary", type=int, default=500 if SMALL else 30000)
    parser.add_argument("--dim", type=int, default=32 if SMALL else 1024)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--batch", type=int, default=4 if SMALL else 64)
    parser.add_argument("--batches", type=int, default=42)
    parser.add_argument("--shortest", type=int, default=240)
    parser.add_argument("--longest", type=int, default=1380)
    parser.add_argument("--queries", type=int, default=24)
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--pace", type=float, default=0.0 if SMALL else 0.14)
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(args.seed)
    index = TokenIndex(PassageEncoder(args.vocabulary, args.dim, args.depth).to(DEVICE))
    meter = Meter()
    for number, tokens in enumerate(Docket(args), 1):
        index.add(tokens)
        meter.read()
        if number % 14 == 0:
            print(f"batch {number} length {tokens.shape[1]} index {index.stored / 2**20:.0f} MiB", flush=True)
        time.sleep(args.pace)
    for number in range(args.queries):
        found = index.search(torch.randint(1, args.vocabulary, (1, 32)))
        if number % 12 == 0:
            print("best", found.indices.tolist(), flush=True)
        time.sleep(args.pace)
    meter.emit(index.stored)


if __name__ == "__main__":
    main()
