# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Active learning for a support-ticket classifier: a small BERT is trained in rounds on a growing labelled set.

Each round embeds the pool with the current encoder and asks for labels of the tickets that cover the embedding space
best (k-center greedy, the core-set strategy).
"""

import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class LabellingConfig:
    pool_size: int = 60000
    tokens: int = 32
    vocab_size: int = 8000
    classes: int = 24
    hidden_size: int = 384
    layers: int = 4
    heads: int = 6
    first_labels: int = 2000
    labels_per_round: int = 3000
    rounds: int = 12
    steps_per_round: int = 120
    batch_size: int = 256
    embed_batch: int = 1024
    learning_rate: float = 2e-4
    memory_gib: float = 4.6
    seed: int = 23


def make_config():
    if SMALL:
        return LabellingConfig(pool_size=600, tokens=8, vocab_size=300, hidden_size=32, layers=1, heads=2,
                               first_labels=20, labels_per_round=30, rounds=4, steps_per_round=3, batch_size=16,
                               embed_batch=128)
    return LabellingConfig()


class TicketPool:
    """Synthetic tickets: each class prefers its own part of the vocabulary."""

    def __init__(self, cfg):
        self.labels = torch.randint(cfg.classes, (cfg.pool_size,), device=DEVICE)
        common = torch.randint(cfg.vocab_size, (cfg.pool_size, cfg.tokens), device=DEVICE)
        span = cfg.vocab_size // cfg.classes
        typical = self.labels[:, None] * span + torch.randint(span, common.shape, device=DEVICE)
        self.token_ids = torch.where(torch.rand(common.shape, device=DEVICE) < 0.15, typical, common)
        self.labelled = torch.zeros(cfg.pool_size, dtype=torch.bool, device=DEVICE)

    def __len__(self):
        return len(self.labels)

    def request_labels(self, indices):
        self.labelled[indices] = True

    def labelled_indices(self):
        return self.labelled.nonzero().squeeze(1)


class TicketClassifier(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = BertModel(
            BertConfig(
                vocab_size=cfg.vocab_size,
                hidden_size=cfg.hidden_size,
                num_hidden_layers=cfg.layers,
                num_attention_heads=cfg.heads,
                intermediate_size=4 * cfg.hidden_size,
                max_position_embeddings=cfg.tokens,
            ),
            add_pooling_layer=False,
        )
        self.head = nn.Linear(cfg.hidden_size, cfg.classes)

    def embed(self, token_ids):
        return self.encoder(input_ids=token_ids).last_hidden_state.mean(dim=1)

    def forward(self, token_ids):
        return self.head(self.embed(token_ids))


class Trainer:
    def __init__(self, model, pool, cfg):
        self.model = model
        self.pool = pool
        self.cfg = cfg
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.learning_rate)

    def autocast(self):
        return torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda")

    def fit(self):
        indices = self.pool.labelled_indices()
        self.model.train()
        total = 0.0
        for _ in range(self.cfg.steps_per_round):
            batch = indices[torch.randint(len(indices), (self.cfg.batch_size,), device=DEVICE)]
            with self.autocast():
                logits = self.model(self.pool.token_ids[batch])
            loss = F.cross_entropy(logits.float(), self.pool.labels[batch])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / self.cfg.steps_per_round

    @torch.no_grad()
    def embeddings(self):
        self.model.eval()
        result = torch.empty(len(self.pool), self.cfg.hidden_size, device=DEVICE)
        for start in range(0, len(self.pool), self.cfg.embed_batch):
            rows = slice(start, start + self.cfg.embed_batch)
            with self.autocast():
                result[rows] = self.model.embed(self.pool.token_ids[rows]).float()
        return result


class CoreSetSelector:
    """Greedy k-center: always the ticket that is farthest from everything labelled or chosen so far."""

    def __init__(self, budget):
        self.budget = budget

    def cover_radius(self, embeddings, labelled):
        return torch.cdist(embeddings, embeddings[labelled]).amin(dim=1)

    @torch.no_grad()
    def select(self, embeddings, labelled):
        nearest = self.cover_radius(embeddings, labelled)
        chosen = torch.empty(self.budget, dtype=torch.long, device=embeddings.device)
        for slot in range(self.budget):
            farthest = nearest.argmax()
            chosen[slot] = farthest
            distance = (embeddings - embeddings[farthest]).square().sum(dim=1).sqrt()
            nearest = torch.minimum(nearest, distance)
        return chosen, nearest.max().item()


class LabellingCampaign:
    def __init__(self, cfg):
        self.cfg = cfg
        self.pool = TicketPool(cfg)
        self.model = TicketClassifier(cfg).to(DEVICE)
        self.trainer = Trainer(self.model, self.pool, cfg)
        self.selector = CoreSetSelector(cfg.labels_per_round)
        self.pool.request_labels(torch.randperm(cfg.pool_size, device=DEVICE)[: cfg.first_labels])

    def run_round(self):
        loss = self.trainer.fit()
        chosen, radius = self.selector.select(self.trainer.embeddings(), self.pool.labelled_indices())
        self.pool.request_labels(chosen)
        return loss, radius


def main():
    cfg = make_config()
    torch.manual_seed(cfg.seed)
    if DEVICE == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(cfg.memory_gib * 2**30 / total)
    allocated = []
    try:
        campaign = LabellingCampaign(cfg)
        for index in range(cfg.rounds):
            loss, radius = campaign.run_round()
            allocated.append(torch.cuda.memory_allocated() if DEVICE == "cuda" else 0)
            known = int(campaign.pool.labelled.sum())
            print(f"round {index}: loss {loss:.3f}, cover radius {radius:.3f}, {known} labels", flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
