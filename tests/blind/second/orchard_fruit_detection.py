# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Fruit counting in orchard rows: Faster R-CNN (torchvision), trained with a rising image size."""
import json
import os
import sys
import time
from collections import deque

import torch
import torch.nn.functional as F
from torchvision.models.detection import fasterrcnn_resnet50_fpn
from torchvision.ops import box_iou

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
CLASSES = ["background", "apple", "pear", "leaf_cluster"]

SIZES = [64, 96] if SMALL else [320, 400, 480, 560, 640]
EPOCHS = 4 if SMALL else 12
STEPS = 2 if SMALL else 8
BATCH = 1 if SMALL else 4
VAL_ROWS = 2 if SMALL else 12
PLATES = 2 if SMALL else 16
CAMERA_WAIT = 0.001 if SMALL else 0.05


def sizes_for(epoch):
    """Multi-scale training; every epoch admits one larger size, until all are in use."""
    return SIZES[:epoch + 1]


class CanopyPlates:
    """Foliage backgrounds, rendered once per image size and kept on the device for compositing."""

    def __init__(self):
        self.plates = {}

    def get(self, size):
        if size not in self.plates:
            gen = torch.Generator().manual_seed(size)
            grain = torch.rand(PLATES, 3, size // 8, size // 6, generator=gen)
            tint = torch.tensor([0.25, 0.55, 0.2]).view(1, 3, 1, 1)
            plates = F.interpolate(grain.to(DEVICE), size=(size, size * 4 // 3), mode="bilinear")
            self.plates[size] = 0.6 * plates + 0.4 * tint.to(DEVICE)
        return self.plates[size]


class OrchardRows:
    def __init__(self, plates, seed):
        self.plates = plates
        self.gen = torch.Generator().manual_seed(seed)

    def compose(self, size):
        """One image with 6 to 40 fruits, and its boxes."""
        time.sleep(CAMERA_WAIT / BATCH)
        bank = self.plates.get(size)
        image = bank[torch.randint(0, PLATES, (1,), generator=self.gen).item()].clone()
        height, width = image.shape[-2:]
        count = torch.randint(6, 41, (1,), generator=self.gen).item()
        side = (size * (0.05 + 0.08 * torch.rand(count, generator=self.gen))).clamp_min(6).int()
        left = (torch.rand(count, generator=self.gen) * (width - side)).int()
        top = (torch.rand(count, generator=self.gen) * (height - side)).int()
        label = torch.randint(1, len(CLASSES), (count,), generator=self.gen)
        for x, y, s, c in zip(left.tolist(), top.tolist(), side.tolist(), label.tolist()):
            image[c - 1, y:y + s, x:x + s] = 0.95
        boxes = torch.stack([left, top, left + side, top + side], dim=1).float()
        return image, {"boxes": boxes.to(DEVICE), "labels": label.to(DEVICE)}

    def batches(self, sizes, count, batch):
        for i in range(count):
            size = sizes[-1 - i % len(sizes)]
            images, targets = zip(*(self.compose(size) for _ in range(batch)))
            yield size, list(images), list(targets)


class CountingScore:
    """Recall at IoU 0.5 and counting error over the validation rows of one epoch."""

    def __init__(self):
        self.rows = []

    def add(self, outputs, targets):
        self.rows.extend(zip(outputs, targets))

    def close(self, threshold=0.3):
        found, wanted, miscount = 0, 0, 0
        for output, target in self.rows:
            boxes = output["boxes"][output["scores"] > threshold]
            wanted += len(target["boxes"])
            miscount += abs(len(boxes) - len(target["boxes"]))
            if len(boxes):
                found += int((box_iou(target["boxes"], boxes).amax(1) > 0.5).sum())
        result = {"recall": round(found / wanted, 4), "miscount": round(miscount / len(self.rows), 3)}
        self.rows = []
        return result


def build_detector():
    model = fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=len(CLASSES),
                                    box_detections_per_img=60, rpn_pre_nms_top_n_train=1000)
    return model.to(DEVICE)


def set_size(model, size):
    model.transform.min_size = (size,)
    model.transform.max_size = 2 * size


def main():
    torch.manual_seed(2)
    model = build_detector()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-4)
    plates = CanopyPlates()
    train_rows, val_rows = OrchardRows(plates, seed=1), OrchardRows(plates, seed=2)
    score, recent, allocated = CountingScore(), deque(maxlen=3 * STEPS), []

    for epoch in range(EPOCHS):
        sizes = sizes_for(epoch)
        model.train()
        for size, images, targets in train_rows.batches(sizes, STEPS, BATCH):
            set_size(model, size)
            losses = model(images, targets)
            loss = sum(losses.values())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            recent.append({k: v.detach() for k, v in losses.items()})

        model.eval()
        with torch.no_grad():
            for size, images, targets in val_rows.batches(sizes, VAL_ROWS // 2, 2):
                set_size(model, size)
                score.add(model(images), targets)
        means = {k: round(torch.stack([r[k] for r in recent]).mean().item(), 4) for k in recent[0]}
        print(json.dumps({"epoch": epoch, "sizes": sizes, **means, **score.close()}))
        allocated.append(torch.cuda.memory_allocated())

    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": EPOCHS}), file=sys.stderr)


if __name__ == "__main__":
    main()
