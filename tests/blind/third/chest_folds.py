# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Cross-validated chest radiograph classifier: a compact ViT, trained with Accelerate."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Dataset, Subset
from transformers import ViTConfig, ViTForImageClassification, get_cosine_schedule_with_warmup

SMALL = os.environ.get("SMALL") == "1"
FINDINGS = ["normal", "effusion", "consolidation", "pneumothorax", "nodule"]


@dataclass
class StudyConfig:
    image: int = 32 if SMALL else 224
    patch: int = 16
    hidden: int = 32 if SMALL else 768
    layers: int = 2 if SMALL else 6
    heads: int = 2 if SMALL else 12
    mlp: int = 64 if SMALL else 3072
    patients: int = 24 if SMALL else 480
    folds: int = 4 if SMALL else 8
    batch: int = 4 if SMALL else 16
    steps: int = 3 if SMALL else 8
    lr: float = 2e-4
    weight_decay: float = 0.05
    read_seconds: float = 0.0 if SMALL else 0.1
    seed: int = 11


class RadiographStudy(Dataset):
    """One frontal view a patient; the finding is a blob whose place and size depend on the label."""

    def __init__(self, cfg):
        self.cfg = cfg
        gen = torch.Generator().manual_seed(cfg.seed)
        self.labels = torch.randint(0, len(FINDINGS), (cfg.patients,), generator=gen)
        axis = torch.linspace(-1, 1, cfg.image)
        self.grid_y, self.grid_x = torch.meshgrid(axis, axis, indexing="ij")

    def __len__(self):
        return self.cfg.patients

    def __getitem__(self, index):
        label = int(self.labels[index])
        gen = torch.Generator().manual_seed(1000 + index)
        jitter = 0.2 * torch.randn(2, generator=gen)
        cx, cy = 0.25 * label - 0.5 + jitter[0], 0.4 - 0.2 * label + jitter[1]
        lungs = torch.exp(-3 * ((self.grid_x.abs() - 0.4) ** 2 + 0.5 * self.grid_y ** 2))
        blob = torch.exp(-20 * ((self.grid_x - cx) ** 2 + (self.grid_y - cy) ** 2)) * (label > 0)
        noise = 0.1 * torch.randn(self.cfg.image, self.cfg.image, generator=gen)
        return {"pixel_values": (lungs + blob + noise).unsqueeze(0), "labels": label}


def patient_folds(count, folds, seed):
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed)).tolist()
    held = [order[k::folds] for k in range(folds)]
    for k in range(folds):
        inside = set(held[k])
        yield [i for i in order if i not in inside], held[k]


def build_model(cfg):
    return ViTForImageClassification(ViTConfig(
        image_size=cfg.image, patch_size=cfg.patch, num_channels=1, hidden_size=cfg.hidden,
        num_hidden_layers=cfg.layers, num_attention_heads=cfg.heads, intermediate_size=cfg.mlp,
        hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.0, num_labels=len(FINDINGS)))


def endless(loader):
    while True:
        yield from loader


class CrossValidation:
    def __init__(self, cfg):
        self.cfg = cfg
        self.accelerator = Accelerator(cpu=not torch.cuda.is_available())
        self.study = RadiographStudy(cfg)
        self.report = []

    def loaders(self, train_ids, held_ids):
        train = DataLoader(Subset(self.study, train_ids), batch_size=self.cfg.batch, shuffle=True, drop_last=True)
        held = DataLoader(Subset(self.study, held_ids), batch_size=self.cfg.batch)
        return train, held

    def run_fold(self, train_ids, held_ids):
        cfg = self.cfg
        model = build_model(cfg)
        optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        scheduler = get_cosine_schedule_with_warmup(optimizer, cfg.steps // 5, cfg.steps)
        train, held = self.loaders(train_ids, held_ids)
        model, optimizer, scheduler, train, held = self.accelerator.prepare(model, optimizer, scheduler, train, held)

        model.train()
        running = 0.0
        for step, batch in zip(range(cfg.steps), endless(train)):
            time.sleep(cfg.read_seconds)
            logits = model(pixel_values=batch["pixel_values"]).logits
            loss = F.cross_entropy(logits, batch["labels"], label_smoothing=0.05)
            self.accelerator.backward(loss)
            self.accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            running += loss.item()
        return running / cfg.steps, self.evaluate(model, held)

    @torch.no_grad()
    def evaluate(self, model, held):
        model.eval()
        right = seen = 0
        for batch in held:
            guess = model(pixel_values=batch["pixel_values"]).logits.argmax(-1)
            right += (guess == batch["labels"]).sum().item()
            seen += len(guess)
        return right / max(seen, 1)


def main():
    cfg = StudyConfig()
    set_seed(cfg.seed)
    study, allocated = CrossValidation(cfg), []
    try:
        for k, (train_ids, held_ids) in enumerate(patient_folds(cfg.patients, cfg.folds, cfg.seed)):
            started = time.perf_counter()
            loss, accuracy = study.run_fold(train_ids, held_ids)
            study.report.append(accuracy)
            allocated.append(torch.cuda.memory_allocated())
            print(json.dumps({"fold": k, "loss": round(loss, 4), "accuracy": round(accuracy, 4),
                              "seconds": round(time.perf_counter() - started, 2)}))
        mean = sum(study.report) / len(study.report)
        print(f"cross-validated accuracy {mean:.3f} over {len(study.report)} folds")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
