# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""A game master for text adventures: many players, one language model, and the dialogue of each player kept warm.

Players send turns to a bounded inbox; a worker continues the player's dialogue from its cached states. Idle dialogues
are put out when the warm set gets too large, and the tavern closes at the end of the night.
"""
import asyncio
import json
import logging
import os
import random
import sys
import time
from collections import OrderedDict
from dataclasses import dataclass

import torch
from transformers import DynamicCache, MistralConfig, MistralForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("tavern")


@dataclass
class TavernConfig:
    vocab: int = 300 if SMALL else 16_000
    hidden: int = 64 if SMALL else 1024
    layers: int = 2 if SMALL else 6
    heads: int = 4 if SMALL else 8
    said: int = 10 if SMALL else 58
    answered: int = 2 if SMALL else 6
    players: int = 6 if SMALL else 40
    turns: int = 14 if SMALL else 15
    warm_bytes: int = 400_000 if SMALL else 448 * 2**20
    inbox: int = 8
    longest: int = 2048


@dataclass
class Turn:
    player: str
    tokens: list
    reply: asyncio.Future


class WarmDialogues:
    """Caches by player, least recently used first."""

    def __init__(self, budget):
        self.budget = budget
        self.caches = OrderedDict()
        self.evictions = 0

    @staticmethod
    def size(cache):
        return sum(t.numel() * t.element_size() for layer in cache.layers for t in (layer.keys, layer.values))

    def total(self):
        return sum(self.size(c) for c in self.caches.values())

    def take(self, player):
        cache = self.caches.pop(player, None)
        return DynamicCache() if cache is None else cache

    def put_back(self, player, cache):
        self.caches[player] = cache
        total = self.total()
        while total > self.budget and len(self.caches) > 1:
            _, oldest = self.caches.popitem(last=False)
            total -= self.size(oldest)
            self.evictions += 1

    def close(self):
        self.caches.clear()


class GameMaster:
    def __init__(self, cfg):
        self.cfg = cfg
        config = MistralConfig(
            vocab_size=cfg.vocab, hidden_size=cfg.hidden, intermediate_size=3 * cfg.hidden, num_hidden_layers=cfg.layers,
            num_attention_heads=cfg.heads, num_key_value_heads=cfg.heads, max_position_embeddings=cfg.longest,
            sliding_window=None)
        self.model = MistralForCausalLM(config).to(DEVICE, torch.float32 if SMALL else torch.bfloat16).eval()
        self.warm = WarmDialogues(cfg.warm_bytes)
        self.inbox = asyncio.Queue(maxsize=cfg.inbox)
        self.answered = 0
        self.allocated = []

    @torch.inference_mode()
    def reply(self, turn):
        cache = self.warm.take(turn.player)
        if cache.get_seq_length() + len(turn.tokens) + self.cfg.answered > self.cfg.longest:
            cache = DynamicCache()
        current, words = torch.tensor([turn.tokens], device=DEVICE), []
        for _ in range(self.cfg.answered):
            out = self.model(input_ids=current, past_key_values=cache, use_cache=True, logits_to_keep=1)
            current = out.logits[:, -1].float().argmax(dim=-1, keepdim=True)
            words.append(int(current))
        self.warm.put_back(turn.player, cache)
        return words

    async def serve(self):
        while True:
            turn = await self.inbox.get()
            turn.reply.set_result(self.reply(turn))
            self.answered += 1
            if DEVICE.type == "cuda":
                self.allocated.append(torch.cuda.memory_allocated())
            if self.answered % 100 == 0:
                log.info("turn %4d, %d dialogues warm, %d put out", self.answered, len(self.warm.caches), self.warm.evictions)
            await asyncio.sleep(0)


async def play(number, master, cfg):
    """A player; turns come at random, and what the master said is said back."""
    rng = random.Random(number)
    answer = []
    for _ in range(cfg.turns):
        for _ in range(rng.randrange(1, 8)):
            await asyncio.sleep(0)
        tokens = [*answer, *(rng.randrange(cfg.vocab) for _ in range(cfg.said - len(answer)))]
        turn = Turn(f"player{number:02d}", tokens, asyncio.get_running_loop().create_future())
        await master.inbox.put(turn)
        answer = await turn.reply
    return answer


async def night(cfg):
    master = GameMaster(cfg)
    worker = asyncio.create_task(master.serve())
    started = time.time()
    await asyncio.gather(*(play(n, master, cfg) for n in range(cfg.players)))
    worker.cancel()
    log.info("%d turns, %.1f per second, %d put out", master.answered, master.answered / (time.time() - started),
             master.warm.evictions)
    master.warm.close()
    return master


def main():
    torch.manual_seed(33)
    master = asyncio.run(night(TavernConfig()))
    if DEVICE.type == "cuda":
        master.allocated.append(torch.cuda.memory_allocated())
    stride = len(master.allocated) // 200 + 1
    print("TRUTH " + json.dumps({"allocated": master.allocated[::stride], "rounds": master.answered}), file=sys.stderr)
    return master


if __name__ == "__main__":
    result = main()
