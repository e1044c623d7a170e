# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Differentiable synthesiser for gamelan metallophones (harmonic bank + filtered noise + learned hall).

Each excerpt is visited several times in a row ("bursts"): the decoder is updated on the dry signal first and
on the signal in the hall afterwards. The multi-resolution spectra of the excerpt are computed once per burst.
"""
import json
import logging
import math
import os
import sys
import time
import weakref
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
logger = logging.getLogger("gamelan")


@dataclass
class Options:
    rate: int = 16000
    samples: int = 4000 if SMALL else 32000
    hop: int = 80
    batch: int = 2 if SMALL else 6
    partials: int = 12 if SMALL else 48
    hidden: int = 32 if SMALL else 256
    bursts: int = 10 if SMALL else 360
    visits: int = 2
    sizes: tuple = (256, 128) if SMALL else (2048, 512, 128)
    lr: float = 3e-4
    log_every: int = 5 if SMALL else 40


@dataclass(eq=False)
class Excerpt:
    """A stack of equally long recordings with their frame-wise controls."""
    audio: torch.Tensor
    pitch: torch.Tensor
    loudness: torch.Tensor


class Recordings:
    def __init__(self, opt: Options, seed=7):
        self.opt = opt
        self.gen = torch.Generator(device=DEVICE).manual_seed(seed)
        self.stretch = torch.tensor([1.0, 2.76, 5.40, 8.93], device=DEVICE)

    def draw(self) -> Excerpt:
        opt = self.opt
        frames = opt.samples // opt.hop
        base = 200.0 + 500.0 * torch.rand(opt.batch, 1, device=DEVICE, generator=self.gen)
        t = torch.arange(opt.samples, device=DEVICE) / opt.rate
        beat = 1.0 + 0.004 * torch.sin(2 * math.pi * 6.0 * t)
        decay = torch.exp(-t[None] * (2.0 + base / 200.0))
        phase = 2 * math.pi * base * torch.cumsum(beat, 0)[None] / opt.rate
        audio = sum(torch.sin(phase * r) * decay ** (0.5 + r / 4) / (1.0 + k) for k, r in enumerate(self.stretch))
        audio = audio + 0.01 * torch.randn(audio.shape, device=DEVICE, generator=self.gen)
        power = audio.view(opt.batch, frames, opt.hop).square().mean(-1)
        return Excerpt(audio, base.expand(-1, frames).contiguous(), (power + 1e-7).log10())


def magnitude(audio, size):
    window = torch.hann_window(size, device=audio.device)
    return torch.stft(audio, size, size // 4, window=window, return_complex=True).abs()


class Spectra:
    """What the loss needs to know about the target side."""

    def __init__(self, excerpt: Excerpt, sizes):
        self.excerpt = excerpt
        self.level = excerpt.loudness.mean().item()
        self.by_size = {size: magnitude(excerpt.audio, size) for size in sizes}


class SpectralLoss(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.known = weakref.WeakKeyDictionary()

    def spectra(self, excerpt: Excerpt) -> Spectra:
        found = self.known.get(excerpt)
        if found is None:
            found = self.known[excerpt] = Spectra(excerpt, self.sizes)
        return found

    def forward(self, audio, excerpt):
        target = self.spectra(excerpt)
        loss = 0.0
        for size in self.sizes:
            got, want = magnitude(audio, size), target.by_size[size]
            loss = loss + F.l1_loss(got, want) + F.l1_loss((got + 1e-5).log(), (want + 1e-5).log())
        return loss * (0.5 if target.level < -4.0 else 1.0)


class Decoder(nn.Module):
    def __init__(self, opt: Options):
        super().__init__()
        self.opt = opt
        self.embed = nn.Sequential(nn.Linear(2, opt.hidden), nn.LayerNorm(opt.hidden), nn.LeakyReLU())
        self.gru = nn.GRU(opt.hidden, opt.hidden, batch_first=True)
        self.out = nn.Linear(opt.hidden, 1 + opt.partials + 33)
        self.ratios = nn.Parameter(torch.linspace(1.0, 12.0, opt.partials))
        self.hall = nn.Parameter(1e-3 * torch.randn(opt.rate // 4))

    def harmonic(self, pitch, amps):
        up = lambda x: F.interpolate(x.transpose(1, 2), scale_factor=float(self.opt.hop), mode="linear")
        phase = torch.cumsum(2 * math.pi * up(pitch[..., None])[:, 0] / self.opt.rate, dim=1)
        voices = torch.sin(phase[:, None] * self.ratios[None, :, None]) * up(amps)
        return voices.sum(1)

    def noise(self, bands):
        impulse = torch.fft.irfft(bands.to(torch.complex64), dim=-1)
        excitation = torch.rand(*bands.shape[:2], self.opt.hop, device=bands.device) * 2 - 1
        size = self.opt.hop + impulse.shape[-1]
        shaped = torch.fft.irfft(torch.fft.rfft(excitation, size) * torch.fft.rfft(impulse, size), size)
        return shaped[..., :self.opt.hop].flatten(1)

    def forward(self, excerpt, hall: bool):
        controls = torch.stack([excerpt.pitch.log2() - 8.0, excerpt.loudness], dim=-1)
        hidden, _ = self.gru(self.embed(controls))
        raw = 2.0 * torch.sigmoid(self.out(hidden)) ** 2.3 + 1e-7
        gain, amps, bands = raw.split([1, self.opt.partials, 33], dim=-1)
        audio = self.harmonic(excerpt.pitch, gain * amps / amps.sum(-1, keepdim=True)) + self.noise(bands * 0.05)
        if hall:
            size = audio.shape[1] + self.hall.numel()
            wet = torch.fft.irfft(torch.fft.rfft(audio, size) * torch.fft.rfft(self.hall, size), size)
            audio = audio + wet[:, :audio.shape[1]]
        return audio


class Session:
    def __init__(self, opt: Options):
        self.opt = opt
        self.decoder = Decoder(opt).to(DEVICE)
        self.criterion = SpectralLoss(opt.sizes)
        self.optimizer = torch.optim.Adam(self.decoder.parameters(), lr=opt.lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.998)
        self.allocated = []

    def burst(self, excerpt):
        losses = []
        for visit in range(self.opt.visits):
            loss = self.criterion(self.decoder(excerpt, hall=visit > 0), excerpt)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.decoder.parameters(), 3.0)
            self.optimizer.step()
            losses.append(loss.item())
        self.scheduler.step()
        return losses

    def sample(self, number):
        if DEVICE.type == "cuda" and number % max(1, self.opt.bursts // 180) == 0:
            self.allocated.append(torch.cuda.memory_allocated())


def main():
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    torch.manual_seed(1)
    opt = Options()
    recordings, session = Recordings(opt), Session(opt)
    start = time.time()
    for number in range(1, opt.bursts + 1):
        losses = session.burst(recordings.draw())
        session.sample(number)
        if number % opt.log_every == 0:
            logger.info("burst %d: dry %.3f hall %.3f (%.1f s)", number, *losses, time.time() - start)
    print("TRUTH " + json.dumps({"allocated": session.allocated, "rounds": opt.bursts}), file=sys.stderr)


if __name__ == "__main__":
    main()
