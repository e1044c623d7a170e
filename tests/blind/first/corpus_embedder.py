# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Embeds a document collection with a BERT encoder and writes the vectors to a plain array on the host.
"""
import argparse
import json
import os
import sys
import time

import torch
from transformers import BertConfig, BertModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=640 if SMALL else 20480)
    parser.add_argument("--batch-size", type=int, default=8 if SMALL else 256)
    parser.add_argument("--max-tokens", type=int, default=96 if SMALL else 512)
    parser.add_argument("--pause", type=float, default=0.0 if SMALL else 0.08, help="seconds between batches")
    return parser.parse_args()


def build_encoder(max_tokens):
    config = BertConfig(
        vocab_size=1000 if SMALL else 30522,
        hidden_size=64 if SMALL else 768,
        num_hidden_layers=2 if SMALL else 6,
        num_attention_heads=4 if SMALL else 12,
        intermediate_size=128 if SMALL else 3072,
        max_position_embeddings=max_tokens,
    )
    return BertModel(config, add_pooling_layer=False).to(DEVICE, DTYPE).eval()


class Collection:
    """Synthetic documents: word-piece ids with a long-tailed length distribution."""

    def __init__(self, count, max_tokens, vocab, seed=5):
        self.gen = torch.Generator().manual_seed(seed)
        scale = torch.rand(count, generator=self.gen).pow(1.3)
        self.lengths = (12 + scale * (max_tokens - 12)).long().tolist()
        self.vocab = vocab

    def __len__(self):
        return len(self.lengths)

    def tokens(self, index):
        return torch.randint(5, self.vocab, (self.lengths[index],), generator=self.gen)


def batches(collection, batch_size):
    order = sorted(range(len(collection)), key=lambda i: collection.lengths[i])
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def collate(collection, indices):
    documents = [collection.tokens(i) for i in indices]
    width = max(len(d) for d in documents)
    ids = torch.zeros(len(documents), width, dtype=torch.long)
    mask = torch.zeros(len(documents), width, dtype=torch.long)
    for row, document in enumerate(documents):
        ids[row, : len(document)] = document
        mask[row, : len(document)] = 1
    return ids.to(DEVICE), mask.to(DEVICE)


def mean_pool(hidden, mask):
    weight = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weight).sum(1) / weight.sum(1)


class VectorFile:
    def __init__(self, rows, dim):
        self.data = torch.zeros(rows, dim, dtype=torch.float32)
        self.norms = {}

    def write(self, indices, vectors):
        self.data[torch.tensor(indices)] = vectors
        for index, norm in zip(indices, vectors.norm(dim=1).tolist()):
            self.norms[index] = norm


@torch.no_grad()
def embed_collection(args):
    encoder = build_encoder(args.max_tokens)
    collection = Collection(args.documents, args.max_tokens, encoder.config.vocab_size)
    output = VectorFile(len(collection), encoder.config.hidden_size)
    total = -(-len(collection) // args.batch_size)
    allocated, peaks = [], []
    for number, indices in enumerate(batches(collection, args.batch_size)):
        ids, mask = collate(collection, indices)
        result = encoder(input_ids=ids, attention_mask=mask)
        pooled = mean_pool(result.last_hidden_state, mask)
        output.write(indices, pooled.float().cpu())
        if (number + 1) % (total // 10) == 0:
            allocated.append(torch.cuda.memory_allocated())
            peaks.append(torch.cuda.max_memory_allocated())
            print(f"batch {number + 1}/{total}  width {ids.shape[1]}  vectors {len(output.norms)}")
        time.sleep(args.pause)
    return output, allocated, peaks, total


def main():
    args = parse_args()
    torch.manual_seed(5)
    output, allocated, peaks, total = embed_collection(args)
    print(f"wrote {output.data.shape[0]} vectors, mean norm {sum(output.norms.values()) / len(output.norms):.3f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "peak": peaks, "rounds": total}), file=sys.stderr)


if __name__ == "__main__":
    main()
