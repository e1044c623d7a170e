# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Kelp canopy segmentation in drone imagery with a torchvision FCN, Lightning and feature-drift monitoring."""
import json
import logging
import os
import sys
import time
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from torchmetrics.classification import BinaryJaccardIndex
from torchvision.models.segmentation import fcn_resnet50

SMALL = os.environ.get("SMALL") == "1"
SIDE = 64 if SMALL else 320
BATCH = 2 if SMALL else 8
EPOCHS = 5 if SMALL else 18
TRAIN_BATCHES = 2 if SMALL else 3
VAL_BATCHES = 2
PROFILE_CELLS = 8 if SMALL else 40
READ_SECONDS = 0.0 if SMALL else 0.12


class DroneTiles(Dataset):
    """Procedural water, glint and floating canopy."""

    def __init__(self, count, seed):
        self.count = count
        self.seed = seed

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        time.sleep(READ_SECONDS / BATCH)
        gen = torch.Generator().manual_seed(self.seed + i)
        coarse = torch.randn(1, 1, SIDE // 16, SIDE // 16, generator=gen)
        canopy = F.interpolate(coarse, size=(SIDE, SIDE), mode="bilinear")[0, 0] > 0.5
        image = 0.2 * torch.randn(3, SIDE, SIDE, generator=gen)
        image[1] += 0.7 * canopy
        return image, canopy.long()


class KelpModule(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = fcn_resnet50(weights=None, weights_backbone=None, num_classes=1)
        self.iou = BinaryJaccardIndex()

    def forward(self, image):
        return self.net(image)["out"].squeeze(1)

    def training_step(self, batch, batch_idx):
        image, canopy = batch
        loss = F.binary_cross_entropy_with_logits(self(image), canopy.float())
        self.log("train_loss", loss, on_step=False, on_epoch=True, batch_size=BATCH)
        return loss

    def validation_step(self, batch, batch_idx):
        image, canopy = batch
        self.iou.update(self(image).sigmoid(), canopy)

    def on_validation_epoch_end(self):
        self.log("val_iou", self.iou.compute())
        self.iou.reset()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)


class DriftMonitor(L.Callback):
    """Follows how the backbone's response to the validation tiles moves from epoch to epoch."""

    def __init__(self, stages=("layer2", "layer3", "layer4")):
        self.stages = stages
        self.previous = {}
        self.drift = []

    def on_validation_epoch_start(self, trainer, pl_module):
        profile = {}
        for stage in self.stages:
            module = getattr(pl_module.net.backbone, stage)
            module.register_forward_hook(self._recorder(profile, stage))
        self.current = profile

    @staticmethod
    def _recorder(profile, stage):
        def record(module, inputs, output):
            profile[stage] = F.interpolate(output.detach(), size=(PROFILE_CELLS, PROFILE_CELLS), mode="bilinear")
        return record

    def on_validation_epoch_end(self, trainer, pl_module):
        moved = {}
        for stage, now in self.current.items():
            before = self.previous.get(stage)
            if before is not None:
                moved[stage] = round(1 - F.cosine_similarity(now.flatten(), before.flatten(), dim=0).item(), 5)
        self.drift.append(moved)
        self.previous = self.current


class Journal(L.Callback):
    def __init__(self):
        self.allocated = []

    def on_train_epoch_end(self, trainer, pl_module):
        self.allocated.append(torch.cuda.memory_allocated())
        row = {k: round(float(v), 4) for k, v in trainer.callback_metrics.items()}
        print(json.dumps({"epoch": trainer.current_epoch, **row}))


def main():
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    L.seed_everything(17, verbose=False)
    monitor, journal = DriftMonitor(), Journal()
    trainer = L.Trainer(max_epochs=EPOCHS, accelerator="auto", devices=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
                        callbacks=[monitor, journal])
    train = DataLoader(DroneTiles(BATCH * TRAIN_BATCHES, 1000), batch_size=BATCH, shuffle=True)
    val = DataLoader(DroneTiles(BATCH * VAL_BATCHES, 9000), batch_size=BATCH)
    trainer.fit(KelpModule(), train, val)
    print(f"drift of the last epoch: {monitor.drift[-1]}")
    print("TRUTH " + json.dumps({"allocated": journal.allocated, "rounds": EPOCHS}), file=sys.stderr)


if __name__ == "__main__":
    main()
