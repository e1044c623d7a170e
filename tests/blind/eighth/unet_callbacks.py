# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Lightning segmentation run with a callback that collects bottleneck features for a 2-d projection."""
import logging
import os
import tempfile
import time
import warnings

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback, ModelCheckpoint, Timer
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
SIZE, BATCH, WIDTH = (32, 2, 8) if TINY else (192, 32, 64)
EPOCHS, TRAIN_STEPS, VAL_STEPS = (6, 10, 2) if TINY else (8, 10, 4)


class Cells(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 9973 + i)
        field = F.interpolate(torch.rand(1, 1, 8, 8, generator=g), size=SIZE, mode="bilinear")[0]
        image = field.repeat(3, 1, 1) + 0.1 * torch.rand(1, SIZE, SIZE, generator=g)
        mask = (field[0] > 0.6).long() + (field[0] > 0.85).long()
        return image, mask


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, w, classes):
        super().__init__()
        self.d1, self.d2, self.d3, self.mid = block(3, w), block(w, 2 * w), block(2 * w, 4 * w), block(4 * w, 256)
        self.u3, self.u2, self.u1 = block(256 + 4 * w, 4 * w), block(6 * w, 2 * w), block(3 * w, w)
        self.head = nn.Conv2d(w, classes, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        m = self.mid(F.max_pool2d(c, 2))
        y = self.u3(torch.cat([F.interpolate(m, scale_factor=2), c], 1))
        y = self.u2(torch.cat([F.interpolate(y, scale_factor=2), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, scale_factor=2), a], 1))
        return self.head(y), m


class LitSegmenter(L.LightningModule):
    def __init__(self, width=WIDTH, classes=3, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = UNet(width, classes)
        self.validation_step_outputs = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits, _ = self.net(x)
        loss = F.cross_entropy(logits, y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits, bottleneck = self.net(x)
        pred = logits.argmax(1)
        inter = torch.stack([((pred == c) & (y == c)).sum() for c in range(3)])
        union = torch.stack([((pred == c) | (y == c)).sum() for c in range(3)])
        self.validation_step_outputs.append((inter, union))
        return {"features": F.adaptive_avg_pool2d(bottleneck, 8)}

    def on_validation_epoch_end(self):
        inter = torch.stack([o[0] for o in self.validation_step_outputs]).sum(0)
        union = torch.stack([o[1] for o in self.validation_step_outputs]).sum(0)
        self.log("val_iou", (inter / union.clamp(min=1)).mean())
        self.validation_step_outputs.clear()

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return [opt], [torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)]


class ProjectionCallback(Callback):
    """2-d PCA of the bottleneck features after every validation."""

    def __init__(self, max_points=512):
        self.max_points = max_points
        self.features = []
        self.coords = None

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        self.features.append(outputs["features"].float())

    def on_validation_epoch_end(self, trainer, pl_module):
        feats = torch.cat(self.features[-VAL_STEPS:]).flatten(1)[-self.max_points:]
        _, _, v = torch.pca_lowrank(feats, q=2)
        self.coords = (feats @ v).cpu()
        spread = self.coords.std(0).tolist()
        iou = trainer.callback_metrics.get("val_iou", torch.tensor(float("nan")))
        print(f"epoch {trainer.current_epoch} val_iou {float(iou):.4f} spread {spread[0]:.3f}/{spread[1]:.3f}",
              flush=True)


def main():
    L.seed_everything(12, verbose=False)
    train = DataLoader(Cells(TRAIN_STEPS * BATCH, 1), BATCH, shuffle=True, num_workers=0)
    val = DataLoader(Cells(VAL_STEPS * BATCH, 2), BATCH, num_workers=0)
    start = time.time()
    with tempfile.TemporaryDirectory() as tmp:
        trainer = L.Trainer(
            accelerator="cpu" if TINY else "gpu", devices=1, max_epochs=EPOCHS, precision="32-true",
            callbacks=[ProjectionCallback(), ModelCheckpoint(tmp, monitor="val_iou", mode="max"),
                       Timer(duration={"seconds": 17}, verbose=False)],
            logger=False, default_root_dir=tmp, enable_progress_bar=False, enable_model_summary=False)
        trainer.fit(LitSegmenter(), train, val)
        print(f"{trainer.global_step} steps in {time.time() - start:.1f}s, best {trainer.checkpoint_callback.best_model_score}")


if __name__ == "__main__":
    main()
