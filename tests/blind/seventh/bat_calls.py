# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Species classifier for ultrasonic bat calls (audio spectrogram transformer) on a preemptible queue.

The job is cut into slots. A slot starts from the newest checkpoint in its folder, trains, and leaves another
checkpoint behind. Here a short slot is followed by a long one.
"""
import json
import logging
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import ASTConfig, ASTForAudioClassification

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("bats")


@dataclass
class Settings:
    species: int = 27
    frames: int = 64 if SMALL else 256
    mels: int = 32 if SMALL else 128
    hidden: int = 64 if SMALL else 640
    layers: int = 2 if SMALL else 10
    heads: int = 4 if SMALL else 10
    batch: int = 4 if SMALL else 8
    lr: float = 1e-4
    decay: float = 0.999
    slots: tuple = (3, 9) if SMALL else (12, 280)
    report: int = 3 if SMALL else 40


class Calls:
    """Down-swept chirps: end frequency, duration and harmonics depend on the species."""

    def __init__(self, cfg: Settings, seed: int):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(seed)
        fixed = torch.Generator(device=DEVICE).manual_seed(0)
        self.traits = torch.rand(cfg.species, 3, device=DEVICE, generator=fixed)

    def draw(self):
        cfg = self.cfg
        label = torch.randint(cfg.species, (cfg.batch,), device=DEVICE, generator=self.gen)
        end, length, curve = self.traits[label].unsqueeze(-1).unbind(1)
        t = torch.arange(cfg.frames, device=DEVICE) / cfg.frames
        jitter = 0.1 * torch.rand(cfg.batch, 1, device=DEVICE, generator=self.gen)
        phase = ((t[None] - jitter) / (0.1 + 0.4 * length)).clamp(0, 1)
        track = end * 0.5 + 0.45 * (1 - phase) ** (0.5 + 3 * curve)
        bins = torch.linspace(0, 1, cfg.mels, device=DEVICE)
        ridge = torch.exp(-((bins - track[..., None]) / 0.03) ** 2) * (phase < 1)[..., None]
        noise = torch.randn(cfg.batch, cfg.frames, cfg.mels, device=DEVICE, generator=self.gen)
        return 2.0 * ridge + 0.3 * noise, label


def build(cfg: Settings):
    config = ASTConfig(hidden_size=cfg.hidden, num_hidden_layers=cfg.layers, num_attention_heads=cfg.heads,
                       intermediate_size=4 * cfg.hidden, max_length=cfg.frames, num_mel_bins=cfg.mels,
                       num_labels=cfg.species, hidden_dropout_prob=0.1)
    return ASTForAudioClassification(config).to(DEVICE)


class Checkpoints:
    def __init__(self, folder: Path):
        self.folder = folder

    def newest(self):
        files = sorted(self.folder.glob("slot_*.pt"))
        return torch.load(files[-1], map_location=DEVICE, weights_only=True) if files else None

    def write(self, slot, step, model, average, optimizer, cfg):
        for old in self.folder.glob("slot_*.pt"):
            old.unlink()
        torch.save({"model": model.state_dict(), "average": average.state_dict(), "optimizer": optimizer.state_dict(),
                    "step": step, "cfg": {k: v for k, v in asdict(cfg).items() if k != "slots"}},
                   self.folder / f"slot_{slot:03d}.pt")


class Slot:
    def __init__(self, number: int, cfg: Settings, store: Checkpoints):
        self.number, self.cfg, self.store = number, cfg, store
        self.model = build(cfg)
        self.average = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(cfg.decay), use_buffers=True)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, fused=DEVICE.type == "cuda")
        self.step = 0
        self.origin = store.newest()
        if self.origin is not None:
            self.restore()

    def restore(self):
        self.model.load_state_dict(self.origin["model"])
        self.average.load_state_dict(self.origin["average"])
        self.optimizer.load_state_dict(self.origin["optimizer"])
        self.step = self.origin["step"]
        log.info("slot %d goes on at step %d", self.number, self.step)

    def update(self, spectrogram, label):
        self.model.train()
        logits = self.model(input_values=spectrogram).logits
        loss = F.cross_entropy(logits, label, label_smoothing=0.05)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.average.update_parameters(self.model)
        self.step += 1
        return loss.item()

    @torch.no_grad()
    def accuracy(self, data: Calls, batches=4):
        self.average.eval()
        hits = 0.0
        for _ in range(batches):
            spectrogram, label = data.draw()
            hits += (self.average(input_values=spectrogram).logits.argmax(-1) == label).float().mean().item()
        return hits / batches

    def run(self, steps, memory):
        train, held_out = Calls(self.cfg, 10 + self.number), Calls(self.cfg, 99)
        first = self.step
        for _ in range(steps):
            loss = self.update(*train.draw())
            memory.take()
            if self.step % self.cfg.report == 0:
                done = self.step - (self.origin["step"] if self.origin else first)
                log.info("step %d (%d in this slot) loss %.3f, accuracy of the average %.3f", self.step, done, loss,
                         self.accuracy(held_out))
        self.store.write(self.number, self.step, self.model, self.average, self.optimizer, self.cfg)


class Memory:
    def __init__(self):
        self.allocated, self.rounds = [], 0

    def take(self):
        self.rounds += 1
        if DEVICE.type == "cuda" and self.rounds % 2 == 0:
            self.allocated.append(torch.cuda.memory_allocated())


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    torch.manual_seed(8)
    cfg, memory = Settings(), Memory()
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="bats_") as folder:
        store = Checkpoints(Path(folder))
        for number, steps in enumerate(cfg.slots, start=1):
            Slot(number, cfg, store).run(steps, memory)
    log.info("all slots done in %.0f s", time.time() - begin)
    print("TRUTH " + json.dumps({"allocated": memory.allocated, "rounds": memory.rounds}), file=sys.stderr)


if __name__ == "__main__":
    main()
