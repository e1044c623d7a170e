# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Metric learning on satellite chips of glacier fronts (retrieval of the same front in other seasons).

Validation ranks every chip of the held-out gallery against all others, so it collects the embeddings and the
spatial descriptors of a whole epoch before it can score.
"""
import json
import os
import sys
import tempfile
from dataclasses import dataclass

import lightning as L
import torch
import torch.nn.functional as F
import torchvision
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchmetrics import MeanMetric
from torchmetrics.classification import MulticlassAccuracy

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class Campaign:
    fronts: int = 6 if SMALL else 60
    chips_train: int = 24 if SMALL else 768
    chips_gallery: int = 24 if SMALL else 1600
    size: int = 32 if SMALL else 96
    batch: int = 4 if SMALL else 48
    embed: int = 32 if SMALL else 256
    epochs: int = 3 if SMALL else 10
    margin: float = 0.2
    scale: float = 24.0
    lr: float = 3e-4


class Chips(Dataset):
    """A front is a polyline between ice and water; seasons change brightness and add clouds."""

    def __init__(self, campaign: Campaign, count, seed):
        gen = torch.Generator().manual_seed(seed)
        n = campaign.size
        shape = torch.randn(campaign.fronts, 1, 1, 7, generator=torch.Generator().manual_seed(77))
        line = F.interpolate(shape, size=(1, n), mode="bicubic")[:, 0] * 0.3
        self.label = torch.arange(count) % campaign.fronts
        y = torch.linspace(-1, 1, n)[None, :, None]
        ice = torch.sigmoid(12 * (y - line[self.label]))
        season = torch.rand(count, 4, 1, 1, generator=gen)
        clouds = F.interpolate(torch.rand(count, 1, 5, 5, generator=gen), size=(n, n), mode="bilinear")
        bands = torch.stack([0.3 + 0.6 * ice, 0.2 + 0.5 * ice, 0.4 + 0.4 * ice, 0.1 + 0.2 * ice], dim=1)
        self.image = (bands * (0.6 + 0.8 * season) + 0.3 * clouds).half()

    def __len__(self):
        return len(self.label)

    def __getitem__(self, index):
        return self.image[index].float(), self.label[index]


class FrontEncoder(L.LightningModule):
    def __init__(self, campaign: Campaign):
        super().__init__()
        self.campaign = campaign
        net = torchvision.models.resnet18(weights=None)
        net.conv1 = nn.Conv2d(4, 64, 7, stride=1, padding=3, bias=False)
        self.trunk = nn.Sequential(*list(net.children())[:-2])
        self.embed = nn.Linear(512, campaign.embed)
        self.centres = nn.Parameter(torch.randn(campaign.fronts, campaign.embed))
        self.train_accuracy = MulticlassAccuracy(campaign.fronts, average="micro")
        self.recall = MeanMetric()
        self.gallery, self.descriptors, self.labels = [], [], []

    def forward(self, image):
        maps = self.trunk(image)
        return F.normalize(self.embed(maps.mean((2, 3))), dim=1), maps

    def training_step(self, batch, batch_idx):
        image, label = batch
        embedding, _ = self(image)
        cosine = embedding @ F.normalize(self.centres, dim=1).T
        logits = self.campaign.scale * (cosine - self.campaign.margin * F.one_hot(label, self.campaign.fronts))
        loss = F.cross_entropy(logits, label)
        self.train_accuracy(cosine, label)
        self.log("loss", loss)
        self.log("accuracy", self.train_accuracy, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        image, label = batch
        embedding, maps = self(image)
        self.gallery.append(embedding)
        self.descriptors.append(F.normalize(maps.flatten(2), dim=1))
        self.labels.append(label)

    def on_validation_epoch_end(self):
        gallery, labels = torch.cat(self.gallery), torch.cat(self.labels)
        descriptors = torch.cat(self.descriptors)
        similarity = gallery @ gallery.T
        similarity.fill_diagonal_(-1.0)
        best = similarity.topk(4, dim=1).indices
        for query, candidates in enumerate(best):
            detail = torch.einsum("cp,kcp->k", descriptors[query], descriptors[candidates])
            chosen = candidates[detail.argmax()]
            self.recall.update((labels[chosen] == labels[query]).float())
        self.log("recall_at_1", self.recall)
        for collected in (self.gallery, self.descriptors, self.labels):
            collected.clear()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.campaign.lr)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.campaign.epochs)
        return {"optimizer": optimizer, "lr_scheduler": schedule}


class Watch(L.Callback):
    def __init__(self):
        self.allocated, self.batches = [], 0

    def note(self):
        self.batches += 1
        if torch.cuda.is_available() and self.batches % 2 == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def on_train_batch_end(self, *args, **kwargs):
        self.note()

    def on_validation_batch_end(self, *args, **kwargs):
        self.note()

    def on_train_epoch_end(self, trainer, module):
        shown = {k: round(v.item(), 3) for k, v in trainer.callback_metrics.items()}
        print(f"epoch {trainer.current_epoch}: {shown}", flush=True)


def main():
    L.seed_everything(13)
    campaign, watch = Campaign(), Watch()
    train = DataLoader(Chips(campaign, campaign.chips_train, 1), campaign.batch, shuffle=True, drop_last=True)
    gallery = DataLoader(Chips(campaign, campaign.chips_gallery, 2), campaign.batch)
    with tempfile.TemporaryDirectory(prefix="glacier_") as folder:
        trainer = L.Trainer(accelerator="auto", devices=1, max_epochs=campaign.epochs, logger=False, callbacks=[watch],
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                            num_sanity_val_steps=0, default_root_dir=folder)
        trainer.fit(FrontEncoder(campaign), train, gallery)
    print("TRUTH " + json.dumps({"allocated": watch.allocated, "rounds": watch.batches}), file=sys.stderr)


if __name__ == "__main__":
    main()
