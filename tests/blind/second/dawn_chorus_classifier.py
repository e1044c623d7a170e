# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Bird species from dawn chorus spectrograms with Lightning; a callback follows how separable the species become."""
import json
import os
import sys
import time
import warnings

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers.logger import Logger, rank_zero_experiment
from torch.utils.data import DataLoader, Dataset
from torchmetrics.classification import MulticlassAccuracy

warnings.filterwarnings("ignore")
SMALL = os.environ.get("SMALL") == "1"
SPECIES = 6 if SMALL else 40
CFG = dict(mels=32 if SMALL else 128, frames=64 if SMALL else 256, width=8 if SMALL else 64, batch=4 if SMALL else 64,
           train_clips=16 if SMALL else 1024, val_clips=12 if SMALL else 1024, epochs=4 if SMALL else 12, lr=6e-4,
           disk=0.0005 if SMALL else 0.00035)


class ChorusClips(Dataset):
    """Mel spectrograms: each species sings a chirp with its own slope and carrier over pink-ish background."""

    def __init__(self, count, seed):
        self.labels = torch.randint(0, SPECIES, (count,), generator=torch.Generator().manual_seed(seed))
        self.noise = torch.rand(8, CFG["mels"], CFG["frames"], generator=torch.Generator().manual_seed(seed + 1))
        self.time = torch.linspace(0, 1, CFG["frames"])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        time.sleep(CFG["disk"])
        label = int(self.labels[i])
        mel = self.noise[i % 8].clone()
        track = (0.1 + 0.8 * label / SPECIES + 0.1 * torch.sin(6.28 * (1 + label % 5) * self.time)).clamp(0, 0.99)
        mel[(track * CFG["mels"]).long(), torch.arange(CFG["frames"])] += 1.0
        return mel.unsqueeze(0), label


class ResBlock(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, stride=2, padding=1, bias=False)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, padding=1, bias=False)
        self.skip = nn.Conv2d(c_in, c_out, 1, stride=2, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(c_out), nn.BatchNorm2d(c_out)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.skip(x))


class ChorusNet(pl.LightningModule):
    def __init__(self):
        super().__init__()
        w = CFG["width"]
        self.encoder = nn.Sequential(ResBlock(1, w), ResBlock(w, 2 * w), ResBlock(2 * w, 4 * w), ResBlock(4 * w, 8 * w))
        self.attention = nn.Conv2d(8 * w, 1, 1)
        self.head = nn.Linear(8 * w, SPECIES)
        self.accuracy = MulticlassAccuracy(num_classes=SPECIES)

    def forward(self, mel):
        maps = self.encoder(mel)
        weight = self.attention(maps).flatten(2).softmax(-1)
        return self.head((maps.flatten(2) * weight).sum(-1))

    def training_step(self, batch, batch_idx):
        mel, label = batch
        loss = F.cross_entropy(self(mel), label, label_smoothing=0.05)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        mel, label = batch
        self.accuracy(self(mel), label)
        self.log("val_acc", self.accuracy, on_epoch=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=CFG["lr"], weight_decay=0.02)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, CFG["epochs"])]


class LayerTap:
    """Collects the output of one layer while it is switched on."""

    def __init__(self, layer):
        self.on = True
        self.maps = []
        layer.register_forward_hook(self.record)

    def record(self, layer, args, output):
        if self.on:
            self.maps.append(output.detach())


class SeparabilityCallback(Callback):
    """Nearest-centroid accuracy and mean time profile of the encoder maps over the validation clips."""

    def __init__(self):
        self.tap = None
        self.labels = []

    def on_validation_epoch_start(self, trainer, pl_module):
        self.labels = []
        self.tap = LayerTap(pl_module.encoder)

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        self.labels.append(batch[1])

    def on_validation_epoch_end(self, trainer, pl_module):
        maps, labels = self.tap.maps, torch.cat(self.labels)
        self.tap.on = False
        self.tap = None
        pooled = F.normalize(torch.cat([m.mean(dim=(2, 3)) for m in maps]), dim=1)
        onset = torch.stack([m.mean(dim=(0, 1, 2)).argmax() for m in maps]).float().mean()
        member = F.one_hot(labels, SPECIES).float()
        centroid = F.normalize(member.T @ pooled, dim=1)
        hit = ((pooled @ centroid.T).argmax(1) == labels).float().mean()
        pl_module.log_dict({"separability": hit, "onset_frame": onset})


class StdoutLogger(Logger):
    def __init__(self):
        super().__init__()
        self.allocated = []

    name = "chorus"
    version = 0

    @property
    @rank_zero_experiment
    def experiment(self):
        return None

    def log_hyperparams(self, params, *args, **kwargs):
        pass

    def log_metrics(self, metrics, step=None):
        print(json.dumps({"step": step, **{k: round(float(v), 4) for k, v in metrics.items()}}))


class EpochEnd(Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        trainer.logger.allocated.append(torch.cuda.memory_allocated())


def main():
    pl.seed_everything(3, verbose=False)
    train_loader = DataLoader(ChorusClips(CFG["train_clips"], seed=10), batch_size=CFG["batch"], shuffle=True)
    val_loader = DataLoader(ChorusClips(CFG["val_clips"], seed=20), batch_size=CFG["batch"])
    logger = StdoutLogger()
    trainer = pl.Trainer(max_epochs=CFG["epochs"], accelerator="auto", devices=1, logger=logger, log_every_n_steps=5,
                         callbacks=[SeparabilityCallback(), EpochEnd()], enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(ChorusNet(), train_loader, val_loader)
    print("TRUTH " + json.dumps({"allocated": logger.allocated, "rounds": CFG["epochs"]}), file=sys.stderr)


if __name__ == "__main__":
    main()
