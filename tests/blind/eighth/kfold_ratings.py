# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""K-fold cross validation of a sequence classifier with Accelerate."""
import os
import tempfile
import time
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Subset, TensorDataset
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"


@dataclass
class CVConfig:
    n_folds: int = 3 if TINY else 8
    steps_per_fold: int = 4 if TINY else 16
    batch_size: int = 4 if TINY else 64
    seq_len: int = 16 if TINY else 192
    hidden: int = 64 if TINY else 768
    layers: int = 2 if TINY else 8
    vocab: int = 500 if TINY else 12000
    lr: float = 3e-5
    warmup: int = 4
    seed: int = 2024
    max_seconds: float = 16.0


def make_dataset(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    n = cfg.batch_size * 40
    ids = torch.randint(5, cfg.vocab, (n, cfg.seq_len), generator=g)
    labels = (ids[:, :8].float().mean(1) > cfg.vocab / 2).long()
    return TensorDataset(ids, torch.ones_like(ids), labels)


def fold_indices(n, k, seed):
    perm = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    size = n // k
    for i in range(k):
        held_out = perm[i * size:(i + 1) * size]
        rest = perm[:i * size] + perm[(i + 1) * size:]
        yield rest, held_out


def build_model(cfg):
    return BertForSequenceClassification(BertConfig(
        vocab_size=cfg.vocab, hidden_size=cfg.hidden, num_hidden_layers=cfg.layers,
        num_attention_heads=max(2, cfg.hidden // 64), intermediate_size=cfg.hidden * 4, num_labels=2))


class CrossValidator:
    def __init__(self, cfg, workdir):
        self.cfg, self.workdir = cfg, workdir
        self.accelerator = Accelerator(mixed_precision="bf16", cpu=TINY)
        self.scores = []

    def run_fold(self, fold, dataset, train_idx, val_idx):
        cfg, acc = self.cfg, self.accelerator
        set_seed(cfg.seed + fold)
        model = build_model(cfg)
        optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        scheduler = get_linear_schedule_with_warmup(optimizer, cfg.warmup, cfg.steps_per_fold)
        train_loader = DataLoader(Subset(dataset, train_idx), cfg.batch_size, shuffle=True, drop_last=True)
        val_loader = DataLoader(Subset(dataset, val_idx), cfg.batch_size * 2)
        model, optimizer, train_loader, val_loader, scheduler = acc.prepare(
            model, optimizer, train_loader, val_loader, scheduler)

        model.train()
        running = 0.0
        for step, (ids, mask, labels) in enumerate(train_loader):
            if step >= cfg.steps_per_fold:
                break
            out = model(input_ids=ids, attention_mask=mask, labels=labels)
            acc.backward(out.loss)
            acc.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            running += out.loss.item()
            if step % 8 == 0:
                acc.print(f"fold {fold} step {step} loss {out.loss.item():.4f}")

        accuracy = self.evaluate(model, val_loader)
        state = acc.unwrap_model(model).state_dict()
        torch.save({k: v.half() for k, v in state.items() if "classifier" in k},
                   os.path.join(self.workdir, f"head_fold{fold}.pt"))
        self.scores.append(accuracy)
        return running / cfg.steps_per_fold, accuracy

    @torch.no_grad()
    def evaluate(self, model, loader):
        model.eval()
        hits = total = 0
        for ids, mask, labels in loader:
            pred = model(input_ids=ids, attention_mask=mask).logits.argmax(-1)
            pred, labels = self.accelerator.gather_for_metrics((pred, labels))
            hits += (pred == labels).sum().item()
            total += labels.numel()
        return hits / max(1, total)


def main():
    cfg = CVConfig()
    dataset = make_dataset(cfg)
    start = time.time()
    with tempfile.TemporaryDirectory() as tmp:
        cv = CrossValidator(cfg, tmp)
        for fold, (tr, va) in enumerate(fold_indices(len(dataset), cfg.n_folds, cfg.seed)):
            loss, accuracy = cv.run_fold(fold, dataset, tr, va)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            cv.accelerator.print(f"== fold {fold}: loss {loss:.4f} accuracy {accuracy:.3f} "
                                 f"({time.time() - start:.1f}s)")
            if time.time() - start > cfg.max_seconds:
                break
        mean = sum(cv.scores) / len(cv.scores)
        cv.accelerator.print(f"mean accuracy over {len(cv.scores)} folds: {mean:.3f}")


if __name__ == "__main__":
    main()
