# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Clause tagging in contracts with RoBERTa and accelerate; the batch size is fitted to the card before the long run."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size, set_seed
from torch.utils.data import DataLoader, Dataset
from torchmetrics.classification import MulticlassF1Score
from transformers import RobertaConfig, RobertaForTokenClassification, get_linear_schedule_with_warmup

SMALL = os.environ.get("SMALL") == "1"
TAGS = ["O", "PARTY", "TERM", "PAYMENT", "LIABILITY", "NOTICE", "LAW", "IP", "ASSIGN"]


@dataclass
class ClauseConfig:
    vocab: int = 120 if SMALL else 16000
    tokens: int = 24 if SMALL else 512
    hidden: int = 16 if SMALL else 768
    layers: int = 2 if SMALL else 10
    heads: int = 2 if SMALL else 12
    contracts: int = 24 if SMALL else 576
    held_out: int = 8 if SMALL else 96
    epochs: int = 3 if SMALL else 4
    probe_steps: int = 2
    first_try: int = 8 if SMALL else 96
    card_gb: float = 14.0
    lr: float = 1e-4
    disk: float = 0.0002 if SMALL else 0.004


class Contracts(Dataset):
    """Clauses are runs of tokens; each tag prefers its own slice of the vocabulary."""

    def __init__(self, cfg, count, seed):
        self.cfg, self.count, self.seed = cfg, count, seed

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        cfg = self.cfg
        time.sleep(cfg.disk)
        gen = torch.Generator().manual_seed(self.seed + i)
        clause = torch.randint(0, len(TAGS), (cfg.tokens // 8,), generator=gen)
        tags = clause.repeat_interleave(8)
        width = (cfg.vocab - 5) // len(TAGS)
        own = 5 + tags * width + torch.randint(0, width, (cfg.tokens,), generator=gen)
        anywhere = torch.randint(5, cfg.vocab, (cfg.tokens,), generator=gen)
        ids = torch.where(torch.rand(cfg.tokens, generator=gen) < 0.4, own, anywhere)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": tags}


class ClauseRun:
    def __init__(self, cfg):
        self.cfg = cfg
        self.accelerator = Accelerator()
        self.train_set = Contracts(cfg, cfg.contracts, seed=100)
        self.val_set = Contracts(cfg, cfg.held_out, seed=100_000)
        self.attempts = []
        self.allocated = []

    def build(self, batch_size):
        cfg = self.cfg
        set_seed(7)
        model = RobertaForTokenClassification(RobertaConfig(
            vocab_size=cfg.vocab, hidden_size=cfg.hidden, num_hidden_layers=cfg.layers, num_attention_heads=cfg.heads,
            intermediate_size=4 * cfg.hidden, max_position_embeddings=cfg.tokens + 2, num_labels=len(TAGS)))
        optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        train_loader = DataLoader(self.train_set, batch_size=batch_size, shuffle=True, drop_last=True)
        val_loader = DataLoader(self.val_set, batch_size=batch_size)
        steps = cfg.epochs * len(train_loader)
        scheduler = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)
        return self.accelerator.prepare(model, optimizer, scheduler, train_loader, val_loader)

    def step(self, model, optimizer, batch):
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
        loss = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), label_smoothing=0.05)
        self.accelerator.backward(loss)
        self.accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    def fit(self, batch_size):
        self.accelerator.free_memory()
        self.attempts.append(batch_size)
        print(json.dumps({"trying": batch_size}))
        model, optimizer, scheduler, train_loader, val_loader = self.build(batch_size)
        probe = next(iter(DataLoader(self.train_set, batch_size=batch_size)))
        probe = {k: v.to(self.accelerator.device) for k, v in probe.items()}
        for _ in range(self.cfg.probe_steps):
            self.step(model, optimizer, probe)
        del probe

        score = MulticlassF1Score(num_classes=len(TAGS), average="macro").to(self.accelerator.device)
        for epoch in range(self.cfg.epochs):
            model.train()
            total = 0.0
            for batch in train_loader:
                total += self.step(model, optimizer, batch).item()
                scheduler.step()
            model.eval()
            with torch.inference_mode():
                for batch in val_loader:
                    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
                    score.update(logits.argmax(-1), batch["labels"])
            print(json.dumps({"epoch": epoch, "batch": batch_size, "loss": round(total / len(train_loader), 4),
                              "macro_f1": round(score.compute().item(), 4)}))
            score.reset()
            self.allocated.append(torch.cuda.memory_allocated())
        return batch_size


def main():
    cfg = ClauseConfig()
    torch.set_float32_matmul_precision("high")
    if torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(cfg.card_gb * 2**30 / torch.cuda.mem_get_info()[1])
    run = ClauseRun(cfg)
    sizes = iter([size for size in (64, 32, 16, 8, 4, 2, 1) if size < cfg.first_try] + [0])
    search = find_executable_batch_size(run.fit, starting_batch_size=cfg.first_try,
                                        reduce_batch_size_fn=lambda: next(sizes))
    batch_size = search()
    print(json.dumps({"fitted_batch": batch_size, "attempts": run.attempts}))
    print("TRUTH " + json.dumps({"allocated": run.allocated, "rounds": len(run.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
