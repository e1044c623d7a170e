# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Label search for a herbarium: a large encoder learns the vocabulary of specimen labels, a small one imitates it.

Stage 1 tunes the large encoder with a contrastive loss and embeds the collection; stage 2 trains the small encoder
against those embeddings; the small encoder is what the field stations will run, and is measured at the end.
"""
import gc
import json
import logging
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertModel, get_cosine_schedule_with_warmup

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("herbarium")


@dataclass
class SearchConfig:
    vocab: int = 400 if SMALL else 16_000
    labels: int = 96 if SMALL else 3200
    length: int = 12 if SMALL else 48
    batch: int = 8 if SMALL else 32
    large_hidden: int = 64 if SMALL else 1024
    large_layers: int = 2 if SMALL else 8
    small_hidden: int = 32 if SMALL else 384
    small_layers: int = 2 if SMALL else 6
    out: int = 16 if SMALL else 256
    epochs_small: int = 3
    temperature: float = 0.05


class LabelEncoder(nn.Module):
    def __init__(self, cfg, hidden, layers):
        super().__init__()
        config = BertConfig(vocab_size=cfg.vocab, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=hidden // 16
                            if SMALL else hidden // 64, intermediate_size=4 * hidden, max_position_embeddings=64)
        self.body = BertModel(config, add_pooling_layer=False)
        self.project = nn.Linear(hidden, cfg.out)

    def forward(self, tokens):
        states = self.body(input_ids=tokens).last_hidden_state
        return F.normalize(self.project(states.mean(dim=1)), dim=-1)


class Distillery:
    def __init__(self, cfg):
        self.cfg = cfg
        self.accelerator = Accelerator(cpu=DEVICE.type == "cpu")
        self.tokens = torch.randint(cfg.vocab, (cfg.labels, cfg.length))
        self.allocated = []
        self.steps = 0

    def tick(self, stage, loss):
        self.steps += 1
        if DEVICE.type == "cuda":
            self.allocated.append(torch.cuda.memory_allocated())
        if self.steps % 50 == 0:
            log.info("%s step %4d loss %.4f", stage, self.steps, loss.item())

    def setup(self, hidden, layers, dataset, epochs, lr):
        model = LabelEncoder(self.cfg, hidden, layers)
        loader = DataLoader(dataset, batch_size=self.cfg.batch, shuffle=True, drop_last=True)
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        schedule = get_cosine_schedule_with_warmup(optimizer, 10, epochs * len(loader))
        return self.accelerator.prepare(model, optimizer, loader, schedule)

    def train_large(self):
        cfg = self.cfg
        model, optimizer, loader, schedule = self.setup(
            cfg.large_hidden, cfg.large_layers, TensorDataset(self.tokens), 1, 1e-4)
        model.train()
        for (tokens,) in loader:
            first, second = model(tokens), model(tokens)
            similarity = first @ second.T / cfg.temperature
            loss = F.cross_entropy(similarity, torch.arange(len(tokens), device=tokens.device))
            self.accelerator.backward(loss)
            self.accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            self.tick("large", loss)
        return model, optimizer, schedule

    @torch.no_grad()
    def embed(self, model):
        model.eval()
        chunks = [model(part.to(DEVICE)).cpu() for part in self.tokens.split(4 * self.cfg.batch)]
        return torch.cat(chunks)

    def train_small(self, targets):
        cfg = self.cfg
        model, optimizer, loader, schedule = self.setup(
            cfg.small_hidden, cfg.small_layers, TensorDataset(self.tokens, targets), cfg.epochs_small, 3e-4)
        model.train()
        for _ in range(cfg.epochs_small):
            for tokens, target in loader:
                loss = (1 - F.cosine_similarity(model(tokens), target)).mean()
                self.accelerator.backward(loss)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
                self.tick("small", loss)
        return model

    def recall(self, small, targets, k=10):
        found = self.embed(small)
        near = torch.topk(found @ found.T, k + 1).indices
        wanted = torch.topk(targets @ targets.T, k + 1).indices
        return sum(len(set(a) & set(b)) - 1 for a, b in zip(near.tolist(), wanted.tolist())) / (k * len(near))


def run(cfg):
    distillery = Distillery(cfg)
    started = time.time()
    large, optimizer, schedule = distillery.train_large()
    targets = distillery.embed(large)
    log.info("large encoder: %.0f M parameters, %.1f s", sum(p.numel() for p in large.parameters()) / 1e6,
             time.time() - started)

    del large, optimizer, schedule
    gc.collect()
    torch.cuda.empty_cache()

    small = distillery.train_small(targets)
    log.info("small encoder: recall %.3f after %.1f s", distillery.recall(small, targets), time.time() - started)
    return distillery


def main():
    set_seed(40)
    distillery = run(SearchConfig())
    stride = len(distillery.allocated) // 200 + 1
    print("TRUTH " + json.dumps({"allocated": distillery.allocated[::stride], "rounds": distillery.steps}), file=sys.stderr)
    return distillery


if __name__ == "__main__":
    result = main()
