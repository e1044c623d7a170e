# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Authorship of folk ballads: a small BERT is trained once per held-out collection (leave-one-out folds)."""

import gc
import json
import os
import sys
import time
from dataclasses import dataclass, field

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Subset, TensorDataset
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class StudyConfig:
    collections: int = 4 if SMALL else 13
    ballads_per_collection: int = 12 if SMALL else 32
    authors: int = 9
    vocab_size: int = 300 if SMALL else 16384
    hidden_size: int = 32 if SMALL else 512
    layers: int = 2 if SMALL else 12
    heads: int = 4 if SMALL else 8
    max_tokens: int = 24 if SMALL else 160
    batch_size: int = 8 if SMALL else 16
    epochs: int = 1 if SMALL else 2
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    warmup_share: float = 0.1
    max_grad_norm: float = 1.0
    seed: int = 1882


@dataclass
class FoldScore:
    collection: int
    accuracy: float
    train_loss: float
    seconds: float


@dataclass
class StudyReport:
    scores: list[FoldScore] = field(default_factory=list)
    allocated: list[int] = field(default_factory=list)

    def add(self, score: FoldScore) -> None:
        self.scores.append(score)
        self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)

    def mean_accuracy(self) -> float:
        return sum(s.accuracy for s in self.scores) / max(1, len(self.scores))


def build_corpus(cfg: StudyConfig) -> tuple[TensorDataset, torch.Tensor]:
    """Synthetic ballads: every author prefers a band of the vocabulary, every collection a dialect."""
    gen = torch.Generator().manual_seed(cfg.seed)
    total = cfg.collections * cfg.ballads_per_collection
    authors = torch.randint(0, cfg.authors, (total,), generator=gen)
    collections = torch.arange(total) // cfg.ballads_per_collection
    band = cfg.vocab_size // (cfg.authors + 2)
    tokens = torch.randint(5, cfg.vocab_size, (total, cfg.max_tokens), generator=gen)
    favoured = torch.randint(0, band, (total, cfg.max_tokens), generator=gen) + (authors[:, None] + 1) * band
    use_favoured = torch.rand(total, cfg.max_tokens, generator=gen) < 0.35
    tokens = torch.where(use_favoured, favoured, tokens)
    lengths = torch.randint(cfg.max_tokens // 2, cfg.max_tokens + 1, (total,), generator=gen)
    mask = (torch.arange(cfg.max_tokens)[None, :] < lengths[:, None]).long()
    return TensorDataset(tokens * mask, mask, authors), collections


def build_classifier(cfg: StudyConfig) -> BertForSequenceClassification:
    config = BertConfig(
        vocab_size=cfg.vocab_size,
        hidden_size=cfg.hidden_size,
        num_hidden_layers=cfg.layers,
        num_attention_heads=cfg.heads,
        intermediate_size=4 * cfg.hidden_size,
        max_position_embeddings=cfg.max_tokens,
        num_labels=cfg.authors,
    )
    return BertForSequenceClassification(config)


def parameter_groups(model: torch.nn.Module, weight_decay: float) -> list[dict]:
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    plain = [p for p in model.parameters() if p.ndim < 2]
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]


class FoldTrainer:
    """Trains and scores one fold; everything it needs is created in ``run``."""

    def __init__(self, cfg: StudyConfig, accelerator: Accelerator, corpus: TensorDataset, collections: torch.Tensor):
        self.cfg = cfg
        self.accelerator = accelerator
        self.corpus = corpus
        self.collections = collections

    def loaders(self, held_out: int) -> tuple[DataLoader, DataLoader]:
        train_ids = torch.nonzero(self.collections != held_out).flatten().tolist()
        test_ids = torch.nonzero(self.collections == held_out).flatten().tolist()
        train = DataLoader(Subset(self.corpus, train_ids), batch_size=self.cfg.batch_size, shuffle=True, drop_last=True)
        test = DataLoader(Subset(self.corpus, test_ids), batch_size=self.cfg.batch_size)
        return train, test

    def train_epoch(self, model, optimizer, scheduler, loader) -> float:
        model.train()
        total = torch.zeros((), device=self.accelerator.device)
        for tokens, mask, authors in loader:
            optimizer.zero_grad()
            loss = model(input_ids=tokens, attention_mask=mask, labels=authors).loss
            self.accelerator.backward(loss)
            self.accelerator.clip_grad_norm_(model.parameters(), self.cfg.max_grad_norm)
            optimizer.step()
            scheduler.step()
            total += loss.detach()
        optimizer.zero_grad()
        return (total / max(1, len(loader))).item()

    @torch.no_grad()
    def accuracy(self, model, loader) -> float:
        model.eval()
        hits, seen = 0, 0
        for tokens, mask, authors in loader:
            predicted = model(input_ids=tokens, attention_mask=mask).logits.argmax(dim=-1)
            predicted, authors = self.accelerator.gather_for_metrics((predicted, authors))
            hits += (predicted == authors).sum().item()
            seen += authors.numel()
        return hits / max(1, seen)

    def run(self, held_out: int) -> FoldScore:
        started = time.perf_counter()
        train_loader, test_loader = self.loaders(held_out)
        model = build_classifier(self.cfg)
        optimizer = torch.optim.AdamW(parameter_groups(model, self.cfg.weight_decay), lr=self.cfg.learning_rate)
        steps = self.cfg.epochs * len(train_loader)
        scheduler = get_linear_schedule_with_warmup(optimizer, int(self.cfg.warmup_share * steps), steps)
        model, optimizer, scheduler, train_loader, test_loader = self.accelerator.prepare(
            model, optimizer, scheduler, train_loader, test_loader
        )
        train_loss = 0.0
        for _ in range(self.cfg.epochs):
            train_loss = self.train_epoch(model, optimizer, scheduler, train_loader)
        accuracy = self.accuracy(model, test_loader)
        return FoldScore(held_out, accuracy, train_loss, time.perf_counter() - started)


def run_study(cfg: StudyConfig, report: StudyReport) -> None:
    set_seed(cfg.seed)
    accelerator = Accelerator()
    corpus, collections = build_corpus(cfg)
    for held_out in range(cfg.collections):
        trainer = FoldTrainer(cfg, accelerator, corpus, collections)
        score = trainer.run(held_out)
        del trainer
        gc.collect()
        report.add(score)
        accelerator.print(
            f"collection {score.collection:2d}: accuracy {score.accuracy:.3f}, "
            f"loss {score.train_loss:.3f}, {score.seconds:.1f} s"
        )


def main() -> None:
    cfg = StudyConfig()
    report = StudyReport()
    try:
        run_study(cfg, report)
        print(f"mean accuracy over {len(report.scores)} folds: {report.mean_accuracy():.3f}")
    finally:
        truth = {"allocated": report.allocated, "rounds": len(report.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
