# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Drafts product titles for a shop catalogue: generation on the GPU, a writer thread files the results."""
import json
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass

import torch
from transformers import GPT2Config, GPT2LMHeadModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

CONFIG = {
    "vocab": 120 if SMALL else 50257,
    "width": 32 if SMALL else 512,
    "layers": 2 if SMALL else 5,
    "heads": 2 if SMALL else 8,
    "attributes": 6 if SMALL else 32,
    "title": 5 if SMALL else 48,
    "batch": 3 if SMALL else 32,
    "batches": 7 if SMALL else 22,
    "pending": 2 if SMALL else 6,
    "shop_api_seconds": 0.05 if SMALL else 1.3,
    "seed": 515,
}


@dataclass
class Draft:
    batch: int
    skus: list
    sequences: torch.Tensor
    scores: tuple


class TitleModel:
    """A small decoder that continues a product's attribute tokens with a title."""

    def __init__(self, c):
        self.c = c
        config = GPT2Config(vocab_size=c["vocab"], n_embd=c["width"], n_layer=c["layers"], n_head=c["heads"],
                            n_positions=c["attributes"] + c["title"], bos_token_id=0, eos_token_id=None)
        self.lm = GPT2LMHeadModel(config).to(DEVICE).eval()
        self.options = dict(max_new_tokens=c["title"], min_new_tokens=c["title"], do_sample=True, top_k=0,
                            temperature=0.9, pad_token_id=0, return_dict_in_generate=True, output_scores=True)

    @torch.inference_mode()
    def draft(self, attributes):
        attributes = attributes.to(DEVICE)
        return self.lm.generate(attributes, attention_mask=torch.ones_like(attributes), **self.options)


class Catalogue:
    def __init__(self, c):
        self.c = c
        self.gen = torch.Generator().manual_seed(c["seed"])

    def __iter__(self):
        c = self.c
        for number in range(c["batches"]):
            skus = [f"SKU{number:03d}-{row:02d}" for row in range(c["batch"])]
            yield number, skus, torch.randint(1, c["vocab"], (c["batch"], c["attributes"]), generator=self.gen)


class ShopWriter(threading.Thread):
    """Files finished titles through the shop's rate-limited API."""

    def __init__(self, c):
        super().__init__(name="shop-writer", daemon=True)
        self.c = c
        self.pending = queue.Queue(maxsize=c["pending"])
        self.filed = 0
        self.longest = ""

    def run(self):
        while True:
            draft = self.pending.get()
            if draft is None:
                return
            self.file(draft)

    def file(self, draft):
        tokens = draft.sequences[:, self.c["attributes"]:].tolist()
        for sku, row in zip(draft.skus, tokens):
            title = " ".join(f"w{t}" for t in row)
            if len(title) > len(self.longest):
                self.longest = f"{sku}: {title}"
            self.filed += 1
        time.sleep(self.c["shop_api_seconds"])

    def finish(self):
        self.pending.put(None)
        self.join()


def main(c):
    torch.manual_seed(c["seed"])
    model, writer, allocated = TitleModel(c), ShopWriter(c), []
    writer.start()
    for number, skus, attributes in Catalogue(c):
        output = model.draft(attributes)
        writer.pending.put(Draft(number, skus, output.sequences, output.scores))
        allocated.append(torch.cuda.memory_allocated())
        if number % 4 == 0:
            print(f"batch {number:2d} drafted, {writer.filed} titles filed", flush=True)
    writer.finish()
    print(f"{writer.filed} titles filed, longest {writer.longest[:60]}...")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": c["batches"],
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main(CONFIG)
