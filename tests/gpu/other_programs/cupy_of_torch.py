# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""PyTorch's results stay as arrays of CuPy that share their memory."""

import time

import cupy
import torch


class Tracker:
    def __init__(self):
        self.maps = {}

    def push(self, index, heat):
        current = cupy.from_dlpack(heat)
        self.maps[index] = current
        return float(cupy.abs(current - self.maps.get(index - 1, current)).sum())


@torch.inference_mode()
def heat_of(model, frame):
    return model(frame[None])[0].sigmoid()


def main():
    model = torch.nn.Conv2d(3, 4, 5, padding=2).cuda().eval()
    tracker, total = Tracker(), 0.0
    for index in range(240):
        total += tracker.push(index, heat_of(model, torch.rand(3, 512, 512, device="cuda")))
        torch.cuda.synchronize()
        time.sleep(0.05)
    print(total)


main()
