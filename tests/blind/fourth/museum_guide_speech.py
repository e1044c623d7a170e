# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Speech synthesis for museum audio guides: every request names a narrator, whose reference recording is encoded
into per-layer keys and values that the decoder attends to."""

import json
import os
import sys
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.float16 if DEVICE.type == "cuda" else torch.float32


@dataclass
class GuideConfig:
    mels: int = 16 if SMALL else 80
    width: int = 32 if SMALL else 1024
    heads: int = 4 if SMALL else 16
    layers: int = 2 if SMALL else 8
    narrators: int = 80
    reference_frames: int = 64 if SMALL else 2048
    text_tokens: int = 12 if SMALL else 160
    voice_budget_bytes: int = 40 * 64 * 32 * 2 * 2 * 4 if SMALL else 40 * 2048 * 1024 * 2 * 8 * 2
    requests: int = 110
    workers: int = 1
    arrival_s: float = 0.0 if SMALL else 0.09
    seed: int = 23


@dataclass
class Voice:
    keys: list[torch.Tensor]
    values: list[torch.Tensor]

    @property
    def nbytes(self) -> int:
        return sum(t.nbytes for t in self.keys) + sum(t.nbytes for t in self.values)


class VoiceShelf:
    """Voices by narrator; the ones that were not asked for the longest make room for new ones."""

    def __init__(self, budget_bytes: int):
        self.budget_bytes = budget_bytes
        self.voices: OrderedDict[int, Voice] = OrderedDict()
        self.used_bytes = 0
        self.hits = 0
        self.misses = 0
        self.lock = threading.Lock()

    def get(self, narrator: int) -> Voice | None:
        with self.lock:
            voice = self.voices.get(narrator)
            if voice is None:
                self.misses += 1
                return None
            self.voices.move_to_end(narrator)
            self.hits += 1
            return voice

    def put(self, narrator: int, voice: Voice) -> None:
        with self.lock:
            self.voices[narrator] = voice
            self.used_bytes += voice.nbytes
            while self.used_bytes > self.budget_bytes:
                _, oldest = self.voices.popitem(last=False)
                self.used_bytes -= oldest.nbytes


class ReferenceEncoder(nn.Module):
    def __init__(self, config: GuideConfig):
        super().__init__()
        self.inp = nn.Linear(config.mels, config.width)
        self.keys = nn.ModuleList(nn.Linear(config.width, config.width) for _ in range(config.layers))
        self.values = nn.ModuleList(nn.Linear(config.width, config.width) for _ in range(config.layers))

    def forward(self, mel: torch.Tensor) -> Voice:
        frames = F.gelu(self.inp(mel))
        return Voice([layer(frames) for layer in self.keys], [layer(frames) for layer in self.values])


class SpeechDecoder(nn.Module):
    def __init__(self, config: GuideConfig):
        super().__init__()
        self.heads = config.heads
        self.tokens = nn.Embedding(256, config.width)
        self.queries = nn.ModuleList(nn.Linear(config.width, config.width) for _ in range(config.layers))
        self.mlps = nn.ModuleList(nn.Linear(config.width, config.width) for _ in range(config.layers))
        self.mel = nn.Linear(config.width, config.mels)

    def split(self, rows: torch.Tensor) -> torch.Tensor:
        return rows.unflatten(-1, (self.heads, -1)).transpose(0, 1)

    def forward(self, text: torch.Tensor, voice: Voice) -> torch.Tensor:
        hidden = self.tokens(text)
        for layer, (query, mlp) in enumerate(zip(self.queries, self.mlps, strict=True)):
            key, value = self.split(voice.keys[layer]), self.split(voice.values[layer])
            attended = F.scaled_dot_product_attention(self.split(query(hidden)), key, value)
            hidden = hidden + attended.transpose(0, 1).flatten(1)
            hidden = hidden + F.gelu(mlp(F.layer_norm(hidden, hidden.shape[-1:])))
        return self.mel(hidden)


class GuideServer:
    def __init__(self, config: GuideConfig):
        self.config = config
        self.encoder = ReferenceEncoder(config).to(DEVICE, DTYPE).eval()
        self.decoder = SpeechDecoder(config).to(DEVICE, DTYPE).eval()
        self.shelf = VoiceShelf(config.voice_budget_bytes)

    def reference(self, narrator: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(9000 + narrator)
        frames = self.config.reference_frames * (12 + narrator % 5) // 16
        return torch.randn(frames, self.config.mels, generator=generator).to(DEVICE, DTYPE)

    def voice_of(self, narrator: int) -> Voice:
        voice = self.shelf.get(narrator)
        if voice is None:
            voice = self.encoder(self.reference(narrator))
            self.shelf.put(narrator, voice)
        return voice

    @torch.inference_mode()
    def speak(self, narrator: int, text: torch.Tensor) -> torch.Tensor:
        mel = self.decoder(text.to(DEVICE), self.voice_of(narrator))
        return mel.float().cpu()


def visitors(config: GuideConfig) -> list[int]:
    generator = torch.Generator().manual_seed(config.seed)
    weights = torch.arange(1, config.narrators + 1, dtype=torch.float64).pow(-0.45)
    return torch.multinomial(weights, config.requests, replacement=True, generator=generator).tolist()


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def main() -> None:
    config = GuideConfig()
    torch.manual_seed(config.seed)
    server = GuideServer(config)
    generator = torch.Generator().manual_seed(1)
    truth: list[int] = []
    seconds = 0.0
    try:
        with ThreadPoolExecutor(max_workers=config.workers) as pool:
            for number, narrator in enumerate(visitors(config)):
                text = torch.randint(256, (config.text_tokens,), generator=generator)
                mel = pool.submit(server.speak, narrator, text).result()
                seconds += mel.shape[0] * 0.08
                truth.append(allocated())
                if number % 15 == 0:
                    shelf = server.shelf
                    print(f"request {number}: {seconds:.0f} s spoken, {shelf.hits} hits, {shelf.misses} misses")
                time.sleep(config.arrival_s)
    finally:
        print("TRUTH " + json.dumps({"allocated": truth, "rounds": len(truth)}), file=sys.stderr)


if __name__ == "__main__":
    main()
