# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Fits a Lightning module with validation, torchmetrics and mixed precision."""

import lightning
import torch
import torchmetrics
from digest import digest
from torch import nn


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 4))
        self.accuracy = torchmetrics.Accuracy("multiclass", num_classes=4)
        self.losses = []

    def training_step(self, batch, _index):
        loss = nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch, _index):
        self.accuracy(self.layers(batch[0]), batch[1])
        self.log("accuracy", self.accuracy)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


lightning.seed_everything(11, verbose=False)
generator = torch.Generator().manual_seed(3)
data = torch.utils.data.TensorDataset(
    torch.randn(256, 32, generator=generator), torch.randint(0, 4, (256,), generator=generator)
)
loader = torch.utils.data.DataLoader(data, batch_size=16)
model = Classifier()
trainer = lightning.Trainer(
    max_epochs=3, accelerator="gpu", devices=1, precision="bf16-mixed", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
)  # fmt: skip
trainer.fit(model, loader, loader)
print(digest(model, model.losses, float(trainer.callback_metrics["accuracy"])))
