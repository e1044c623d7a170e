# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Cross-validates a transformer that assigns customs tariff chapters to descriptions of goods, one fine-tuning
run for each fold, with Hugging Face Accelerate."""

import gc
import json
import os
import sys
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, Subset, TensorDataset
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class TariffConfig:
    vocab: int = 300 if SMALL else 24000
    hidden: int = 32 if SMALL else 512
    layers: int = 2 if SMALL else 8
    heads: int = 4 if SMALL else 8
    chapters: int = 5 if SMALL else 97
    length: int = 12 if SMALL else 96
    goods: int = 96 if SMALL else 6000
    folds: int = 4 if SMALL else 14
    steps: int = 3 if SMALL else 12
    batch: int = 8 if SMALL else 64
    eval_batches: int = 2 if SMALL else 4
    rate: float = 2e-4
    warmup: int = 2
    seed: int = 31


def make_goods(cfg: TariffConfig) -> TensorDataset:
    """Descriptions whose first words depend on the chapter, so that there is something to learn."""
    generator = torch.Generator().manual_seed(cfg.seed)
    chapters = torch.randint(0, cfg.chapters, (cfg.goods,), generator=generator)
    ids = torch.randint(200, cfg.vocab, (cfg.goods, cfg.length), generator=generator)
    ids[:, 0] = 1
    ids[:, 1] = 2 + chapters
    lengths = torch.randint(cfg.length // 2, cfg.length + 1, (cfg.goods, 1), generator=generator)
    mask = (torch.arange(cfg.length).unsqueeze(0) < lengths).long()
    return TensorDataset(ids * mask, mask, chapters)


def fold_indices(cfg: TariffConfig) -> list[tuple[list[int], list[int]]]:
    order = torch.randperm(cfg.goods, generator=torch.Generator().manual_seed(cfg.seed + 1))
    chunks = order.chunk(cfg.folds)
    folds = []
    for held_out in range(cfg.folds):
        rest = torch.cat([chunk for number, chunk in enumerate(chunks) if number != held_out])
        folds.append((rest.tolist(), chunks[held_out].tolist()))
    return folds


class FoldTrainer:
    """Trains and scores one classifier for each fold."""

    def __init__(self, cfg: TariffConfig, goods: TensorDataset):
        self.cfg = cfg
        self.goods = goods
        self.accelerator = Accelerator(mixed_precision="bf16")

    def _new_model(self, fold: int) -> BertForSequenceClassification:
        torch.manual_seed(self.cfg.seed + fold)
        config = BertConfig(
            vocab_size=self.cfg.vocab,
            hidden_size=self.cfg.hidden,
            num_hidden_layers=self.cfg.layers,
            num_attention_heads=self.cfg.heads,
            intermediate_size=self.cfg.hidden * 4,
            max_position_embeddings=self.cfg.length,
            num_labels=self.cfg.chapters,
        )
        with torch.device(self.accelerator.device):
            return BertForSequenceClassification(config)

    def _loaders(self, train_rows: list[int], test_rows: list[int]) -> tuple[DataLoader, DataLoader]:
        shuffler = torch.Generator().manual_seed(self.cfg.seed)
        train = DataLoader(Subset(self.goods, train_rows), self.cfg.batch, shuffle=True, generator=shuffler)
        test = DataLoader(Subset(self.goods, test_rows), self.cfg.batch)
        return train, test

    def _fit(self, model, optimizer, scheduler, loader) -> float:
        model.train()
        running = 0.0
        for step, (ids, mask, chapters) in enumerate(loader):
            if step == self.cfg.steps:
                break
            loss = model(input_ids=ids, attention_mask=mask, labels=chapters).loss
            self.accelerator.backward(loss)
            self.accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            running += loss.item()
        return running / self.cfg.steps

    @torch.no_grad()
    def _score(self, model, loader) -> float:
        model.eval()
        right = seen = 0
        for number, (ids, mask, chapters) in enumerate(loader):
            if number == self.cfg.eval_batches:
                break
            guess = model(input_ids=ids, attention_mask=mask).logits.argmax(dim=-1)
            guess, chapters = self.accelerator.gather_for_metrics((guess, chapters))
            right += int((guess == chapters).sum())
            seen += chapters.numel()
        return right / max(seen, 1)

    def run_fold(self, fold: int, train_rows: list[int], test_rows: list[int]) -> dict[str, float]:
        model = self._new_model(fold)
        optimizer = torch.optim.AdamW(model.parameters(), lr=self.cfg.rate, weight_decay=0.01)
        scheduler = get_linear_schedule_with_warmup(optimizer, self.cfg.warmup, self.cfg.steps)
        train_loader, test_loader = self._loaders(train_rows, test_rows)
        model, optimizer, train_loader, test_loader, scheduler = self.accelerator.prepare(
            model, optimizer, train_loader, test_loader, scheduler
        )
        loss = self._fit(model, optimizer, scheduler, train_loader)
        accuracy = self._score(model, test_loader)
        del model, optimizer, scheduler, train_loader, test_loader
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return {"loss": loss, "accuracy": accuracy}


def main() -> None:
    cfg = TariffConfig()
    levels: list[int] = []
    results: list[dict[str, float]] = []
    try:
        trainer = FoldTrainer(cfg, make_goods(cfg))
        for fold, (train_rows, test_rows) in enumerate(fold_indices(cfg)):
            result = trainer.run_fold(fold, train_rows, test_rows)
            results.append(result)
            levels.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            trainer.accelerator.print(f"fold {fold}: loss {result['loss']:.3f} accuracy {result['accuracy']:.3f}")
        mean = sum(result["accuracy"] for result in results) / len(results)
        trainer.accelerator.print(f"mean accuracy over {len(results)} folds: {mean:.3f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": levels, "rounds": len(levels)}), file=sys.stderr)


if __name__ == "__main__":
    main()
