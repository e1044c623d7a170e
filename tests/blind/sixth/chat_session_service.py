# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""A small chat service: many conversations at once, one GPU, one worker thread that decodes for all of them.

Each conversation keeps its attention keys and values on the GPU, so that a new turn costs only its own tokens. Clients
come in waves, send a few turns each and hang up. What each conversation has used (turns, tokens) goes to a ledger for
billing, also when a client disappears without saying goodbye.
"""
import asyncio
import itertools
import json
import os
import random
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class ServiceConfig:
    vocabulary: int = 200 if SMALL else 16_000
    width: int = 32 if SMALL else 512
    heads: int = 4 if SMALL else 8
    layers: int = 2 if SMALL else 12
    context: int = 32 if SMALL else 1024
    turns: int = 3
    prompt_tokens: int = 6 if SMALL else 320
    answer_tokens: int = 3 if SMALL else 6
    clients_per_wave: int = 2 if SMALL else 5
    rounds: int = 4 if SMALL else 20
    think_s: float = 0.002 if SMALL else 0.12
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    dtype: torch.dtype = torch.float16 if torch.cuda.is_available() else torch.float32


class Block(nn.Module):
    def __init__(self, cfg: ServiceConfig):
        super().__init__()
        self.heads = cfg.heads
        self.before_attention, self.before_mlp = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.out = nn.Linear(cfg.width, cfg.width)
        self.mlp = nn.Sequential(nn.Linear(cfg.width, 4 * cfg.width), nn.GELU(), nn.Linear(4 * cfg.width, cfg.width))

    def forward(self, x, past, start):
        length, width = x.shape
        parts = self.qkv(self.before_attention(x)).view(length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(1, 2, 0, 3)
        end = start + length
        past[0, :, start:end], past[1, :, start:end] = k, v
        position = torch.arange(start, end, device=x.device)
        mask = torch.arange(end, device=x.device)[None, :] <= position[:, None]
        seen = F.scaled_dot_product_attention(q[None], past[None, 0, :, :end], past[None, 1, :, :end], attn_mask=mask)
        x = x + self.out(seen[0].transpose(0, 1).reshape(length, width))
        return x + self.mlp(self.before_mlp(x))


class ChatModel(nn.Module):
    def __init__(self, cfg: ServiceConfig):
        super().__init__()
        self.tokens = nn.Embedding(cfg.vocabulary, cfg.width)
        self.positions = nn.Embedding(cfg.context, cfg.width)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.width)

    def forward(self, ids, past, start):
        x = self.tokens(ids) + self.positions(torch.arange(start, start + len(ids), device=ids.device))
        for layer, block in enumerate(self.blocks):
            x = block(x, past[layer], start)
        return self.norm(x[-1]) @ self.tokens.weight.T


class UsageLedger:
    """What is billed; one line for each conversation that is over."""

    def __init__(self):
        self.lines = {}

    def record(self, session_id, turns, tokens):
        self.lines[session_id] = (turns, tokens)


class ChatSession:
    """State of one conversation on the GPU, and what it has used so far."""

    def __init__(self, session_id, cfg: ServiceConfig, ledger: UsageLedger):
        self.session_id = session_id
        self.ledger = ledger
        self.turns = self.length = 0
        head = cfg.width // cfg.heads
        self.past = torch.zeros(cfg.layers, 2, cfg.heads, cfg.context, head, device=cfg.device, dtype=cfg.dtype)
        weakref.finalize(self, self.settle)

    def room_for(self, tokens):
        return self.length + tokens <= self.past.shape[3]

    def settle(self):
        self.ledger.record(self.session_id, self.turns, self.length)


class ChatService:
    def __init__(self, cfg: ServiceConfig):
        self.cfg = cfg
        self.model = ChatModel(cfg).to(cfg.device, cfg.dtype).eval()
        self.ledger = UsageLedger()
        self.sessions = {}
        self.numbers = itertools.count(1)
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="decode")

    @torch.inference_mode()
    def _answer(self, session: ChatSession, prompt):
        ids, answer = torch.tensor(prompt, device=self.cfg.device), []
        for _ in range(self.cfg.answer_tokens):
            best = self.model(ids, session.past, session.length).argmax()
            session.length += len(ids)
            answer.append(best.item())
            ids = best.view(1)
        session.turns += 1
        return answer

    def open(self):
        session = ChatSession(next(self.numbers), self.cfg, self.ledger)
        self.sessions[session.session_id] = session
        return session.session_id

    async def turn(self, session_id, prompt):
        session = self.sessions[session_id]
        if not session.room_for(len(prompt) + self.cfg.answer_tokens):
            raise ValueError("this conversation is too long")
        return await asyncio.get_running_loop().run_in_executor(self.worker, self._answer, session, prompt)

    def hang_up(self, session_id):
        self.sessions.pop(session_id, None)


async def client(service: ChatService, cfg: ServiceConfig, chance: random.Random):
    session_id = service.open()
    try:
        for _ in range(cfg.turns):
            await asyncio.sleep(cfg.think_s * chance.uniform(0.8, 1.2))
            prompt = [chance.randrange(cfg.vocabulary) for _ in range(cfg.prompt_tokens)]
            await asyncio.wait_for(service.turn(session_id, prompt), timeout=60)
    finally:
        service.hang_up(session_id)


def allocated():
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


async def serve(cfg: ServiceConfig, sizes):
    service = ChatService(cfg)
    chance = random.Random(5)
    for wave in range(cfg.rounds):
        await asyncio.gather(*(client(service, cfg, chance) for _ in range(cfg.clients_per_wave)))
        sizes.append(allocated())
        print(f"wave {wave}: {len(service.sessions)} conversations open", flush=True)
    service.worker.shutdown()


def main():
    torch.manual_seed(0)
    sizes = []
    try:
        asyncio.run(serve(ServiceConfig(), sizes))
    finally:
        print("TRUTH", json.dumps({"allocated": sizes, "rounds": len(sizes)}), file=sys.stderr)


if __name__ == "__main__":
    main()
