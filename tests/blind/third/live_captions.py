# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Live captions for a call centre: streaming recogniser, one session thread a caller, one engine for the GPU."""
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class EngineConfig:
    mels: int = 8 if SMALL else 80
    dim: int = 16 if SMALL else 1024
    heads: int = 2 if SMALL else 16
    layers: int = 2 if SMALL else 6
    left_context: int = 16 if SMALL else 2048
    chunk: int = 4 if SMALL else 32
    vocab: int = 20 if SMALL else 2000
    waves: int = 4 if SMALL else 24
    callers: int = 3
    chunks_per_call: int = 3 if SMALL else 4
    pacing: float = 0.0 if SMALL else 0.12


class StreamingLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        self.proj = nn.Linear(cfg.dim, cfg.dim)
        self.ff = nn.Sequential(nn.LayerNorm(cfg.dim), nn.Linear(cfg.dim, 4 * cfg.dim), nn.SiLU(),
                                nn.Linear(4 * cfg.dim, cfg.dim))
        self.norm = nn.LayerNorm(cfg.dim)

    def forward(self, x, keys, values):
        frames, dim = x.shape
        q, k, v = self.qkv(self.norm(x)).view(frames, 3, self.heads, dim // self.heads).permute(1, 2, 0, 3)
        for store, fresh in ((keys, k), (values, v)):
            store.copy_(torch.cat([store[:, frames:], fresh], dim=1))
        mixed = F.scaled_dot_product_attention(q[None], keys[None], values[None])[0]
        x = x + self.proj(mixed.transpose(0, 1).reshape(frames, dim))
        return x + self.ff(x)


class Recogniser(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.front = nn.Linear(cfg.mels, cfg.dim)
        self.layers = nn.ModuleList([StreamingLayer(cfg) for _ in range(cfg.layers)])
        self.out = nn.Linear(cfg.dim, cfg.vocab)

    def fresh_context(self):
        cfg = self.cfg
        return torch.zeros(cfg.layers, 2, cfg.heads, cfg.left_context, cfg.dim // cfg.heads, device=DEVICE)

    def forward(self, mel, context):
        x = self.front(mel)
        for layer, (keys, values) in zip(self.layers, context):
            x = layer(x, keys, values)
        return self.out(x).argmax(-1)


@dataclass
class Work:
    mel: torch.Tensor
    context: torch.Tensor
    answer: queue.Queue = field(default_factory=queue.Queue)


class Engine(threading.Thread):
    """The only thread that runs the network."""

    def __init__(self, model):
        super().__init__(name="engine", daemon=True)
        self.model = model
        self.inbox = queue.Queue(maxsize=64)

    def run(self):
        while self.serve_one():
            pass

    def serve_one(self):
        work = self.inbox.get()
        if work is None:
            return False
        with torch.inference_mode():
            tokens = self.model(work.mel.to(DEVICE), work.context)
        work.answer.put(tokens.tolist())
        return True


class Session(threading.Thread):
    def __init__(self, caller, engine):
        super().__init__(name=f"caller-{caller}", daemon=True)
        self.caller = caller
        self.engine = engine
        self.audio = queue.Queue()
        self.captions = []

    def run(self):
        context = self.engine.model.fresh_context()
        while True:
            mel = self.audio.get()
            if mel is None:
                break
            work = Work(mel, context)
            self.engine.inbox.put(work)
            tokens = work.answer.get()
            self.captions.append(len(set(tokens)))


class CaptionServer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.engine = Engine(Recogniser(cfg).to(DEVICE).eval())
        self.engine.start()
        self.sessions = {}
        self.finished = 0

    def connect(self, caller):
        self.sessions[caller] = Session(caller, self.engine)
        self.sessions[caller].start()

    def feed(self, caller, mel):
        self.sessions[caller].audio.put(mel)

    def goodbye(self, caller):
        session = self.sessions.pop(caller)
        session.audio.put(None)
        session.join()
        self.finished += 1

    def connection_lost(self, caller):
        session = self.sessions.pop(caller)
        while len(session.captions) < self.cfg.chunks_per_call - 1:
            time.sleep(0.002)
        print(f"{session.name}: connection lost after {len(session.captions)} chunks")

    def close(self):
        self.engine.inbox.put(None)
        self.engine.join()


def wave_of_calls(server, wave, gen):
    cfg = server.cfg
    callers = [wave * cfg.callers + k for k in range(cfg.callers)]
    unlucky = callers[wave % cfg.callers]
    for caller in callers:
        server.connect(caller)
    for number in range(cfg.chunks_per_call):
        time.sleep(cfg.pacing)
        for caller in callers:
            if caller != unlucky or number < cfg.chunks_per_call - 1:
                server.feed(caller, torch.randn(cfg.chunk, cfg.mels, generator=gen))
    for caller in callers:
        (server.connection_lost if caller == unlucky else server.goodbye)(caller)


def main():
    cfg = EngineConfig()
    torch.manual_seed(2)
    server, gen, allocated = CaptionServer(cfg), torch.Generator().manual_seed(9), []
    try:
        for wave in range(cfg.waves):
            wave_of_calls(server, wave, gen)
            allocated.append(torch.cuda.memory_allocated())
            print(f"wave {wave}: {server.finished} calls finished, {len(server.sessions)} open")
    finally:
        server.close()
        print('TRUTH {"allocated": %s, "rounds": %d}' % (allocated, len(allocated)), file=sys.stderr)


if __name__ == "__main__":
    main()
