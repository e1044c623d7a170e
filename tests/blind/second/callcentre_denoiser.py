# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Live noise suppression for a call centre: each floor of desks has a worker thread and a running state."""
import collections
import json
import os
import queue
import sys
import threading
import time

import torch
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

FLOORS = ("billing", "travel", "support")
LINES = 2 if SMALL else 24             # calls multiplexed per floor
FRAMES = 10 if SMALL else 100          # one second of 10 ms hops
BINS = 16 if SMALL else 256
WIDTH = 24 if SMALL else 384
DEPTH = 4
TAPS = 3
SECONDS = 8 if SMALL else 80
PACE = 0.01 if SMALL else 0.2


class CausalBlock(nn.Module):
    """Temporal convolution that continues from the last frames of the previous chunk."""

    def __init__(self, width, taps):
        super().__init__()
        self.past = taps - 1
        self.conv = nn.Conv1d(width, width, taps)

    def initial(self, lines):
        return torch.zeros(lines, self.conv.in_channels, self.past, device=self.conv.weight.device)

    def forward(self, h, past):
        joined = torch.cat([past, h], dim=2)
        return h + self.conv(joined).relu(), joined[:, :, -self.past:]


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(BINS, WIDTH)
        self.blocks = nn.ModuleList(CausalBlock(WIDTH, TAPS) for _ in range(DEPTH))
        self.mask = nn.Linear(WIDTH, BINS)

    def initial_state(self, lines):
        return [block.initial(lines) for block in self.blocks]

    def forward(self, spectrum, state):
        h = self.encode(spectrum).relu().transpose(1, 2)
        following = []
        for block, past in zip(self.blocks, state):
            h, past = block(h, past)
            following.append(past)
        gain = self.mask(h.transpose(1, 2).contiguous()).sigmoid()
        return spectrum * gain, following


class FloorWorker(threading.Thread):
    """Cleans the calls of one floor, second by second, in order of arrival."""

    def __init__(self, floor, model):
        super().__init__(name=f"floor-{floor}", daemon=True)
        self.floor = floor
        self.model = model
        self.inbox = queue.Queue(maxsize=4)
        self.outbox = collections.deque(maxlen=5)
        self.state = model.initial_state(LINES)
        self.loudness = 0.0
        self.error = None

    def run(self):
        while True:
            chunk = self.inbox.get()
            if chunk is None:
                return
            try:
                self.outbox.append(self.clean(chunk))
            except Exception as error:  # reported by the switchboard
                self.error = error
            finally:
                self.inbox.task_done()

    def clean(self, chunk):
        spectrum = chunk.to(DEVICE, non_blocking=True)
        cleaned, self.state = self.model(spectrum, self.state)
        level = cleaned.square().mean().item()
        self.loudness = 0.9 * self.loudness + 0.1 * level
        pcm = cleaned.clamp(-1, 1).mul(32767).round().to(torch.int16)
        return pcm.cpu().numpy()


class Switchboard:
    def __init__(self, model):
        self.workers = [FloorWorker(floor, model) for floor in FLOORS]
        self.generators = [torch.Generator().manual_seed(70 + i) for i in range(len(FLOORS))]
        for worker in self.workers:
            worker.start()

    def tick(self, second):
        began = time.monotonic()
        for i, worker in enumerate(self.workers):
            tone = torch.linspace(0, 3.1 + 0.1 * i, BINS).sin()
            noise = torch.randn(LINES, FRAMES, BINS, generator=self.generators[i])
            worker.inbox.put(0.3 * tone + 0.05 * noise)
        for worker in self.workers:
            worker.inbox.join()
            if worker.error:
                raise RuntimeError(f"floor {worker.floor} stopped at second {second}") from worker.error
        time.sleep(max(0.0, PACE - (time.monotonic() - began)))

    def meters(self):
        return " ".join(f"{w.floor}={w.loudness:.4f}" for w in self.workers)

    def close(self):
        for worker in self.workers:
            worker.inbox.put(None)
        for worker in self.workers:
            worker.join()


def main():
    torch.manual_seed(70)
    torch.set_grad_enabled(False)      # this process only serves
    model = Denoiser().to(DEVICE).eval()
    model(torch.zeros(LINES, FRAMES, BINS, device=DEVICE), model.initial_state(LINES))

    switchboard, allocated = Switchboard(model), []
    try:
        for second in range(SECONDS):
            switchboard.tick(second)
            allocated.append(torch.cuda.memory_allocated())
            if second % 10 == 0:
                print(f"{second:4d} s  {switchboard.meters()}", flush=True)
        switchboard.close()
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": SECONDS}), file=sys.stderr)
    return switchboard


if __name__ == "__main__":
    main()
