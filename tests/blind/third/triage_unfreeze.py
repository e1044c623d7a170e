# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Emergency-department triage from free-text notes: a BERT encoder, thawed from the top down."""
import json
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn as nn
from transformers import BertConfig, BertForSequenceClassification

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LEVELS = 5


@dataclass
class Plan:
    hidden: int = 32 if SMALL else 1024
    layers: int = 4 if SMALL else 12
    heads: int = 2 if SMALL else 16
    vocab: int = 200 if SMALL else 30000
    length: int = 12 if SMALL else 192
    batch: int = 4 if SMALL else 12
    epochs: int = 10 if SMALL else 26
    steps: int = 2 if SMALL else 3
    thaw_every: int = 2
    layers_per_thaw: int = 2
    top_lr: float = 2e-4
    decay_per_group: float = 0.75
    query_seconds: float = 0.0 if SMALL else 0.13
    seed: int = 31


class TriageNotes:
    """Notes whose urgent words come more often at urgent levels."""

    def __init__(self, plan, seed):
        self.plan = plan
        self.gen = torch.Generator().manual_seed(seed)

    def batch(self):
        plan = self.plan
        time.sleep(plan.query_seconds)
        level = torch.randint(0, LEVELS, (plan.batch,), generator=self.gen)
        words = torch.randint(LEVELS + 10, plan.vocab, (plan.batch, plan.length), generator=self.gen)
        urgent = torch.rand(words.shape, generator=self.gen) < 0.15
        words = torch.where(urgent, (level + 5).unsqueeze(1).expand_as(words), words)
        lengths = torch.randint(plan.length // 2, plan.length + 1, (plan.batch, 1), generator=self.gen)
        mask = (torch.arange(plan.length) < lengths).long()
        return words.to(DEVICE), mask.to(DEVICE), level.to(DEVICE)


@dataclass
class Thaw:
    """Which parts train, and with what rate; the head first, then pairs of layers, at last the embeddings."""
    model: nn.Module
    plan: Plan
    stage: int = 0
    queue: list = field(default_factory=list)

    def __post_init__(self):
        for p in self.model.parameters():
            p.requires_grad_(False)
        bert, pace = self.model.bert, self.plan.layers_per_thaw
        stack = list(bert.encoder.layer)
        self.queue.append([bert.pooler, self.model.classifier])
        while stack:
            self.queue.append(stack[-pace:])
            del stack[-pace:]
        self.queue.append([bert.embeddings])

    def next_group(self):
        modules = self.queue[self.stage]
        weights = [p for m in modules for p in m.parameters()]
        for p in weights:
            p.requires_grad_(True)
        group = {"params": weights, "lr": self.plan.top_lr * self.plan.decay_per_group ** self.stage}
        self.stage += 1
        return group

    def due(self, epoch):
        return self.stage < len(self.queue) and epoch % self.plan.thaw_every == 0


def build(plan):
    config = BertConfig(
        vocab_size=plan.vocab, hidden_size=plan.hidden, num_hidden_layers=plan.layers, num_attention_heads=plan.heads,
        intermediate_size=4 * plan.hidden, max_position_embeddings=plan.length, num_labels=LEVELS,
        hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.0)
    with torch.device(DEVICE):
        return BertForSequenceClassification(config)


def train_epoch(model, optimizer, notes, plan):
    model.train()
    total = 0.0
    for _ in range(plan.steps):
        words, mask, level = notes.batch()
        loss = model(input_ids=words, attention_mask=mask, labels=level).loss
        loss.backward()
        weights = [p for group in optimizer.param_groups for p in group["params"]]
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        total += loss.item()
    return total / plan.steps


@torch.no_grad()
def audit(model, notes):
    model.eval()
    words, mask, level = notes.batch()
    guess = model(input_ids=words, attention_mask=mask).logits.argmax(-1)
    within_one = ((guess - level).abs() <= 1).float().mean().item()
    return (guess == level).float().mean().item(), within_one


def main():
    plan = Plan()
    torch.manual_seed(plan.seed)
    model = build(plan)
    thaw = Thaw(model, plan)
    optimizer = torch.optim.AdamW([thaw.next_group()], lr=plan.top_lr, weight_decay=0.01)
    train_notes, audit_notes = TriageNotes(plan, 1), TriageNotes(plan, 2)
    allocated = []
    try:
        for epoch in range(plan.epochs):
            if epoch and thaw.due(epoch):
                optimizer.add_param_group(thaw.next_group())
            loss = train_epoch(model, optimizer, train_notes, plan)
            exact, near = audit(model, audit_notes)
            allocated.append(torch.cuda.memory_allocated())
            print(json.dumps({"epoch": epoch, "groups": len(optimizer.param_groups), "loss": round(loss, 4),
                              "exact": round(exact, 3), "within_one": round(near, 3)}))
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
