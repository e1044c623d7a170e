# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Distils a large audio spectrogram transformer into a small CNN for a field recorder (soft labels, one pass)."""
import json
import os
import sys
import time
import warnings

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from transformers import ASTConfig, ASTForAudioClassification

warnings.filterwarnings("ignore", module="lightning")
SMALL = os.environ.get("SMALL") == "1"
ACCELERATOR = "gpu" if torch.cuda.is_available() else "cpu"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

SPECIES = 12 if SMALL else 264
MELS, FRAMES = (32, 64) if SMALL else (128, 512)
CLIPS, BATCH = (16, 4) if SMALL else (640, 32)
EPOCHS = 2 if SMALL else 10
RECORDER_LATENCY = 0.0 if SMALL else 0.03


class FieldRecordings(Dataset):
    """Log-mel patches: chirps as bright ridges over a noise floor. Yields the clip's number too."""

    def __init__(self, clips, seed):
        gen = torch.Generator().manual_seed(seed)
        self.ridge = torch.randint(0, MELS - 6, (clips,), generator=gen)
        self.start = torch.randint(0, FRAMES // 2, (clips,), generator=gen)
        self.species = self.ridge * SPECIES // MELS

    def __len__(self):
        return len(self.ridge)

    def __getitem__(self, index):
        gen = torch.Generator().manual_seed(index)
        mel = torch.randn(FRAMES, MELS, generator=gen) * 0.5
        low, start = int(self.ridge[index]), int(self.start[index])
        mel[start:start + FRAMES // 3, low:low + 6] += 2.0
        return index, mel, self.species[index]

    def __getitems__(self, indices):
        time.sleep(RECORDER_LATENCY)
        return [self[index] for index in indices]


def large_ast():
    config = ASTConfig(hidden_size=32 if SMALL else 1280, num_hidden_layers=2 if SMALL else 24,
                       num_attention_heads=4 if SMALL else 16, intermediate_size=64 if SMALL else 5120,
                       max_length=FRAMES, num_mel_bins=MELS, frequency_stride=16, time_stride=16,
                       num_labels=SPECIES)
    with DEVICE:
        return ASTForAudioClassification(config).eval().requires_grad_(False)


class RecorderNet(nn.Module):
    """Depthwise-separable CNN that fits the recorder's microcontroller."""

    def __init__(self, width=8 if SMALL else 64):
        super().__init__()
        layers, c_in = [], 1
        for c_out in (width, width, 2 * width, 4 * width):
            layers += [nn.Conv2d(c_in, c_in, 3, stride=2, padding=1, groups=c_in), nn.Conv2d(c_in, c_out, 1, bias=False),
                       nn.BatchNorm2d(c_out), nn.Hardswish()]
            c_in = c_out
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(c_in, SPECIES))

    def forward(self, mel):
        return self.classifier(self.features(mel.unsqueeze(1)).mean(dim=(2, 3)))


class Distillation(L.LightningModule):
    def __init__(self, teacher, student, temperature=3.0, hard_weight=0.2, lr=2e-3):
        super().__init__()
        self.teacher = teacher
        self.student = student
        self.temperature = temperature
        self.hard_weight = hard_weight
        self.lr = lr
        self.soft_labels = None
        self.allocated = []

    @torch.no_grad()
    def on_fit_start(self):
        recordings = self.trainer.datamodule.recordings
        table = torch.empty(len(recordings), SPECIES, dtype=torch.float16)
        for index, mel, _ in DataLoader(recordings, batch_size=BATCH):
            logits = self.teacher(mel.to(self.device)).logits
            table[index] = F.softmax(logits / self.temperature, dim=-1).half().cpu()
        self.soft_labels = table

    def training_step(self, batch, _):
        index, mel, species = batch
        logits = self.student(mel)
        soft = self.soft_labels[index.cpu()].to(self.device).float()
        distill = F.kl_div(F.log_softmax(logits / self.temperature, dim=-1), soft, reduction="batchmean")
        loss = (1 - self.hard_weight) * self.temperature ** 2 * distill + self.hard_weight * F.cross_entropy(logits, species)
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def on_train_epoch_end(self):
        self.allocated.append(torch.cuda.memory_allocated())
        print(f"epoch {self.current_epoch}: loss {float(self.trainer.callback_metrics['loss']):.4f}", flush=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.student.parameters(), lr=self.lr, weight_decay=1e-3)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)]


class Station(L.LightningDataModule):
    def __init__(self):
        super().__init__()
        self.recordings = FieldRecordings(CLIPS, seed=17)

    def train_dataloader(self):
        return DataLoader(self.recordings, batch_size=BATCH, shuffle=True, drop_last=True)


def main():
    L.seed_everything(17)
    module = Distillation(large_ast(), RecorderNet())
    trainer = L.Trainer(accelerator=ACCELERATOR, devices=1, max_epochs=EPOCHS, logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(module, datamodule=Station())
    print(f"student parameters {sum(p.numel() for p in module.student.parameters()):,}")
    print("TRUTH " + json.dumps({"allocated": module.allocated, "rounds": EPOCHS}), file=sys.stderr)


if __name__ == "__main__":
    main()
