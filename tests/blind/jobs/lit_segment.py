"""Binary segmentation with Lightning DDP and torchmetrics.

    python lit_segment.py
"""
import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback
from torch.utils.data import DataLoader, Dataset
from torchmetrics import MeanMetric
from torchmetrics.classification import BinaryAUROC, BinaryJaccardIndex

SIZE = 256
BATCH = 16
WIDTH = 48
TRAIN_ITEMS = 480
VAL_ITEMS = 192
EPOCHS = 16


class Blobs(Dataset):
    """A few ellipses on a noisy background, with their mask."""

    def __init__(self, n, seed):
        self.n, self.seed = n, seed
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
        self.xx, self.yy = xx, yy

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed + i)
        mask = torch.zeros(SIZE, SIZE, dtype=torch.bool)
        for cx, cy, rx, ry in torch.rand(3, 4, generator=g).tolist():
            mask |= ((self.xx - 2 * cx + 1) / (0.1 + 0.3 * rx)) ** 2 + ((self.yy - 2 * cy + 1) / (0.1 + 0.3 * ry)) ** 2 < 1
        image = mask.float()[None] * 0.6 + torch.randn(3, SIZE, SIZE, generator=g)
        return image, mask.long()


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.d1, self.d2, self.d3 = double_conv(3, w), double_conv(w, 2 * w), double_conv(2 * w, 4 * w)
        self.mid = double_conv(4 * w, 8 * w)
        self.u3, self.u2, self.u1 = double_conv(12 * w, 4 * w), double_conv(6 * w, 2 * w), double_conv(3 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        y = self.mid(F.max_pool2d(c, 2))
        for skip, block in ((c, self.u3), (b, self.u2), (a, self.u1)):
            y = block(torch.cat([F.interpolate(y, scale_factor=2.0), skip], 1))
        return self.out(y)[:, 0]


class Segmenter(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = UNet(WIDTH)
        self.train_loss = MeanMetric()
        self.val_iou = BinaryJaccardIndex()
        self.val_auroc = BinaryAUROC()

    def training_step(self, batch, batch_idx):
        image, mask = batch
        logits = self.net(image)
        loss = F.binary_cross_entropy_with_logits(logits, mask.float())
        self.train_loss(loss.detach())
        self.log("train_loss", self.train_loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        image, mask = batch
        probs = self.net(image).sigmoid().float()
        self.val_iou(probs, mask)
        self.log("val_iou", self.val_iou, on_step=False, on_epoch=True)
        self.val_auroc.update(probs, mask)

    def on_validation_epoch_end(self):
        self.log("val_auroc", self.val_auroc.compute())

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)}


class PrintProgress(Callback):
    def on_validation_end(self, trainer, module):
        if trainer.is_global_zero:
            m = {k: round(float(v), 4) for k, v in trainer.callback_metrics.items()}
            print(f"epoch {trainer.current_epoch} {m}", flush=True)


def main():
    L.seed_everything(5)
    cuda = torch.cuda.is_available()
    trainer = L.Trainer(
        accelerator="gpu" if cuda else "cpu",
        devices=2,
        strategy="ddp",
        precision="bf16-mixed" if cuda else "32-true",
        max_epochs=EPOCHS,
        num_sanity_val_steps=0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[PrintProgress()],
    )
    train = DataLoader(Blobs(TRAIN_ITEMS, 0), BATCH, shuffle=True, num_workers=6, persistent_workers=True, drop_last=True)
    val = DataLoader(Blobs(VAL_ITEMS, 1_000_000), BATCH, num_workers=3, persistent_workers=True)
    trainer.fit(Segmenter(), train, val)


if __name__ == "__main__":
    main()
