# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fine-tune a small speech model on word lists from a field-linguistics corpus (synthetic stand-in).

Recordings of a handful of speakers, so vocal tract length perturbation matters: every batch is analysed
with a mel filter bank whose frequency axis is warped by a random factor.
"""
import functools
import json
import logging
import math
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("kalam")


@dataclass
class Config:
    sample_rate: int = 16000
    seconds: float = 1.0 if SMALL else 4.0
    n_fft: int = 1024
    hop: int = 320
    n_mels: int = 80
    batch: int = 2 if SMALL else 20
    phones: int = 96
    label_len: int = 12 if SMALL else 40
    width: int = 64 if SMALL else 512
    layers: int = 1 if SMALL else 6
    steps: int = 12 if SMALL else 200
    eval_every: int = 6 if SMALL else 40
    warp: float = 0.12
    lr: float = 2e-4


def hz_to_mel(hz):
    return 2595.0 * math.log10(1.0 + hz / 700.0)


def mel_to_hz(mel):
    return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)


@functools.lru_cache(maxsize=None)
def mel_bank(n_mels, n_fft, sample_rate, alpha, device):
    """Triangular filters; alpha stretches the frequency axis (VTLP, Jaitly & Hinton 2013)."""
    top = sample_rate / 2
    edges = torch.tensor([mel_to_hz(m * hz_to_mel(top) / (n_mels + 1)) for m in range(n_mels + 2)])
    knee = 4800.0 * min(alpha, 1.0) / alpha
    tail = top - (top - 4800.0 * min(alpha, 1.0)) / (top - knee) * (top - edges)
    edges = torch.where(edges <= knee, edges * alpha, tail)
    freqs = torch.linspace(0.0, top, n_fft // 2 + 1)
    lower, centre, upper = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising = (freqs[None] - lower) / (centre - lower).clamp(min=1e-3)
    falling = (upper - freqs[None]) / (upper - centre).clamp(min=1e-3)
    filters = torch.minimum(rising, falling).clamp(min=0.0)
    return filters.to(device, copy=True)


@functools.lru_cache(maxsize=None)
def hann(n_fft, device):
    return torch.hann_window(n_fft, device=device)


class FrontEnd:
    def __init__(self, cfg: Config, seed: int):
        self.cfg = cfg
        self.rng = random.Random(seed)

    def __call__(self, wave, train: bool):
        cfg = self.cfg
        alpha = self.rng.uniform(1.0 - cfg.warp, 1.0 + cfg.warp) if train else 1.0
        spec = torch.stft(wave, cfg.n_fft, cfg.hop, window=hann(cfg.n_fft, wave.device), return_complex=True)
        power = spec.abs().square()[..., :-1]
        bank = mel_bank(cfg.n_mels, cfg.n_fft, cfg.sample_rate, alpha, wave.device)
        logmel = torch.matmul(bank, power).clamp(min=1e-8).log10()
        if train:
            start = self.rng.randrange(cfg.n_mels - 8)
            logmel[:, start:start + 8] = logmel.mean()
        return (logmel - logmel.mean((1, 2), keepdim=True)) / (logmel.std((1, 2), keepdim=True) + 1e-5)


class WordLists:
    """Formant-like sweeps for phones strung together, with speaker-dependent pitch."""

    def __init__(self, cfg: Config, seed: int):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(seed)
        self.table = 200.0 + 3200.0 * torch.rand(cfg.phones, 2, generator=self.gen)

    def batch(self):
        cfg = self.cfg
        phones = torch.randint(3, cfg.phones, (cfg.batch, cfg.label_len), generator=self.gen)
        total = int(cfg.seconds * cfg.sample_rate)
        per = total // cfg.label_len
        tracks = self.table[phones].to(DEVICE).repeat_interleave(per, dim=1)
        phase = torch.cumsum(tracks * (2 * math.pi / cfg.sample_rate), dim=1)
        wave = torch.sin(phase).sum(-1)
        wave = torch.nn.functional.pad(wave, (0, total - wave.shape[1]))
        return wave + 0.05 * torch.randn_like(wave), phones.to(DEVICE)


def build_model(cfg: Config):
    frames = int(cfg.seconds * cfg.sample_rate) // cfg.hop
    config = WhisperConfig(
        vocab_size=cfg.phones, num_mel_bins=cfg.n_mels, d_model=cfg.width, encoder_layers=cfg.layers,
        decoder_layers=max(1, cfg.layers // 2), encoder_attention_heads=8, decoder_attention_heads=8,
        encoder_ffn_dim=4 * cfg.width, decoder_ffn_dim=4 * cfg.width, max_source_positions=frames // 2,
        max_target_positions=cfg.label_len + 8, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, begin_suppress_tokens=None, suppress_tokens=None)
    return WhisperForConditionalGeneration(config).to(DEVICE)


class Trainer:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.model = build_model(cfg)
        self.front = FrontEnd(cfg, seed=5)
        self.train_data, self.dev_data = WordLists(cfg, 1), WordLists(cfg, 2)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, cfg.lr, total_steps=cfg.steps)
        self.history, self.memory = [], []

    def step(self):
        self.model.train()
        wave, phones = self.train_data.batch()
        features = self.front(wave, train=True)
        loss = self.model(input_features=features, labels=phones).loss
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.history.append((loss.item(), norm.item()))

    @torch.no_grad()
    def dev_accuracy(self, batches=3):
        self.model.eval()
        hits = total = 0
        for _ in range(batches):
            wave, phones = self.dev_data.batch()
            logits = self.model(input_features=self.front(wave, train=False), labels=phones).logits
            hits += (logits.argmax(-1) == phones).sum().item()
            total += phones.numel()
        return hits / total

    def close_step(self, number):
        if DEVICE.type == "cuda":
            self.memory.append(torch.cuda.memory_allocated())
        if number % self.cfg.eval_every == 0:
            loss, norm = self.history[-1]
            log.info("step %d loss %.3f grad %.2f dev acc %.3f", number, loss, norm, self.dev_accuracy())


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    torch.manual_seed(11)
    cfg = Config()
    trainer = Trainer(cfg)
    log.info("%.1f M parameters on %s", sum(p.numel() for p in trainer.model.parameters()) / 1e6, DEVICE)
    begin = time.time()
    for number in range(1, cfg.steps + 1):
        trainer.step()
        trainer.close_step(number)
    log.info("done in %.1f s", time.time() - begin)
    print("TRUTH " + json.dumps({"allocated": trainer.memory, "rounds": cfg.steps}), file=sys.stderr)


if __name__ == "__main__":
    main()
